"""Reads an old transcript into rows of a store: every message that can be read, and a note for whatever cannot.

Files may be cut short by a full disk, half written, huge, or anybody's. Nothing here raises for what is in them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..connection.values import as_time, write_json
from ..demo.writer import Row
from ..messages.decode import SENTINEL
from ..text import as_text, one_line
from ..wording import _
from .finding import OldFile

LONGEST_LINE = 64 << 20
"""Bytes of a line of JSONL that are read; a message is never that long, a damaged file may be one line."""
LARGEST_SNAPSHOT = 512 << 20
"""Bytes of a JSON snapshot that are read."""

Object = dict[str, object]

UNREADABLE = "unreadable"
"""The role of the row of a note."""
FILE_SOURCE = "file"
"""The source of a transcript that does not name the platform it is from."""

_STAMP = re.compile(r"(\d{8}_\d{6})_")
_SPACE = re.compile(r"[ \t\r\n,:]*")


class Note(NamedTuple):
    """A place that cannot be read, in a sentence."""

    text: str


class Facts(NamedTuple):
    """Facts about the whole conversation, under the names the file uses."""

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
        else:
            yield Facts(found) if found.get("role") == "session_meta" else found


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    return one_line(error.msg if isinstance(error, json.JSONDecodeError) else str(error), 80)


def _cut_short(position: int, text: str, error: Exception) -> Note:
    said = _("cut short or damaged after {position:,} of {count:,} characters ({reason})")
    return Note(said.format(position=position, count=len(text), reason=_why(error)))


def _beginning(line: bytes) -> str:
    return f"“{one_line(line[:400].decode('utf-8', 'replace'), 80)}”"


def _document(file: BinaryIO) -> Iterator[Piece]:
    """One JSON object with a list of `messages`, or that list itself; up to the damage if it is cut short.

    Values are decoded one by one, so that a damaged document gives what comes before the damage.
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
    """The items of a list; returns the position after it, -1 if it is cut short."""
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
        else:
            yield Facts(found) if found.get("role") == "session_meta" else found


class Transcript(NamedTuple):
    """The rows of a file."""

    session: Row
    messages: list[Row]
    notes: int
    """Places that cannot be read."""


def _text(value: object) -> str | None:
    """A text as SQLite holds it; other JSON as JSON."""
    if value is None:
        return None
    return as_text(value) if isinstance(value, str) else as_text(write_json(value))


def _content(value: object) -> str | None:
    """Content: multimodal parts as Hermes stores them."""
    if isinstance(value, list | dict):
        return SENTINEL + (as_text(write_json(value)) or "")
    return _text(value)


def _message(piece: Object, session: str, moment: float) -> Row:
    calls = piece.get("tool_calls")
    return {
        "session_id": session,
        "role": _text(piece.get("role")) or "unknown",
        "content": _content(piece.get("content")),
        "tool_call_id": _text(piece.get("tool_call_id")),
        "tool_calls": _text(calls) if calls else None,
        "tool_name": _text(piece.get("tool_name") or piece.get("name")),
        "timestamp": moment,
        "finish_reason": _text(piece.get("finish_reason")),
        "reasoning": _text(piece.get("reasoning")),
        "reasoning_content": _text(piece.get("reasoning_content")),
    }


def _note(note: Note, file: OldFile, session: str, moment: float) -> Row:
    content = f"{as_text(file.path.name)}: {note.text}"
    return {"session_id": session, "role": UNREADABLE, "content": content, "timestamp": moment}


def _begun(file: OldFile) -> float:
    """When the conversation began, as its id tells in local time; else when the file was last written."""
    try:
        stamp = _STAMP.match(file.session_id)
        return datetime.strptime(stamp[1], "%Y%m%d_%H%M%S").timestamp() if stamp else file.modified
    except (ValueError, OverflowError, OSError):
        return file.modified


def to_transcript(file: OldFile, pieces: Iterator[Piece]) -> Transcript:
    """The rows of a file.

    Messages without a time take that of the one before. The id is the file's name: two files may be about one session.

    Args:
        file: Which.
        pieces: Its contents.
    """
    session = as_text(file.path.name) or "?"
    facts: Object = {}
    messages: list[Row] = []
    first: float | None = None
    moment: float | None = None
    notes = calls = 0
    for piece in pieces:
        if isinstance(piece, Facts):
            facts |= {name: value for name, value in piece.values.items() if value not in (None, "")}
            continue
        if isinstance(piece, Note):
            notes += 1
            messages.append(_note(piece, file, session, moment if moment is not None else _begun(file)))
            continue
        told = as_time(piece.get("timestamp"))
        if told is None and moment is None:
            told = as_time(facts.get("session_start")) or _begun(file)
        moment = told if told is not None else moment
        assert moment is not None
        first = moment if first is None else first
        tool_calls = piece.get("tool_calls")
        calls += len(tool_calls) if isinstance(tool_calls, list) else 0
        messages.append(_message(piece, session, moment))
    started = as_time(facts.get("session_start"))
    started = started if started is not None else first if first is not None else _begun(file)
    row: Row = {
        "id": session,
        "source": _text(facts.get("platform")) or FILE_SOURCE,
        "model": _text(facts.get("model")),
        "system_prompt": _text(facts.get("system_prompt")),
        "started_at": started,
        "ended_at": moment if moment is not None else file.modified,
        "end_reason": "old transcript",  # not shown as words: a value, like those of Hermes
        "message_count": len(messages),
        "tool_call_count": calls,
    }
    return Transcript(row, messages, notes)
