"""Read once what sums are made of, into tables in memory; `sums` groups them by anything."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from ..cleanup.sizes import REASONING
from ..connection.failures import translated
from ..connection.reader import Reader, Row
from ..connection.stored_values import (
    LONGEST_RESULT,
    as_count,
    as_flag,
    as_int,
    as_money,
    as_time,
    bytes_sql,
    has_failed,
)
from ..messages.decode import decode_content, decode_tool_calls
from ..progress import TellShare, batches, quiet
from ..sessions.catalog import Catalog
from ..sessions.models import Tokens
from ..text import as_text, text_of

QUARTER = 900
"""Seconds. In every time zone, days and hours begin at a full quarter of an hour."""

UNKNOWN = "unknown"
"""Key for a missing model, tool, directory or time."""


def _quarter(time: str) -> str:
    """Return SQL for the first second of the quarter of an hour of a time; what is not a number of
    seconds since 1970 stands as it is."""
    quarter = f"CAST({time} / {QUARTER}.0 AS INTEGER) * {QUARTER}"
    return f"CASE WHEN {time} >= 0 AND {time} < 1e11 THEN {quarter} ELSE {time} END"


_IN_MEMORY = Path(":memory:")
_SLICE = 1000
_TOOL_SLICE = 400
_MOST_MESSAGES = 20_000
"""Messages per statement, by the counters of the sessions."""
_MOST_TOKENS = 2**53
"""Sums of more would not be exact, and a sum of 64-bit integers may overflow."""
_COUNTED = (*Tokens._fields, "estimated", "actual")
_COUNTERS = ", ".join(f"{name} REAL" for name in _COUNTED)
_ZEROS = "0, 0, 0, 0, 0, 0, 0, 0, 0"
_TABLES = f"""
    CREATE TABLE session (
        id TEXT PRIMARY KEY ON CONFLICT REPLACE, root TEXT, source TEXT, model TEXT,
        archived INTEGER, began REAL, {_COUNTERS}, project TEXT, status TEXT
    );
    CREATE TABLE usage (id TEXT, model TEXT, {_COUNTERS});
    CREATE INDEX usage_id ON usage (id);
    CREATE TABLE message (id TEXT, at REAL, messages INTEGER, bytes INTEGER);
    CREATE TABLE tool (
        id TEXT, at REAL, tool TEXT, calls INTEGER, messages INTEGER, failed INTEGER,
        bytes INTEGER, PRIMARY KEY (id, at, tool)
    );
    CREATE TABLE part (id TEXT, model TEXT, {_COUNTERS}, unknown INTEGER, included INTEGER);
    CREATE VIEW event AS
    SELECT id, root, source, project, part.model, NULL AS tool, archived, began AS at, 1 AS begun,
        unknown, included, part.input, part.output, part.cache_read, part.cache_write,
        part.reasoning, part.estimated, part.actual,
        0 AS messages, 0 AS bytes, 0 AS calls, 0 AS failed
    FROM part JOIN session USING (id)
    UNION ALL
    SELECT id, root, source, project, model, NULL, archived, COALESCE(at, began), 0,
        {_ZEROS}, messages, bytes, 0, 0
    FROM message LEFT JOIN session USING (id)
    UNION ALL
    SELECT id, root, source, project, model, tool, archived, NULLIF(at, ''), 1,
        {_ZEROS}, messages, bytes, calls, failed
    FROM tool LEFT JOIN session USING (id);
