"""Sessions as JSON lines under the keys of Hermes' own export, so that Hermes can import them again.

One object for each session (a conversation of three segments is three lines, root first): every column of `sessions`
as it is stored, the fields Hermes derives from them, then `messages`: every column of each row except those in
`_INTERNAL`, with content and tool calls decoded and other JSON as text.

Hermes up to 0.21.5 imports every row as a live one, so the model would see again what was rewound or summarised away.
The export of 0.19 therefore holds live rows alone, and so does ours unless everything is asked for. The export of 0.22
holds all rows, and its import keeps their state. (Run with 0.19 and 0.22.2, read in 0.20.0 to 0.21.5.)

Derived as Hermes does it: `last_active` (`export_all`, 0.13 and later), `timings` since 0.21.4, and the
markers `_reset_from` and `_branched_from` beside the settings they stand in since 0.22.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise

from ..connection.connect import Reader, Row, Store
from ..connection.values import as_flag, as_mapping, as_time
from ..errors import NotFoundError
from ..messages.decode import SENTINEL, state_of
from ..messages.models import State
from ..text import as_text
from ..wording import _
from .redact import Redactor
from .source import Tally

_SLICE = 100
_INTERNAL = frozenset(("display_identity", "display_order"))
"""Columns of `messages` that Hermes 0.22 keeps to itself: derived by triggers."""
_DECODED = frozenset(("content", "tool_calls", "display_metadata"))
"""Columns of `messages` that are written decoded; other JSON stays a text."""
_SUMMARY = "_compressed_summary"
"""The column of `messages` that Hermes 0.22 names last, and only where it is set."""

_TIMES = 30
"""The first schema whose Hermes writes `timings` (0.21.4; 0.21.3, of the same schema, does not yet)."""
_LIFTS_MARKERS = 31
"""The first schema whose Hermes writes the markers beside the settings (0.22)."""
_MARKERS = ("_reset_from", "_branched_from")
_LATEST = 4_200_000_000.0
"""Seconds: a later time counts as none (`EPOCH_MAX` of 0.22)."""

_REFERENCES = frozenset(
    ("id", "session_id", "parent_session_id", "role", "source", "end_reason", "system_prompt_hash",
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


def _select(reader: Reader, table: str, columns: Iterable[str]) -> str:
    found = []
    for name in columns:
        expression = 't."' + name.replace('"', '""') + '"'
        # Since 0.20 prompts stand in a table of their own, since 0.22 the names of the tools, too; Hermes exports the
        # text in either case.
        shared = {"system_prompt": "system_prompt_hash", "tool_names": "tool_names"}.get(name)
        if shared and table == "sessions" and "system_prompts" in reader.schema.tables:
            expression = f"COALESCE((SELECT p.prompt FROM system_prompts p WHERE p.hash = t.{shared}), {expression})"
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


def _decoded(name: str, value: object, redactor: Redactor) -> object:
    """A column that Hermes' export decodes.

    Content that is no valid multimodal JSON is given as it stands, with its sentinel; tool calls that cannot be read
    are `[]`, and none stay none; what a message is displayed with (0.20) stays a text unless it is an object.
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
    """A row decoded, and as JSON."""
    found: dict[str, object] = {}
    for name, value in zip(columns, row, strict=True):
        if name != _SUMMARY:
            found[name] = (_decoded if name in _DECODED else _stored)(name, value, redactor)
    if _SUMMARY in columns and as_flag(row[columns.index(_SUMMARY)]):
        found[_SUMMARY] = True
    try:
        return found, _dumps(found)
    except RecursionError:  # nested just deep enough to be read, too deep to be written
        found = {name: redactor.optional(as_text(value)) for name, value in zip(columns, row, strict=True)}
        return found, _dumps(found)


def _moment(value: object) -> float | None:
    """A time that Hermes 0.22 trusts (`coerce_epoch`)."""
    moment = as_time(value)
    return moment if moment is not None and 0.0 <= moment <= _LATEST else None


