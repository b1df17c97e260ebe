"""Export sessions as JSON lines with the keys of Hermes' own export, so that Hermes can import
them.

Each session is one object (a conversation of three segments is three lines, root first): every
column of `sessions` as stored, then `messages`: every column of each row except those in
`_INTERNAL`, with content and tool calls decoded and other JSON as text. What Hermes' export derives
from these (`last_active`, `timings`, the markers of 0.22) is left out.

Hermes up to 0.21.5 imports every row as a live one, so the model would see rewound and compacted
messages again. Therefore the export of 0.19 has only live rows, and so has this one unless
`everything` is requested. The export of 0.22 has all rows, and its import keeps their state. (Run
with 0.19 and 0.22.2, read in 0.20.0 to 0.21.5.)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from ..connection.reader import Reader, Row, chunks
from ..connection.schema import sql_name
from ..connection.stored_values import as_flag, as_int
from ..errors import NotFoundError
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, state_of
from ..text import as_text, text_of
from ..wording import _
from .redact import Redactor
from .source import ExportCounts, ExportedStore, StoredRows, StoredSession, StoredValue

_SLICE = 100
_INTERNAL = frozenset(("display_identity", "display_order"))
"""Columns of `messages` that Hermes 0.22 does not export: derived by triggers."""
_DECODED = frozenset(("content", "tool_calls", "display_metadata"))
"""Columns of `messages` that are exported decoded; other JSON stays a text."""
_SUMMARY = "_compressed_summary"
"""The column of `messages` that Hermes 0.22 exports only if it is set."""
_REFERENCES = frozenset(
    ("id", "session_id", "parent_session_id", "role", "source", "end_reason", "system_prompt_hash",
     "tool_call_id", "message_uid", "tool_call_uid", "tool_call_uids", "absorbed_message_uids")
)  # fmt: skip
"""Keys and enumerations, never redacted: they hold no secrets, and the import depends on them."""

# Legal in JSON, but terminals act on some, and programs that split lines at every line end of
# Unicode at others.
_AWKWARD = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\U000e0000-\U000e007f]"
)


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _AWKWARD.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _columns(reader: Reader, table: str) -> list[str]:
    """List the columns in the order of the file, as in Hermes' export."""
    return [name for name in reader.columns(table) if name not in _INTERNAL]


def _select(reader: Reader, table: str, columns: Iterable[str]) -> str:
    expressions = []
    for name in columns:
        expression = f"t.{sql_name(name)}"
        # Since 0.20 prompts are in a table of their own, since 0.22 the names of the tools too;
        # Hermes exports the text in either case.
        shared = {"system_prompt": "system_prompt_hash", "tool_names": "tool_names"}.get(name)
        if shared and table == "sessions" and "system_prompts" in reader.schema.tables:
            expression = f"COALESCE((SELECT p.prompt FROM system_prompts p WHERE p.hash = t.{shared}), {expression})"
        expressions.append(expression)
    return ", ".join(expressions)


