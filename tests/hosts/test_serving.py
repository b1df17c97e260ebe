"""`serve --stdio`, without a network: what it answers, what it refuses, what it holds open."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from writing import handles

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hosts import serving
from hermes_browse.store.hosts.link import Reply

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


class Caller:
    """The other end of a server: sends questions, reads answers."""

    def __init__(self, questions: BinaryIO, answers: BinaryIO) -> None:
        self._questions, self._answers = questions, answers
        self._number = 0

    def line(self, text: bytes) -> None:
        self._questions.write(text + b"\n")
        self._questions.flush()

    def send(self, **question: object) -> int:
        self._number += 1
        self.line(
            json.dumps(
                question if "cancel" in question else {"id": self._number, **question}
            ).encode()
        )
        return self._number

    def heard(self, key: str, value: object = None) -> Any:
        """The next line with this key, and this value if one is named."""
        while True:
            answer = json.loads(self._answers.readline())
            if key in answer and value in (None, answer[key]):
                return answer

    def ask(self, sql: object, values: object = ()) -> Any:
        return self.heard("id", self.send(channel=1, sql=sql, values=values))

    def end(self) -> None:
        self._questions.close()


@pytest.fixture
def caller(hermes_home: Path) -> Iterator[Caller]:
    """Of a server in a thread, on a store of Hermes 0.19."""
    (source, questions), (answers, output) = os.pipe(), os.pipe()
    with (
        os.fdopen(source, "rb") as read,
        os.fdopen(answers, "rb") as heard,
        os.fdopen(output, "wb") as write,
    ):
        store = Store(hermes_home / "state.db")

        def run(_name: str, values: dict[str, Any], stop: Callable[[], bool]) -> Reply:
            with store.reader() as reader:
                text = str(reader.value(values["query"][0])) if "query" in values else ""
            while values.get("ids") == ["until it is stopped"] and not stop():
                time.sleep(0.01)
            return Reply(1 if stop() else 0, text, "one is done")

        server = serving.Server(store, run, write, may_change=True)
        thread = threading.Thread(target=server.serve, args=(read, {"version": "1"}))
        thread.start()
        one = Caller(os.fdopen(questions, "wb"), heard)
        assert one.heard("hello")["hello"] == {"version": "1", "rights": ["read", "change"]}
        yield one
        one.end()
        thread.join(120)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": {}, "sql": "SELECT 1"}',
        b'{"cancel": [1]}',
        b'{"close": {}}',
        b'{"channel": [], "sql": "SELECT 1"}',
        b'{"unknown": true}',
        b'{"id": 7, "sql": 5}',
        b'{"id": 7, "sql": "SELECT ?", "values": [{"b64": "*"}]}',
        b'{"id": 7, "sql": "SELECT ?", "values": [1e999, [], 99999999999999999999999]}',
        b'{"id": 7, "sql": "SELECT ?", "values": [99999999999999999999999]}',
        b'{"id": 7, "sql": "SELECT \\ud800"}',
        b'{"id": 7, "sql": "SELECT 1; SELECT 2"}',
        b'{"id": 7, "sql": "SELECT zeroblob(2000000000)"}',
    ],
)
def test_a_bad_line_harms_nobody(caller: Caller, line: bytes) -> None:
    """The next question is answered."""
    caller.line(line)
    assert caller.ask("SELECT 1 + 1")["rows"] == [[2]]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO sessions (id) VALUES ('x')",
        "UPDATE sessions SET title = 'x'",
        "DELETE FROM messages",
        "DROP TABLE messages",
        "UPDATE sqlite_master SET sql = ''",
        "INSERT INTO temp.sqlite_temp_master DEFAULT VALUES",
        "CREATE TABLE more (x)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON sessions BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE more USING fts5(x)",
        "ATTACH '{other}' AS other",
        "VACUUM INTO '{other}'",
        "VACUUM",
        "BEGIN",
        "BEGIN IMMEDIATE",
        "SAVEPOINT s",
        "REINDEX",
        "ANALYZE",
        "PRAGMA journal_mode=DELETE",
        "PRAGMA writable_schema=1",
        "PRAGMA user_version=7",
        "PRAGMA wal_checkpoint",
        "PRAGMA temp_store_directory='/'",
        "PRAGMA schema_version=1",
        "SELECT load_extension('x')",
    ],
)
def test_what_could_write_is_refused(
    caller: Caller, hermes_home: Path, tmp_path: Path, sql: str
) -> None:
    """Even after `query_only` is switched off, which the search for terms of an index needs; no
    file is opened."""
    before = (hermes_home / "state.db").read_bytes()
    assert "rows" in caller.ask("PRAGMA query_only=0")
    answer = caller.ask(sql.format(other=tmp_path / "other.db"))
    assert answer.get("rows") is None and (answer.get("error") or answer.get("refused"))
    assert not (tmp_path / "other.db").exists()
    assert (hermes_home / "state.db").read_bytes() == before


def test_values_survive(caller: Caller, hermes_home: Path) -> None:
    """Bytes, surrogates, infinities, nothing, and every other character; invalid UTF-8 is as at
    home."""
    values = [
        None,
        1,
        -(2**63),
        0.1,
        "".join(map(chr, range(1, 0x800))),
        "日本語 \u2028 \U0001f600",
        "",
    ]
    marks = ", ".join("?" * len(values))
    assert caller.ask(f"SELECT {marks}", values)["rows"] == [values]
    raw = base64.b64encode(bytes(range(256))).decode()
    assert caller.ask("SELECT ?, length(?)", [{"b64": raw}] * 2)["rows"] == [[{"b64": raw}, 256]]
    assert caller.ask("SELECT 9e999")["rows"] == [[float("inf")]]
    assert caller.ask("SELECT CAST(x'61ff62' AS TEXT)")["rows"] == [["a\ufffdb"]]
    assert caller.ask("SELECT :a", {"a": "named"})["rows"] == [["named"]]


def test_a_cancelled_statement_stops(caller: Caller) -> None:
    """Another channel is answered meanwhile, and the same one afterwards."""
    endless = caller.send(channel=1, sql=ENDLESS)
    other = caller.send(channel=2, sql="SELECT 1")
    assert caller.heard("id")["id"] == other
    caller.send(cancel=endless)
    assert caller.heard("id", endless)["code"] == sqlite3.SQLITE_INTERRUPT
    assert caller.ask("SELECT 2")["rows"] == [[2]]


@pytest.mark.parametrize(
    "endless",
    [{"channel": 1, "sql": ENDLESS}, {"call": "search", "with": {"query": [ENDLESS]}}],
    ids=["sql", "call"],
)
def test_a_question_that_was_cancelled_before_it_began_does_not_run(
    caller: Caller, endless: dict[str, Any]
) -> None:
    """It waits behind another one of its channel, as a search waits for that of the letter
    before."""
    first, second = caller.send(**endless), caller.send(**endless)
    caller.send(cancel=second)
    caller.send(cancel=first)
    assert (
        caller.heard("id", first) and caller.heard("id", second)["code"] == sqlite3.SQLITE_INTERRUPT
    )
    assert (
        caller.heard("id", caller.send(call="search", **{"with": {"query": ["SELECT 3"]}}))["out"]
        == "3"
    )


def test_an_answer_that_is_too_large_is_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller would end the connection."""
    monkeypatch.setattr(serving, "ANSWER_BYTES", 1000)
    assert "too large" in caller.ask("SELECT hex(zeroblob(1000))")["refused"]
    assert caller.ask("SELECT 1")["rows"] == [[1]]


