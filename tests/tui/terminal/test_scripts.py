"""A script of keys for every line of docs/keys.md and every promise of the README, run in a real
terminal: each begins and ends on the main screen, with the cursor on the first conversation."""

from __future__ import annotations

import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from paths import HERMES, ROOT
from terminal import Terminal

from hermes_browse.store.demo import build_home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

ESC, DOWN, UP, RIGHT, LEFT = "\x1b", "\x1b[B", "\x1b[A", "\x1b[C", "\x1b[D"
TAB, BACK_TAB = "\t", "\x1b[Z"
F2, F5, F9 = "\x1bOQ", "\x1b[15~", "\x1b[20~"
ON_LIST, ON_TEXT = "Enter read  / search  R resume", r"\\ find here  Enter fold"
FIRST = r"title  1/"
KEEP = "\x13"
Step = tuple[str, str]
"""Keys, and a pattern that is on the screen then; with `!` in front, one that no longer is."""

SCRIPTS: dict[str, tuple[Step, ...]] = {
    "↑ ↓": (
        *(("j", r"title  2/"), (DOWN, r"title  3/"), ("k", r"title  2/"), (UP, FIRST)),
        *(("G", r"title  ([\d,]+)/\1 "), ("g", FIRST), ("\x04", r"title  1\d/"), ("\x15", FIRST)),
    ),
    "Enter": (
        *(("\r", ON_TEXT), (ESC, ON_LIST), ("2", r"title  1/9"), ("jj", r"Enter open")),
        *(("\r", r"title  3/21"), ("\r", r"title  3/9"), ("g", FIRST), ("1", r"Fix auth bug")),
    ),
    "`/`": (
        *(("/cookie", r"14 hits in 4 conversations"), (DOWN, r"test_cookie_is_lax")),
        *(("\r", ON_TEXT), (ESC, r"Enter read"), (ESC, FIRST)),
    ),
    "`n` `N`": (
        *(("/cookie\r", ON_TEXT), ("n", r"hit 2/14"), ("n", r"hit 3/14"), ("N", r"hit 2/14")),
        *((ESC, r"Enter read"), (ESC, FIRST)),
    ),
    "`+` `-`": (
        *(("/cookie\r", ON_TEXT), (ESC, r"Enter read"), ("-", r"▸ 3 more hits")),
        *(("+", r"!▸ 3 more hits"), (ESC, FIRST)),
    ),
    "`Ctrl+R` `Ctrl+S`": (
        *(("/ferry", r"1 title or id"), (KEEP, r"search kept"), (ESC, r"search: words")),
        *(
            (ESC, ON_LIST),
            ("\x12", r"★ ferry"),
            ("\r", r"1 title or id"),
            (ESC, r"search: words"),
            (ESC, ON_LIST),
        ),
    ),
    "`\\` `#`": (
        *((TAB, ON_TEXT), ("\\token", r"of \d+ messages"), (ESC, ON_TEXT)),
        *(
            ("#", r"Enter done"),
            ("12\r", r"message 12 of 58"),
            (ESC, ON_LIST),
            ("G", r"title  ([\d,]+)/\1 "),
            ("g", FIRST),
        ),
    ),
    "Esc": (
        *((TAB, ON_TEXT), (".", r"the model had"), (ESC, r"!the model had"), (ESC, ON_LIST)),
        *((ESC, r"press q to quit"),),
    ),
    "Tab Shift+Tab": (
        *((TAB, ON_TEXT), (TAB, r"Space fold"), (BACK_TAB, ON_TEXT), (BACK_TAB, ON_LIST)),
        *((RIGHT, ON_TEXT), (LEFT, ON_LIST), ("\x17", ON_TEXT), ("h", ON_LIST)),
    ),
    "`1` `2`": (
        *(
            ("2", r"title  1/9"),
            ("3", r"title  1/3"),
            ("4", r"!title  1/3 "),
            ("5", r"no old transcripts"),
        ),
        *(("1", r"82 of|[\d,]+ of"), ("g", FIRST)),
    ),
    "`0`": (("0", r"all profiles as one list"), (ESC, r"!all profiles as one list")),
    "`s` `S`": (
        *(("s", r"Sort by"), ("title\r", r"↑ title"), ("S", r"↓ title"), ("s", r"Sort by")),
        *(("activity\r", r"↓ activity"), ("g", FIRST)),
    ),
    "`o`": (
        *(("/cookie\r", ON_TEXT), ("o", r"hits relevance"), ("o", r"hits oldest")),
        *(("o", r"hits newest"), (ESC, r"Enter read"), (ESC, FIRST)),
    ),
    "`l`": (
        *(("l", r"Space fold"), ("g", r"▌▾ ◆"), (" ", r"▌▸ ◆"), (" ", r"▌▾ ◆")),
        *((DOWN, r"▌. +⊕ Run"), (DOWN, r"▌ +⇣ 27"), ("\r", r"Replaced: 27"), (ESC, r"Space fold")),
        *(("l", ON_LIST), ("j", r"title  2/"), ("k", FIRST)),
    ),
    "`J` `K`": (
        *((TAB, ON_TEXT), ("K", r"▎.*you"), ("J", r"Set for 06:10"), ("{", r"▎.*assistant")),
        *(("}", r"▎.*you"), (ESC, ON_LIST)),
    ),
    "`[` `]`": (
        *((TAB, ON_TEXT), ("[", r"── \w+day, "), ("(", r"── compressed .* part [23] of 3")),
        *(
            ("(", r"── compressed .* part [23] of 3"),
            (")", r"── compressed"),
            ("]", r"── \w+day, "),
            ("G", r"Set for"),
        ),
        *((ESC, ON_LIST),),
    ),
    "`m` `'`": (
        *((TAB, ON_TEXT), ("m", r"marked · ' comes back here"), ("g", r"The login endpoint")),
        *(("'", r"Set for 06:10"), (ESC, ON_LIST)),
    ),
    "`c` `C`": (
        *(
            (TAB, ON_TEXT),
            ("c", r"message \d+, \d+ B"),
            ("C", r"no code block here"),
            ("\x19", r"no tool output here"),
        ),
        *((ESC, ON_LIST),),
    ),
    "`O` `E`": (
        *(
            (TAB, ON_TEXT),
            ("&", r"as it is stored"),
            (ESC, r"!as it is stored"),
            ("L", r"no link, image or path"),
        ),
        *((ESC, ON_LIST),),
    ),
    "`t` `r`": (
        *((TAB, ON_TEXT), ("t", r"tools: full"), ("t", r"tools: off"), ("t", r"tools: short")),
        *(("r", r"reasoning shown"), ("r", r"reasoning folded"), (ESC, ON_LIST)),
    ),
    "`v`": (
        *(
            ("v", r"what the model still sees"),
            ("v", r"  everything · "),
            ("v", r"  (live|open) · resumes"),
        ),
    ),
    "`.`": (
        *((TAB, ON_TEXT), (".", r"the model had: a summary of 47 messages \+ 8 messages")),
        *((".", r"!the model had"), (ESC, ON_LIST)),
    ),
    "`M`": (("M", r"Replaced: \d+ messages"), (ESC, ON_LIST)),
    "`F`": (("F", r"5 files"), (TAB, r"diff --git"), (ESC, ON_LIST)),
    "`T`": (
        *(("Turgent\r", r"#urgent"), ("/tag:urgent", r"Fix auth bug"), (ESC, r"search: words")),
        *((ESC, ON_LIST), ("u", r"!#urgent"), ("g", FIRST)),
    ),
    "`A`": (("A", r"since you looked"), (ESC, ON_LIST)),
    "`B`": (("B", r"9 turns"), (ESC, ON_LIST)),
    "`p`": (("p", r"\[1 tool call"), ("p", r"!\[1 tool call")),
    "`i`": (
        *(("i", r"Model, tokens, cost"), (ESC, r"!Model, tokens, cost")),
        *(("i", r"B run"), ("B", r"9 turns"), (ESC, ON_LIST)),
    ),
    "`y` `Y`": (("y", r"_a5d6cc sent"), ("Y", r"--resume=\S+_a5d6cc.* sent")),
    "Space, `V`": (
        *((" ", r"✓ 1 marked"), (" ", r"✓ 2 marked"), (ESC, r"↓ activity"), ("g", FIRST)),
        *(("V", r"range"), ("jj", r"title  3/"), ("V", r"✓ 3 marked"), (ESC, r"↓ activity")),
        *(("*", r"✓ [\d,]+ marked"), (ESC, r"↓ activity"), ("g", FIRST)),
    ),
    "`a`": (("j", r"title  2/"), ("a", r"archived “"), ("u", r"undone|taken out"), ("g", FIRST)),
    "`f`": (("j", r"title  2/"), ("f", r"pinned “"), ("u", r"undone"), ("g", FIRST)),
    "F2": (
        *(
            ("j", r"title  2/"),
            (F2, r"Rename"),
            (" again\r", r"renamed to “.* ?again”"),
            ("u", r"undone"),
        ),
        *(("g", FIRST),),
    ),
    "`D`": (
        *(
            ("j", r"title  2/"),
            ("D", r"to the trash\?"),
            ("y", r"moved to the trash"),
            ("u", r"restored"),
        ),
        *(("g", FIRST),),
    ),
    "`u`": (
        *(("j", r"title  2/"), ("f", r"pinned “"), ("a", r"archived “"), ("u", r"undone")),
        *(("u", r"undone"), ("au", r"undone"), ("g", FIRST)),
    ),
    "`e`": (("e", r"secrets are taken out"), (ESC, r"!secrets are taken out")),
    "`P` `X`": (
        *(("P", r"older than 30 days"), ("{", r"older:60d"), ("}", r"older:30d"), (ESC, ON_LIST)),
        *(
            ("X", r" trash  \d+ deletion"),
            (ESC, ON_LIST),
            ("W", r"what Hermes will delete"),
            (ESC, ON_LIST),
        ),
    ),
    "`I` `H`": (("I", r"cost by day"), (ESC, ON_LIST), ("H", r"journal mode"), (ESC, ON_LIST)),
    "`z`": (("z", r"!│  Fix auth"), ("z", r"│  Fix auth")),
    "`<` `>`": (("<", r"!(?m)^.{67}│"), (">", r"(?m)^.{67}│")),
    "F9": ((F9, r"the terminal has the mouse"), (F9, r"the browser has the mouse")),
    "F5": ((F5, r"reading the store again"),),
    "`?`": (
        *(("?", r"To begin with"), (ESC, r"!To begin with"), ("\x10", r"Command: type")),
        *(
            (ESC, r"!Command: type"),
            (":", r"Command: type"),
            ("doctor\r", r"journal mode"),
            (ESC, ON_LIST),
        ),
    ),
    "`R` `w`": (
        *(
            ("w", r"y resume"),
            ("y", r"no window here"),
            ("R", r"y resume"),
            ("y", r"hermes setup"),
            ("n\r", r"back from"),
        ),
        *(("j", r"title  2/"), ("k", FIRST)),
    ),
}
"""By the beginning of its line in docs/keys.md."""
README = {
    "`A` shows what happened since you looked, in all profiles and on all machines": (
        *(("A", r"since you looked"), (ESC, ON_LIST)),
    ),
    "`T` gives tags, which `tag:urgent` finds": (
        *(("Turgent\r", r"#urgent"), ("/tag:urgent", r"Fix auth bug"), (ESC, r"search: words")),
        *((ESC, ON_LIST), ("u", r"!#urgent"), ("g", FIRST)),
    ),
    "press `/` and type. Results appear as you type": (
        *(("/boat", r"hits in \d+ conversations"), (ESC, r"search: words"), (ESC, FIRST)),
    ),
    "Enter opens the conversation at the hit; `n` goes to the next one": (
        *(("/cookie\r", ON_TEXT), ("n", r"hit 2/14"), (ESC, r"Enter read"), (ESC, FIRST)),
    ),
    "`R` runs Hermes, in the right profile, at the newest part of the conversation. When it ends, you are back": (
        *(("R", r"--resume=\S+_a5d6cc"), ("y", r"hermes setup"), ("n\r", r"back from Hermes")),
    ),
    "`P` shows the store over time. Move the cutoff with `[` and `]`": (
        *(("P", r"older than 30 days"), ("[", r"older:37d"), ("]", r"older:30d"), (ESC, ON_LIST)),
    ),
    "`a` archives the selection, `D` moves it to the trash, and `u` undoes either one": (
        *(
            ("P", r"older than 30 days"),
            ("1", r"older:30d source:cron"),
            ("5", r"✓ 1 conversation ·"),
        ),
        *(("a", r"1 conversation archived"), ("u", r"undone: archived")),
        *(("D", r"to the trash\?"), ("y", r"1 conversation moved to the trash")),
        *(
            ("u", r"restored 1 conversation"),
            ("5", r"!is:empty"),
            ("1", r"older:30d"),
            (ESC, ON_LIST),
        ),
    ),
    "`I` shows cost, tokens and activity over time, by model": (
        *(("I", r"cost by day"), ("2", r"(?m)^ *model +convs"), (ESC, ON_LIST)),
    ),
    "`l` shows the family tree": (("l", r"Lineage · 4 sessions"), ("l", ON_LIST)),
    "`F` lists the files a conversation edited beside one diff of each": (
        *(
            ("F", r"5 files"),
            (TAB, r"diff --git"),
            ("jj\r", ON_TEXT),
            (ESC, r"5 files"),
            (ESC, ON_TEXT),
            (ESC, ON_LIST),
        ),
    ),
    "`B` shows how it went": (("B", r"9 turns"), (ESC, ON_LIST)),
    "`0` shows and searches them together": (
        *(("0", r"everything as one list|all profiles as one list"), ("a", r"all profiles  ")),
        *(("/tram", r"hits? in"), (ESC, r"search: words"), (ESC, r"o open there")),
        *((ESC, r"!all profiles  "),),
    ),
    "`?` shows them in the browser": (("?", r"To begin with"), (ESC, r"!To begin with")),
}
"""By words of the README."""


