"""Secrets and network: what the kernel sees of a reading run, and that it needs no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import PROGRAM, copy_store
from counts import Tell
from driver import Driven

IDEA = "witness, permissions, network"
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="strace, /proc and namespaces")
COMMANDS = (["list", "--view", "all"], ["search", "walrus"], ["stats"], ["doctor"], ["prune", "--older-than", "1d"])


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_the_kernel_sees_no_write(tmp_path: Path, tell: Tell) -> None:
    """The store itself is opened read-only every time, and never written, truncated, renamed or unlinked."""
    store = copy_store("state-v22", tmp_path / "root")
    log = tmp_path / "trace"
    wanted = (
        "open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,truncate,ftruncate,write,pwrite64,writev"
    )
    for command in COMMANDS:
        done = subprocess.run(
            ["strace", "-f", "-y", "-o", str(log), "-e", f"trace={wanted}", *PROGRAM, "--db", str(store), *command],
            capture_output=True,
        )
        if b"ptrace" in done.stderr.lower() and done.returncode:
            pytest.skip("strace may not trace here")
        assert done.returncode == 0, done.stderr
        lines = [line for line in log.read_text(errors="replace").splitlines() if str(store) in line]
        opened = [line for line in lines if re.search(rf'open\w*\(.*"{re.escape(str(store))}"', line)]
        assert opened and all("O_RDONLY" in line for line in opened), opened
        for line in lines:
            if re.search(r"\b(unlink|rename|truncate|ftruncate|creat)\w*\(", line):
                assert f'"{store}"' not in line and f"<{store}>" not in line, line
            if re.search(r"\b(write|pwrite64|writev)\(", line):
                assert f"<{store}>" not in line and f"<{store}-wal>" not in line, line
        tell("commands under strace, 0 writes to the store", 1)
        tell("opens seen, all read-only", len(opened))


def test_without_any_network(tmp_path: Path, tell: Tell) -> None:
    """In a network namespace with nothing in it everything answers as it does elsewhere."""
    alone = ["unshare", "-rn"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        tell.remark("no network namespace could be made here")
        pytest.skip("no network namespace can be made here")
    store = copy_store("state-v22", tmp_path / "root")
    for command in (*COMMANDS[:3], COMMANDS[4]):
        outputs = [
            subprocess.run([*before, *PROGRAM, "--db", str(store), *command], capture_output=True, text=True)
            for before in ([], alone)
        ]
        assert outputs[0].returncode == outputs[1].returncode == 0, outputs[1].stderr
        same = [re.sub(r"[\d.,]+ ms", "", each.stdout) for each in outputs]
        assert same[0] == same[1]
        tell("commands without a network")


def test_what_is_made_is_private(tmp_path: Path, tell: Tell) -> None:
    """Whatever the umask: config, trash, state, log and exports are for their owner alone, and argv tells no text."""
    root = tmp_path / "root"
    copy_store("state-v22", root)
    home = Path(os.environ["HOME"])
    before = os.umask(0)
    try:
        rows = json.loads(
            subprocess.run(
                [*PROGRAM, "--home", str(root), "list", "--json"], capture_output=True, check=True, text=True
            ).stdout
        )["conversations"]
        for command in (
            ["config", "init"],
            ["export", "--output", str(tmp_path / "out"), "--", rows[0]["id"]],
            ["delete", "--yes", "--", rows[-1]["id"]],
        ):
            done = subprocess.run([*PROGRAM, "--home", str(root), *command], capture_output=True, text=True)
            assert done.returncode == 0, (command, done.stderr)
        browser = Driven(root / "state.db")
        browser.opened()
        browser.send("/walrus")
        browser.wait_for("kept walrus answer")
        assert b"walrus" not in Path(f"/proc/{browser.pid}/cmdline").read_bytes()
        browser.finish("q")
    finally:
        os.umask(before)
    made = [path for place in (home, tmp_path / "out") for path in [place, *place.rglob("*")] if path != home]
    ours = [path for path in made if path.is_file()]
    assert ours
    for path in ours:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        tell("files made, all private")
    for log in home.rglob("*.log"):
        assert "walrus" not in log.read_text()