def test_a_value_that_is_too_long_is_refused(caller: Caller) -> None:
    """Also one that is only computed."""
    assert "longer than 64 MB" in caller.ask("SELECT hex(zeroblob(4e8))")["refused"]
    assert "longer than 64 MB" in caller.ask("SELECT length(zeroblob(1e9) || 'x')")["refused"]
    assert caller.ask("SELECT 1")["rows"] == [[1]]


@pytest.mark.parametrize(
    "endless",
    [{"channel": 1, "sql": ENDLESS}, {"call": "search", "with": {"query": [ENDLESS]}}],
    ids=["sql", "call"],
)
def test_a_question_that_takes_too_long_is_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, endless: dict[str, Any]
) -> None:
    """And what comes after it is answered."""
    monkeypatch.setattr(serving, "QUESTION_SECONDS", 0.2)
    number = caller.send(**endless)
    assert "took longer" in caller.heard("id", number)["refused"]
    monkeypatch.undo()
    assert caller.ask("SELECT 2")["rows"] == [[2]]
    assert caller.heard("id", caller.send(call="list"))["code"] == 0


def test_a_change_that_takes_too_long_says_what_it_has_done(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked to stop, and only its end is told."""
    monkeypatch.setattr(serving, "CHANGE_SECONDS", 0.2)
    answer = caller.heard(
        "id", caller.send(call="archive", **{"with": {"ids": ["until it is stopped"]}})
    )
    assert (
        answer["code"] == 5
        and answer["err"].startswith("one is done\n")
        and "took longer" in answer["err"]
    )


def test_more_questions_than_have_room_are_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with a sentence, and they take no memory."""
    endless = caller.send(channel=1, sql=ENDLESS)
    monkeypatch.setattr(serving, "_WAITING_BYTES", 0)
    assert "too many" in caller.ask("SELECT 1")["refused"]
    monkeypatch.undo()
    monkeypatch.setattr(serving, "_CHANNELS", 1)
    assert "too many" in caller.heard("id", caller.send(channel=9, sql="SELECT 1"))["refused"]
    monkeypatch.undo()
    caller.send(cancel=endless)
    assert caller.ask("SELECT 1")["rows"] == [[1]]


@pytest.fixture
def program(hermes_home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The real program."""
    command = [
        sys.executable,
        "-m",
        "hermes_browse.tui",
        "--home",
        str(hermes_home),
        "serve",
        "--stdio",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_the_program_holds_no_handle_and_ends_with_its_input(
    program: subprocess.Popen[bytes], hermes_home: Path
) -> None:
    """A channel that is closed has no handle; one that is left open has none soon after."""
    assert program.stdin is not None and program.stdout is not None
    caller, store = Caller(program.stdin, program.stdout), hermes_home / "state.db"  # type: ignore[arg-type]
    assert caller.heard("id", caller.send(call="list"))["code"] == 0
    assert handles(store, program.pid) == []
    assert caller.ask("SELECT count(*) FROM sessions")["rows"]
    assert handles(store, program.pid) != []
    caller.line(b'{"close": 1}')
    deadline = time.monotonic() + 120
    while handles(store, program.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    caller.send(channel=2, sql=ENDLESS)
    caller.end()
    assert program.wait(120) == 0


COUNTING = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"
GREEDY = [
    "SELECT hex(zeroblob(4e8))",
    f"SELECT {', '.join(['hex(zeroblob(3e7))'] * 500)}",
    f"SELECT {', '.join(['zeroblob(64000000)'] * 500)}",
    f"{COUNTING} zeroblob(1000000) FROM n",
    pytest.param(f"{COUNTING} x FROM n", marks=pytest.mark.long),
]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("sql", GREEDY)
def test_no_question_takes_memory_without_bound(program: subprocess.Popen[bytes], sql: str) -> None:
    """Long values, many in one row, many rows; each is refused, and the next question is
    answered."""
    assert program.stdin is not None and program.stdout is not None
    caller = Caller(program.stdin, program.stdout)  # type: ignore[arg-type]
    assert caller.ask(sql)["refused"]
    assert caller.ask("SELECT 1")["rows"] == [[1]]
    status = Path(f"/proc/{program.pid}/status").read_text()
    (peak,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
    assert peak < 1_000_000, "kilobytes"


def test_the_program_ends_well_in_the_middle_of_everything(
    program: subprocess.Popen[bytes],
) -> None:
    """Python aborts a program that ends while a thread holds one of its streams."""
    assert program.stdin is not None and program.stdout is not None and program.stderr is not None
    caller = Caller(program.stdin, program.stdout)  # type: ignore[arg-type]
    for channel in range(10):
        caller.send(channel=channel, sql=ENDLESS)
        caller.send(call="list")
        caller.send(argv=["serve", "--stdio"])
        caller.send(call="serve")
    caller.end()
    assert program.wait(120) == 0 and program.stderr.read() == b""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_a_channel_that_is_left_open_is_closed_when_idle(
    program: subprocess.Popen[bytes], hermes_home: Path
) -> None:
    """Hermes counts an open store as a holder (0.22)."""
    assert program.stdin is not None and program.stdout is not None
    caller, store = Caller(program.stdin, program.stdout), hermes_home / "state.db"  # type: ignore[arg-type]
    assert caller.ask("SELECT count(*) FROM sessions")["rows"] and handles(store, program.pid)
    deadline = time.monotonic() + 120
    while handles(store, program.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert caller.ask("SELECT count(*) FROM sessions")["rows"]
