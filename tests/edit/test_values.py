"""Values keep their storage class and their bytes on the way through Python, whatever they are."""

from __future__ import annotations

import math
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.connection.schema import sql_name
from hermes_browse.store.edit.values import InvalidText, bound, read_row, select_values, text_of

INTEGERS = st.integers(-(2**63), 2**63 - 1)
REALS = st.floats(allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
RAW = st.binary(max_size=40)
SPECIAL = (
    0.0, -0.0, 5.0, 1e22, 1e308, 5e-324, math.inf, -math.inf, 2**63 - 1, -(2**63), None, "", "a\x00b", "\x1b[31m",
    "日本", "é", b"", b"\x00\xff", b"text",
)  # fmt: skip


def kept(
    connection: sqlite3.Connection, expression: str, value: object
) -> list[tuple[object, ...]]:
    """A value stored, read and stored again: both rows as SQLite sees them."""
    connection.execute("CREATE TABLE IF NOT EXISTS t (v)")
    connection.execute("DELETE FROM t")
    connection.execute(f"INSERT INTO t VALUES ({expression})", [value])
    (row,) = connection.execute(f"SELECT {select_values(['v'])} FROM t").fetchall()
    mark, read = bound(read_row(["v"], row)["v"])
    connection.execute(f"INSERT INTO t VALUES ({mark})", [read])
    plain = "CASE typeof(v) WHEN 'text' THEN CAST(v AS BLOB) ELSE v END"
    return [
        (kind, repr(v))
        for kind, v in connection.execute(f"SELECT typeof(v), {plain} FROM t ORDER BY rowid")
    ]


@pytest.fixture(scope="module")
def connection() -> sqlite3.Connection:
    """A database in memory."""
    return sqlite3.connect(":memory:", isolation_level=None)


@pytest.mark.parametrize("value", SPECIAL, ids=repr)
def test_odd_values_come_back(connection: sqlite3.Connection, value: object) -> None:
    """Infinities, huge integers, NUL in text, empty blobs."""
    one, other = kept(connection, "?", value)
    assert one == other


@given(st.one_of(INTEGERS, REALS, TEXTS, RAW))
def test_any_value_comes_back(connection: sqlite3.Connection, value: object) -> None:
    """Storage class and bytes."""
    one, other = kept(connection, "?", value)
    assert one == other


@given(RAW)
def test_text_of_any_bytes_comes_back(connection: sqlite3.Connection, value: bytes) -> None:
    """Text that is no UTF-8 stays text, and its bytes stay; a lone surrogate is such."""
    one, other = kept(connection, "CAST(? AS TEXT)", value)
    assert one == other and one[0] == "text"


def test_names_are_quoted() -> None:
    """A table may be called anything."""
    assert sql_name('a"b') == '"a""b"'
    connection = sqlite3.connect(":memory:")
    name = 'a" b'
    connection.execute(f"CREATE TABLE t ({sql_name(name)})")
    connection.execute("INSERT INTO t VALUES (1)")
    assert connection.execute(f"SELECT {select_values([name])} FROM t").fetchone() == ("integer", 1)


def test_values_have_words() -> None:
    """For sentences."""
    assert [text_of(each) for each in ("a", 5, None, InvalidText(b"\xff\xfe"))] == [
        "a",
        "5",
        None,
        "\ufffd\ufffd",
    ]
