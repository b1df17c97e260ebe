"""What tests of the trash share: whole stores compared value for value, and whether their search
indexes agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from builders import T0, make_store, tool_call

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.connection.schema import sql_name
from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.edit import guards, restore_rows
from hermes_browse.store.edit.delete import Deleted, delete
from hermes_browse.store.edit.restore import Restored, restore
from hermes_browse.store.edit.transaction import Writer, writing
from hermes_browse.store.progress import Progress, never, quiet
from hermes_browse.store.trash.copying import WrittenBundle, write_bundle

NOW = T0 + 200 * 86_400.0
"""Half a year after the rows of test stores: nothing is live."""

PLAIN = "typeof({0}), CASE typeof({0}) WHEN 'text' THEN CAST({0} AS BLOB) ELSE {0} END"
"""Storage class and bytes of a column."""

Dump = dict[str, list[tuple[object, ...]]]
T = TypeVar("T")


def write(
    store: Store,
    work: Callable[[Writer], T],
    verify: Callable[[Reader, T], None],
    needs: Sequence[str] = (),
) -> T:
    """Run one transaction."""
    with writing(store, needs) as writer:
        return writer.run(work, verify)


def hermes_db(path: Path) -> closing[Any]:
    """A store as the real Hermes opens it, until the end of the block."""
    return closing(pytest.importorskip("hermes_state").SessionDB(path))


@contextmanager
def opened(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """A connection of a test's own, each statement its own transaction."""
    uri = f"{path.as_uri()}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)) as connection:
        yield connection


