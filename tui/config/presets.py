"""Sets of keys to begin with: what each changes of the default, in Textual's names of keys."""

from __future__ import annotations

from collections.abc import Mapping

_VIM = {
    "next-pane": "tab,ctrl+w",
    "to-list": "left,h",
    "palette": "ctrl+p,colon",
}
_EMACS = {
    "back": "escape,ctrl+g",
    "next-pane": "tab,ctrl+o",
    "to-list": "left,ctrl+b",
    "palette": "alt+x",
    **{f"{pane}-down": "down,ctrl+n" for pane in ("list", "transcript")},
    **{f"{pane}-up": "up,ctrl+p" for pane in ("list", "transcript")},
    **{f"{pane}-page-down": "pagedown,ctrl+v" for pane in ("list", "transcript")},
    **{f"{pane}-page-up": "pageup,alt+v" for pane in ("list", "transcript")},
    "list-first": "home,alt+less_than_sign",
    "list-last": "end,alt+greater_than_sign",
    "transcript-start": "home,alt+less_than_sign",
    "transcript-end": "end,alt+greater_than_sign",
}
_LETTERS_MOVE = ("list", "transcript", "help", "references", "profiles", "preflight")
_ARROWS = {
    **{f"{pane}-down": "down" for pane in _LETTERS_MOVE},
    **{f"{pane}-up": "up" for pane in _LETTERS_MOVE},
    **{f"{pane}-page-down": "pagedown" for pane in ("list", "transcript")},
    **{f"{pane}-page-up": "pageup" for pane in ("list", "transcript")},
    "list-first": "home",
    "list-last": "end",
    "transcript-start": "home",
    "transcript-end": "end",
}

KEYMAPS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "vim": _VIM,
    "emacs": _EMACS,
    "arrows": _ARROWS,
}
"""Preset to action to keys."""
