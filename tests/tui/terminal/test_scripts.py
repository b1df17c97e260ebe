"""A script of keys for every line of docs/keys.md and every promise of the README, run in a real
terminal: each begins and ends on the main screen, with the cursor on the first conversation."""

import re
import time

import pytest
from effort import slow_but
from key_scripts import AFRESH, ESC, FIRST, ON_LIST, README, SCRIPTS
from paths import HERMES, ROOT
from platforms import posix_only
from terminal import Terminal
from trashing import run

from hermes_browse.store.demo import build_home

pytestmark = posix_only

_DAILY = ("Enter", "`/`", "`a`", "`D`", "`u`")
"""What `make test` plays: `make check` plays all, and on a large store too."""


def _home(folder, sessions):
    """The sample home as a user's own, with so many older sessions beside those of the sample."""
    store = build_home(folder, now=time.time())
    run(
        store,
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {sessions}) "
        "INSERT INTO sessions (id, source, title, started_at, ended_at, end_reason) "
        "SELECT 'old-' || i, 'cli', 'Old ' || i, 1e9 + i * 60, 1e9 + i * 60 + 30, 'done' "
        f"FROM n WHERE {sessions} > 0",
        "INSERT INTO messages (session_id, role, content, timestamp) "
        "SELECT id, 'user', said.column1, started_at FROM sessions, "
        "(VALUES ('what was asked'), ('what was said')) AS said WHERE id LIKE 'old-%'",
    )
    return folder


@pytest.fixture(scope="module", params=[0, pytest.param(20_000, marks=pytest.mark.slow)])
def home(request, tmp_path_factory):
    return _home(tmp_path_factory.mktemp("scripts"), request.param)


@pytest.fixture(scope="module")
def terminals():
    """The browser that runs, until a script fails."""
    running = []
    yield running
    for each in running:
        each.child.close(force=True)


def _see(terminal, pattern, keys):
    is_there, seen = not pattern.startswith("!"), re.compile(pattern.removeprefix("!"))
    terminal.read_until(
        lambda: bool(seen.search(terminal.text)) == is_there,
        f"after {keys!r} never saw {pattern!r}",
        15,
    )


def _play(home, terminals, steps):
    if not terminals:
        path = f"{HERMES.parent}:/usr/bin:/bin"
        terminals.append(Terminal(["--home", str(home)], COLORTERM="truecolor", PATH=path))
        terminals[-1].child.delaybeforesend = 0.05  # as a person: what is said is read first
    terminal = terminals.pop()
    terminal.raw = b""  # of the scripts before, some megabytes
    for keys, pattern in (*AFRESH, *steps):
        terminal.send(keys)
        if keys == ESC:  # with the next byte it would be another key, and frames come in portions
            terminal.read(0.15)
        _see(terminal, pattern, keys)
    _see(terminal, ON_LIST, "")
    _see(terminal, FIRST, "")
    terminals.append(terminal)  # it is where it was: the next one goes on with it


@pytest.mark.slow
@pytest.mark.parametrize("line", slow_but(_DAILY, SCRIPTS))
def test_keys(line, home, terminals):
    """What a line of docs/keys.md promises."""
    _play(home, terminals, SCRIPTS[line])


@pytest.mark.slow
@pytest.mark.parametrize("words", README)
def test_readme(words, home, terminals):
    """What a sentence of the README promises."""
    assert words in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    _play(home, terminals, README[words])


def test_every_key_of_the_readme_has_a_script():
    keys = re.findall(r"`[^`\s]`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(keys) > 10
    assert [key for key in keys if not any(key in words for words in README)] == []


@pytest.mark.slow
def test_every_line_has_a_script():
    lines = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    without = [each for each in cells[1:] if not each.startswith(tuple(SCRIPTS))]
    stops = ["Ctrl+Z", "`q`, Ctrl+Q, Ctrl+C"]
    assert without == stops, "these stop or end the browser, and have tests of their own"
