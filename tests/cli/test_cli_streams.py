"""Standard output and error as scripts meet them: pipes that break, full disks, closed handles, any
locale, Ctrl-C."""

import json
import os
import signal
import subprocess
import time

import pytest
from commandline import PROGRAM, copy_store, spawn, steady
from platforms import posix_only
from store_builder import StoreBuilder
from terminal import Terminal

pytestmark = posix_only
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale without UTF-8 and Python's own remedies turned off."""


@pytest.mark.slow
def test_a_reader_that_goes_away_in_the_middle(tmp_path):
    """A document larger than any pipe, of which one byte is read."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("long")
    for _ in range(200):
        builder.message("long", "user", "word " * 2000)
    builder.write()
    program = f"{' '.join(PROGRAM)} --home {tmp_path} show long"
    for options in ("", "--json", "--markdown"):
        line = f"set -o pipefail; {program} {options} | head -c 1"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, check=True)
        assert (len(ended.stdout), ended.stderr) == (1, b"")


@pytest.mark.slow
def test_a_locale_without_utf8(tmp_path):
    """JSON is UTF-8 whatever the locale; for people what cannot be written is a question mark;
    words are understood."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.message(builder.session("one", title="日本語 é"), "user", "検索 überall")
    builder.write()
    home = ["--home", str(tmp_path)]
    for command in (
        ["list"],
        ["show", "日本語 é"],
        ["search", "検索"],
        ["lineage", "日本語 é"],
        ["doctor"],
    ):
        usual, ascii_ = (spawn(*home, *command, "--json", env=env) for env in ({}, ASCII))
        assert usual.code == ascii_.code == 0, ascii_.err
        assert steady(usual.document) == steady(ascii_.document)
        people = spawn(*home, *command, env=ASCII)
        assert people.code == 0 and people.out.isascii() and "Traceback" not in people.err
    assert "??? ?" in spawn(*home, "list", env=ASCII).out
    assert spawn("--help", env=ASCII).code == 0


@pytest.mark.slow
def test_paths_and_words_that_are_not_utf8(tmp_path):
    """Bytes no UTF-8 reader takes: opened as they are, shown as U+FFFD."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    copy_store("state-v22", tmp_path)
    os.rename(os.fsencode(tmp_path) + b"/state.db", folder + b"/state.db")
    ended = spawn(b"--home", folder, b"list", b"--json")
    assert ended.code == 0 and "\ufffd" in ended.document["store"]["path"]
    assert spawn(b"--home", folder, b"resume", b"--last", b"--print", b"--json").code == 0
    assert spawn(b"--home", folder, b"doctor").code == 0
    assert spawn(b"--home", folder, b"show", b"\xff").code == 4
    assert spawn(b"--home", folder, b"search", b"--json", b"\xff").document["query"] == "\ufffd"


def test_ctrl_c(tmp_path):
    """130, quietly, whenever it comes; a demo store in the making is cleared away."""
    script = tmp_path / "sitecustomize.py"
    script.write_text(
        "import time, pathlib, os\nimport hermes_browse.store.connection.connect as c\nreal = c.Store.open\n"
        "def slow(self):\n    pathlib.Path(os.environ['READY']).touch()\n    time.sleep(30)\n    return real(self)\n"
        "c.Store.open = slow\n"
    )
    ready = tmp_path / "ready"
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*PROGRAM, "--demo", "list", "--json"],
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "READY": str(ready),
            "TMPDIR": str(tmp_path / "tmp"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.slow
def test_json_on_a_terminal_is_json_too(tmp_path):
    """Indented for people, the same document."""
    copy_store("state-v22", tmp_path)
    terminal = Terminal(["--home", str(tmp_path), "list", "--json"])
    terminal.wait_for_end()
    text = terminal.raw.decode()
    assert text.startswith("{\r\n  ")
    assert json.loads(text) == spawn("--home", str(tmp_path), "list", "--json").document
