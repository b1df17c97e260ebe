"""Arguments and results of tools as text to be read: a JSON object as its fields, long strings in it as text."""

from __future__ import annotations

import json

from hermes_browse.store.outcomes import load_json

from .sgr import without_colours

MAIN_TEXTS = ("output", "content", "stdout", "result", "diff", "text")
"""Fields that hold what a tool has to say, the first of them that there is."""


def as_shown(text: str) -> str:
    """A text of a tool as the transcript shows it.

    Args:
        text: Arguments or a result, as stored.
    """
    loaded = load_json(text)
    if loaded is None:
        return without_colours(text)
    if isinstance(loaded, dict):  # long strings inside are what one wants to read: show them as text
        lines = []
        for key, value in loaded.items():
            shown = (
                without_colours(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
            )
            lines.append(f"{key}: {shown}" if "\n" not in shown else f"{key}:\n{shown}")
        return "\n".join(lines)
    return json.dumps(loaded, ensure_ascii=False, indent=2)


def what_it_said(text: str) -> str:
    """What a tool gave back, without the object it stands in and without colours.

    Args:
        text: A result, as stored.
    """
    loaded = load_json(text)
    if isinstance(loaded, dict):
        for key in MAIN_TEXTS:
            value = loaded.get(key)
            if isinstance(value, str) and value:
                return without_colours(value)
    return without_colours(text)
