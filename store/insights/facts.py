"""Read once what sums are made of, into tables in memory; `sums` groups them by anything."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from ..cleanup.sizes import REASONING, batches
from ..connection.reader import Reader, Row
from ..connection.stored_values import (
    LONGEST_RESULT,
    as_count,
    as_int,
    as_money,
    as_time,
    bytes_sql,
    has_failed,
)
from ..errors import QueryInterruptedError
from ..messages.decode import decode_content, decode_tool_calls
from ..progress import TellShare, quiet
from ..sessions.catalog import Catalog
from ..sessions.models import Tokens
from ..text import as_text, text_of
from ..wording import _

QUARTER = 900
"""Seconds. In every time zone, days and hours begin at a full quarter of an hour."""
UNKNOWN = "unknown"
"""Key for a missing model, tool, directory or time."""


def _quarter(time: str) -> str:
    """Return SQL for the first second of the quarter of an hour of a time; what is not a number of
    seconds since 1970 stands as it is."""
    quarter = f"CAST({time} / {QUARTER}.0 AS INTEGER) * {QUARTER}"
    return f"CASE WHEN {time} >= 0 AND {time} < 1e11 THEN {quarter} ELSE {time} END"


_SLICE = 1000
_TOOL_SLICE = 400
_MOST_MESSAGES = 20_000
"""Messages per statement, by the counters of the sessions."""
_MOST_TOKENS = 2**53
"""Sums of more would not be exact, and a sum of 64-bit integers may overflow."""
_COUNTED = (*Tokens._fields, "estimated", "actual")
_COUNTERS = ", ".join(f"{name} REAL" for name in _COUNTED)
_TABLES = f"""
    CREATE TABLE session (
        id TEXT PRIMARY KEY ON CONFLICT REPLACE, root TEXT, source TEXT, project TEXT, model TEXT, archived INTEGER,
        began REAL, {_COUNTERS}, unknown INTEGER, included INTEGER
    );
    CREATE TABLE usage (id TEXT, model TEXT, {_COUNTERS});
    CREATE INDEX usage_id ON usage (id);
    CREATE TABLE message (id TEXT, at REAL, messages INTEGER, bytes INTEGER);
    CREATE TABLE tool (
        id TEXT, at REAL, tool TEXT, calls INTEGER, messages INTEGER, failed INTEGER,
        bytes INTEGER, PRIMARY KEY (id, at, tool)
    );
"""
_ROWS = {"session": 16, "usage": 9, "message": 4, "tool": 7}
"""The tables, and how many columns each has."""
_SESSION = f"""
    INSERT INTO session
    SELECT ?1, ?2, ?3, COALESCE(NULLIF(?12, ''), NULLIF(?13, ''), 'unknown'),
        COALESCE(NULLIF(?4, ''), 'unknown'), ?5, {_quarter("?6")}, ?7, ?8, ?9, ?10, ?11,
        CASE WHEN ?16 IS NULL THEN COALESCE(?15, 0.0) ELSE 0.0 END, ?16,
        ?7 + ?8 + ?9 + ?10 > 0 AND ?14 IS NOT 'included'
            AND (COALESCE(?16, ?15) IS NULL OR COALESCE(?16, ?15) = 0 AND ?14 IS 'unknown'),
        ?14 IS 'included'
"""
"""Parameters: id, root, source, model, archived, start, five counts of tokens, root of the
repository, directory, status of the cost, its estimate, and what it actually was."""
_USAGE = """
    INSERT INTO usage SELECT ?1, COALESCE(NULLIF(?2, ''), 'unknown'), ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE ?1 IN (SELECT id FROM session)
"""
_ADD_UP = f"""
    INSERT INTO tool
    SELECT ?1, COALESCE({_quarter("?2")}, (SELECT began FROM session WHERE id = ?1), ''),
        COALESCE(NULLIF(?3, ''), 'unknown'), ?4, ?5, ?6, ?7 WHERE true
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,
        messages = messages + excluded.messages, failed = failed + excluded.failed,
        bytes = bytes + excluded.bytes
