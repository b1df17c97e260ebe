"""A transcript as rows of a store: one of `sessions`, one of `messages` for each message and each note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from ..messages import SENTINEL
from ..text import as_text
from ..values import as_time, write_json
from .finding import OldFile
from .parsing import Facts, Note, Object, Piece

UNREADABLE = "unreadable"
"""The role of a note in the place of what cannot be read."""
FILE_SOURCE = "file"
"""The source of a transcript that does not name the platform it is from."""

Value = str | int | float | None
Row = Mapping[str, Value]

_STAMP = re.compile(r"(\d{8}_\d{6})_")


class Transcript(NamedTuple):
    """What becomes of a file."""

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
    empty = dict.fromkeys(
        ("tool_call_id", "tool_calls", "tool_name", "finish_reason", "reasoning", "reasoning_content"), None
    )
    content = f"{as_text(file.path.name)}: {note.text}"
    return {"session_id": session, "role": UNREADABLE, "content": content, "timestamp": moment, **empty}


def _begun(file: OldFile) -> float:
    """When the conversation began, as its id tells in local time; else when the file was last written."""
    match = _STAMP.match(file.session_id)
    if match is not None:
        try:
            return datetime.strptime(match[1], "%Y%m%d_%H%M%S").timestamp()
        except (ValueError, OverflowError, OSError):
            return file.modified
    return file.modified


def to_transcript(file: OldFile, pieces: Iterator[Piece]) -> Transcript:
    """The rows of a file.

    Messages without a time take that of the one before. The id is the file's name: two files may be about one session.

    Args:
        file: Which.
        pieces: What stands in it.
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
