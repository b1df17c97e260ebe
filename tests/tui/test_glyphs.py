"""Signs in ASCII: one table for all of ours, applied to everything that is painted, by itself where it has to be."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Browser, browsing, open_app
from builders import make_store
from rich.cells import cell_len
from rich.segment import Segment
from store_builder import T0
from textual.color import Color

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location, locate_file
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.commands.screen_commands import SCREENS
from hermes_browse.tui.config.options import Options
from hermes_browse.tui.config.start import Start
from hermes_browse.tui.shared.glyphs import LEGENDS, TABLE, are_plain, encodable, plain
from hermes_browse.tui.shared.lines import GlyphFilter

ROOT = Path(__file__).parents[2]
NOT_SIGNS = frozenset("\u2028\ufffc，。；：、？！）》（《")
"""Letters that stand in our code to be looked for, not to be shown."""
PUNCTUATION = frozenset("…“”‘’–—−•×∞¢≥≤·→↵↑↓←\u00a0\ufffd")
"""Signs with their usual meaning, and names of keys: they need no legend."""


def painted_constants(path: Path) -> Iterator[str]:
    """Texts of a module that are no docstrings and no patterns to look for letters with."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_every_sign_of_ours_is_in_the_table() -> None:
    """A new one has to be given its ASCII."""
    missing: set[str] = set()
    for path in sorted((ROOT / "tui").rglob("*.py")):
        if path.stem == "glyphs":
            continue
        letters = {letter for text in painted_constants(path) for letter in text if not letter.isascii()} - NOT_SIGNS
        signs = {each for each in letters if unicodedata.category(each) not in ("Cf", "Cc", "Cn", "Co", "Cs")}
        missing |= {f"{path.name}: {each} U+{ord(each):04X}" for each in signs if ord(each) not in TABLE}
    assert missing == set()


SHARED = {
    "screens": "list",
    "start": "list",
    "search": "list",
    "resume": "transcript",
    "profiles": "list",
    "edit": "list",
}
"""Folders that draw rows or blocks of another one."""


def test_every_sign_has_words_in_the_help() -> None:
    """Each that a screen draws is in the legend of its folder, unless it means what it means in any text."""
    known: dict[str, set[str]] = {}
    for each in LEGENDS:
        known.setdefault(each.folder, set()).update("".join(sign for sign, _ in each.signs))
    edges = {chr(code) for code in (*range(0x2500, 0x2580), *range(0x2581, 0x2588), *range(0x2589, 0x2590))}
    missing = set()
    for path in sorted((ROOT / "tui").glob("*/*.py")):
        folder = path.parent.name
        if folder in ("cli", "commands", "config") or path.stem in ("glyphs", "styled", "stacked_columns"):
            continue
        ours = known.get(folder, set()) | known.get(SHARED.get(folder, ""), set())
        letters = {letter for text in painted_constants(path) for letter in text if ord(letter) in TABLE}
        letters -= {"✓"} if path.name == "header.py" else set()  # “✓ 3 marked” says it itself
        missing |= {f"{folder}/{path.name}: {each}" for each in letters - PUNCTUATION - edges - ours}
    assert missing == set()


def test_legends_name_places_there_are_and_signs_that_are_drawn() -> None:
    """No words for a sign that is gone."""
    for each in LEGENDS:
        assert each.place in ("main", *SCREENS)
        texts = "".join(text for path in (ROOT / "tui" / each.folder).glob("*.py") for text in painted_constants(path))
        gone = {letter for sign, _ in each.signs for letter in sign if not letter.isascii() and letter not in texts}
        gone -= set("↑↓")  # in the line of views
        assert gone == set(), each.title


def test_signs_and_what_replaces_them_take_one_cell() -> None:
    """Nothing shifts; and what tells states apart stays apart."""
    for code, replaced in TABLE.items():
        assert len(replaced) == 1 and replaced.isascii() and replaced.isprintable(), f"U+{code:04X}"
        assert cell_len(chr(code)) == 1, f"U+{code:04X}"
    states = plain("●★▪⊕↻○∅·")
    assert len(set(states)) == len(states)


@pytest.mark.parametrize(
    ("mode", "encoding", "wanted"),
    [
        ("auto", "utf-8", False),
        ("auto", "UTF8", False),
        ("auto", None, False),
        ("auto", "ISO-8859-1", True),
        ("auto", "ascii", True),
        ("ascii", "utf-8", True),
        ("unicode", "ascii", False),
    ],
)
def test_they_are_ascii_where_that_is_set_or_nothing_else_is_possible(
    mode: str, encoding: str | None, wanted: bool
) -> None:
    """By the encoding of the terminal's stream."""
    assert are_plain(mode, encoding) is wanted


