"""Names of keys as printed on a keyboard."""

from __future__ import annotations

from textual.keys import format_key

__all__ = ["key_names"]

_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "right_parenthesis": ")",
    "left_parenthesis": "(",
    "apostrophe": "'",
    "ampersand": "&",
    "backslash": "\\",
    "number_sign": "#",
    "escape": "Esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "enter": "Enter",
    "space": "Space",
    "backspace": "Backspace",
    "insert": "Ins",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
    "delete": "Del",
}


def _key_name(key: str) -> str:
    *before, last = key.split("+") if key != "+" else [key]
    name = _NAMES.get(last) or format_key(last)
    if (last[:1] == "f" and last[1:].isdigit()) or ("ctrl" in before and len(name) == 1):
        name = name.upper()
    return "+".join([*(each.capitalize() for each in before), name])


def key_names(keys: str) -> str:
    """Return the keys of a binding as printed on a keyboard: `Ctrl+R`, `F5`, `Space`, `Enter`, `Esc`, `q`."""
    return " ".join(map(_key_name, keys.split(",")))