"""
"""Rows of the same key are added up. No time is no NULL: unique keys may repeat one."""
_REST = ", ".join(f"max(0, s.{name} - total(u.{name})) AS {name}" for name in _COUNTED[:5])
_TOTALS = ", ".join(f"total({name}) AS {name}" for name in _COUNTED)
_BY_MODEL = f"""
    CREATE TABLE part AS
    WITH rest AS (
        SELECT s.id, s.model, {_REST}, s.unknown, s.actual IS NOT NULL AS is_actual,
            count(u.id) AS used, s.estimated + COALESCE(s.actual, 0)
                - total(CASE WHEN u.actual <> 0 THEN u.actual ELSE u.estimated END) AS cost
        FROM session s LEFT JOIN usage u ON u.id = s.id GROUP BY s.id
    ), every AS (
        SELECT id, model, input, output, cache_read, cache_write, reasoning,
            CASE WHEN actual <> 0 THEN 0 ELSE estimated END AS estimated, actual,
            actual = 0 AND estimated = 0 AS unknown
        FROM usage
        UNION ALL
        SELECT id, model, input, output, cache_read, cache_write, reasoning,
            CASE WHEN cost > 1e-9 AND NOT is_actual THEN cost END,
            CASE WHEN cost > 1e-9 AND is_actual THEN cost END, unknown
        FROM rest
        WHERE NOT used OR cost > 1e-9 OR input + output + cache_read + cache_write + reasoning > 0
    )
    SELECT id, model, {_TOTALS},
        min(unknown) AND total(input + output + cache_read + cache_write) > 0 AS unknown
    FROM every GROUP BY id, model
"""
"""What each session used of each model. What the rows of its models leave of its counters goes to
the model that the session names."""
_SIZED = ("content", "tool_calls", "api_content", *REASONING)
_BYTES = f"sum({' + '.join(bytes_sql(f'm.{name}') for name in _SIZED)})"
"""Bytes of the messages of a group."""
# Cut long text as bytes: SQLite's text functions stop at a NUL, with which multimodal content
# begins.
_BLOB, _MOST_BYTES = "CAST(m.content AS BLOB)", 4 * LONGEST_RESULT
_TOOLS = f"""
    SELECT m.id, m.session_id, m.tool_calls, m.tool_call_id, m.tool_name, m.timestamp,
        m.effect_disposition, m.role = 'tool',
        CASE WHEN m.role <> 'tool' THEN NULL
            WHEN length({_BLOB}) > {_MOST_BYTES} THEN substr({_BLOB}, 1, {_MOST_BYTES})
            ELSE m.content END,
        CASE WHEN m.role = 'tool' THEN {bytes_sql("m.content")} END
    FROM message_rows m WHERE
