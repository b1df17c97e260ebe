"""Export sessions as JSON lines with the keys of Hermes' own export, so that Hermes can import them.

Each session is one object (a conversation of three segments is three lines, root first): every column of `sessions` as
stored, the fields that Hermes derives from them, then `messages`: every column of each row except those in `_INTERNAL`,
with content and tool calls decoded and other JSON as text.

Hermes up to 0.21.5 imports every row as a live one, so the model would see rewound and compacted messages again.
Therefore the export of 0.19 has only live rows, and so has this one unless `everything` is requested. The export of
0.22 has all rows, and its import keeps their state. (Run with 0.19 and 0.22.2, read in 0.20.0 to 0.21.5.)

Derived fields as in Hermes: `last_active` (`export_all`, 0.13 and later), `timings` since 0.21.4, and since 0.22 the
markers `_reset_from` and `_branched_from`, which are also in the settings.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise

from ..connection.connect import Store
from ..connection.reader import Reader, Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_flag, as_int, as_mapping, as_time
from ..errors import NotFoundError
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, state_of
from ..text import as_text
from ..wording import _
from .redact import Redactor
from .source import ExportCounts

_SLICE = 100
_INTERNAL = frozenset(("display_identity", "display_order"))
"""Columns of `messages` that Hermes 0.22 does not export: derived by triggers."""
_DECODED = frozenset(("content", "tool_calls", "display_metadata"))
"""Columns of `messages` that are exported decoded; other JSON stays a text."""
_SUMMARY = "_compressed_summary"
"""The column of `messages` that Hermes 0.22 exports last, and only if it is set."""

_TIMINGS_SINCE = 30
"""The first schema whose Hermes exports `timings` (0.21.4; 0.21.3, of the same schema, does not yet)."""
_MARKERS_SINCE = 31
"""The first schema whose Hermes exports the markers beside the settings (0.22)."""
_MARKERS = ("_reset_from", "_branched_from")
_LATEST = 4_200_000_000.0
"""Unix seconds; a later time is ignored (`EPOCH_MAX` of 0.22)."""

_REFERENCES = frozenset(
    ("id", "session_id", "parent_session_id", "role", "source", "end_reason", "system_prompt_hash",
     "tool_call_id", "message_uid", "tool_call_uid", "tool_call_uids", "absorbed_message_uids")
)  # fmt: skip
"""Keys and enumerations, never redacted: they hold no secrets, and the import depends on them."""

# Legal in JSON, but terminals act on some, and programs that split lines at every line end of Unicode at others.
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
        # Since 0.20 prompts are in a table of their own, since 0.22 the names of the tools too; Hermes exports the
        # text in either case.
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
    text = as_text(value) or ""
    if name in _REFERENCES:
        return text
    return redactor.json_text(text) if text[:1] in ("{", "[") else redactor.text(text)


def _decoded(name: str, value: object, redactor: Redactor) -> object:
    """Return the value of a column that Hermes' export decodes, redacted.

    Content that is not valid multimodal JSON stays as stored, with its sentinel; invalid tool calls become `[]`;
    `display_metadata` (0.20) stays a text unless it is an object.
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


def _message(columns: list[str], row: Row, redactor: Redactor) -> tuple[dict[str, object], str]:
    """Return a decoded row, and its JSON."""
    message: dict[str, object] = {}
    for name, value in zip(columns, row, strict=True):
        if name != _SUMMARY:
            message[name] = (_decoded if name in _DECODED else _stored)(name, value, redactor)
    if _SUMMARY in columns and as_flag(row[columns.index(_SUMMARY)]):
        message[_SUMMARY] = True
    try:
        return message, _dumps(message)
    except RecursionError:  # JSON may be decoded at a depth at which it cannot be encoded
        message = {name: redactor.optional(as_text(value)) for name, value in zip(columns, row, strict=True)}
        return message, _dumps(message)


def _trusted_time(value: object) -> float | None:
    """Return a time that Hermes 0.22 accepts (`coerce_epoch`)."""
    moment = as_time(value)
    return moment if moment is not None and 0.0 <= moment <= _LATEST else None


