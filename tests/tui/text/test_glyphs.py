"""Signs: each has words in the help and takes one cell; which encodings have them."""

import ast
import functools
import unicodedata

import pytest
from paths import ROOT
from platforms import posix_only
from rich.cells import cell_len

from hermes_browse.tui.settings.keys.screen_commands import SCREENS
from hermes_browse.tui.text.glyphs import LEGENDS, is_unicode

NOT_SIGNS = frozenset("\u2028\ufffc，。；：、？！）》（《")
"""Letters that stand in our code to be looked for, not to be shown."""
PUNCTUATION = frozenset("…“”‘’–—−•×∞¢≥≤·→↵↑↓←\u00a0\ufffd")
"""Signs with their usual meaning, and names of keys: they need no legend."""


@functools.cache
def painted_constants(path):
    """Texts of a module that are no docstrings and no patterns to look for letters with."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


@functools.cache
def signs_in(path):
    """Signs in the texts of a module."""
    letters = {
        letter for text in painted_constants(path) for letter in text if not letter.isascii()
    }
    return {
        each
        for each in letters - NOT_SIGNS
        if unicodedata.category(each) not in ("Cf", "Cc", "Cn", "Co", "Cs")
    }


_SIGNS_OF_ALL = ("glyphs", "styled", "stacked_columns", "list_rows")
"""Modules that have signs for others."""


def drawing(folder):
    """The modules of a folder of `tui/`, or the module of this name."""
    place = ROOT / "tui" / folder
    return sorted(place.rglob("*.py")) or [place.with_suffix(".py")]


@pytest.mark.slow
def test_every_sign_has_words_in_the_help():
    """Each that a screen draws is in the legend of its folder, unless it means what it means in any
    text."""
    known = {}
    for each in LEGENDS:
        known.setdefault(each.folder, set()).update("".join(each.signs))
    edges = {
        chr(code)
        for code in (*range(0x2500, 0x2580), *range(0x2581, 0x2588), *range(0x2589, 0x2590))
    }
    of_main = known["browser/list"] | known["browser/transcript"] | known["browser/lineage"]
    missing = set()
    for path in sorted((ROOT / "tui").rglob("*.py")):
        module = path.relative_to(ROOT / "tui").with_suffix("").as_posix()
        if module.startswith(("cli/", "settings/")) or path.stem in _SIGNS_OF_ALL:
            continue
        own = [known[each] for each in known if f"{module}/".startswith(f"{each}/")]
        # What is drawn in words is for every screen; what the start paints is the main screen.
        shared = [*known.values()] if module.startswith("text/") else [of_main]
        letters = signs_in(path) - PUNCTUATION - edges - set().union(*own, *shared)
        letters -= {"✓"} if path.name == "header.py" else set()  # “✓ 3 marked” says it itself
        missing |= {f"{module}: {each}" for each in letters}
    assert missing == set()


def test_legends_name_places_there_are_and_signs_that_are_drawn():
    """No words for a sign that is gone; every screen may draw what its columns share."""
    columns = "".join(painted_constants(ROOT / "tui" / "widgets" / "list_rows.py"))
    for each in LEGENDS:
        assert each.scope in ("main", *SCREENS)
        texts = columns + "".join(
            text for path in drawing(each.folder) for text in painted_constants(path)
        )
        gone = {
            letter
            for sign in each.signs
            for letter in sign
            if not letter.isascii() and letter not in texts
        }
        gone -= set("↑↓")  # in the line of views
        assert gone == set(), each.title


def test_signs_take_one_cell():
    """Nothing shifts."""
    for path in sorted((ROOT / "tui").rglob("*.py")):
        assert {each for each in signs_in(path) if cell_len(each) != 1} == set(), path.name


def test_encodings_that_hold_every_sign():
    assert [is_unicode(each) for each in ("utf-8", "UTF8", None, "ISO-8859-1", "ascii")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.slow
@posix_only
def test_the_browser_in_a_locale_without_utf8(hermes_home):
    """Words stay, signs are question marks, and every line keeps its width."""
    from terminal import Terminal

    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLORTERM": "truecolor"}
    terminal = Terminal(["--home", str(hermes_home)], **plain)
    terminal.wait_for("Enter read")
    assert " chats " in terminal.text.lower() and "?" in terminal.text
    terminal.leave()
    assert terminal.raw.isascii()