def dump(path: Path) -> Dump:
    """Every row of every table but those of search indexes: rowid, and storage class and bytes of
    each column."""
    with opened(path, "ro") as connection:
        tables = connection.execute(
            "SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        virtual = [name for name, sql in tables if sql.startswith("CREATE VIRTUAL")]
        found: Dump = {}
        for name, sql in tables:
            if name in virtual or any(name.startswith(f"{each}_") for each in virtual):
                continue
            columns = [
                row[1]
                for row in connection.execute(f"PRAGMA table_info({sql_name(name)})").fetchall()
            ]
            rowid = "rowid" if "without rowid" not in sql.lower() else "0"
            values = ", ".join(PLAIN.format(sql_name(column)) for column in columns)
            select = f"SELECT {rowid}, {values} FROM {sql_name(name)} ORDER BY 1, 2, 3"
            found[name] = connection.execute(select).fetchall()
        return found


def session_ids(path: Path) -> set[str]:
    """Ids of all sessions of a store."""
    with opened(path, "ro") as connection:
        return {row[0] for row in connection.execute("SELECT id FROM sessions").fetchall()}


def run(path: Path, *statements: str) -> None:
    """Change a store by hand."""
    with opened(path) as connection:
        for each in statements:
            connection.execute(each)


def execute(path: Path, sql: str, *values: object) -> None:
    """Change a store by one statement."""
    with opened(path) as connection:
        connection.execute(sql, values)


def add_message(path: Path, session: str, text: str, at: float, role: str = "user") -> None:
    """Write a message as another program."""
    names = "session_id, role, content, timestamp"
    execute(path, f"INSERT INTO messages ({names}) VALUES (?, ?, ?, ?)", session, role, text, at)


def gone_by_hand(path: Path, *session_ids: str) -> None:
    """Delete sessions as another program, without a bundle."""
    parents = "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?"
    for each in session_ids:
        execute(path, parents, each)
        for table in ("messages", "session_model_usage"):
            execute(path, f"DELETE FROM {table} WHERE session_id = ?", each)
        execute(path, "DELETE FROM sessions WHERE id = ?", each)


def rows(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Rows of a store."""
    with opened(path, "ro") as connection:
        return connection.execute(sql, values).fetchall()


def column_of(path: Path, column: str) -> dict[str, object]:
    """A column of all sessions, by id."""
    with opened(path, "ro") as connection:
        return dict(connection.execute(f"SELECT id, {column} FROM sessions").fetchall())


def differences(before: Dump, after: Dump) -> dict[str, tuple[int, int]]:
    """By table: how many rows only the one and only the other has."""
    found = {}
    for table in before.keys() | after.keys():
        one, other = set(before.get(table, ())), set(after.get(table, ()))
        if one != other:
            found[table] = (len(one - other), len(other - one))
    return found


def health(path: Path) -> dict[str, str]:
    """What SQLite says of the file, and FTS5 of each search index compared with its rows."""
    with opened(path) as connection:
        said = {"file": str(connection.execute("PRAGMA integrity_check").fetchone()[0])}
        virtual = connection.execute(
            "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"
        ).fetchall()
        for (name,) in virtual:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(
                    f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)"
                )
                said[name] = "ok"
            except sqlite3.DatabaseError as error:
                said[name] = str(error)
            finally:
                connection.execute("ROLLBACK")
        return said


def is_sound(path: Path) -> bool:
    """Whether SQLite and FTS5 find nothing wrong with a store."""
    return set(health(path).values()) == {"ok"}


@contextmanager
def as_before(path: Path) -> Iterator[None]:
    """What is done to a store, and taken back or refused, leaves its rows as they were."""
    before = dump(path)
    yield
    assert differences(before, dump(path)) == {}


def matches(path: Path, word: str, index: str = "messages_fts") -> list[int]:
    """Ids of the messages a search index finds."""
    with opened(path, "ro") as connection:
        rows = connection.execute(
            f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY 1", [f'"{word}"']
        )
        return [row[0] for row in rows.fetchall()]


def remove(path: Path, *ids: str, **settings: Any) -> Deleted:
    """Delete conversations into the folder `trash` beside the store."""
    progress = Progress(settings.pop("stopped", never), settings.pop("tell", quiet))
    return delete(
        Store(path), ids, path.parent / "trash", progress=progress, **{"now": NOW, **settings}
    )


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something whenever a bundle was written, before its rows are deleted."""

    def write(*arguments: Any, **rest: Any) -> WrittenBundle:
        made = write_bundle(*arguments, **rest)
        act()
        return made

    monkeypatch.setattr(deleting, "write_bundle", write)


def put_back(path: Path, name: str, **settings: Any) -> Restored:
    """Restore a bundle from the folder `trash` beside the store."""
    progress = Progress(settings.pop("stopped", never), settings.pop("tell", quiet))
    return restore(Store(path), path.parent / "trash", name, progress=progress, **settings)


def in_trash(folder: Path) -> list[str]:
    """Names of all files of bundles in the folder `trash` beside a store."""
    return sorted(each.name for each in (folder / "trash").glob("*") if each.name != "links.db")


def allow_any_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write to stores with triggers of anybody's, to see what else stands between them and a
    loss."""
    for module in (guards, deleting, restore_rows):
        monkeypatch.setattr(module, "check_triggers", lambda rows, tables: None)


def deleted(folder: Path, shape: str = "31") -> tuple[Path, str]:
    """A store of one file, whose big conversation is in the trash, and the name of the bundle."""
    path = family(folder / "state.db", shape, journal="delete")
    return path, remove(path, "tip").bundle.name


def family(path: Path, shape: str = "31", **settings: object) -> Path:
    """A store with one conversation of everything: segments, subagents, a branch, rows in all
    tables that refer to it.

    `root` → `next` → `tip`, `stale` beside `next`; `helper` and its own `nested` are subagents,
    `branch` is a branch, `other` has nothing to do with any of it.
    """
    sessions: list[dict[str, object]] = [
        {"id": "root", "title": "Harbour", "end_reason": "compression", "ended_at": T0 + 50, "system_prompt": "Kind"},
        {"id": "next", "title": "Harbour #2", "parent_session_id": "root", "end_reason": "compression",
         "ended_at": T0 + 100},
        {"id": "stale", "parent_session_id": "root", "end_reason": "cli_close", "ended_at": T0 + 60,
         "started_at": T0 + 51},
        {"id": "tip", "title": "Harbour #3", "parent_session_id": "next", "session_key": "agent:main:cli"},
        {"id": "helper", "source": "subagent", "parent_session_id": "root",
         "model_config": {"_delegate_from": "root"}},
        {"id": "nested", "source": "subagent", "parent_session_id": "helper",
         "model_config": {"_delegate_from": "helper"}},
        {"id": "branch", "title": "Harbour aside", "parent_session_id": "tip",
         "model_config": {"_branched_from": "tip"}},
        {"id": "other", "title": "Quay"},
    ]  # fmt: skip
    prompts = {"root": "shared", "other": "shared", "branch": None}
    messages: list[dict[str, object]] = []
    for session in sessions:
        name = str(session["id"])
        session["system_prompt_hash"] = prompts.get(name, "own")
        messages += [
            {"session_id": name, "content": f"lantern {name}"},
            {"session_id": name, "role": "assistant", "content": "", "tool_calls": [tool_call("terminal")]},
            {"session_id": name, "role": "tool", "content": f"rope {name} " * 40, "tool_name": "terminal"},
            {"session_id": name, "role": "assistant", "content": f"gangway {name}", "reasoning": "because"},
        ]  # fmt: skip
    tables: dict[str, list[dict[str, object]]] = {
        "session_model_usage": [{"session_id": name, "model": "m", "input_tokens": 7} for name in ("root", "other")],
        "compression_locks": [{"session_id": "tip", "holder": "p", "acquired_at": T0, "expires_at": T0 + 1}],
        "session_turn_leases": [{"conversation_id": "root", "holder": "p", "acquired_at": T0, "expires_at": T0 + 1}],
        "state_meta": [{"key": "goal:tip", "value": "reach the quay"}, {"key": "goal:other", "value": "stay"}],
        "gateway_routing": [
            {"scope": "s", "session_key": "agent:main:cli", "entry_json": '{"session_id": "tip"}', "updated_at": T0}
        ],
        "async_delegations": [
            {"delegation_id": "d", "origin_session": "root", "parent_session_id": "tip", "state": "completed",
             "dispatched_at": T0, "updated_at": T0, "delivery_state": "delivered"}
        ],
        "conversation_generations": [{"source": "cli", "session_key": "agent:main:cli", "generation": 3}],
        "system_prompts": [{"hash": "shared", "prompt": "Be kind"}, {"hash": "own", "prompt": "Be brief"}],
    }  # fmt: skip
    return make_store(path, shape, sessions, messages, tables=tables, **settings)  # type: ignore[arg-type]


FAMILY = {"root", "next", "stale", "tip", "helper", "nested"}
"""What goes with any segment of the conversation in `family`."""
