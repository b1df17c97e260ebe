"""Sessions as JSON lines under the keys of Hermes' own export, so that Hermes can import them again.

One object for each session (a conversation of three segments is three lines, root first): every
column of `sessions` as it stands, then `messages`, every column of each row with content and tool
calls decoded and other JSON as text. Rewound and compacted rows are included, as in the export of
0.22; that of 0.19 leaves them out. What 0.22 computes rather than stores (`timings`) is not written,
nor, as there, the columns in `_INTERNAL`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator

from ..connect import Reader, Row, Store
from ..errors import NotFoundError
from ..messages import SENTINEL
from ..text import as_text
from ..wording import _
from .redact import Redactor
from .source import Tally

_SLICE = 100
_INTERNAL = frozenset(("_compressed_summary", "display_identity", "display_order"))
"""Columns of `messages` that Hermes 0.22 keeps to itself: derived by triggers, or by its compaction."""

_REFERENCES = frozenset(
    ("id", "session_id", "parent_session_id", "role", "source", "end_reason", "system_prompt_hash", "tool_names",
     "tool_call_id", "message_uid", "tool_call_uid", "tool_call_uids", "absorbed_message_uids")
)  # fmt: skip
"""Columns that tie rows together or name one of a few words: no secrets, and nothing works once they change."""

# Legal inside JSON, but a terminal would act on them, and what splits a file at every "line end" of Unicode would
# take one line for two.
_AWKWARD = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\U000e0000-\U000e007f]"
)


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _AWKWARD.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _columns(reader: Reader, table: str) -> list[str]:
    """Names of the columns in the order of the file, which is the order of Hermes' export."""
    rows = reader.rows("SELECT name FROM pragma_table_info(?)", [table])
    return [name for name in (as_text(row[0]) for row in rows) if name is not None and name not in _INTERNAL]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _select(reader: Reader, table: str, columns: Iterable[str]) -> str:
    found = []
    for name in columns:
        expression = f"t.{_quoted(name)}"
        if name == "system_prompt" and table == "sessions" and "system_prompts" in reader.schema.tables:
            # Since 0.20 prompts stand in a table of their own; the export holds the text in either case.
            shared = "(SELECT p.prompt FROM system_prompts p WHERE p.hash = t.system_prompt_hash)"
            expression = f"COALESCE({shared}, {expression})"
        found.append(expression)
    return ", ".join(found)


def _stored(name: str, value: object, redactor: Redactor) -> object:
    """A column's value as JSON holds it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, int):
        return value
    text = as_text(value) or ""
    if name in _REFERENCES:
        return text
    return redactor.json_text(text) if text[:1] in ("{", "[") else redactor.text(text)


def _content(value: object, redactor: Redactor) -> object:
    """Content decoded; broken multimodal JSON is given as it stands, sentinel included, as Hermes does."""
    text = as_text(value)
    if text is None:
        return None
    if text.startswith(SENTINEL):
        try:
            return redactor.value(json.loads(text[len(SENTINEL) :]))
        except (ValueError, RecursionError):
            return redactor.text(text)
    return redactor.text(text)


def _calls(value: object, redactor: Redactor) -> object:
    """Tool calls decoded; `[]` for what cannot be read, and nothing stays nothing, as in Hermes."""
    text = as_text(value)
    if not text:
        return text
    try:
        return redactor.value(json.loads(text))
    except (ValueError, RecursionError):
        return []


def _message(columns: list[str], row: Row, redactor: Redactor) -> str:
    found: dict[str, object] = {}
    for name, value in zip(columns, row, strict=True):
        if name == "content":
            found[name] = _content(value, redactor)
        elif name == "tool_calls":
            found[name] = _calls(value, redactor)
        else:
            found[name] = _stored(name, value, redactor)
    try:
        return _dumps(found)
    except RecursionError:  # nested just deep enough to be read, too deep to be written
        return _dumps({name: redactor.optional(as_text(value)) for name, value in zip(columns, row, strict=True)})


def session_pieces(store: Store, session_id: str, redactor: Redactor, tally: Tally) -> Iterator[str]:
    """One session as one line, in pieces of bounded size.

    Args:
        store: Where it is.
        session_id: Its id.
        redactor: Takes the secrets out.
        tally: Counts along.

    Raises:
        NotFoundError: It has been deleted meanwhile.
        StoreError: The store cannot be read.
    """
    with store.reader() as reader:
        columns = _columns(reader, "sessions")
        rows = reader.rows(
            f"SELECT {_select(reader, 'sessions', columns)} FROM sessions t WHERE t.id = ?", [session_id]
        )
        if not rows:
            raise NotFoundError(
                _("Session {session} is gone: it was deleted while it was exported.").format(session=session_id)
            )
        ids = [row[0] for row in reader.rows("SELECT id FROM messages WHERE session_id = ? ORDER BY id", [session_id])]
        message_columns = _columns(reader, "messages")
        statement = (
            f"SELECT t.id, {_select(reader, 'messages', message_columns)} FROM messages t WHERE t.id IN ({{keys}})"
        )
    tally.sessions += 1
    session = {name: _stored(name, value, redactor) for name, value in zip(columns, rows[0], strict=True)}
    yield _dumps(session)[:-1] + (', "messages": [' if session else '"messages": [')
    separator = ""
    for start in range(0, len(ids), _SLICE):
        with store.reader() as reader:
            found = sorted(reader.rows_in(statement, ids[start : start + _SLICE]), key=lambda row: int(str(row[0])))
        for row in found:
            tally.messages += 1
            yield separator + _message(message_columns, row[1:], redactor)
            separator = ", "
    yield "]}\n"


def jsonl_pieces(store: Store, session_ids: Iterable[str], redactor: Redactor, tally: Tally) -> Iterator[str]:
    """Sessions as JSON lines; see the module.

    Args:
        store: Where they are.
        session_ids: In the order of the lines.
        redactor: Takes the secrets out.
        tally: Counts along.
    """
    for session_id in session_ids:
        yield from session_pieces(store, session_id, redactor, tally)
