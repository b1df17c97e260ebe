"""Four machines in one list, by keyboard alone in a real terminal: find, read, resume, archive,
while one dies."""

import os
import shutil

import pytest
from paths import DATA, HERMES
from platforms import until
from terminal import Terminal
from user_config import write_config

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View

NOW = 1_800_000_000.0
WORD = "hedgehogs"
"""It is said once, on the third machine."""


def _home(folder, shape):
    folder.mkdir()
    shutil.copy(next(DATA.glob(f"state-{shape}-*.db")), folder / "state.db")
    return folder


def _archived(home):
    with Store(home / "state.db").reader() as reader:
        catalog = read_catalog(reader, NOW)
        return set(catalog.order(View.ARCHIVED))


@pytest.mark.slow
def test_it_opens_on_a_host(ssh_server, tmp_path):
    """`--host` without a command; what this machine has is a key away, and nothing stays there at
    the end."""
    server = ssh_server(_home(tmp_path / "vps", "v31"), "vps")
    write_config(f'[[hosts]]\nname = "vps"\nssh = "{server.host.ssh}"\n')
    here = _home(tmp_path / "here", "v11")
    terminal = Terminal(["--host", "vps"], HERMES_HOME=str(here))
    terminal.wait_for("hermes-browse  vps")
    terminal.wait_for("search:")
    terminal.send("0", "Profiles and hosts")
    terminal.wait_for("default")
    terminal.send("\x1b")
    terminal.read_until(
        lambda: "Profiles and hosts" not in terminal.text, "the card is still there"
    )
    terminal.leave()
    until(lambda: server.alive() == [])


@pytest.mark.slow
def test_a_host_that_is_away_does_not_open(tmp_path):
    """A sentence with the command that says more, and the exit code of a store that cannot be
    read."""
    write_config('[[hosts]]\nname = "vps"\nssh = "-F none -p 1 127.0.0.1"\n')
    terminal = Terminal(["--host", "vps"])
    assert terminal.wait_for_end() == 3
    assert "asking vps" in terminal.text
    assert "cannot be reached" in terminal.text and "hosts check vps" in terminal.text


@pytest.mark.slow
@pytest.mark.skipif(not HERMES.exists(), reason="hermes-agent is not installed beside this Python")
def test_find_read_resume_and_archive_on_the_third_while_the_second_dies(ssh_server, tmp_path):
    here = _home(tmp_path / "here", "v11")
    shapes = {"first": "v14", "second": "v22", "third": "v31"}
    servers = {
        name: ssh_server(_home(tmp_path / name, shape), name) for name, shape in shapes.items()
    }
    blocks = [
        f'[[hosts]]\nname = "{name}"\nssh = "{each.host.ssh}"\n' for name, each in servers.items()
    ]
    write_config('resume = "return"\n' + "".join(blocks))
    before = _archived(servers["third"].home)

    terminal = Terminal(
        ["--home", str(here)], PATH=f"{HERMES.parent}{os.pathsep}{os.environ['PATH']}"
    )
    terminal.wait_for("search:")
    terminal.send("0", "Profiles and hosts")
    # The card is drawn before its hosts are.
    for name in servers:
        terminal.wait_for(f"@{name}")
    terminal.read_until(lambda: "asking" not in terminal.text, "not all hosts have answered")
    terminal.send("a", "all profiles and hosts")

    servers["second"].stop()
    terminal.wait_for("without @second")
    terminal.send("/")
    terminal.send(WORD, " · @second: ")  # lost, or refused where it was asked again meanwhile
    terminal.wait_for("1 hit")
    assert "@third" in terminal.text
    terminal.send("\r", "o open there")
    terminal.send("o", "hermes-browse  third")
    terminal.read_until(lambda: WORD in terminal.text, "the hit is not shown")

    terminal.send("R", "Run setup now?")  # without a card: nothing about this conversation is risky
    terminal.send("n\r", "Enter goes back")
    terminal.send("\r", "back from Hermes")

    terminal.send("a", "on third · u undoes")
    assert len(_archived(servers["third"].home) - before) == 1
    terminal.send("u", "undone")
    assert _archived(servers["third"].home) == before

    servers["second"].start()
    terminal.send("0", "Profiles and hosts")
    terminal.send("a", "all profiles and hosts")
    terminal.send("q")
    terminal.read(0.5)
    terminal.leave()
    until(lambda: servers["third"].alive() == [])
