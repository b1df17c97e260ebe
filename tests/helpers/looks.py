"""The keys that lead to each screen and card of the sample store."""

from __future__ import annotations

LOOKS: dict[str, tuple[str, ...]] = {
    "main": (),
    "all": ("4", "down"),
    "automation": ("2", "down"),
    "search": ("slash", *"cookie", "enter", "left", "down"),
    "search-title": ("slash", *"ferry"),
    "search-nothing": ("slash", *"zzqq"),
    "searches": ("slash", *"ferry", "ctrl+s", "escape", "escape", "ctrl+r"),
    "marks": ("down", "space", "space"),
    "tools-full": ("tab", "t", "r", "home"),
    "finding": ("tab", "backslash", *"token"),
    "seen-here": ("tab", "full_stop"),
    "recap": ("p",),
    "lineage": ("l", "home"),
    "details": ("i",),
    "rename": ("f2",),
    "delete": ("down", "space", "space", "D"),
    "export": ("e",),
    "preflight": ("2", "down", "R"),
    "sort": ("s",),
    "palette": ("ctrl+p",),
    "help": ("question_mark",),
    "cleanup": ("P",),
    "cleanup-plan": ("P", "tab", "enter"),
    "retention": ("W",),
    "compactions": ("M",),
    "changes": ("F", "tab", *["down"] * 6),
    "run": ("B",),
    "insights": ("I",),
    "profiles": ("0",),
    "places": ("0", "a"),
}
"""By name."""