"""
"""The calls of a message, or its answer."""


class Facts:
    """What was read of a store, in a database in memory; any thread may use it, one at a time."""

    def __init__(self, catalog: Catalog, *, of_tools: bool = False) -> None:
        self.catalog = catalog
        self.of_tools = of_tools
        """Whether these are calls and answers of tools; nothing else is in them then."""
        self.without_session = 0
        """Number of messages without a session."""
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, self._connection.close)
        self._connection.executescript(_TABLES)

    def insert(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run an INSERT for each of some rows."""
        self._connection.executemany(sql, rows)

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Run a SELECT.

        Raises:
            QueryInterruptedError: `interrupt` was called.
        """
        try:
            return self._connection.execute(sql, parameters or {}).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise QueryInterruptedError(_("The query was interrupted.")) from error
            raise

    def dump(self) -> dict[str, list[Row]]:
        """Return the rows of all tables, for `load`."""
        tables = {name: self.rows(f"SELECT * FROM {name}") for name in _ROWS}
        return {**tables, "about": [(int(self.of_tools), self.without_session)]}

    @classmethod
    def load(cls, tables: Mapping[str, Sequence[Sequence[object]]], catalog: Catalog) -> Self:
        """Return the facts of a dump. ValueError if it is none."""
        try:
            ((of_tools, without_session),) = tables["about"]
            facts = cls(catalog, of_tools=bool(of_tools))
            facts.without_session = as_int(without_session)
            for name in _ROWS:
                facts.insert(_insert(name), tables[name])
        except (KeyError, ValueError, sqlite3.Error) as error:
            raise ValueError(str(error)) from error
        if not facts.of_tools:
            facts.rows(_BY_MODEL)
        return facts

    def interrupt(self) -> None:
        """Stop a SELECT that runs on another thread."""
        self._connection.interrupt()


def _insert(table: str) -> str:
    marks = ", ".join("?" * _ROWS[table])
    return f"INSERT INTO {table} VALUES ({marks})"


def _count(value: object) -> int:
    return min(as_count(value), _MOST_TOKENS)


def _read_sessions(reader: Reader, facts: Facts) -> None:
    catalog = facts.catalog
    sql = (
        "SELECT s.rowid, s.id, s.git_repo_root, s.cwd, s.cost_status, s.estimated_cost_usd, "
        "s.actual_cost_usd FROM session_rows s WHERE"
    )

    def decode(row: Row) -> Sequence[object]:
        session = catalog.sessions[text_of(row[1])]
        return (
            session.id,
            catalog.root_of(session.id),
            session.source,
            session.model,
            session.archived,
            session.started_at,
            *map(_count, session.tokens),
            *map(as_text, row[2:5]),
            *map(as_money, row[5:]),
        )

    for rows in reader.slices(sql, "s.rowid", _SLICE):
        known = (row for row in rows if text_of(row[1]) in catalog.sessions)
        facts.insert(_SESSION, map(decode, known))


def _read_usage(reader: Reader, facts: Facts) -> None:
    """Read what Hermes keeps per session, model and task (`session_model_usage`, since 0.19)."""
    sql = (
        "SELECT u.rowid, u.session_id, u.model, u.input_tokens, u.output_tokens, "
        "u.cache_read_tokens, u.cache_write_tokens, u.reasoning_tokens, u.estimated_cost_usd, "
        "u.actual_cost_usd FROM usage_rows u WHERE"
    )

    for rows in reader.slices(sql, "u.rowid", _SLICE):
        decoded = (
            (
                *map(as_text, row[1:3]),
                *map(_count, row[3:8]),
                *(as_money(each) or 0.0 for each in row[8:]),
            )
            for row in rows
        )
        facts.insert(_USAGE, decoded)


def read_facts(
    reader: Reader,
    catalog: Catalog,
    *,
    of_tools: bool = False,
    sizes: bool = False,
    tell: TellShare = quiet,
) -> Facts:
    """Read the data for sums of the whole store, in short statements.

    Args:
        reader: Of the store.
        catalog: Its conversations.
        of_tools: Read the calls and answers of tools instead of tokens, cost and messages.
        sizes: Also read the bytes of all messages, and the messages without a session.
        tell: Called after each statement that reads messages.

    Raises:
        QueryInterruptedError: The reader was interrupted.
    """
    facts = Facts(catalog, of_tools=of_tools)
    _read_sessions(reader, facts)
    if of_tools:
        _read_tools(reader, facts, tell)
    else:
        _read_usage(reader, facts)
        facts.rows(_BY_MODEL)
        _read_messages(reader, facts, sizes, tell)
    return facts


def _read_messages(reader: Reader, facts: Facts, sizes: bool, tell: TellShare) -> None:
    """Read counts and bytes of messages by session and quarter of an hour, in short statements.

    Counts come from the index on session and time. Bytes are read from the rows, in the order
    of the file.
    """

    def add(rows: Iterable[Row]) -> None:
        groups = [(as_text(id), as_time(at), count, size) for id, at, count, size in rows]
        facts.insert(_insert("message"), groups)

    sessions, done = facts.catalog.sessions, 0
    select = (
        f"SELECT m.session_id, {_quarter('m.timestamp')}, "
        f"count(*), {_BYTES if sizes else 0} FROM message_rows m"
    )
    if sizes:
        for ids in reader.slices("SELECT m.id FROM messages m WHERE", "m.id", _SLICE):
            statement = f"{select} WHERE m.id BETWEEN ? AND ? GROUP BY 1, 2"
            add(reader.rows(statement, [ids[0][0], ids[-1][0]]))
    else:
        for chunk in batches(sessions, lambda id: sessions[id].message_count, _MOST_MESSAGES):
            add(reader.rows_in(f"{select} WHERE m.session_id IN ({{keys}}) GROUP BY 1, 2", chunk))
            done += len(chunk)
            tell(done / len(sessions))
    every = as_int(reader.value("SELECT count(*) FROM messages"))
    ((known,),) = facts.rows("SELECT sum(messages) FROM message JOIN session USING (id)")
    facts.without_session = max(0, every - as_int(known))


def _read_tools(reader: Reader, facts: Facts, tell: TellShare) -> None:
    """Read all tool calls and answers, in slices by id.

    An answer without a name (Hermes before 0.16 sometimes omitted it) gets the name of its call.
    """
    last_id = as_int(reader.value("SELECT max(id) FROM messages"))
    open_calls: dict[tuple[str, str], str] = {}
    for rows in reader.slices(_TOOLS, "m.id", _TOOL_SLICE):
        counted = (each for row in rows for each in _count_tools(row, open_calls))
        facts.insert(_ADD_UP, counted)
        tell(min(1.0, as_int(rows[-1][0]) / last_id) if last_id > 0 else 1.0)


def _count_tools(row: Row, open_calls: dict[tuple[str, str], str]) -> Iterator[Sequence[object]]:
    """Yield rows of the table `tool`: the calls of a message, or its answer."""
    _id, stored, calls, call_id, name, stamp, effect, is_answer, text, size = row
    session_id, at = text_of(stored), as_time(stamp)
    for call in decode_tool_calls(calls) if calls is not None else ():
        open_calls[session_id, call.id] = call.name
        yield session_id, at, call.name, 1, 0, 0, 0
    if is_answer:
        call_name = open_calls.pop((session_id, text_of(call_id)), "")
        failed = has_failed(decode_content(text)[0], effect)
        yield session_id, at, as_text(name) or call_name, 0, 1, failed, as_int(size)
