"""Secrets and network: what the kernel sees of a reading run, and that it needs no network."""

import os
import re
import shutil
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from commandline import PROGRAM, ask, call, copy_store
from counts import IS_LONG
from driver import FEW, READING, Driven
from platforms import HAS_HERMES
from trashing import run
from writers import writing

IDEA = "witness, permissions, network"
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="strace, /proc and namespaces"
)
COMMANDS = ("list --view all", "search walrus", "stats", "prune --older-than 1d", "doctor")


TRACE = (
    "open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "truncate,ftruncate,fallocate,write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,mmap,fcntl"
)


def _judge(log, store, tell):
    """Go through what the kernel saw: the store and its log are read, and never written, truncated
    or taken away."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if str(store) in line]
    opened = [line for line in lines if re.search(rf'open\w*\(.*"{re.escape(str(store))}"', line)]
    assert opened and all("O_RDONLY" in line for line in opened), opened
    ours = [
        f"{mark[0]}{store}{end}{mark[1]}"
        for mark in ('""', "<>")
        for end in ("", "-wal", "-journal")
    ]
    locks = 0
    for line in lines:
        # What a call was asked stands where it begins, also where another thread came between and
        # it is "resumed".
        if not any(name in line for name in ours) or " = -1 " in line or " resumed>" in line:
            continue
        call = line.split("(")[0].split()[-1]
        if call == "mmap":
            assert "PROT_WRITE" not in line, line
        elif call == "fcntl":
            # A lock for writing on the store itself would keep Hermes out. SQLite asks for one when
            # it closes, to see whether it is the last one there; on a file opened read-only the
            # kernel refuses it.
            assert not (
                f"<{store}>" in line and "F_SETLK" in line and "F_WRLCK" in line and " = 0" in line
            ), line
            locks += "F_SETLK" in line and "F_RDLCK" in line
        else:
            assert call.startswith("open"), line
            assert "O_TRUNC" not in line, line
    tell("opens seen by the kernel, all read-only, 0 writes, 0 removals", len(opened))
    tell("locks to read seen, 0 to write", locks)


@pytest.fixture
def strace(tmp_path):
    """The command that traces into `trace`.

    Raises:
        Skipped: There is none, or it may not trace here.
    """
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not installed")
    command = (program, "-f", "-y", "-o", str(tmp_path / "trace"), "-e", f"trace={TRACE}")
    # Stops at the calls asked for alone, where it can (strace 5.3): a browser under it is not
    # thirty times as slow.
    for wanted in ((*command, "--seccomp-bpf"), command):
        if subprocess.run([*wanted, "true"], capture_output=True).returncode == 0:
            return wanted
    pytest.skip("strace may not trace here")


def test_the_kernel_sees_no_write(strace, tmp_path, tell):
    """Commands: the store is opened read-only every time, and never written, truncated, renamed or
    unlinked."""
    store = copy_store("state-v22", tmp_path / "root")
    for command in COMMANDS:
        done = subprocess.run(
            [*strace, *PROGRAM, "--db", str(store), *command.split()], capture_output=True
        )
        assert done.returncode == 0, done.stderr
        _judge(tmp_path / "trace", store, tell)
        tell("commands under strace")


@pytest.mark.parametrize(
    "journal",
    [
        pytest.param(each, marks=[] if each == "wal" else pytest.mark.long)
        for each in ("wal", "delete")
    ],
)
def test_the_kernel_sees_no_write_of_the_browser(strace, store, tmp_path, tell, journal):
    """The browser on a pseudo-terminal, through every feature that reads; beside a writer in `make
    proof`."""
    run(store, f"PRAGMA journal_mode={journal}")
    with writing(store, 1, journal) if IS_LONG and HAS_HERMES else nullcontext():
        browser = Driven(store, before=strace)
        browser.opened()
        tell(
            "steps of a browser under strace",
            browser.walk(1.0 if IS_LONG else 0.35, READING if IS_LONG else FEW),
        )
        browser.finish("q")
    assert browser.is_restored
    _judge(tmp_path / "trace", store, tell)


def test_without_any_network(tmp_path, tell):
    """In a network namespace with nothing in it everything answers as it does elsewhere."""
    alone = ["unshare", "-rn"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*alone, "true"], capture_output=True).returncode
    ):
        tell.remark("no network namespace could be made here")
        pytest.skip("no network namespace can be made here")
    store = copy_store("state-v22", tmp_path / "root")
    for command in COMMANDS[:4]:
        outputs = [
            subprocess.run(
                [*before, *PROGRAM, "--db", str(store), *command.split()],
                capture_output=True,
                text=True,
            )
            for before in ([], alone)
        ]
        assert outputs[0].returncode == outputs[1].returncode == 0, outputs[1].stderr
        same = [re.sub(r"[\d.,]+ ms", "", each.stdout) for each in outputs]
        assert same[0] == same[1]
        tell("commands without a network")


def test_what_is_made_is_private(tmp_path, tell):
    """Whatever the umask: config, notes, trash and exports are for their owner alone."""
    root, out, home = tmp_path / "root", tmp_path / "out", Path(os.environ["HOME"])
    copy_store("state-v22", root)
    before = os.umask(0)
    try:
        newest = ask("--home", str(root), "list")["conversations"][0]["id"]
        for command in (
            ["config", "init"],
            ["export", "--output", str(out), "--", newest],
            ["tag", "--", newest, "ferry"],
            ["delete", "--yes", "--", newest],
        ):
            assert call("--home", str(root), *command).code == 0, command
    finally:
        os.umask(before)
    ours = [path for path in (out, *home.rglob("*")) if path.is_file()]
    assert {"config.toml", "notes.db", "links.db"} <= {path.name for path in ours}
    for path in ours:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        tell("files made, all private")
