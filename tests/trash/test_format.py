"""Values keep their storage class and their bytes on the way through a line, whatever they are."""

from __future__ import annotations

import json
import math
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.trash.format import (
    TableRow,
    bind,
    bound,
    encode_row,
    read_line,
    reading,
    sql_name,
    text_of,
    write_line,
)

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
    """A value stored, read, written as a line, read from it and stored again: both rows as SQLite
    sees them."""
    connection.execute("CREATE TABLE IF NOT EXISTS t (v)")
    connection.execute("DELETE FROM t")
    connection.execute(f"INSERT INTO t VALUES ({expression})", [value])
    (row,) = connection.execute(f"SELECT {reading(['v'])} FROM t").fetchall()
    raw = write_line(TableRow("t", 1, encode_row(["v"], row)))
    assert raw.isascii() and raw.endswith(b"\n") and raw.count(b"\n") == 1
    marks, values = bind(read_line(raw).row)
    connection.execute(f"INSERT INTO t VALUES ({marks[0]})", values)
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


def test_a_class_is_part_of_a_value() -> None:
    """5 and 5.0, text and blob are different rows."""
    rows = [
        encode_row(["v"], pair)
        for pair in (("integer", 5), ("real", 5.0), ("text", b"5"), ("blob", b"5"))
    ]
    assert len({write_line(TableRow("t", None, row)) for row in rows}) == 4


def test_a_line_can_be_read_by_anybody() -> None:
    """It is JSON with the names of the columns."""
    row = encode_row(["a", "b"], ["text", "ü".encode(), "blob", b"\x01"])
    assert json.loads(write_line(TableRow("t", 3, row))) == {
        "table": "t",
        "rowid": 3,
        "row": {"a": "ü", "b": {"blob": "AQ=="}},
    }


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b'{"table": 1, "row": {}}',
        b'{"table": "t", "row": []}',
        b'{"table": "t", "row": {"v": [1]}}',
        b'{"table": "t", "row": {"v": true}}',
        b'{"table": "t", "rowid": "1", "row": {}}',
        b'{"table": "t", "row": {"v": {"blob": 1}}}',
    ],
)
def test_what_is_no_line_is_refused(raw: bytes) -> None:
    """A damaged bundle puts nothing else into a store."""
    with pytest.raises(ValueError):
        read_line(raw)


@pytest.mark.parametrize(
    "value",
    [{}, {"blob": "é"}, {"blob": "A"}, {"real": "nan"}, {"x": "y"}, {"blob": "", "text": ""}],
)
def test_what_is_no_value_is_refused(value: dict[str, str]) -> None:
    """Unknown tags are no values."""
    with pytest.raises(ValueError):
        bound(value)


def test_names_are_quoted() -> None:
    """A table may be called anything."""
    assert sql_name('a"b') == '"a""b"'
    connection = sqlite3.connect(":memory:")
    name = 'a" b'
    connection.execute(f"CREATE TABLE t ({sql_name(name)})")
    connection.execute("INSERT INTO t VALUES (1)")
    assert connection.execute(f"SELECT {reading([name])} FROM t").fetchone() == ("integer", 1)


def test_values_have_words() -> None:
    """For sentences."""
    assert [text_of(each) for each in ("a", 5, None, {"text": "//4="})] == [
        "a",
        "5",
        None,
        "\ufffd\ufffd",
    ]
