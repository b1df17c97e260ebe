"""Arguments and results of tools, which are JSON, as text for people."""

from __future__ import annotations

import json


def json_as_text(value: dict[str, object] | list[object]) -> str:
    """Return a JSON object as a line for each field, with strings as they read; a list indented."""
    if isinstance(value, list):
        return _indented(value)
    return "\n".join(_field(str(name), each) for name, each in value.items())


def _field(name: str, value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"{name}:\n{value.rstrip()}"
    return f"{name}: {value if isinstance(value, str) else _indented(value)}"


def _indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
