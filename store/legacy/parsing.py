"""Parse an old transcript into rows of a store, with a note for each part that cannot be read.

Files may be cut short by a full disk, half written, huge, or foreign. No content of a file raises
an error here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..connection.stored_values import as_time, write_json
from ..demo.store_writer import Row
from ..files import open_regular
from ..messages.decode import SENTINEL
from ..text import as_text, one_line, text_of
from ..wording import _
from .transcript_files import OldFile

MAX_LINE_BYTES = 64 << 20
"""Maximum bytes of a line of JSONL; a damaged file may be a single line."""
MAX_SNAPSHOT_BYTES = 512 << 20
"""Maximum bytes of a JSON snapshot; the rest is not read."""

Object = dict[str, object]

UNREADABLE = "unreadable"
"""Role of the row of a note."""
SANDBOX_CALL = "sandbox_tool_call"
FILE_SOURCE = "file"
"""Source of a transcript that does not name its platform."""

_STAMP = re.compile(r"(\d{8}_\d{6})_")
_SPACE = re.compile(r"[ \t\r\n,]*")


class ParsingNote(NamedTuple):
    """A sentence about a part of the file that cannot be read."""

    text: str


class OldFileFacts(NamedTuple):
    """Facts about the whole conversation, by their names in the file."""

    values: Object


Piece = OldFileFacts | ParsingNote | Object
"""Facts, a note, or a message as in the file."""


def read_pieces(path: Path) -> Iterator[Piece]:
    """Yield the contents of a transcript in order: a `.jsonl` file by lines, any other as one JSON
    document."""
    try:
        with open_regular(path, follow=False) as file:
            yield from _lines(file) if path.suffix == ".jsonl" else _document(file)
    except OSError as error:
        yield ParsingNote(
            _("the file cannot be read: {reason}").format(reason=error.strerror or error)
        )


def _lines(file: BinaryIO) -> Iterator[Piece]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            size = len(line) + _skip_line(file)
            note = _("line {number:,} is {size:,} bytes long and was not read")
            yield ParsingNote(note.format(number=number, size=size))
        elif line.strip():
            yield _line(line, number)


def _skip_line(file: BinaryIO) -> int:
    """Skip the rest of a line; return its bytes."""
    skipped = 0
    while rest := file.readline(MAX_LINE_BYTES):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped


def _line(line: bytes, number: int) -> Piece:
    text = line.decode("utf-8", "replace")
    start = f"“{one_line(text[:400], 80)}”"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        note = _("line {number:,} is not JSON ({reason}): {text}")
        return ParsingNote(note.format(number=number, reason=_reason(error), text=start))
    note = _("line {number:,} is no message: {text}")
    return _piece(value, note.format(number=number, text=start))


def _piece(value: object, note: str) -> Piece:
    """Return a message, or facts; the note if the value is neither."""
    if not isinstance(value, dict):
        return ParsingNote(note)
    return OldFileFacts(value) if value.get("role") == "session_meta" else value


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    return one_line(error.msg if isinstance(error, json.JSONDecodeError) else str(error), 80)


def _document(file: BinaryIO) -> Iterator[Piece]:
    """Parse a JSON object with a list of `messages`, or such a list itself.

    Values are decoded one by one, so that everything before a damaged place is read.
    """
    raw = file.read(MAX_SNAPSHOT_BYTES + 1)
    if len(raw) > MAX_SNAPSHOT_BYTES:
        note = _("only the first {size:,} bytes of the file were read")
        yield ParsingNote(note.format(size=MAX_SNAPSHOT_BYTES))
    text = raw[:MAX_SNAPSHOT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    del raw
    values = _Values(text)
    try:
        if values.skip("["):
            yield from _messages(values)
        elif values.skip("{"):
            yield from _object(values)
        else:
            is_empty = not text.strip()
            none = _("the file is empty") if is_empty else _("the file holds no JSON document")
            yield ParsingNote(none)
    except (ValueError, RecursionError) as error:
        note = _("cut short or damaged after {position:,} of {count:,} characters ({reason})")
        yield ParsingNote(
            note.format(position=values.position, count=len(text), reason=_reason(error))
        )


class _Values:
    """The values in a JSON text, decoded one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self.position = 0

    def skip(self, sign: str) -> bool:
        """Skip a sign, and the space and commas before it; return False if another follows."""
        self._skip_space()
        is_next = self._text.startswith(sign, self.position)
        if is_next:
            self.position += len(sign)
        return is_next

    def next(self) -> object:
        """Decode the next value. ValueError and RecursionError for a damaged one."""
        self._skip_space()
        value, self.position = self._decoder.raw_decode(self._text, self.position)
        return value

    def _skip_space(self) -> None:
        if match := _SPACE.match(self._text, self.position):
            self.position = match.end()


