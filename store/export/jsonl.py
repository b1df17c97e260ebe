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
import re
from collections.abc import Iterable, Iterator, Sequence

from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..connection.stored_values import as_flag, as_int, safe_json
from ..messages.chat_message import STATES, State
from ..messages.decode import SENTINEL
from ..notes.notes_file import tags_if_readable
from ..text import as_text, text_of
from .redact import Redactor
from .source import (
    ExportedConversation,
    StoredRow,
    StoredRows,
    StoredSession,
    StoredValue,
    messages_gone,
    read_all,
)

_INTERNAL = frozenset(("display_identity", "display_order"))
"""Columns of `messages` that Hermes 0.22 does not export: derived by triggers."""
_DECODED = frozenset(("content", "tool_calls", "display_metadata"))
"""Columns of `messages` that are exported decoded; other JSON stays a text."""
_SUMMARY = "_compressed_summary"
"""The column of `messages` that Hermes 0.22 exports only if it is set."""
_SHARED = {"system_prompt": "system_prompt_hash", "tool_names": "tool_names"}
"""Columns of `sessions` whose texts Hermes exports from a table of their own, since 0.20 and 0.22, and
the columns with their keys."""
_REFERENCES = frozenset(
    ("id", "session_id", "parent_session_id", "role", "source", "end_reason", "system_prompt_hash",
     "tool_call_id", "message_uid", "tool_call_uid", "tool_call_uids", "absorbed_message_uids")
)  # fmt: skip
"""Keys and enumerations, never redacted: they hold no secrets, and the import depends on them."""
_CALL_IDS = ("id", "call_id", "response_item_id")
"""What the results of a tool call refer to, and so do not change either."""
_NUMBER = re.compile(r" #\d{1,9}$")
"""Behind a title that has been there before."""


def _stored_rows(
    reader: Reader, table: str, columns: Iterable[str], keys: Sequence[object]
) -> list[StoredRow]:
    """Read rows by id, with columns in the order of the file, as in Hermes' export; bytes are
    exported as the text that they hold."""
    names = [name for name in columns if name not in _INTERNAL]
    listed = ", ".join(map(sql_name, names))
    sql = f"SELECT {listed} FROM {table} WHERE id IN ({{keys}}) ORDER BY id"
    return [
        {
            name: value if isinstance(value, int | float) else as_text(value)
            for name, value in zip(names, row, strict=True)
        }
        for row in reader.rows_in(sql, keys)
    ]


def read_stored_session(reader: Reader, session_id: str) -> StoredSession:
    """Read a session as it is stored. NotFoundError if it was deleted meanwhile."""
    rows = _stored_rows(reader, "sessions", reader.schema.session_columns, [session_id])
    if not rows:
        raise messages_gone(session_id)
    values = rows[0]
    if "system_prompts" in reader.schema.tables:
        for name, key in _SHARED.items():
            if name in values:
                sql = "SELECT prompt FROM system_prompts WHERE hash = ?"
                values[name] = as_text(reader.value(sql, [values.get(key)])) or values[name]
    sql = "SELECT id, state FROM message_rows WHERE session_id = ? ORDER BY id"
    messages = [(as_int(key), STATES[state]) for key, state in reader.rows(sql, [session_id])]
    return StoredSession(values, messages, tags_if_readable(reader).get(session_id, ()))


def read_stored_messages(reader: Reader, ids: Sequence[int]) -> StoredRows:
    """Read messages as they are stored, by id."""
    return StoredRows(_stored_rows(reader, "messages", reader.schema.message_columns, ids))


def _exported(name: str, value: StoredValue, redactor: Redactor) -> object:
    """Return the value of a column for JSON, redacted.

    Content that is not valid multimodal JSON stays as stored, with its sentinel; invalid tool calls
    become `[]`; `display_metadata` (0.20) stays a text unless it is an object.
    """
    if name in _DECODED and value is not None:
        return _decoded(name, str(value), redactor)
    return value if isinstance(value, str) and name in _REFERENCES else redactor.value(value)


def _decoded(name: str, text: str, redactor: Redactor) -> object:
    if name == "content" and not text.startswith(SENTINEL):
        return redactor.text(text)
    if name == "tool_calls" and not text:
        return text
    try:
        loaded = json.loads(text.removeprefix(SENTINEL))
        if name == "display_metadata" and not isinstance(loaded, dict):
            return redactor.json_text(text)
        if name == "tool_calls" and isinstance(loaded, list):
            return [_call(each, redactor) for each in loaded]
        return redactor.value(loaded)
    except (ValueError, RecursionError):
        return [] if name == "tool_calls" else redactor.text(text)


def _call(call: object, redactor: Redactor) -> object:
    """Return a tool call, redacted but for its ids."""
    if not isinstance(call, dict):
        return redactor.value(call)
    ids = {key: text_of(call[key]) for key in _CALL_IDS if isinstance(call.get(key), str)}
    rest = {key: value for key, value in call.items() if key not in ids}
    cleaned = redactor.value(rest)
    return ids | cleaned if isinstance(cleaned, dict) else cleaned


def _row(row: StoredRow, redactor: Redactor) -> str:
    """Return the JSON of a row."""
    return safe_json(
        {
            name: name == _SUMMARY or _exported(name, value, redactor)
            for name, value in row.items()
            if name != _SUMMARY or as_flag(value)
        }
    )


def jsonl_pieces(conversations: Iterable[ExportedConversation]) -> Iterator[str]:
    """Yield the sessions of conversations as JSON lines, in pieces of bounded size.

    Raises:
        NotFoundError: One, or a message, has been deleted meanwhile.
        StoreError: The store cannot be read.
    """
    titles: dict[str, int] = {}
    for exported in conversations:
        for segment in exported.conversation.segments:
            yield from _session(exported, segment.id, titles)


def _distinct(title: str, taken: dict[str, int]) -> str:
    """Return a title, with the next number if it is taken, as Hermes numbers them: it imports none
    twice, and without their secrets two may be the same."""
    base = _NUMBER.sub("", title)
    while title in taken:
        taken[base] = taken.get(base, 1) + 1
        title = f"{base} #{taken[base]}"
    taken[title] = 1
    return title


def _session(
    exported: ExportedConversation, session_id: str, titles: dict[str, int]
) -> Iterator[str]:
    export = exported.export
    store, redactor, counts = export.store, export.redactor, export.counts
    session = store.stored_session(session_id)
    states = session.messages
    counts.not_live.update(state for _id, state in states if state is not State.LIVE)
    ids = [key for key, state in states if export.everything or state is State.LIVE]
    counts.sessions += 1
    tags = f', "tags": {safe_json(session.tags)}' if session.tags else ""
    values = session.values
    if redactor.active and isinstance(title := values.get("title"), str):
        values = values | {"title": _distinct(redactor.text(title), titles)}
    yield _row(values, redactor)[:-1] + tags + ', "messages": ['
    separator = ""
    for row in read_all(session_id, lambda some: store.stored_messages(some).rows, ids):
        counts.messages += 1
        yield separator + _row(row, redactor)
        separator = ", "
    yield "]}\n"