"""
"""What was read, and what is added up: sessions at their begin, in parts by model, messages, calls
and answers at their own time. A message without a time has that of its session."""
_TOKENS = ", ".join([f"min(?, {_MOST_TOKENS})"] * 5)
_INSERTS = {
    "session": f"""
        INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, {_quarter("?6")}, {_TOKENS}, ?, ?, ?, ?)
    """,
    "usage": f"INSERT INTO usage VALUES (?, ?, {_TOKENS}, ?, ?)",
    "message": "INSERT INTO message VALUES (?, ?, ?, ?)",
    "tool": f"""
        INSERT INTO tool
        SELECT ?1, COALESCE({_quarter("?2")}, (SELECT began FROM session WHERE id = ?1), ''),
            COALESCE(NULLIF(?3, ''), 'unknown'), ?4, ?5, ?6, ?7 WHERE true
        ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,
            messages = messages + excluded.messages, failed = failed + excluded.failed,
            bytes = bytes + excluded.bytes
    """,
}
"""Fill the tables, also with rows of themselves. Of tools, rows of the same key are added up; no
time is no NULL there, as unique keys may repeat one."""

_COUNTS = (as_count, as_count, as_count, as_count, as_count, as_money, as_money)
_DECODERS: Mapping[str, Sequence[Callable[[object], object]]] = {
    "session": (as_text, as_text, as_text, as_text, as_flag, as_time, *_COUNTS, as_text, as_text),
    "usage": (as_text, as_text, *_COUNTS),
    "message": (as_text, as_time, as_int, as_int),
    "tool": (as_text, as_time, as_text, as_int, as_int, as_int, as_int),
}
"""How the values of a row are decoded."""
_REST = ", ".join(f"max(0, s.{name} - total(u.{name})) AS {name}" for name in _COUNTED[:5])
_TOTALS = ", ".join(f"total({name})" for name in _COUNTED)
_BY_MODEL = f"""
    INSERT INTO part
    WITH rest AS (
        SELECT s.id, s.model, {_REST}, COALESCE(s.actual, s.estimated, 0)
                - total(CASE WHEN u.actual <> 0 THEN u.actual ELSE u.estimated END) AS cost,
            s.actual IS NOT NULL AS is_actual, count(u.id) AS used,
            s.input + s.output + s.cache_read + s.cache_write > 0
                AND (COALESCE(s.actual, s.estimated) IS NULL
                    OR COALESCE(s.actual, s.estimated) = 0 AND s.status IS 'unknown') AS unknown
        FROM session s LEFT JOIN usage u ON u.id = s.id GROUP BY s.id
    ), every AS (
        SELECT id, model, input, output, cache_read, cache_write, reasoning,
            CASE WHEN actual <> 0 THEN 0 ELSE estimated END AS estimated, actual,
            COALESCE(actual, 0) = 0 AND COALESCE(estimated, 0) = 0 AS unknown
        FROM usage
        UNION ALL
        SELECT id, model, input, output, cache_read, cache_write, reasoning,
            CASE WHEN cost > 1e-9 AND NOT is_actual THEN cost END,
            CASE WHEN cost > 1e-9 AND is_actual THEN cost END, unknown
        FROM rest
        WHERE NOT used OR cost > 1e-9 OR input + output + cache_read + cache_write + reasoning > 0
    )
    SELECT id, COALESCE(NULLIF(model, ''), 'unknown') AS name, {_TOTALS},
        min(unknown) AND total(input + output + cache_read + cache_write) > 0
            AND status IS NOT 'included',
        status IS 'included'
    FROM every JOIN (SELECT id, status FROM session) USING (id) GROUP BY id, name