class _Timings:
    """When the messages of an export were written, without a word of them (`_export_timings`, 0.21.4 and later)."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, object, float]] = []
        self._roles: Counter[str] = Counter()
        self._calls = 0

    def add(self, message: dict[str, object]) -> None:
        """Take a message along, in order."""
        role, calls = message.get("role"), message.get("tool_calls")
        self._roles[str(role or "unknown")] += 1
        if calls:
            self._calls += len(calls) if isinstance(calls, list) else 1
        moment = _moment(message.get("timestamp"))
        if moment is not None:
            self._rows.append((message.get("id"), role, moment))

    def pieces(self) -> Iterator[str]:
        """The object as JSON."""
        rows = self._rows
        ends = [rows[0][2], rows[-1][2]] if rows else []
        gaps = [_gap(one[2], other[2]) for one, other in pairwise(rows)]
        told: dict[str, object] = {
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
        yield _dumps(told)[:-1] + ', "intervals": ['
        names = ("from_message_id", "to_message_id", "from_role", "to_role", "gap_ms")
        for number, ((one, other), gap) in enumerate(zip(pairwise(rows), gaps, strict=True)):
            values = (one[0], other[0], one[1], other[1], gap)
            yield (", " if number else "") + _dumps(dict(zip(names, values, strict=True)))
        yield "]}"


def _gap(one: float, other: float) -> int:
    """Milliseconds from one moment to another; clocks step backwards, gaps do not."""
    return max(0, round((other - one) * 1000))


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()


def _derived(reader: Reader, session_id: str, session: Mapping[str, object]) -> dict[str, object]:
    """The fields of Hermes' export that are no columns of the session."""
    version = reader.schema.version or 0
    newest = None
    if "timestamp" in reader.schema.message_columns:
        trusted = f"m.timestamp BETWEEN 0 AND {_LATEST}"  # not shown
        newest = reader.value(
            f"SELECT max(m.timestamp) FROM messages m WHERE m.session_id = ? AND {trusted}", [session_id]
        )
    known = [moment for value in (newest, session.get("last_activity_at")) if (moment := _moment(value)) is not None]
    found: dict[str, object] = {"last_active": max(known) if known else _moment(session.get("started_at"))}
    if version >= _LIFTS_MARKERS:
        settings = as_mapping(session.get("model_config"))
        markers = {name: settings.get(name) for name in _MARKERS}
        found |= {name: value.strip() for name, value in markers.items() if isinstance(value, str) and value.strip()}
    return {name: value for name, value in found.items() if name not in session}


def _ids(reader: Reader, session_id: str, tally: Tally, *, everything: bool) -> list[object]:
    """Ids of the rows to write, in order; the others are counted."""
    schema = reader.schema
    found: list[object] = []
    for message_id, active, compacted in reader.rows(
        f"SELECT m.id, {schema.active()}, {schema.compacted()} FROM messages m WHERE m.session_id = ? ORDER BY m.id",
        [session_id],
    ):
        state = state_of(active, compacted)
        if state is not State.LIVE:
            tally.not_live[state] += 1
        if everything or state is State.LIVE:
            found.append(message_id)
    return found


def _session_pieces(
    store: Store, session_id: str, redactor: Redactor, tally: Tally, *, everything: bool
) -> Iterator[str]:
    """One session as one line, in pieces of bounded size."""
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
        timings = _Timings() if (reader.schema.version or 0) >= _TIMES and "timings" not in session else None
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
            found = sorted(reader.rows_in(statement, ids[start : start + _SLICE]), key=lambda row: int(str(row[0])))
        for row in found:
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
    store: Store, session_ids: Iterable[str], redactor: Redactor, tally: Tally, *, everything: bool = False
) -> Iterator[str]:
    """Sessions as JSON lines, in pieces of bounded size; see the module.

    Args:
        store: Where they are.
        session_ids: In the order of the lines.
        redactor: Takes the secrets out.
        tally: Counts along.
        everything: Rewound and compacted rows, too; only Hermes 0.22 imports them as such.

    Raises:
        NotFoundError: One has been deleted meanwhile.
        StoreError: The store cannot be read.
    """
    for session_id in session_ids:
        yield from _session_pieces(store, session_id, redactor, tally, everything=everything)
