"""`doctor` on what is around a store: holders, the disk, the terminal, the configuration; each with
a remedy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import ask, call, copy_store, path_with
from platforms import script
from user_config import write_config

from hermes_browse.store.hermes import health
from hermes_browse.store.hermes.health import Holder
from hermes_browse.tui.settings.keymap import sample
from hermes_browse.tui.settings.read_config import config_path, read_config
from hermes_browse.tui.terminal.programs import route
from hermes_browse.tui.text import checkup
from hermes_browse.tui.text.checkup import terminal

FINE = {
    "columns": 120,
    "rows": 36,
    "interactive": True,
    "term": "xterm-256color",
    "colors": "truecolor",
    "encoding": "utf-8",
    "windows": None,
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A root, with a `hermes` to be found."""
    root = tmp_path / "root"
    copy_store("state-v22", root)
    script(tmp_path / "bin" / "hermes", "exit 1")
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    monkeypatch.setenv("HERMES_HOME", str(root))
    return root


def problems_around(holders, free, size, told):
    """What is wrong around a store, with the configuration there is."""
    return list(checkup.problems_around(holders, free, size, told, read_config(config_path())))


def problems():
    """What `doctor` says is wrong with the user's store."""
    return [each["code"] for each in ask("doctor")["problems"]]


def codes(**changed):
    """What is said of a terminal."""
    found = problems_around([], None, 0, FINE | changed)
    assert all(each.remedy for each in found)
    return [each.code for each in found]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not tell")
def test_who_has_the_store_open(root):
    """Another process, by number and name, and what that is good to know for."""
    program = "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA user_version').fetchall(); "
    program += "c.execute('BEGIN'); c.execute('SELECT 1 FROM sessions').fetchone(); print(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", program, str(root / "state.db")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        document = ask("doctor")
        people = call("doctor")
        process.stdin.close()
    assert [each["pid"] for each in document["holders"]] == [process.pid]
    (problem,) = document["problems"]
    assert (
        problem["code"] == "held"
        and str(process.pid) in problem["text"]
        and "optimize" in problem["remedy"]
    )
    assert f"({process.pid})" in people.out
    assert ask("doctor")["holders"] == []


def test_a_store_that_is_gone_under_a_process():
    """An error: it writes where nobody reads."""
    (problem,) = problems_around([Holder(7, "hermes gateway", True)], None, 0, FINE)
    assert (problem.severity, problem.code) == (
        "error",
        "held-gone",
    ) and "hermes gateway (7)" in problem.text


def test_a_large_store(root, monkeypatch):
    """By sessions or by bytes, as Hermes' guide counts."""
    assert problems() == []
    document = ask("doctor")["store"]
    for name, value in (("MANY_SESSIONS", document["sessions"]), ("MANY_BYTES", document["bytes"])):
        with monkeypatch.context() as patched:
            patched.setattr(health, name, value)
            assert problems() == ["store-large"]
            patched.setattr(health, name, value + 1)
            assert problems() == []


def test_the_disk(root, monkeypatch):
    """Too little to write, or too little to make the store smaller."""
    size = (root / "state.db").stat().st_size
    assert ask("doctor")["disk"]["free_bytes"] > 0
    usage = shutil.disk_usage(root)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1_000_000))
    document = ask("doctor")
    assert document["disk"] == {"free_bytes": 1_000_000}
    (problem,) = document["problems"]
    assert problem["code"] == "disk-low" and problem["remedy"]
    (problem,) = problems_around([], 300_000_000, 200_000_000, FINE)
    assert problem.code == "disk-vacuum"
    assert problems_around([], 300_000_000, size, FINE) == []


def test_the_terminal():
    """Only what is asked of a terminal, and only of one."""
    assert codes() == [] and codes(colors="none") == []
    assert codes(encoding="ascii") == ["encoding"] and codes(encoding="UTF8") == []
    assert codes(term="dumb") == ["terminal-dumb"] and codes(colors="unknown") == ["no-truecolor"]
    assert codes(columns=79) == ["terminal-small"] and codes(rows=10) == ["terminal-small"]
    assert codes(term="dumb", interactive=False, columns=10) == []


def test_windows_wanted_where_there_are_none(monkeypatch):
    """resume = "window" outside of everything that opens one."""
    write_config('resume = "window"\n')
    assert codes() == ["no-windows"] and codes(windows="tmux") == []
    write_config('resume = "window"\nwindow = "kitty @ launch {command}"\n')
    assert codes() == []
    assert terminal()["windows"] is None
    monkeypatch.setenv("TMUX", "x,1,0")
    assert terminal()["windows"] == "tmux"


def test_the_way_to_the_clipboard(tmp_path, monkeypatch):
    """A program of the desktop one sits at, else tmux, else the terminal itself."""
    for name in ("wl-copy", "xsel", "tmux"):
        script(tmp_path / name)
    monkeypatch.setattr(sys, "platform", "linux")

    def route_in(**environment):
        monkeypatch.setattr(os, "environ", {"PATH": str(tmp_path), **environment})
        return route()

    wayland, far = {"WAYLAND_DISPLAY": "wayland-0"}, {"SSH_TTY": "/dev/pts/1"}
    assert route_in(**wayland, TMUX="x") == "wl-copy"
    assert route_in(**wayland, **far) == "OSC 52"
    assert route_in(**wayland, **far, TMUX="x") == "tmux"
    assert route_in(DISPLAY=":0", TMUX="x") == "xsel", "xclip comes first, but is not installed"
    (tmp_path / "tmux").unlink()
    assert route_in(TMUX="x") == "OSC 52"


def test_a_sample_is_written_whole():
    assert call("config init").code == 0
    assert config_path().read_text(encoding="utf-8") == sample()