def test_a_narrow_encoding_gets_question_marks_of_the_same_width() -> None:
    """Letters it has stay; wide ones become two marks, combining ones none."""
    assert encodable("Brännö 日本 e\u0301", "latin-1") == "Brännö ???? e"
    line = [Segment("· 日本 ä "), Segment("plain")]
    filtered = GlyphFilter("latin-1").apply(line, Color(0, 0, 0))
    assert [each.text for each in filtered] == ["- ???? ä ", "plain"]
    assert GlyphFilter("utf-8").apply(line, Color(0, 0, 0))[0].text == "- 日本 ä "


def lines_of(browser: Browser) -> list[str]:
    """Everything that is on the screen, as it is painted."""
    return ["".join(segment.text for segment in strip) for strip in browser.app.screen._compositor.render_strips()]


@pytest.fixture
def ascii_app(tmp_path: Path) -> BrowseApp:
    """The browser with ASCII signs on a store whose texts are ASCII: whatever else is on screen is ours."""
    path = tmp_path / "hermes" / "state.db"
    path.parent.mkdir()
    said = "# Heading\n\n- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    said += "```python\nprint(1)\n```\n\n- [x] done\n\n---\n"
    call = '[{"id": "c1", "function": {"name": "terminal", "arguments": "{\\"command\\": \\"ls\\"}"}}]'
    make_store(
        path,
        sessions=[
            {"id": "one", "title": "One", "started_at": T0 - 9e5, "ended_at": T0 - 500, "end_reason": "compression"},
            {"id": "two", "title": "One #2", "started_at": T0 - 400, "parent_session_id": "one"},
            {"id": "sub", "started_at": T0 - 300, "parent_session_id": "two", "source": "cli"},
            {"id": "cron_a_20260101_000000", "source": "cron", "started_at": T0},
            {"id": "old", "started_at": T0 - 9_000_000, "ended_at": T0 - 9_000_000, "archived": 1},
        ],
        messages=[
            {"session_id": "one", "content": "please do", "timestamp": T0 - 900_000},
            {"session_id": "one", "role": "assistant", "content": said, "timestamp": T0 - 890_000, "reasoning": "hm"},
            {"session_id": "two", "content": "x " * 900, "timestamp": T0 - 400},
            {"session_id": "two", "role": "assistant", "tool_calls": call, "timestamp": T0 - 399},
            {"session_id": "two", "role": "tool", "tool_call_id": "c1", "tool_name": "terminal",
             "content": '{"output": "' + "line\\n" * 60 + '", "exit_code": 1}', "timestamp": T0 - 398},
            {"session_id": "two", "role": "assistant", "content": said, "timestamp": T0 - 397},
            {"session_id": "old", "content": "long ago", "timestamp": T0 - 9_000_000},
        ],
    )  # fmt: skip
    app = open_app(locate_file(path), T0)
    return BrowseApp(app.location, app.store, app._first, app._shown, start=Start(Options(glyphs="ascii")))


@pytest.mark.slow
async def test_no_sign_of_ours_is_painted_on_any_screen(ascii_app: BrowseApp) -> None:
    """Main screen, search, help, cards and the screens over it, one after another."""
    ascii_app.clock = lambda: T0
    async with browsing(ascii_app, (140, 44)) as browser:
        seen: list[str] = []
        for keys in (
            (), ("t",), ("t",), ("r",), ("l",), ("escape",), ("space",), ("escape",), ("question_mark",), ("escape",),
            ("i",), ("escape",), ("e",), ("escape",), ("D",), ("escape",), ("P",), ("escape",), ("X",), ("escape",),
            ("W",), ("escape",), ("0",), ("escape",), ("4",), ("s",), ("slash", "p", "l", "e"), ("escape", "escape"),
            ("slash", "z", "q", "q"), ("escape", "escape"), ("T",), ("escape",), ("ctrl+r",), ("escape",), ("2",),
        ):  # fmt: skip
            await browser.press(*keys)
            text = "\n".join(lines_of(browser))
            strange = {letter for letter in text if not letter.isascii()}
            assert not strange, f"after {keys}: {strange}"
            seen.append(text)
        assert len(set(seen)) > 20, "the screens were really there"
        assert "Enter resume" in seen[0]
        assert "=2" in seen[0]


async def test_unicode_signs_stay_where_they_are_wanted(tmp_path: Path) -> None:
    """The filter is not even there."""
    path = tmp_path / "state.db"
    make_store(path, sessions=[{"id": "a"}], messages=[{"session_id": "a", "content": "x"}])
    app = open_app(Location(path), T0)
    async with browsing(app) as browser:
        assert app.glyph_filter is None
        assert "·" in "".join(lines_of(browser))
        assert Store(path).fingerprint()
