"""Old transcripts: conversations in `$HERMES_HOME/sessions` that have no session in the store, read
into a temporary store, so that they are listed, read, searched and exported like any other.

Files may be cut short by a full disk, half written, huge, or foreign. What cannot be read of one
stands as a note where it is; the transcripts are never changed.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from ..connection.stored_values import Json, as_time, write_json
from ..demo import INDEXES, TABLES, VERSION, Row, insert
from ..errors import BrowseError
from ..files import TemporaryFolder, open_regular
from ..messages.decode import SENTINEL
from ..text import as_text, one_line, text_of
from ..trash.session_files import SessionFile, find_old_files
from ..wording import _, ngettext

MAX_LINE_BYTES = 64 << 20
"""A longer line of JSONL is read as several: a damaged file may be a single line."""
MAX_SNAPSHOT_BYTES = 512 << 20
"""Maximum bytes of a JSON snapshot; the rest is not read."""
_PORTION_FILES, _PORTION_BYTES = 200, 16 << 20
"""A portion is committed after this number of files or bytes, whichever comes first."""
_IDS_PER_FILE = 1 << 24
"""Message ids reserved for each file. Newer files are read first and still get larger ids, as in a
store."""
_INDEXES = ("idx_sessions_started", "idx_sessions_parent", "idx_messages_session")

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


def _start_of(file: SessionFile) -> float:
    """Return the Unix seconds of the start, from the local time in the id; else of the file's last
    change."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return datetime.strptime(file.session[:16], "%Y%m%d_%H%M%S_").timestamp()
    return file.stat.st_mtime


def read_pieces(path: Path) -> Iterator[Json]:
    """Yield the contents of a transcript in order: a `.jsonl` file by lines, any other as one JSON
    document.

    A piece is an object as in the file: a message, or facts about the whole conversation, with the
    role `FACTS`; or a note about a part that cannot be read, with the role `UNREADABLE`.
    """
    try:
        with open_regular(path, follow=False) as file:
            yield from _lines(file) if path.suffix == ".jsonl" else _document(file)
    except (OSError, ValueError, RecursionError) as error:
        yield _note(_("the file cannot be read: {reason}", reason=_reason(error)))


def _note(sentence: str) -> Json:
    return {"role": UNREADABLE, "content": sentence}


def _lines(file: BinaryIO) -> Iterator[Json]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
        text = line.decode("utf-8-sig", "replace")
        try:
            value, reason = json.loads(text), _("no object")
        except (ValueError, RecursionError) as error:
            value, reason = None, _reason(error)
        if isinstance(value, dict):
            yield value
        elif text.strip():
            yield _note(
                _(
                    "line {number:,} is no message ({reason}): “{text}”",
                    number=number,
                    reason=reason,
                    text=one_line(text[:400], 80),
                )
            )


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _("nested too deep")
    said = error.strerror if isinstance(error, OSError) else getattr(error, "msg", None)
    return one_line(said or str(error), 80)


def _document(file: BinaryIO) -> Iterator[Json]:
    """Parse a JSON object with a list of `messages`, or such a list itself.

    Raises:
        ValueError: It is damaged, or too large: Hermes replaces such a file as a whole (0.19).
        RecursionError: It is nested too deep.
    """
    messages = json.loads(file.read(MAX_SNAPSHOT_BYTES).decode("utf-8-sig", "replace"))
    if isinstance(messages, dict):
        facts = messages
        messages = facts.pop("messages", None)
        yield facts | {"role": FACTS}
    for value in messages if isinstance(messages, list) else [messages]:
        if isinstance(value, dict):
            yield value
        else:
            shown = one_line(text_of(str(value)[:400]), 80)
            yield _note(_("an item that is no message: “{text}”", text=shown))


def _text(value: object) -> str | None:
    """Return a text without lone surrogates; any other value as JSON."""
    is_stored = isinstance(value, str | None)
    return as_text(value if is_stored else write_json(value))


def _message(piece: Json, session: str, moment: float) -> Row:
    row = {name: _text(piece.get(name)) for name in _TEXTS}
    calls, content = piece.get("tool_calls"), piece.get("content")
    text = _text(content)
    if isinstance(content, list | dict):  # multimodal, stored as Hermes does
        text = f"{SENTINEL}{text}"
    elif row["role"] == UNREADABLE:
        text = f"{session}: {text}"
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