class _Timings:
    """The times of the exported messages, without their text (`_export_timings`, 0.21.4 and later)."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, object, float]] = []
        self._roles: Counter[str] = Counter()
        self._calls = 0

    def add(self, message: dict[str, object]) -> None:
        """Add the next message."""
        role, calls = message.get("role"), message.get("tool_calls")
        self._roles[str(role or "unknown")] += 1
        if calls:
            self._calls += len(calls) if isinstance(calls, list) else 1
        moment = _trusted_time(message.get("timestamp"))
        if moment is not None:
            self._rows.append((message.get("id"), role, moment))

    def pieces(self) -> Iterator[str]:
        """Yield the object as JSON."""
        rows = self._rows
        ends = [rows[0][2], rows[-1][2]] if rows else []
        gaps = [_gap(one[2], other[2]) for one, other in pairwise(rows)]
        summary: dict[str, object] = {
            "source": "message_timestamps",
            "available": bool(rows),
            "complete": False,
            "unavailable_reason": None if rows else "no_timestamped_messages",
            "message_timestamps": {"available": len(rows), "missing": self._roles.total() - len(rows)},
            "first_message_at": _iso(ends[0]) if rows else None,
            "last_message_at": _iso(ends[1]) if rows else None,
            "wall_clock_ms": _gap(*ends) if rows else None,
            "largest_gap_ms": max(gaps, default=None),
            "role_counts": dict(self._roles),
            "tool_result_count": self._roles["tool"],
            "tool_calls_emitted": self._calls,
        }
        yield _dumps(summary)[:-1] + ', "intervals": ['
        names = ("from_message_id", "to_message_id", "from_role", "to_role", "gap_ms")
        for number, ((one, other), gap) in enumerate(zip(pairwise(rows), gaps, strict=True)):
            values = (one[0], other[0], one[1], other[1], gap)
            yield (", " if number else "") + _dumps(dict(zip(names, values, strict=True)))
        yield "]}"


def _gap(one: float, other: float) -> int:
    """Return the milliseconds from one moment to another, 0 if the clock stepped back."""
    return max(0, round((other - one) * 1000))


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()


def _derived(reader: Reader, session_id: str, session: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of Hermes' export that are not columns of `sessions`."""
    version = reader.schema.version or 0
    newest = None
    if "timestamp" in reader.schema.message_columns:
        trusted = f"m.timestamp BETWEEN 0 AND {_LATEST}"
        newest = reader.value(
            f"SELECT max(m.timestamp) FROM messages m WHERE m.session_id = ? AND {trusted}", [session_id]
        )
    times = [time for value in (newest, session.get("last_activity_at")) if (time := _trusted_time(value)) is not None]
    fields: dict[str, object] = {"last_active": max(times) if times else _trusted_time(session.get("started_at"))}
    if version >= _MARKERS_SINCE:
        settings = as_mapping(session.get("model_config"))
        markers = {name: settings.get(name) for name in _MARKERS}
        fields |= {name: value.strip() for name, value in markers.items() if isinstance(value, str) and value.strip()}
    return {name: value for name, value in fields.items() if name not in session}


def _ids(reader: Reader, session_id: str, tally: ExportCounts, *, everything: bool) -> list[object]:
    """List the ids of the rows to export, in order, and count those that are not live."""
    schema = reader.schema
    ids: list[object] = []
    for message_id, active, compacted in reader.rows(
        f"SELECT m.id, {schema.active()}, {schema.compacted()} FROM messages m WHERE m.session_id = ? ORDER BY m.id",
        [session_id],
    ):
        state = state_of(active, compacted)
        if state is not State.LIVE:
            tally.not_live[state] += 1
        if everything or state is State.LIVE:
            ids.append(message_id)
    return ids


def _session_pieces(
    store: Store, session_id: str, redactor: Redactor, tally: ExportCounts, *, everything: bool
) -> Iterator[str]:
    """Yield a session as one line, in pieces of bounded size."""
    with store.reader() as reader:
        columns = _columns(reader, "sessions")
        rows = reader.rows(
            f"SELECT {_select(reader, 'sessions', columns)} FROM sessions t WHERE t.id = ?", [session_id]
        )
        if not rows:
            raise NotFoundError(
                _("Session {session} is gone: it was deleted while it was exported.").format(session=session_id)
            )
        session = {name: _stored(name, value, redactor) for name, value in zip(columns, rows[0], strict=True)}
        session |= _derived(reader, session_id, session)
        timings = _Timings() if (reader.schema.version or 0) >= _TIMINGS_SINCE and "timings" not in session else None
        ids = _ids(reader, session_id, tally, everything=everything)
        message_columns = _columns(reader, "messages")
        statement = (
            f"SELECT t.id, {_select(reader, 'messages', message_columns)} FROM messages t WHERE t.id IN ({{keys}})"
        )
    tally.sessions += 1
    yield _dumps(session)[:-1] + ', "messages": ['
    separator = ""
    for start in range(0, len(ids), _SLICE):
        with store.reader() as reader:
            rows = sorted(reader.rows_in(statement, ids[start : start + _SLICE]), key=lambda row: as_int(row[0]))
        for row in rows:
            tally.messages += 1
            message, text = _message(message_columns, row[1:], redactor)
            if timings is not None:
                timings.add(message)
            yield separator + text
            separator = ", "
    yield "]"
    if timings is not None:
        yield ', "timings": '
        yield from timings.pieces()
    yield "}\n"


def jsonl_pieces(
    store: Store, session_ids: Iterable[str], redactor: Redactor, tally: ExportCounts, *, everything: bool = False
) -> Iterator[str]:
    """Yield sessions as JSON lines, in pieces of bounded size; arguments as of `files.export_pieces`.

    Raises:
        NotFoundError: One has been deleted meanwhile.
        StoreError: The store cannot be read.
    """
    for session_id in session_ids:
        yield from _session_pieces(store, session_id, redactor, tally, everything=everything)