def _object(values: _Values) -> Iterator[Piece]:
    has_messages = False
    while not values.skip("}"):
        name = str(values.next())
        values.skip(":")
        if name == "messages" and values.skip("["):
            has_messages = True
            yield from _messages(values)
        else:
            yield OldFileFacts({name: values.next()})
    if not has_messages:
        yield ParsingNote(_("the file holds no list of messages"))


def _messages(values: _Values) -> Iterator[Piece]:
    while not values.skip("]"):
        value = values.next()
        start = one_line(text_of(str(value)[:400]), 80) if not isinstance(value, dict) else ""
        yield _piece(value, _("an item that is no message: “{text}”").format(text=start))


def _text(value: object) -> str | None:
    """Return a text without lone surrogates; any other value as JSON."""
    if value is None:
        return None
    return as_text(value) if isinstance(value, str) else as_text(write_json(value))


def _message(piece: Object, session: str, moment: float) -> Row:
    calls, content = piece.get("tool_calls"), piece.get("content")
    is_multimodal = isinstance(content, list | dict)  # then stored as Hermes does
    return {
        "session_id": session,
        "role": _text(piece.get("role")) or "unknown",
        "content": SENTINEL + (_text(content) or "") if is_multimodal else _text(content),
        "tool_call_id": _text(piece.get("tool_call_id")),
        "tool_calls": _text(calls) if calls else None,
        "tool_name": _text(piece.get("tool_name") or piece.get("name")),
        "timestamp": moment,
        "finish_reason": _text(piece.get("finish_reason")),
        "reasoning": _text(piece.get("reasoning")),
        "reasoning_content": _text(piece.get("reasoning_content")),
        "reasoning_details": _text(piece.get("reasoning_details")),
    }


def _is_sandbox_call(piece: Object) -> bool:
    """Tell whether a line is a tool call that a program of `execute_code` made; it has no role of a
    message."""
    return SANDBOX_CALL in (piece.get("type"), piece.get("role"), piece.get("event"))


def _sandbox_call(piece: Object) -> Object:
    """Return a message with the tool call of a line of `execute_code`, of which no release says the
    keys."""
    inner = piece.get("function")
    source = inner if isinstance(inner, dict) else piece
    name = next((source[key] for key in ("tool_name", "tool", "name") if source.get(key)), "tool")
    arguments = next(
        (source[key] for key in ("arguments", "args", "input", "args_preview") if key in source), ""
    )
    function = {
        "name": _text(name),
        "arguments": arguments if isinstance(arguments, str) else write_json(arguments),
    }
    call_id = _text(piece.get("tool_call_id") or piece.get("id"))
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call], "timestamp": piece.get("timestamp")}


def _start_of(file: OldFile) -> float:
    """Return the Unix seconds of the start, from the local time in the id; else of the file's last
    change."""
    try:
        stamp = _STAMP.match(file.session_id)
        return datetime.strptime(stamp[1], "%Y%m%d_%H%M%S").timestamp() if stamp else file.modified
    except (ValueError, OverflowError, OSError):
        return file.modified


def read_transcript(file: OldFile) -> tuple[Row, list[Row], int]:
    """Read a file; return the rows of its session and its messages, and the number of parts that
    cannot be read.

    Messages without a time get that of the one before. The id is the file's name: two files may be
    of one session.
    """
    session = text_of(file.path.name, "?")
    facts: Object = {}
    messages: list[Row] = []
    first: float | None = None
    moment: float | None = None
    notes = calls = 0
    for piece in read_pieces(file.path):
        if isinstance(piece, OldFileFacts):
            facts |= {
                name: value for name, value in piece.values.items() if value not in (None, "")
            }
            continue
        if isinstance(piece, ParsingNote):
            notes += 1
            time = moment if moment is not None else _start_of(file)
            content = f"{session}: {piece.text}"
            messages.append(
                {"session_id": session, "role": UNREADABLE, "content": content, "timestamp": time}
            )
            continue
        if _is_sandbox_call(piece):
            piece = _sandbox_call(piece)
        own = as_time(piece.get("timestamp"))
        if own is not None:
            moment = own
        elif moment is None:
            moment = as_time(facts.get("session_start")) or _start_of(file)
        first = moment if first is None else first
        tool_calls = piece.get("tool_calls")
        calls += len(tool_calls) if isinstance(tool_calls, list) else 0
        messages.append(_message(piece, session, moment))
    started = as_time(facts.get("session_start"))
    if started is None:
        started = first if first is not None else _start_of(file)
    row: Row = {
        "id": session,
        "source": _text(facts.get("platform")) or FILE_SOURCE,
        "model": _text(facts.get("model")),
        "system_prompt": _text(facts.get("system_prompt")),
        "started_at": started,
        "ended_at": moment if moment is not None else file.modified,
        "end_reason": "old transcript",  # a value, like those of Hermes
        "message_count": len(messages),
        "tool_call_count": calls,
    }
    return row, messages, notes
