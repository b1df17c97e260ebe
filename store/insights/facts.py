"""Read the data for sums once: cost, project, use by model, messages and tools of each session.

`sums` then adds it up for any period and grouping without the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import add
from typing import NamedTuple

from ..cleanup.sizes import REASONING, batches
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_money, as_time, bytes_sql
from ..errors import QueryInterruptedError
from ..messages.decode import LIMIT, decode_content, decode_tool_calls, has_failed
from ..sessions.catalog import Catalog
from ..sessions.session import Session, Tokens
from ..text import as_text
from ..trash.progress import never
from ..wording import _
from .periods import QUARTER

UNKNOWN = "unknown"
"""Key for a missing model, tool, directory or time."""

_SLICE = 1000
_TOOL_SLICE = 400
_MOST_MESSAGES = 20_000
"""Messages per statement, by the counters of the sessions."""
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

Stopped = Callable[[], bool]
Tell = Callable[[float], None]
"""Receives the share done, 0 to 1."""


def check(stopped: Stopped) -> None:
    """Raise QueryInterruptedError if `stopped` returns True."""
    if stopped():
        raise QueryInterruptedError(_("Measuring was interrupted."))


class Money(NamedTuple):
    """Cost of a session as recorded by Hermes."""

    estimated_usd: float | None
    actual_usd: float | None
    status: str
    """`cost_status`: `actual`, `estimated`, `included`, `unknown` (0.19), or empty."""


NO_MONEY = Money(None, None, "")


class ModelRow(NamedTuple):
    """Use of one model by one session for one task (`session_model_usage`, 0.19 and later)."""

    model: str
    tokens: Tokens
    estimated_usd: float
    actual_usd: float

    @property
    def cost_usd(self) -> float:
        """The actual cost, else the estimate. Both default to 0, so an actual cost of 0 is missing."""
        return self.actual_usd or self.estimated_usd


class Moment(NamedTuple):
    """The messages of one session in one quarter of an hour."""

    quarter: int | None
    """Number since 1970; None without a usable time."""
    messages: int
    bytes: int
    """0 unless requested."""


class Facts(NamedTuple):
    """The data for `make_report` and `split_report`."""

    catalog: Catalog
    money: dict[str, Money]
    """By session id; sessions without a record are left out."""
    projects: dict[str, str]
    """Root of the repository, else working directory, by session id."""
    usage: dict[str, list[ModelRow]]
    """By session id; empty in stores older than 0.19."""
    moments: dict[str, list[Moment]]
    """By session id."""
    strays: int
    """Number of messages without a session."""


class ToolFacts(NamedTuple):
    """The data for `tool_report` and `split_tools`."""

    catalog: Catalog
    counts: dict[tuple[str, int | None, str], tuple[int, int, int, int]]
    """By session id, quarter of an hour and tool: calls, answers, failed answers, and bytes of the answers."""


class UsagePart(NamedTuple):
    """Tokens and cost (USD) of a session, or of its use of one model."""

    model: str
    tokens: Tokens
    estimated: float
    actual: float
    is_unknown: bool
    is_included: bool


def as_a_whole(facts: Facts, session: Session) -> UsagePart:
    """Return a session's own counters as one part."""
    estimated, actual, status = facts.money.get(session.id, NO_MONEY)
    tokens, is_included = session.tokens, status == "included"
    cost = actual if actual is not None else estimated
    unpriced = cost is None or (not cost and status == "unknown")
    is_unknown = bool(tokens.total) and unpriced and not is_included
    estimate = (estimated or 0.0) if actual is None else 0.0
    return UsagePart(session.model or UNKNOWN, tokens, estimate, actual or 0.0, is_unknown, is_included)


