"""What the browser remembers by itself from one start to the next: view, order, theme, how the panes share the screen.

A private file of its own, so that the configuration is written by nobody but the user. Whatever is wrong with it, it
is as if nothing had been remembered.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.models import Sort, View

from ..pane_sizes import HEIGHT, WIDTH, percent

_MOST = 10_000
"""Bytes; what is larger was not written here."""


class Memory(NamedTuple):
    """How the browser was left."""

    view: View = View.CHATS
    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    theme: str | None = None
    """The theme chosen in the palette; None when none was."""
    list_width: int = WIDTH
    """Percent of the panes, where they stand beside each other."""
    list_height: int = HEIGHT
    """Percent, where they stand above each other."""
    is_list_alone: bool = False


def _member(kind: type[View] | type[Sort], value: object) -> View | Sort | None:
    return next((each for each in kind if each.value == value), None)


def read_memory(path: Path) -> Memory:
    """Read what is remembered; what cannot be read or makes no sense is as on a first start."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST + 1)
    except OSError:
        return Memory()
    import json  # not needed on a first start, and it takes a moment

    try:
        found = json.loads(raw) if len(raw) <= _MOST else None
    except (ValueError, RecursionError):
        return Memory()
    if not isinstance(found, dict):
        return Memory()
    view, sort = _member(View, found.get("view")), _member(Sort, found.get("sort"))
    theme = found.get("theme")
    return Memory(
        view=view if isinstance(view, View) else View.CHATS,
        sort=sort if isinstance(sort, Sort) and sort is not Sort.SIZE else Sort.ACTIVITY,
        reverse=found.get("reverse") is True,
        theme=theme if isinstance(theme, str) and len(theme) < 100 else None,
        list_width=percent(found.get("list_width"), WIDTH),
        list_height=percent(found.get("list_height"), HEIGHT),
        is_list_alone=found.get("list_alone") is True,
    )


def write_memory(path: Path, memory: Memory) -> bool:
    """Write the file in one step: another browser sees the old one or the new one, never half of it.

    Args:
        path: The file; its folder is made.
        memory: What to remember.

    Returns:
        Whether it could be written; a home that cannot be written to is no reason for a complaint.
    """
    import json

    text = json.dumps(
        {
            "view": memory.view.value,
            "sort": memory.sort.value,
            "reverse": memory.reverse,
            "theme": memory.theme,
            "list_width": memory.list_width,
            "list_height": memory.list_height,
            "list_alone": memory.is_list_alone,
        }
    )
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())  # or a power cut may leave an empty file by that name
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True
