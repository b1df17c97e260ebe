"""What sums are made of, read once: the cost and project of each session, its use by model, its messages, its tools.

After that any period and any grouping is a matter of adding up, without the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import add
from typing import NamedTuple

from ..cleanup.sizes import REASONING, Stopped, batches, bytes_sql, check, never
from ..connection.connect import Reader, Row
from ..connection.values import as_count, as_money, as_time
from ..messages.decode import decode_content, decode_tool_calls
from ..messages.outcomes import LIMIT, has_failed
from ..sessions.catalog import Catalog
from ..sessions.session import Session, Tokens
from ..text import as_text
from .periods import QUARTER

UNKNOWN = "unknown"
"""The key of what has no model, tool, directory or time."""

_SLICE = 1000
_TOOL_SLICE = 400
_MOST_MESSAGES = 20_000
"""A statement covers as many sessions as have so many messages by their counters."""
_FIRST = -(2**63)
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

Tell = Callable[[float], None]
"""Takes how far the work is, from 0 to 1."""


def silent(share: float) -> None:
    """A `Tell` for work nobody watches."""


class Money(NamedTuple):
    """What a session cost, as Hermes recorded it."""

    estimated_usd: float | None
    actual_usd: float | None
    status: str
    """`cost_status`: `actual`, `estimated`, `included`, `unknown` (0.19), or empty."""


NO_MONEY = Money(None, None, "")


class Used(NamedTuple):
    """What one session used of one model for one task (`session_model_usage`, 0.19 and later)."""

    model: str
    tokens: Tokens
    estimated_usd: float
    actual_usd: float

    @property
    def cost_usd(self) -> float:
        """The actual cost, else the estimate. Both are 0 by default, so an actual cost of 0 was never asked for."""
        return self.actual_usd or self.estimated_usd


class Moment(NamedTuple):
    """The messages of one session in one quarter of an hour."""

    quarter: int | None
    """Since 1970; None without a usable time."""
    messages: int
    bytes: int
    """0 where they were not asked for."""


class Facts(NamedTuple):
    """Everything there is to add up."""

    catalog: Catalog
    money: dict[str, Money]
    """By session id, without those of which nothing is recorded."""
    projects: dict[str, str]
    """The root of the repository, else the working directory, by session id."""
    usage: dict[str, list[Used]]
    """By session id; empty in stores older than 0.19."""
    moments: dict[str, list[Moment]]
    """By session id."""
    strays: int
    """Messages of no session at all."""


class ToolFacts(NamedTuple):
    """Calls, answers and failures."""

    catalog: Catalog
    counts: dict[tuple[str, int | None, str], tuple[int, int, int, int]]
    """By session id, quarter of an hour and tool: calls, answers, failed answers, and bytes of the answers."""


class Part(NamedTuple):
    """What a session, or its use of one model, comes to."""

    model: str
    tokens: Tokens
    estimated: float
    actual: float
    is_unknown: bool
    is_included: bool


def as_a_whole(facts: Facts, session: Session) -> Part:
    """A session by its own counters."""
    estimated, actual, status = facts.money.get(session.id, NO_MONEY)
    tokens, is_included = session.tokens, status == "included"
    cost = actual if actual is not None else estimated
    unpriced = cost is None or (not cost and status == "unknown")
    is_unknown = bool(tokens.total) and unpriced and not is_included
    guess = (estimated or 0.0) if actual is None else 0.0
    return Part(session.model or UNKNOWN, tokens, guess, actual or 0.0, is_unknown, is_included)


def by_model(facts: Facts, session: Session) -> Iterator[Part]:
    """Split a session by model; what the rows per model leave of its own counters goes to the model it names."""
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
    ):  # the row has all there is, as for most sessions
        yield whole._replace(model=one.model)
        return
    parts: dict[str, Part] = {}

    def take(model: str, tokens: Tokens, estimated: float, actual: float, unpriced: bool) -> None:
        have = parts.get(model) or Part(model, Tokens(), 0.0, 0.0, True, whole.is_included)
        sums = Tokens(*map(add, have.tokens, tokens)), have.estimated + estimated, have.actual + actual
        parts[model] = Part(model, *sums, have.is_unknown and unpriced, have.is_included)

    left = list(whole.tokens)
    for each in used:
        estimated = 0.0 if each.actual_usd else each.estimated_usd
        take(each.model, each.tokens, estimated, each.actual_usd, not each.cost_usd)
        left = [max(0, have - gone) for have, gone in zip(left, each.tokens, strict=True)]
        cost = max(0.0, cost - each.cost_usd)
    cost = cost if cost > 1e-9 else 0.0
    if any(left) or cost:
        is_actual = facts.money.get(session.id, NO_MONEY).actual_usd is not None
        estimated, actual = (0.0, cost) if is_actual else (cost, 0.0)
        take(whole.model, Tokens(*left), estimated, actual, whole.is_unknown)
    for part in parts.values():
        yield part._replace(is_unknown=part.is_unknown and bool(part.tokens.total) and not part.is_included)


def _slices(reader: Reader, columns: str, table: str, key: str, size: int, stopped: Stopped) -> Iterator[list[Row]]:
    """The rows of a table, a slice at a time; the first column is the key they are read by."""
    statement = f"SELECT {key}, {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT {size}"
    last: object = _FIRST
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
        for _, stored, root, cwd, estimated, actual, status in rows:
            session_id = as_text(stored)
            if session_id is None:
                continue
            if project := as_text(root) or as_text(cwd):
                projects[session_id] = project
            found = Money(as_money(estimated), as_money(actual), as_text(status) or "")
            if found != NO_MONEY:
                money[session_id] = found
    return money, projects


def _read_usage(reader: Reader, stopped: Stopped) -> dict[str, list[Used]]:
    found: dict[str, list[Used]] = {}
    if "session_model_usage" not in reader.schema.tables:
        return found
    there = {str(row[1]) for row in reader.rows("PRAGMA table_info(session_model_usage)")}
    if not {"session_id", "model"} <= there:
        return found
    names = [name if name in there else "0" for name in (*_TOKENS, "estimated_cost_usd", "actual_cost_usd")]
    columns = f"u.session_id, u.model, {', '.join(names)}"
    for rows in _slices(reader, columns, "session_model_usage u", "u.rowid", _SLICE, stopped):
        for row in rows:
            tokens = Tokens(*map(as_count, row[3:8]))
            used = Used(as_text(row[2]) or UNKNOWN, tokens, as_money(row[8]) or 0.0, as_money(row[9]) or 0.0)
            found.setdefault(as_text(row[1]) or "", []).append(used)
    return found


def _counted(reader: Reader, sessions: Sequence[Session], sizes: bool, stopped: Stopped, tell: Tell) -> Iterator[Row]:
    """Messages by session and quarter of an hour, added up by SQLite.

    Counts come from the index on session and time. Bytes are in the rows, which are read in the order they lie in.
    """
    message = reader.schema.message
    stamp = message("timestamp")
    plain = f"typeof({stamp}) IN ('integer', 'real') AND {stamp} >= 0 AND {stamp} < 1e11"
    size = " + ".join(bytes_sql(message(name)) for name in ("content", "tool_calls", "api_content", *REASONING))
    select = (
        f"SELECT m.session_id, CASE WHEN {plain} THEN CAST({stamp} / {QUARTER}.0 AS INTEGER) END, "
        f"CASE WHEN NOT ({plain}) THEN {stamp} END, count(*), {f'sum({size})' if sizes else '0'} FROM messages m "
    )
    if sizes:
        statement = f"{select} WHERE m.id BETWEEN ? AND ? GROUP BY 1, 2, 3"
        for ids in _slices(reader, "0", "messages m", "m.id", _SLICE, stopped):
            if ids:
                yield from reader.rows(statement, [ids[0][0], ids[-1][0]])
        return
    done, counters = 0, {session.id: session.message_count for session in sessions}
    for chunk in batches(list(counters), counters, _MOST_MESSAGES):
        check(stopped)
        yield from reader.rows_in(f"{select} WHERE m.session_id IN ({{keys}}) GROUP BY 1, 2, 3", chunk)
        done += len(chunk)
        tell(done / len(sessions))


def read_facts(
    reader: Reader, catalog: Catalog, *, sizes: bool = False, stopped: Stopped = never, tell: Tell = silent
) -> Facts:
    """Read everything there is to add up, in short statements.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        sizes: Read the bytes of all messages too, and the messages of no session under the id they name.
        stopped: Looked at between statements.
        tell: Takes how far it is.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    money, projects = _read_sessions(reader, stopped)
    usage = _read_usage(reader, stopped)
    sessions = catalog.forest.sessions
    moments: dict[str, list[Moment]] = {}
    known = 0
    for stored, quarter, odd, count, size in _counted(reader, list(sessions.values()), sizes, stopped, tell):
        if quarter is None and (moment := as_time(odd)) is not None:
            quarter = moment // QUARTER
        found = Moment(int(float(str(quarter))) if quarter is not None else None, int(str(count)), int(str(size)))
        session_id = as_text(stored) or ""
        moments.setdefault(session_id, []).append(found)
        known += found.messages if session_id in sessions else 0
    whole = int(str(reader.value("SELECT count(*) FROM messages") or 0))
    return Facts(catalog, money, projects, usage, moments, max(0, whole - known))


