"""Find conversations in `$HERMES_HOME/sessions` that have no session in the store, and parse them
into rows of one, with a note for each part that cannot be read.

Hermes up to 0.13 wrote `<id>.jsonl` for every conversation of its gateways (`gateway/session.py`),
at first instead of the store; later `session_<id>.json` is an optional snapshot (`run_agent.py`,
`_save_session_log`, 0.19). Other files of that folder are not conversations: the routing index
`sessions.json`, and `request_dump_*`, requests to a provider. Only regular files with one link are
read: a second link may be the store itself, and opening and closing the store's file in this
process would drop the locks of our connections (https://sqlite.org/howtocorrupt.html, 2.2).

Files may be cut short by a full disk, half written, huge, or foreign. No content of a file raises
an error here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_time, first_texts, write_json
from ..files import open_regular
from ..messages.decode import SENTINEL
from ..text import as_text, one_line, text_of
from ..trash.session_files import plain_file
from ..wording import _

if TYPE_CHECKING:
    from ..demo.store_writer import Row

MAX_LINE_BYTES = 64 << 20
"""A longer line of JSONL is read as several: a damaged file may be a single line."""
MAX_SNAPSHOT_BYTES = 512 << 20
"""Maximum bytes of a JSON snapshot; the rest is not read."""

Object = dict[str, object]

UNREADABLE = "unreadable"
"""Role of the row of a note."""
FILE_SOURCE = "file"
"""Source of a transcript that does not name its platform."""

FACTS = "session_meta"
"""Role of the facts about the whole conversation."""
_TEXTS = (
    "role", "tool_call_id", "tool_name", "finish_reason", "reasoning", "reasoning_content",
    "reasoning_details",
)  # fmt: skip
_ROLES = ("user", "assistant", "tool", "system")
_STAMP = re.compile(r"(\d{8}_\d{6})_")


class OldFile(NamedTuple):
    """A transcript file, not read yet."""

    path: Path
    session_id: str
    size: int
    """Bytes."""
    modified: float
    """Unix seconds."""


class Count(NamedTuple):
    """The number of files, and their size."""

    files: int = 0
    bytes: int = 0


def session_of(name: str) -> str | None:
    """Return the session id in a file name; None if it is not the name of a transcript."""
    stem, _dot, extension = name.rpartition(".")
    if not stem or name == "sessions.json" or name.startswith((".", "request_dump_")):
        return None
    if extension == "jsonl":
        return stem
    return stem.removeprefix("session_") or None if extension == "json" else None


def find_files(folder: Path, known: Collection[str]) -> Iterator[OldFile]:
    """Yield transcripts without a session in the store, in the order of the folder.

    Args:
        folder: `sessions` of a Hermes home; may be missing.
        known: Ids of the sessions in the store.

    Raises:
        OSError: The folder cannot be read.
    """
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            session = session_of(entry.name)
            if session is None or session in known:
                continue
            status = plain_file(folder / entry.name)
            if status is not None:
                yield OldFile(
                    folder / entry.name, text_of(session, "?"), status.st_size, status.st_mtime
                )


def known_sessions(reader: Reader) -> frozenset[str]:
    """Return the ids of all sessions of a store."""
    return frozenset(first_texts(reader.rows("SELECT id FROM sessions")))


def count_files(folder: Path | None, reader: Reader) -> Count:
    """Count the transcripts in `sessions` of a home without a session in its store; zeros if it
    cannot be read."""
    if folder is None:
        return Count()
    try:
        if next(find_files(folder, ()), None) is None:
            return Count()
        sizes = [each.size for each in find_files(folder, known_sessions(reader))]
    except OSError:
        return Count()
    return Count(len(sizes), sum(sizes))


Piece = str | Object
"""A sentence about a part of the file that cannot be read, or an object as in the file: a message,
or facts about the whole conversation with the role `session_meta`."""


def read_pieces(path: Path) -> Iterator[Piece]:
    """Yield the contents of a transcript in order: a `.jsonl` file by lines, any other as one JSON
    document."""
    try:
        with open_regular(path, follow=False) as file:
            yield from _lines(file) if path.suffix == ".jsonl" else _document(file)
    except (OSError, ValueError, RecursionError) as error:
        yield _("the file cannot be read: {reason}", reason=_reason(error))


def _lines(file: BinaryIO) -> Iterator[Piece]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        try:
            value, reason = json.loads(text), _("no object")
        except (ValueError, RecursionError) as error:
            value, reason = None, _reason(error)
        if isinstance(value, dict):
            yield value
        elif text.strip():
            yield _(
                "line {number:,} is no message ({reason}): “{text}”",
                number=number,
                reason=reason,
                text=one_line(text[:400], 80),
            )


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    said = error.strerror if isinstance(error, OSError) else getattr(error, "msg", None)
    return one_line(said or str(error), 80)


def _document(file: BinaryIO) -> Iterator[Piece]:
    """Parse a JSON object with a list of `messages`, or such a list itself.

    Raises:
        ValueError: It is damaged, or too large: Hermes replaces such a file as a whole (0.19).
        RecursionError: It is nested too deep.
    """
    text = file.read(MAX_SNAPSHOT_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    messages = json.loads(text)
    if isinstance(messages, dict):
        facts = messages
        messages = facts.pop("messages", None)
        yield facts | {"role": FACTS}
    for value in messages if isinstance(messages, list) else [messages]:
        if isinstance(value, dict):
            yield value
        else:
            yield _(
                "an item that is no message: “{text}”",
                text=one_line(text_of(str(value)[:400]), 80),
            )


def _text(value: object) -> str | None:
    """Return a text without lone surrogates; any other value as JSON."""
    if value is None:
        return None
    return as_text(value if isinstance(value, str) else write_json(value))


def _message(piece: Object, session: str, moment: float) -> Row:
    row = {name: _text(piece.get(name)) for name in _TEXTS}
    calls, content = piece.get("tool_calls"), piece.get("content")
    text = _text(content)
    if isinstance(content, list | dict):  # multimodal, stored as Hermes does
        text = f"{SENTINEL}{text}"
    elif text is None and row["role"] not in _ROLES:  # such as `sandbox_tool_call`
        text = _text(piece)
    return row | {
        "session_id": session,
        "role": row["role"] or "unknown",
        "content": text,
        "tool_calls": _text(calls) if calls else None,
        "tool_name": row["tool_name"] or _text(piece.get("name")),
        "timestamp": moment,
    }


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
    moment: float | None = None
    notes = calls = 0
    for piece in read_pieces(file.path):
        if isinstance(piece, str):
            notes += 1
            piece = {"role": UNREADABLE, "content": f"{session}: {piece}"}
        elif piece.get("role") == FACTS:
            facts |= {name: value for name, value in piece.items() if value not in (None, "")}
            continue
        started = moment or as_time(facts.get("session_start")) or _start_of(file)
        moment = as_time(piece.get("timestamp")) or started
        tool_calls = piece.get("tool_calls")
        calls += len(tool_calls) if isinstance(tool_calls, list) else 0
        messages.append(_message(piece, session, moment))
    first = messages[0]["timestamp"] if messages else _start_of(file)
    row: Row = {
        "id": session,
        "source": _text(facts.get("platform")) or FILE_SOURCE,
        "model": _text(facts.get("model")),
        "system_prompt": _text(facts.get("system_prompt")),
        "started_at": as_time(facts.get("session_start")) or first,
        "ended_at": moment or file.modified,
        "end_reason": "old transcript",  # a value, like those of Hermes
        "message_count": len(messages),
        "tool_call_count": calls,
    }
    return row, messages, notes
