"""Keys as they are printed on a keyboard."""

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
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "home": "Home",
    "end": "End",
    "delete": "Del",
    "f2": "F2",
    "f5": "F5",
}


def key_names(keys: str) -> str:
    """Keys of a binding as they are printed on a keyboard."""
    found = []
    for key in keys.split(","):
        name = _NAMES.get(key) or format_key(key)
        found.append(name.replace("ctrl+", "Ctrl+"))
    return " ".join(found)
