"""What stands in an old transcript: every message that can be read, and a note for whatever cannot.

Files may be cut short by a full disk, half written, huge, or anybody's. Nothing here raises for what is in them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..text import as_text, one_line
from ..wording import _

LONGEST_LINE = 64 << 20
"""Bytes of a line of JSONL that are read; a message is never that long, a damaged file may be one line."""
LARGEST_SNAPSHOT = 512 << 20
"""Bytes of a JSON snapshot that are read."""

Object = dict[str, object]


class Note(NamedTuple):
    """A place that cannot be read, in a sentence."""

    text: str


class Facts(NamedTuple):
    """What is said of the whole conversation, under the names the file uses."""

    values: Object


Piece = Facts | Note | Object
"""`Facts` and `Note`, or a message as it stands."""


def read_pieces(path: Path) -> Iterator[Piece]:
    """Everything in a transcript, in its order.

    Args:
        path: A plain file; `.jsonl` is read line by line, all others as one JSON document.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            yield from _lines(file) if path.suffix == ".jsonl" else _document(file)
    except OSError as error:
        yield Note(_("the file cannot be read: {reason}").format(reason=error.strerror or error))


def _lines(file: BinaryIO) -> Iterator[Piece]:
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        whole = len(line) < LONGEST_LINE or line.endswith(b"\n")
        if not whole:
            skipped = len(line)
            while rest := file.readline(LONGEST_LINE):
                skipped += len(rest)
                if rest.endswith(b"\n"):
                    break
            said = _("line {number:,} is {size:,} bytes long and was not read")
            yield Note(said.format(number=number, size=skipped))
            continue
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            said = _("line {number:,} is not JSON ({reason}): {text}")
            yield Note(said.format(number=number, reason=_why(error), text=_beginning(line)))
            continue
        if not isinstance(found, dict):
            yield Note(_("line {number:,} is no message: {text}").format(number=number, text=_beginning(line)))
        elif found.get("role") == "session_meta":
            yield Facts(found)
        else:
            yield found


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    return one_line(error.msg if isinstance(error, json.JSONDecodeError) else str(error), 80)


def _cut_short(position: int, text: str, error: Exception) -> Note:
    said = _("cut short or damaged after {position:,} of {count:,} characters ({reason})")
    return Note(said.format(position=position, count=len(text), reason=_why(error)))


def _beginning(line: bytes) -> str:
    return f"“{one_line(line[:400].decode('utf-8', 'replace'), 80)}”"


_SPACE = re.compile(r"[ \t\r\n,:]*")


def _document(file: BinaryIO) -> Iterator[Piece]:
    """One JSON object whose `messages` are a list, or that list itself; as far as it goes when it is cut short.

    Values are decoded one by one where they stand, so that a document that is not whole gives what it has.
    """
    raw = file.read(LARGEST_SNAPSHOT + 1)
    if len(raw) > LARGEST_SNAPSHOT:
        yield Note(_("only the first {size:,} bytes of the file were read").format(size=LARGEST_SNAPSHOT))
        raw = raw[:LARGEST_SNAPSHOT]
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    del raw
    start = _after(text, 0)
    if text[start : start + 1] == "[":
        yield from _messages(text, start + 1)
        return
    if text[start : start + 1] != "{":
        yield Note(_("the file holds no JSON document") if text.strip() else _("the file is empty"))
        return
    yield from _object(text, start + 1)


def _after(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _object(text: str, position: int) -> Iterator[Piece]:
    facts: Object = {}
    decoder = json.JSONDecoder()
    has_messages = False
    while True:
        position = _after(text, position)
        if text[position : position + 1] == "}":
            break
        try:
            name, position = decoder.raw_decode(text, position)
            position = _after(text, position)
            if name == "messages" and text[position : position + 1] == "[":
                yield Facts(facts)
                facts, has_messages = {}, True
                position = yield from _messages(text, position + 1)
                if position < 0:
                    return
                continue
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield _cut_short(position, text, error)
            break
        facts[str(name)] = value
    if facts:
        yield Facts(facts)
    if not has_messages:
        yield Note(_("the file holds no list of messages"))


def _messages(text: str, position: int) -> Generator[Piece, None, int]:
    """The items of a list; gives back where it ends, -1 where it does not."""
    decoder = json.JSONDecoder()
    while True:
        position = _after(text, position)
        if text[position : position + 1] == "]":
            return position + 1
        try:
            found, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield _cut_short(position, text, error)
            return -1
        if not isinstance(found, dict):
            shown = one_line(as_text(str(found)[:400]) or "", 80)
            yield Note(_("an item that is no message: “{text}”").format(text=shown))
        elif found.get("role") == "session_meta":
            yield Facts(found)
        else:
            yield found