def by_model(facts: Facts, session: Session) -> Iterator[UsagePart]:
    """Split a session by model; the rest of its own counters goes to the model in its own row."""
    whole, used = as_a_whole(facts, session), facts.usage.get(session.id)
    if not used:
        yield whole
        return
    one, cost = used[0], whole.estimated + whole.actual
    if (
        len(used) == 1
        and one.tokens == whole.tokens
        and abs(one.cost_usd - cost) <= 1e-9
        and (one.actual_usd > 0) == (whole.actual > 0)
        and whole.is_unknown == (not one.cost_usd and bool(one.tokens.total) and not whole.is_included)
    ):  # one row covers everything, as for most sessions
        yield whole._replace(model=one.model)
        return
    parts: dict[str, UsagePart] = {}

    def add_part(model: str, tokens: Tokens, estimated: float, actual: float, unpriced: bool) -> None:
        part = parts.get(model) or UsagePart(model, Tokens(), 0.0, 0.0, True, whole.is_included)
        sums = Tokens(*map(add, part.tokens, tokens)), part.estimated + estimated, part.actual + actual
        parts[model] = UsagePart(model, *sums, part.is_unknown and unpriced, part.is_included)

    rest = list(whole.tokens)
    for each in used:
        estimated = 0.0 if each.actual_usd else each.estimated_usd
        add_part(each.model, each.tokens, estimated, each.actual_usd, not each.cost_usd)
        rest = [max(0, total - part) for total, part in zip(rest, each.tokens, strict=True)]
        cost = max(0.0, cost - each.cost_usd)
    cost = cost if cost > 1e-9 else 0.0
    if any(rest) or cost:
        is_actual = facts.money.get(session.id, NO_MONEY).actual_usd is not None
        estimated, actual = (0.0, cost) if is_actual else (cost, 0.0)
        add_part(whole.model, Tokens(*rest), estimated, actual, whole.is_unknown)
    for part in parts.values():
        yield part._replace(is_unknown=part.is_unknown and bool(part.tokens.total) and not part.is_included)


def _slices(reader: Reader, columns: str, table: str, key: str, size: int, stopped: Stopped) -> Iterator[list[Row]]:
    """Yield the rows of a table in slices, ordered by an integer key, which is their first column."""
    statement = f"SELECT {key}, {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT {size}"
    last: object = -(2**63)
    while True:
        check(stopped)
        rows = reader.rows(statement, [last])
        yield rows
        if len(rows) < size:
            return
        last = rows[-1][0]


def _read_sessions(reader: Reader, stopped: Stopped) -> tuple[dict[str, Money], dict[str, str]]:
    money, projects = dict[str, Money](), dict[str, str]()
    names = ("git_repo_root", "cwd", "estimated_cost_usd", "actual_cost_usd", "cost_status")
    columns = ", ".join(["s.id", *map(reader.schema.session, names)])
    for rows in _slices(reader, columns, "sessions s", "s.rowid", _SLICE, stopped):
        for _rowid, stored, root, cwd, estimated, actual, status in rows:
            session_id = as_text(stored)
            if session_id is None:
                continue
            if project := as_text(root) or as_text(cwd):
                projects[session_id] = project
            cost = Money(as_money(estimated), as_money(actual), as_text(status) or "")
            if cost != NO_MONEY:
                money[session_id] = cost
    return money, projects


def _read_usage(reader: Reader, stopped: Stopped) -> dict[str, list[ModelRow]]:
    usage: dict[str, list[ModelRow]] = {}
    existing = reader.columns("session_model_usage")
    if not {"session_id", "model"}.issubset(existing):
        return usage
    names = [name if name in existing else "0" for name in (*_TOKENS, "estimated_cost_usd", "actual_cost_usd")]
    columns = f"u.session_id, u.model, {', '.join(names)}"
    for rows in _slices(reader, columns, "session_model_usage u", "u.rowid", _SLICE, stopped):
        for row in rows:
            tokens = Tokens(*map(as_count, row[3:8]))
            used = ModelRow(as_text(row[2]) or UNKNOWN, tokens, as_money(row[8]) or 0.0, as_money(row[9]) or 0.0)
            usage.setdefault(as_text(row[1]) or "", []).append(used)
    return usage


def _read_moments(
    reader: Reader, sessions: Sequence[Session], sizes: bool, stopped: Stopped, tell: Tell
) -> Iterator[Row]:
    """Yield session, quarter of an hour, unusual time, count and bytes of messages, added up by SQLite.

    Counts come from the index on session and time. Bytes are read from the rows, in the order of the file.
    """
    message = reader.schema.message
    stamp = message("timestamp")
    usual = f"typeof({stamp}) IN ('integer', 'real') AND {stamp} >= 0 AND {stamp} < 1e11"
    size = " + ".join(bytes_sql(message(name)) for name in ("content", "tool_calls", "api_content", *REASONING))
    select = (
        f"SELECT m.session_id, CASE WHEN {usual} THEN CAST({stamp} / {QUARTER}.0 AS INTEGER) END, "
        f"CASE WHEN NOT ({usual}) THEN {stamp} END, count(*), {f'sum({size})' if sizes else '0'} FROM messages m "
    )
    if sizes:
        statement = f"{select} WHERE m.id BETWEEN ? AND ? GROUP BY 1, 2, 3"
        for ids in _slices(reader, "0", "messages m", "m.id", _SLICE, stopped):
            if ids:
                yield from reader.rows(statement, [ids[0][0], ids[-1][0]])
        return
    done, counters = 0, {session.id: session.message_count for session in sessions}
    for chunk in batches(counters, counters.__getitem__, _MOST_MESSAGES):
        check(stopped)
        yield from reader.rows_in(f"{select} WHERE m.session_id IN ({{keys}}) GROUP BY 1, 2, 3", chunk)
        done += len(chunk)
        tell(done / len(sessions))


