"""A terminal that vanishes without a signal, which only the leader of a session would get."""

import os
import subprocess
import sys

import pexpect.fdpexpect
import pytest
from effort import slow_but
from platforms import posix_only, until
from terminal import PATIENCE, Terminal
from user_config import write_config

pytestmark = posix_only


class Detached(Terminal):
    """A program on a terminal that does not control its session: the kernel sends no SIGHUP."""

    def __init__(self, arguments, *, code="", **env):
        self._prepare(120, 36)
        program = ["-c", code] if code else ["-m", "hermes_browse.tui"]
        master, terminal = os.openpty()
        os.set_inheritable(master, False)
        self.program = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "120", "LINES": "36", **env},
        )
        os.close(terminal)
        self.child = pexpect.fdpexpect.fdspawn(master, timeout=PATIENCE)

    def vanish(self):
        """Take the terminal away, and wait until the program has ended."""
        self.child.close()
        try:
            self.program.wait(PATIENCE)
        finally:
            self.program.kill()


_SCREENS = {
    "list": ("", "Chats"),
    "transcript": ("\t", "Chats"),
    "search": ("/walrus", "walrus answer"),
    "dialog": ("D", "Move 1 conversation"),
    "help": ("?", "Find conversations by what was said"),
    "clean-up": ("P", "older:"),
    "insights": ("I", "insights  "),
    "hosts and profiles": ("0", "Profiles"),
}


@pytest.mark.slow
@pytest.mark.parametrize("screen", slow_but(["list", "dialog"], list(_SCREENS)))
def test_it_ends_on_every_screen(hermes_home, screen):
    """Whatever is shown: nobody is left to press a key."""
    keys, shown = _SCREENS[screen]
    terminal = Detached(["--home", str(hermes_home)])
    terminal.wait_for("search:")
    terminal.send(keys, shown)
    terminal.vanish()


_ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT max(n) FROM endless"


def _reading_for_ever(module, name):
    """A browser in which a function whose first argument is a store never comes back."""
    return (
        f"import sys, {module} as module\n"
        f"module.{name} = lambda store, *given, **named: (print('now', file=open('begun', 'w')), "
        f"store.reader.rows({_ENDLESS!r}))\n"
        "from hermes_browse.tui.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "module, name, keys",
    [
        ("hermes_browse.tui.browser.transcript.loader", "read_model", ""),
        ("hermes_browse.tui.browser.search.search_jobs", "find_words", "/walrus"),
    ],
    ids=["conversation", "search"],
)
def test_it_ends_while_something_is_read(
    hermes_home,
    tmp_path,
    monkeypatch,
    module,
    name,
    keys,
):
    """A statement that runs is interrupted."""
    monkeypatch.chdir(tmp_path)
    terminal = Detached(["--home", str(hermes_home)], code=_reading_for_ever(module, name))
    terminal.wait_for("search:")
    terminal.send(keys)
    terminal.read_until((tmp_path / "begun").exists, "nothing is read")
    terminal.vanish()


_BEFORE_TEXTUAL = """
import sys, time
class Slow:
    def find_spec(self, name, *where):
        if name == "hermes_browse.tui.app":
            while True:
                time.sleep(0.1)  # a signal just before a sleep does not wake it
sys.meta_path.insert(0, Slow())
from hermes_browse.tui.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_it_ends_before_textual_is_loaded(hermes_home):
    """The first rows are painted, and early keys are read."""
    terminal = Detached(["--home", str(hermes_home)], code=_BEFORE_TEXTUAL, COLORTERM="truecolor")
    terminal.wait_for("shown")
    terminal.vanish()


def test_plain_ends_at_its_prompt(hermes_home):
    """It waits for a line."""
    terminal = Detached(["--home", str(hermes_home), "--plain"])
    terminal.wait_for("h: help.")
    terminal.vanish()


def test_plain_ends_while_it_works(hermes_home, tmp_path, monkeypatch):
    """It searches, and reads no line."""
    monkeypatch.chdir(tmp_path)
    code = _reading_for_ever("hermes_browse.store.search.found", "Search")
    terminal = Detached(["--home", str(hermes_home), "--plain"], code=code)
    terminal.wait_for("h: help.")
    terminal.send("/walrus\n")
    terminal.read_until((tmp_path / "begun").exists, "nothing is searched")
    terminal.vanish()


def _ssh_clients(server):
    """The processes of this machine that hold a connection to a server."""
    table = subprocess.run(
        ["ps", "-Awwo", "stat=,args="], capture_output=True, text=True, check=True
    ).stdout
    config = str(server.folder / "config")
    return [line for line in table.splitlines() if config in line and not line.startswith("Z")]


@pytest.mark.slow
def test_connections_to_hosts_end_with_it(ssh_server, hermes_home):
    """Its ssh ends, and so does the program at the other end."""
    server = ssh_server(hermes_home)
    write_config(f'[[hosts]]\nname = "vps"\nssh = "{server.host.ssh}"\n')
    terminal = Detached(["--home", str(hermes_home)])
    terminal.wait_for("search:")
    terminal.send("0", "@vps")
    terminal.read_until(
        lambda: bool(server.alive() and _ssh_clients(server)), "the host is not asked"
    )
    terminal.vanish()
    until(lambda: not server.alive() and not _ssh_clients(server))
