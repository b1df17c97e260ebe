"""A corpus of broken stores: each made from a whole one by one kind of damage."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path

from builders import HOSTILE_IDS, T0, StoreBuilder, hostile_store, make_store

_PAGE = 4096


def _change(path: Path, *statements: str) -> None:
    """Run statements, constraints off and the schema open to writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=1")
        for statement in statements:
            connection.execute(statement)


def _patch(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def _roots(path: Path) -> list[tuple[str, int]]:
    """Every b-tree and the page it begins on."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"
        ).fetchall()
    return [(str(name), int(page)) for name, page in rows]


def _self_referring(path: Path) -> None:
    """The b-tree of messages becomes a page whose hundreds of children are the page itself, and the
    next one."""
    page = dict(_roots(path))["messages"]
    cells = 300
    body = bytearray(_PAGE)
    start = _PAGE - cells * 6
    # https://sqlite.org/fileformat2.html#b_tree_pages: an interior table page
    struct.pack_into(">BHHHBI", body, 0, 5, 0, cells, start, 0, page)
    for number in range(cells):
        struct.pack_into(">H", body, 12 + number * 2, start + number * 6)
        struct.pack_into(">IBB", body, start + number * 6, page, 0x80 | 1, number % 128)
    _patch(path, (page - 1) * _PAGE, bytes(body))


_WRONG = ("x'ff00fe'", "'text'", "-9.5e300", "9223372036854775807")


def _rows_of_wrong_types(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("sessions", "messages"):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for (_cid, column, *_rest), value in zip(columns, cycle(_WRONG), strict=False):
                if column not in ("id", "session_id"):
                    connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}")


_NO_TRIGGERS = "DELETE FROM sqlite_master WHERE type = 'trigger'"


def _rows(sql: str) -> Callable[[Path], object]:
    return lambda path: _change(path, *sql.split(";"))


def _cut(share: float) -> Callable[[Path], object]:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def _written(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda path: path.with_name(name).write_bytes(data)


def _noise(size: int) -> bytes:
    """The same in each run: with other noise, other things go wrong."""
    return random.Random(size).randbytes(size)


def _noise_in_the_index(path: Path) -> None:
    rows = sqlite3.connect(path)
    with closing(rows), rows:
        blocks = rows.execute("SELECT id FROM messages_fts_data").fetchall()
        noise = [(_noise(300 + number), block) for number, (block,) in enumerate(blocks)]
        rows.executemany("UPDATE messages_fts_data SET block = ? WHERE id = ?", noise)


def _log_of(other: Path, path: Path) -> None:
    """Put the log of a store that goes away beside another one."""
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("UPDATE sessions SET title = COALESCE(title, '') || ' later'")
        shutil.copy(f"{other}-wal", f"{path}-wal")
    other.unlink()


def _foreign_wal(path: Path) -> None:
    """The log of another store beside this one."""
    _log_of(make_store(path.with_name("other.db"), "22", [{"id": "x"}]), path)


def _wal_without_shm(path: Path) -> None:
    """As a copy leaves it, the end of the log torn off."""
    _log_of(Path(shutil.copy(path, path.with_name("live.db"))), path)
    os.truncate(f"{path}-wal", Path(f"{path}-wal").stat().st_size - 100)


def _freelist_loop(path: Path) -> None:
    """The list of free pages begins and goes on with a page in use, for ever."""
    _patch(path, 32, struct.pack(">II", 3, 9))
    _patch(path, 2 * _PAGE, struct.pack(">II", 3, 1))


def _overflow_loop(path: Path) -> None:
    """A long text whose chain of pages comes back to its beginning."""
    _change(path, _NO_TRIGGERS, f"UPDATE messages SET content = '{'long ' * 20000}' WHERE id = 1")
    size = path.stat().st_size // _PAGE
    with path.open("r+b") as file:
        for number in range(2, size + 1):
            file.seek((number - 1) * _PAGE)
            head = file.read(12)
            if head[4:12].decode("latin-1") in "long long long long ":
                file.seek((number - 1) * _PAGE)
                file.write(struct.pack(">I", number))


_KINDS: dict[str, Callable[[Path], object]] = {
    "cut to nothing": _cut(0.0),
    "cut to a header": lambda path: os.truncate(path, 100),
    "cut to half": _cut(0.5),
    "cut in a page": _cut(0.731),
    "header of zeros": lambda path: _patch(path, 0, bytes(100)),
    "header of another program": lambda path: _patch(path, 0, b"PK\x03\x04 no database "),
    "page size of 3": lambda path: _patch(path, 16, b"\x00\x03"),
    "page size of 512": lambda path: _patch(path, 16, b"\x02\x00"),
    "newer file format": lambda path: _patch(path, 18, b"\x09\x09"),
    "UTF-16": lambda path: _patch(path, 56, struct.pack(">I", 2)),
    "encrypted": lambda path: path.write_bytes(_noise(path.stat().st_size)),
    "text": lambda path: path.write_bytes(b'{"sessions": []}\n' * 99),
    "freelist loop": _freelist_loop,
    "overflow loop": _overflow_loop,
    "b-tree in a ring": _self_referring,
    "log without shm, torn": _wal_without_shm,
    "shm without log": lambda path: Path(f"{path}-shm").write_bytes(_noise(32768)),
    "log of noise": lambda path: Path(f"{path}-wal").write_bytes(_noise(50000)),
    "foreign log": _foreign_wal,
    "foreign journal": lambda path: Path(f"{path}-journal").write_bytes(_noise(5000)),
    "no messages": _rows("DROP TABLE messages"),
    "no sessions": _rows("DROP TABLE sessions"),
    "sessions a view": _rows("ALTER TABLE sessions RENAME TO s; CREATE VIEW sessions AS SELECT * FROM s"),
    "schema of another program": _rows("DROP TABLE messages; DROP TABLE sessions; CREATE TABLE notes (id)"),
    "schema entry broken": _rows("UPDATE sqlite_master SET sql = 'CREATE TABLE messages (' WHERE name = 'messages'"),
    "schema entry twice": _rows(
        "INSERT INTO sqlite_master SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master"
        " WHERE name = 'messages_fts'"
    ),
    "search shadow tables gone": _rows("DROP TABLE messages_fts_data; DROP TABLE messages_fts_idx"),
    "search data gone": _rows("DELETE FROM messages_fts_data; DELETE FROM messages_fts_trigram_data"),
    "search data of noise": _noise_in_the_index,
    "search data larger than memory": _rows(
        "UPDATE messages_fts_data SET block = x'000000000101000087ffffff7f' WHERE id = 10"
    ),
    "indexes gone": _rows("DELETE FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"),
    "wrong types": _rows_of_wrong_types,
    "times beyond time": _rows(
        f"{_NO_TRIGGERS}; UPDATE sessions SET started_at = 9223372036854775807, ended_at = -9e999;"
        "UPDATE messages SET timestamp = 9e999 WHERE id % 2; UPDATE messages SET timestamp = -9223372036854775808"
        " WHERE id % 2 = 0"
    ),
    "NaN and nothing": _rows(
        "UPDATE sessions SET estimated_cost_usd = 9e999 - 9e999, started_at = 9e999, ended_at = 'NaN'"
    ),
    "negative counts": _rows(
        "UPDATE sessions SET message_count = -5, tool_call_count = -9223372036854775808, input_tokens = -1,"
        " output_tokens = -99, estimated_cost_usd = -3.5"
    ),
    "cycles of parents": _rows(
        "UPDATE sessions SET parent_session_id = id, end_reason = 'compression' WHERE rowid % 3 = 0;"
        "UPDATE sessions SET parent_session_id = (SELECT max(id) FROM sessions) WHERE rowid % 3 = 1;"
        "UPDATE sessions SET parent_session_id = (SELECT min(id) FROM sessions), end_reason = 'compression'"
        " WHERE rowid % 3 = 2"
    ),
    "title of 10 MB": _rows("UPDATE sessions SET title = hex(zeroblob(5000000)) WHERE rowid = 1"),
    "message of 10 MB": _rows(f"{_NO_TRIGGERS}; UPDATE messages SET content = hex(zeroblob(5000000)) WHERE id = 1"),
    "tool calls nested without end": _rows(
        f"{_NO_TRIGGERS}; UPDATE messages SET tool_calls = '" + "[" * 50000 + "', reasoning = '" + '{"a":' * 20000 + "'"
        " WHERE id % 3 = 2"
    ),
}  # fmt: skip


def _whole(path: Path) -> Path:
    """A store with enough in it that every b-tree has something to lose."""
    builder = StoreBuilder(path, "22")
    for number in range(30):
        ended = {"end_reason": "compression", "ended_at": T0 + 60} if number % 5 == 0 else {}
        parent = {"parent_session_id": f"s{number - 1:02}"} if number % 5 == 1 else {}
        builder.session(f"s{number:02}", title=f"Harbour {number}", **ended, **parent)
        for turn in range(12):
            role = ("user", "assistant", "tool")[turn % 3]
            builder.message(f"s{number:02}", role, f"the ferry {turn} left with a lantern, " * 6)
    return builder.write()


def corpus(folder: Path, pages: int = 4, only: Collection[str] = ()) -> Iterator[tuple[str, Path]]:
    """Every broken store, made when it is asked for.

    Args:
        folder: Is filled with folders, one for each.
        pages: How many pages of each b-tree of the whole store are zeroed in turn, the first of
            them its root.
        only: Names of the kinds that are wanted; empty for all.
    """
    whole = _whole(folder / "whole.db")

    def place(name: str) -> Path:
        own = folder / "".join(letter if letter.isalnum() else "-" for letter in name)
        own.mkdir()
        return own / "state.db"

    for name, damage in _KINDS.items():
        if only and name not in only:
            continue
        path = Path(shutil.copy(whole, place(name)))
        damage(path)
        yield name, path
    for name, root in _roots(whole) if not only else ():
        for more in range(pages):
            page = root + more
            if page * _PAGE <= whole.stat().st_size:
                zeroed = f"page {more} from the root of {name} zeroed"
                path = Path(shutil.copy(whole, place(zeroed)))
                _patch(path, (page - 1) * _PAGE, bytes(_PAGE))
                yield zeroed, path
    if only:
        return
    yield "what no Hermes wrote", hostile_store(place("hostile"))
    rows = [{"id": each, "title": each} for each in dict.fromkeys(HOSTILE_IDS)]
    said = [{"session_id": each["id"], "content": "said"} for each in rows]
    yield "ids that are flags, paths, nothing", make_store(place("ids"), "31", rows, said)