def read_facts(
    reader: Reader, catalog: Catalog, *, sizes: bool = False, stopped: Stopped = never, tell: Tell = lambda share: None
) -> Facts:
    """Read the data for sums of the whole store, in short statements; `stopped` is polled between them.

    With `sizes`, also read the bytes of all messages, and messages without a session, under the session id in them.

    Raises:
        QueryInterruptedError: `stopped` returned True.
    """
    money, projects = _read_sessions(reader, stopped)
    usage = _read_usage(reader, stopped)
    sessions = catalog.forest.sessions
    moments: dict[str, list[Moment]] = {}
    in_sessions = 0
    for stored, quarter, unusual, count, size in _read_moments(reader, list(sessions.values()), sizes, stopped, tell):
        if quarter is None and (time := as_time(unusual)) is not None:
            quarter = time // QUARTER
        moment = Moment(int(float(str(quarter))) if quarter is not None else None, as_int(count), as_int(size))
        session_id = as_text(stored) or ""
        moments.setdefault(session_id, []).append(moment)
        in_sessions += moment.messages if session_id in sessions else 0
    total = as_int(reader.value("SELECT count(*) FROM messages"))
    return Facts(catalog, money, projects, usage, moments, max(0, total - in_sessions))


def read_tools(
    reader: Reader,
    catalog: Catalog,
    *,
    as_stored: bool = False,
    stopped: Stopped = never,
    tell: Tell = lambda share: None,
) -> ToolFacts:
    """Scan all tool calls and answers in slices, ordered by id.

    An answer without a name (Hermes before 0.16 sometimes omitted it) gets the name of its call. With `as_stored` it is
    left as it is, and messages without a session count too. `stopped` is polled between slices.

    Raises:
        QueryInterruptedError: `stopped` returned True.
    """
    schema, sessions = reader.schema, catalog.forest.sessions
    content, role = schema.message("content"), f"CAST({schema.message('role')} AS TEXT)"
    names = ("tool_calls", "tool_call_id", "tool_name", "timestamp", "effect_disposition")
    # Cut long text as bytes: SQLite's text functions stop at a NUL, with which multimodal content begins.
    blob, most = f"CAST({content} AS BLOB)", 4 * LIMIT
    cut = f"CASE WHEN length({blob}) > {most} THEN substr({blob}, 1, {most}) ELSE {content} END"
    answers = [f"CASE WHEN {role} = 'tool' THEN {each} END" for each in ("1", cut, bytes_sql(content))]
    columns = f"m.session_id, {', '.join([*map(schema.message, names), *answers])}"
    counts: dict[tuple[str, int | None, str], tuple[int, int, int, int]] = {}
    open_calls: dict[tuple[str, str], str] = {}
    last_id = as_int(reader.value("SELECT max(id) FROM messages"))

    def count(
        session_id: str, stored_time: object, tool: str, calls: int, answers: int, failed: int, size: int
    ) -> None:
        time = as_time(stored_time)
        if time is None and session_id in sessions:
            time = sessions[session_id].started_at
        key = session_id, int(time // QUARTER) if time is not None else None, tool or UNKNOWN
        sums = counts.get(key, (0, 0, 0, 0))
        counts[key] = sums[0] + calls, sums[1] + answers, sums[2] + failed, sums[3] + size

    for rows in _slices(reader, columns, "messages m", "m.id", _TOOL_SLICE, stopped):
        for _id, stored, calls, call_id, name, time, effect, is_answer, text, size in rows:
            session_id = as_text(stored) or ""
            if session_id not in sessions and not as_stored:
                continue
            for call in decode_tool_calls(calls) if calls is not None else ():
                open_calls[session_id, call.id] = call.name
                count(session_id, time, call.name, 1, 0, 0, 0)
            if is_answer:
                call_name = open_calls.pop((session_id, as_text(call_id) or ""), "")
                failed = has_failed(decode_content(text)[0], as_text(effect))
                tool = as_text(name) or ("" if as_stored else call_name)
                count(session_id, time, tool, 0, 1, int(failed), as_int(size))
        tell(min(1.0, as_int(rows[-1][0]) / last_id) if rows and last_id > 0 else 1.0)
    return ToolFacts(catalog, counts)