def _home(folder: Path, sessions: int) -> Path:
    """The sample home as a user's own, with so many older sessions beside those of the sample."""
    store = build_home(folder, now=time.time())
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "INSERT INTO sessions (id, source, title, started_at, ended_at, end_reason) "
            "SELECT 'old-' || i, 'cli', 'Old ' || i, 1e9 + i * 60, 1e9 + i * 60 + 30, 'done' "
            "FROM n WHERE ? > 0",
            [sessions, sessions],
        )
        for text in ("what was asked", "what was said"):
            connection.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) "
                "SELECT id, 'user', ?, started_at FROM sessions WHERE id LIKE 'old-%'",
                [text],
            )
    return folder


@pytest.fixture(scope="module", params=[0, pytest.param(20_000, marks=pytest.mark.slow)])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _home(tmp_path_factory.mktemp("scripts"), request.param)


@pytest.fixture(scope="module")
def terminals() -> Iterator[list[Terminal]]:
    """The browser that runs, until a script fails."""
    running: list[Terminal] = []
    yield running
    for each in running:
        each.child.close(force=True)


def _see(terminal: Terminal, pattern: str, keys: str) -> None:
    is_there, seen = not pattern.startswith("!"), re.compile(pattern.removeprefix("!"))
    terminal.read_until(
        lambda: bool(seen.search(terminal.text)) == is_there,
        f"after {keys!r} never saw {pattern!r}",
        15,
    )


