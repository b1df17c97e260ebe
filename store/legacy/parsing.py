"""Parse an old transcript into rows of a store, with a note for each part that cannot be read.

Files may be cut short by a full disk, half written, huge, or foreign. No content of a file raises
an error here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..connection.stored_values import as_time, write_json
from ..demo.store_writer import Row
from ..messages.decode import SENTINEL
from ..text import as_text, one_line
from ..trash.session_files import open_plain
from ..wording import _
from .transcript_files import OldFile

LONGEST_LINE = 64 << 20
"""Maximum bytes of a line of JSONL; a damaged file may be a single line."""
LARGEST_SNAPSHOT = 512 << 20
"""Maximum bytes of a JSON snapshot; the rest is not read."""

Object = dict[str, object]

UNREADABLE = "unreadable"
"""Role of the row of a note."""
SANDBOX_CALL = "sandbox_tool_call"
FILE_SOURCE = "file"
"""Source of a transcript that does not name its platform."""

_STAMP = re.compile(r"(\d{8}_\d{6})_")
_SPACE = re.compile(r"[ \t\r\n,:]*")


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
        with open_plain(path) as file:
            yield from _lines(file) if path.suffix == ".jsonl" else _document(file)
    except OSError as error:
        yield ParsingNote(
            _("the file cannot be read: {reason}").format(reason=error.strerror or error)
        )


def _lines(file: BinaryIO) -> Iterator[Piece]:
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            skipped = len(line)
            while rest := file.readline(LONGEST_LINE):
                skipped += len(rest)
                if rest.endswith(b"\n"):
                    break
            note = _("line {number:,} is {size:,} bytes long and was not read")
            yield ParsingNote(note.format(number=number, size=skipped))
            continue
        if not line.strip():
            continue
        start = f"“{one_line(line[:400].decode('utf-8', 'replace'), 80)}”"
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            note = _("line {number:,} is not JSON ({reason}): {text}")
            yield ParsingNote(note.format(number=number, reason=_reason(error), text=start))
            continue
        if not isinstance(value, dict):
            yield ParsingNote(
                _("line {number:,} is no message: {text}").format(number=number, text=start)
            )
        else:
            yield OldFileFacts(value) if value.get("role") == "session_meta" else value


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    return one_line(error.msg if isinstance(error, json.JSONDecodeError) else str(error), 80)


def _cut_short(position: int, text: str, error: Exception) -> ParsingNote:
    note = _("cut short or damaged after {position:,} of {count:,} characters ({reason})")
    return ParsingNote(note.format(position=position, count=len(text), reason=_reason(error)))


def _document(file: BinaryIO) -> Iterator[Piece]:
    """Parse a JSON object with a list of `messages`, or such a list itself.

    Values are decoded one by one, so that everything before a damaged place is read.
    """
    raw = file.read(LARGEST_SNAPSHOT + 1)
    if len(raw) > LARGEST_SNAPSHOT:
        yield ParsingNote(
            _("only the first {size:,} bytes of the file were read").format(size=LARGEST_SNAPSHOT)
        )
        raw = raw[:LARGEST_SNAPSHOT]
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    del raw
    start = _skip_space(text, 0)
    if text[start : start + 1] == "[":
        yield from _messages(text, start + 1)
        return
    if text[start : start + 1] != "{":
        yield ParsingNote(
            _("the file holds no JSON document") if text.strip() else _("the file is empty")
        )
        return
    yield from _object(text, start + 1)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _object(text: str, position: int) -> Iterator[Piece]:
    facts: Object = {}
    decoder = json.JSONDecoder()
    has_messages = False
    while True:
        position = _skip_space(text, position)
        if text[position : position + 1] == "}":
            break
        try:
            name, position = decoder.raw_decode(text, position)
            position = _skip_space(text, position)
            if name == "messages" and text[position : position + 1] == "[":
                yield OldFileFacts(facts)
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
        yield OldFileFacts(facts)
    if not has_messages:
        yield ParsingNote(_("the file holds no list of messages"))


def _messages(text: str, position: int) -> Generator[Piece, None, int]:
    """Yield the items of a list; return the position after it, -1 if it is cut short."""
    decoder = json.JSONDecoder()
    while True:
        position = _skip_space(text, position)
        if text[position : position + 1] == "]":
            return position + 1
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield _cut_short(position, text, error)
            return -1
        if not isinstance(value, dict):
            start = one_line(as_text(str(value)[:400]) or "", 80)
            yield ParsingNote(_("an item that is no message: “{text}”").format(text=start))
        else:
            yield OldFileFacts(value) if value.get("role") == "session_meta" else value


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
    session = as_text(file.path.name) or "?"
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