def _read_transcript(file: SessionFile) -> tuple[Row, list[Row]]:
    """Read a file; return the rows of its session and its messages.

    Messages without a time get that of the one before. The id is the file's name: two files may be
    of one session.
    """
    session = text_of(file.path.name, "?")
    started = _start_of(file)
    facts: Json = {}
    messages: list[Row] = []
    moment: float | None = None
    calls = 0
    for piece in read_pieces(file.path):
        if piece.get("role") == FACTS:
            facts |= {name: value for name, value in piece.items() if value not in (None, "")}
            continue
        before = moment or as_time(facts.get("session_start")) or started
        moment = as_time(piece.get("timestamp")) or before
        tool_calls = piece.get("tool_calls")
        calls += len(tool_calls) if isinstance(tool_calls, list) else 0
        messages.append(_message(piece, session, moment))
    first = messages[0]["timestamp"] if messages else started
    row: Row = {
        "id": session,
        "source": _text(facts.get("platform")) or FILE_SOURCE,
        "model": _text(facts.get("model")),
        "system_prompt": _text(facts.get("system_prompt")),
        "started_at": as_time(facts.get("session_start")) or first,
        "ended_at": moment or file.stat.st_mtime,
        "end_reason": "old transcript",  # a value, like those of Hermes
        "message_count": len(messages),
        "tool_call_count": calls,
    }
    return row, messages


# The temporary store


class OldTranscripts:
    """The temporary store, private to its owner and filled in portions, until it is closed. It has
    no search index: searches scan it, and report that.

    Args:
        folder: `sessions` of a Hermes home.
        known: Ids of the sessions in the home's store, whose files are skipped.
        only: Prefixes of file names to read; empty for all.

    Raises:
        BrowseError: The folder cannot be read, or there is no room for a temporary file.
    """

    def __init__(self, folder: Path, known: Collection[str], *, only: Collection[str] = ()) -> None:
        self.folder = folder
        """Folder of the transcripts."""
        self.notes = 0
        """Number of places in them that cannot be read."""
        self._lock = threading.Lock()
        prefixes = tuple(only) or ("",)
        with self._told():
            files = (
                file
                for file in find_old_files(folder, known)
                if file.path.name.startswith(prefixes)
            )
            self._queue = sorted(files, key=lambda file: (file.stat.st_mtime, file.path.name))
            """Files to read, newest last."""
            self._folder = TemporaryFolder("old")
            self.path = self._folder.path / "state.db"
            """The store."""
            self._connection = self._create()
        self.files = len(self._queue)
        """Number of files."""

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Raise a failure in the block as BrowseError."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise BrowseError(
                _(
                    "The old transcripts in {folder} cannot be read: {reason}.",
                    folder=self.folder,
                    reason=error,
                )
            ) from error

    def _create(self) -> sqlite3.Connection:
        self.path.touch(mode=0o600, exist_ok=False)
        connection = sqlite3.connect(self.path, check_same_thread=False)
        statements = [
            # In WAL mode the writing thread and the reading threads do not wait for each other.
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=OFF",
            *TABLES,
            # The third word of CREATE INDEX is its name.
            *(each for each in INDEXES if each.split()[2] in _INDEXES),
            f"INSERT INTO schema_version (version) VALUES ({VERSION})",
        ]
        connection.executescript(";".join(statements))
        return connection

    def fill(self) -> bool:
        """Read the next portion, newest files first; return whether there is more.

        Raises:
            BrowseError: It could not be written.
        """
        sessions: list[Row] = []
        messages: list[Row] = []
        size = 0
        with self._lock, self._told():
            while self._queue and len(sessions) < _PORTION_FILES and size < _PORTION_BYTES:
                file = self._queue.pop()
                size += file.stat.st_size
                session, rows = _read_transcript(file)
                sessions.append(session)
                first = len(self._queue) * _IDS_PER_FILE + 1
                messages += [{"id": id, **row} for id, row in enumerate(rows, first)]
                self.notes += sum(row["role"] == UNREADABLE for row in rows)
            with self._connection:
                insert(self._connection, "sessions", sessions)
                insert(self._connection, "messages", messages)
            return bool(self._queue)

    def describe(self) -> str:
        """Describe the progress, and what could not be read."""
        text = ngettext(
            "{count:,} old transcript in {folder}",
            "{count:,} old transcripts in {folder}",
            self.files,
            folder=self.folder,
        )
        if self._queue:
            text = _("{done:,} of {text}", done=self.files - len(self._queue), text=text)
        if not self.notes:
            return text
        notes = ngettext(
            "{count:,} place in them cannot be read",
            "{count:,} places in them cannot be read",
            self.notes,
        )
        return f"{text} · {notes}"

    def close(self) -> None:
        """Remove the temporary store, after the current portion."""
        with self._lock:
            self._queue = []
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._folder.remove()