"""
"""What each session used of each model. What the rows of its models leave of its counters goes to
the model that the session names."""
_SIZED = ("content", "tool_calls", "api_content", *REASONING)
_BYTES = f"sum({' + '.join(bytes_sql(f'm.{name}') for name in _SIZED)})"
"""Bytes of the messages of a group."""
_SESSIONS = (
    "SELECT s.rowid, s.id, s.estimated_cost_usd, s.actual_cost_usd, s.git_repo_root, s.cwd, "
    "s.cost_status FROM session_rows s WHERE"
)
_USAGES = (
    "SELECT u.rowid, u.session_id, u.model, u.input_tokens, u.output_tokens, u.cache_read_tokens, "
    "u.cache_write_tokens, u.reasoning_tokens, u.estimated_cost_usd, u.actual_cost_usd "
    "FROM usage_rows u WHERE"
)
"""What Hermes keeps per session, model and task (`session_model_usage`, since 0.19)."""
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
            _IN_MEMORY, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, self._connection.close)
        self._connection.executescript(_TABLES)

    def insert(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        """Fill one of the tables of `_INSERTS`."""
        decoders = _DECODERS[table]
        decoded = (
            [decode(value) for decode, value in zip(decoders, row, strict=True)] for row in rows
        )
        self._connection.executemany(_INSERTS[table], decoded)

    def rows(self, sql: str, parameters: Mapping[str, object] = {}) -> list[Row]:
        """Run a statement.

        Raises:
            QueryInterruptedError: `interrupt` was called.
        """
        with translated(_IN_MEMORY):
            return self._connection.execute(sql, parameters).fetchall()

    def dump(self) -> dict[str, list[Row]]:
        """Return the rows of all tables, for `load`."""
        tables = {name: self.rows(f"SELECT * FROM {name}") for name in _INSERTS}
        return {**tables, "about": [(int(self.of_tools), self.without_session)]}

    @classmethod
    def load(cls, tables: Mapping[str, Sequence[Sequence[object]]], catalog: Catalog) -> Self:
        """Return the facts of a dump. ValueError if it is none."""
        try:
            ((of_tools, without_session),) = tables["about"]
            facts = cls(catalog, of_tools=bool(of_tools))
            facts.without_session = as_int(without_session)
            for name in _INSERTS:
                facts.insert(name, tables[name])
        except (KeyError, ValueError, sqlite3.Error) as error:
            raise ValueError(str(error)) from error
        if not facts.of_tools:
            facts.rows(_BY_MODEL)
        return facts

    def interrupt(self) -> None:
        """Stop a SELECT that runs on another thread."""
        self._connection.interrupt()


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
    for rows in reader.slices(_SESSIONS, "s.rowid", _SLICE):
        facts.insert("session", _with_sessions(catalog, rows))
    if of_tools:
        _read_tools(reader, facts, tell)
        return facts
    for rows in reader.slices(_USAGES, "u.rowid", _SLICE):
        facts.insert("usage", (row[1:] for row in rows))
    facts.rows(_BY_MODEL)
    _read_messages(reader, facts, sizes, tell)
    every = as_int(reader.value("SELECT count(*) FROM messages"))
    ((known,),) = facts.rows("SELECT sum(messages) FROM message JOIN session USING (id)")
    facts.without_session = max(0, every - as_int(known))
    return facts


def _with_sessions(catalog: Catalog, rows: Iterable[Row]) -> Iterator[Sequence[object]]:
    """Yield rows of the table `session` for rows of `_SESSIONS`."""
    for _rowid, id, estimated, actual, repository, folder, status in rows:
        session = catalog.sessions.get(text_of(id))
        if session is not None:
            root, project = catalog.root_of(session.id), text_of(repository) or folder
            about = session.source, session.model, session.archived, session.started_at
            yield session.id, root, *about, *session.tokens, estimated, actual, project, status


def _read_messages(reader: Reader, facts: Facts, sizes: bool, tell: TellShare) -> None:
    """Read counts and bytes of messages by session and quarter of an hour, in short statements.

    Counts come from the index on session and time. Bytes are read from the rows, in the order
    of the file.
    """
    sessions, done = facts.catalog.sessions, 0
    select = (
        f"SELECT m.session_id, {_quarter('m.timestamp')}, "
        f"count(*), {_BYTES if sizes else 0} FROM message_rows m"
    )
    if sizes:
        statement = f"{select} WHERE m.id BETWEEN ? AND ? GROUP BY 1, 2"
        for ids in reader.slices("SELECT m.id FROM messages m WHERE", "m.id", _SLICE):
            facts.insert("message", reader.rows(statement, [ids[0][0], ids[-1][0]]))
        return
    statement = f"{select} WHERE m.session_id IN ({{keys}}) GROUP BY 1, 2"
    for chunk in batches(sessions, lambda id: sessions[id].message_count, _MOST_MESSAGES):
        facts.insert("message", reader.rows_in(statement, chunk))
        done += len(chunk)
        tell(done / len(sessions))


def _read_tools(reader: Reader, facts: Facts, tell: TellShare) -> None:
    """Read all tool calls and answers, in slices by id.

    An answer without a name (Hermes before 0.16 sometimes omitted it) gets the name of its call.
    """
    last_id = as_int(reader.value("SELECT max(id) FROM messages"))
    open_calls: dict[tuple[str, str], str] = {}
    for rows in reader.slices(_TOOLS, "m.id", _TOOL_SLICE):
        facts.insert("tool", (each for row in rows for each in _count_tools(row, open_calls)))
        tell(min(1.0, as_int(rows[-1][0]) / max(last_id, 1)))


def _count_tools(row: Row, open_calls: dict[tuple[str, str], str]) -> Iterator[Sequence[object]]:
    """Yield rows of the table `tool`: the calls of a message, or its answer."""
    _id, session, calls, call_id, name, at, effect, is_answer, text, size = row
    for call in decode_tool_calls(calls):
        open_calls[text_of(session), call.id] = call.name
        yield session, at, call.name, 1, 0, 0, 0
    if is_answer:
        call_name = open_calls.pop((text_of(session), text_of(call_id)), "")
        failed = has_failed(decode_content(text)[0], effect)
        yield session, at, text_of(name) or call_name, 0, 1, int(failed), size
