"""Scripts of keys: what is pressed, and what is on the screen then. Each begins and ends on the main
screen, with the cursor on the first conversation."""

import re

from paths import DATA

ESC = "\x1b"
ON_LIST, FIRST = "Enter read  / search  R resume", r"title  1/"
_PLACES = {
    "ON_LIST": ON_LIST,
    "ON_TEXT": r"\\ find here",
    "FIRST": FIRST,
    # The second conversation is in the list, again where a change of it was undone.
    "SECOND": r"· Feature flag",
}
_KEYS = {
    "esc": ESC,
    "enter": "\r",
    "space": " ",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pagedown": "\x1b[6~",
    "wheel+down": "\x1b[<65;20;12M",
    "wheel+up": "\x1b[<64;90;12M",
    "f2": "\x1bOQ",
    "f5": "\x1b[15~",
    "f9": "\x1b[20~",
}
Script = tuple[tuple[str, str], ...]
"""Keys, and a pattern that is on the screen then; with `!` in front, one that no longer is."""
AFRESH: Script = (
    ("", ON_LIST),
    ("", FIRST),
    ("G", r"title  ([\d,]+)/\1[ ]"),
    ("", "!Set for 06:10"),
    ("g", FIRST),
    ("", "Set for 06:10"),
)
"""Opens the first conversation once more, at its end: the script before may have left it elsewhere."""


def _key(match: re.Match[str]) -> str:
    name = match[1]
    return _KEYS[name] if name in _KEYS else chr(ord(name.removeprefix("ctrl+")) - 96)


def typed(keys: str) -> str:
    """What a terminal sends for keys, of which some are written as `<enter>`."""
    return re.sub(r"<([a-z][\w+]*)>", _key, keys)


def _step(line: str) -> tuple[str, str]:
    keys, _arrow, pattern = line.partition("→ ")
    return typed(keys.strip()), _PLACES.get(pattern, pattern)


def _read(name: str) -> dict[str, Script]:
    """The scripts of a file: a paragraph for each, whose first line is its name."""
    text = (DATA / "scripts" / name).read_text(encoding="utf-8")
    _about, *paragraphs = text.rstrip("\n").split("\n\n")
    found = {}
    for paragraph in paragraphs:
        title, *steps = paragraph.split("\n")
        found[title] = tuple(map(_step, steps))
    return found


SCRIPTS = _read("keys.txt")
"""By the beginning of its line in docs/keys.md."""
README = _read("readme.txt")
"""By words of the README."""
