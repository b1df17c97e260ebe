"""Where in a TOML file something is said: the parser of the standard library keeps no line numbers."""

from __future__ import annotations

import re

from hermes_browse.store.wording import _

_TABLE = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_ERROR = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


def _bare(name: str) -> str:
    return name.replace('"', "").replace("'", "").replace(" ", "")


def line_of(text: str, table: str, name: str) -> int | None:
    """The line, counted from 1, that sets a key; None when it is written in a way that is not looked for.

    Args:
        text: The file.
        table: Name of the table the key is in, empty for the top.
        name: The key, or a table of that name.
    """
    current, wanted = "", f"{table}.{name}" if table else name
    for number, line in enumerate(text.splitlines(), 1):
        header = _TABLE.match(line)
        if header:
            current = _bare(header[1])
            if current == wanted:
                return number
            continue
        key, equals, _ = line.partition("=")
        if equals and (f"{current}.{_bare(key.strip())}" if current else _bare(key.strip())) == wanted:
            return number
    return None


def split_error(message: str, text: str) -> tuple[str, int]:
    """What a TOML error says, and its line, counted from 1.

    Args:
        message: Of a `TOMLDecodeError` (CPython 3.11 to 3.14).
        text: The file.
    """
    match = _ERROR.search(message)
    if match is None:
        return message, 1
    said = message[: match.start()]
    if match[1] is None:
        return _("{said} at the end").format(said=said), max(len(text.splitlines()), 1)
    return _("{said} (column {column})").format(said=said, column=match[2]), int(match[1])