def _stored(name: str, value: object, redactor: Redactor) -> object:
    """Return the value of a column for JSON, redacted."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, int):
        return value
    text = text_of(value)
    if name in _REFERENCES:
        return text
    return redactor.json_text(text) if text[:1] in ("{", "[") else redactor.text(text)


def _decoded(name: str, value: object, redactor: Redactor) -> object:
    """Return the value of a column that Hermes' export decodes, redacted.

    Content that is not valid multimodal JSON stays as stored, with its sentinel; invalid tool calls
    become `[]`; `display_metadata` (0.20) stays a text unless it is an object.
    """
    text = as_text(value)
    if text is None or (name == "tool_calls" and not text):
        return text
    if name == "content" and not text.startswith(SENTINEL):
        return redactor.text(text)
    try:
        loaded = json.loads(text.removeprefix(SENTINEL) if name == "content" else text)
        if name == "display_metadata" and not isinstance(loaded, dict):
            return redactor.json_text(text)
        return redactor.value(loaded)
    except (ValueError, RecursionError):
        return [] if name == "tool_calls" else redactor.text(text)


def _message(columns: list[str], row: Sequence[object], redactor: Redactor) -> str:
    """Return the JSON of a row."""
    message: dict[str, object] = {}
    for name, value in zip(columns, row, strict=True):
        if name == _SUMMARY:
            message |= {name: True} if as_flag(value) else {}
        else:
            decode = _decoded if name in _DECODED else _stored
            message[name] = decode(name, value, redactor)
    try:
        return _dumps(message)
    except RecursionError:  # JSON may be decoded at a depth at which it cannot be encoded
        texts = map(redactor.optional, map(as_text, row))
        return _dumps(dict(zip(columns, texts, strict=True)))


def read_stored_session(reader: Reader, session_id: str) -> StoredSession | None:
    """Read a session as it is stored; None if there is none."""
    schema, columns = reader.schema, _columns(reader, "sessions")
    rows = reader.rows(
        f"SELECT {_select(reader, 'sessions', columns)} FROM sessions t WHERE t.id = ?",
        [session_id],
    )
    if not rows:
        return None
    states = reader.rows(
        f"SELECT m.id, {schema.active()}, {schema.compacted()} FROM messages m "
        "WHERE m.session_id = ? ORDER BY m.id",
        [session_id],
    )
    messages = [(as_int(key), state_of(active, compacted)) for key, active, compacted in states]
    return StoredSession(columns, _plain_values(rows[0]), messages)


def read_stored_messages(reader: Reader, ids: Sequence[int]) -> StoredRows:
    """Read messages as they are stored, by id."""
    columns = _columns(reader, "messages")
    statement = (
        f"SELECT t.id, {_select(reader, 'messages', columns)} FROM messages t "
        "WHERE t.id IN ({keys})"
    )
    rows = sorted(reader.rows_in(statement, ids), key=lambda row: as_int(row[0]))
    return StoredRows(columns, [_plain_values(row[1:]) for row in rows])


def _plain_values(row: Row) -> list[StoredValue]:
    """Return stored values; bytes are exported as the text that they hold."""
    return [each if isinstance(each, int | float) else as_text(each) for each in row]


def _session_pieces(
    store: ExportedStore,
    session_id: str,
    redactor: Redactor,
    tally: ExportCounts,
    *,
    everything: bool,
) -> Iterator[str]:
    """Yield a session as one line, in pieces of bounded size."""
    stored = store.stored_session(session_id)
    store.close()
    if stored is None:
        raise NotFoundError(
            _("Session {session} is gone: it was deleted while it was exported.").format(
                session=session_id
            )
        )
    session = {
        name: _stored(name, value, redactor)
        for name, value in zip(stored.columns, stored.values, strict=True)
    }
    tally.not_live.update(state for _id, state in stored.messages if state is not State.LIVE)
    ids = [key for key, state in stored.messages if everything or state is State.LIVE]
    tally.sessions += 1
    yield _dumps(session)[:-1] + ', "messages": ['
    separator = ""
    for some in chunks(ids, _SLICE):
        columns, rows = store.stored_messages(some)
        store.close()
        for row in rows:
            tally.messages += 1
            yield separator + _message(columns, row, redactor)
            separator = ", "
    yield "]}\n"


def jsonl_pieces(
    store: ExportedStore,
    session_ids: Iterable[str],
    redactor: Redactor,
    tally: ExportCounts,
    *,
    everything: bool = False,
) -> Iterator[str]:
    """Yield sessions as JSON lines, in pieces of bounded size; arguments as of
    `files.export_pieces`.

    Raises:
        NotFoundError: One has been deleted meanwhile.
        StoreError: The store cannot be read.
    """
    for session_id in session_ids:
        yield from _session_pieces(store, session_id, redactor, tally, everything=everything)