def read_tools(
    reader: Reader, catalog: Catalog, *, as_stored: bool = False, stopped: Stopped = never, tell: Tell = silent
) -> ToolFacts:
    """Look through all calls and answers, a slice by id at a time.

    An answer without a name (Hermes before 0.16 left it out at times) gets that of the call it belongs to.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        as_stored: Give no names to answers that have none, and count the messages of no session too.
        stopped: Looked at between slices.
        tell: Takes how far it is.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    schema, sessions = reader.schema, catalog.forest.sessions
    content, role = schema.message("content"), f"CAST({schema.message('role')} AS TEXT)"  # not shown
    names = ("tool_calls", "tool_call_id", "tool_name", "timestamp", "effect_disposition")
    # A long text is cut as bytes: SQLite's text functions end at a NUL, with which multimodal content begins.
    blob, most = f"CAST({content} AS BLOB)", 4 * LIMIT  # not shown
    cut = f"CASE WHEN length({blob}) > {most} THEN substr({blob}, 1, {most}) ELSE {content} END"  # not shown
    answers = [f"CASE WHEN {role} = 'tool' THEN {each} END" for each in ("1", cut, bytes_sql(content))]  # not shown
    columns = f"m.session_id, {', '.join([*map(schema.message, names), *answers])}"
    counts: dict[tuple[str, int | None, str], tuple[int, int, int, int]] = {}
    asked: dict[tuple[str, str], str] = {}
    end = int(str(reader.value("SELECT max(id) FROM messages") or 0))

    def add(session_id: str, moment: object, tool: str, *more: int) -> None:
        when = as_time(moment)
        when = sessions[session_id].started_at if when is None and session_id in sessions else when
        key = session_id, int(when // QUARTER) if when is not None else None, tool or UNKNOWN
        have = counts.get(key, (0, 0, 0, 0))
        counts[key] = have[0] + more[0], have[1] + more[1], have[2] + more[2], have[3] + more[3]

    for rows in _slices(reader, columns, "messages m", "m.id", _TOOL_SLICE, stopped):
        for _, stored, calls, call_id, name, moment, effect, is_answer, text, size in rows:
            session_id = as_text(stored) or ""
            if session_id not in sessions and not as_stored:
                continue
            for call in decode_tool_calls(calls) if calls is not None else ():
                asked[session_id, call.id] = call.name
                add(session_id, moment, call.name, 1, 0, 0, 0)
            if is_answer:
                called = asked.pop((session_id, as_text(call_id) or ""), "")
                failed = has_failed(decode_content(text)[0], as_text(effect))
                tool = as_text(name) or ("" if as_stored else called)
                add(session_id, moment, tool, 0, 1, int(failed), int(str(size)))
        tell(min(1.0, int(str(rows[-1][0])) / end) if rows and end > 0 else 1.0)
    return ToolFacts(catalog, counts)