def _play(home: Path, terminals: list[Terminal], steps: tuple[Step, ...]) -> None:
    if not terminals:
        path = f"{HERMES.parent}:/usr/bin:/bin"
        terminals.append(Terminal(["--home", str(home)], COLORTERM="truecolor", PATH=path))
    terminal = terminals.pop()
    _see(terminal, ON_LIST, "")
    _see(terminal, FIRST, "")
    for keys, pattern in steps:
        terminal.send(keys)
        if keys == ESC:  # with the next byte it would be another key, and frames come in portions
            terminal.read(0.15)
        _see(terminal, pattern, keys)
    _see(terminal, ON_LIST, "")
    _see(terminal, FIRST, "")
    terminals.append(terminal)  # it is where it was: the next one goes on with it


@pytest.mark.parametrize("line", SCRIPTS)
def test_keys(line: str, home: Path, terminals: list[Terminal]) -> None:
    """What a line of docs/keys.md promises."""
    _play(home, terminals, SCRIPTS[line])


@pytest.mark.parametrize("words", README)
def test_readme(words: str, home: Path, terminals: list[Terminal]) -> None:
    """What a sentence of the README promises."""
    assert words in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    _play(home, terminals, README[words])


def test_every_key_of_the_readme_has_a_script() -> None:
    keys = re.findall(r"`[^`\s]`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(keys) > 10
    assert [key for key in keys if not any(key in words for words in README)] == []


def test_every_line_has_a_script() -> None:
    lines = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    without = [each for each in cells[1:] if not each.startswith(tuple(SCRIPTS))]
    assert without == ["`q`, Ctrl+Q, Ctrl+C"], "that ends the browser, and has tests of its own"
