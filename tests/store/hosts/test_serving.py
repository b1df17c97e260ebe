"""`serve --stdio`, without a network: what it answers, what it refuses, what it holds open."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from platforms import needs_proc, until
from writing import handles

from hermes_browse.store.call import CALLS
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts import codec, serving
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.found import Found

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ENDLESS_CALL = {"ask": "prepare_search"}
"""With `endless`."""


def run_for_ever(store):
    store.reader.rows(ENDLESS)


@pytest.fixture
def endless(monkeypatch):
    """A call that never comes back."""
    codec.signature("prepare_search")  # of the real one
    monkeypatch.setitem(CALLS, "prepare_search", run_for_ever)


class Caller:
    """The other end of a server: sends questions, reads answers."""

    def __init__(self, questions, answers):
        self._questions, self._answers = questions, answers
        self._number = 0

    def line(self, text):
        self._questions.write(text + b"\n")
        self._questions.flush()

    def send(self, **question):
        self._number += 1
        self.line(
            json.dumps(
                question
                if {"cancel", "stop"} & question.keys()
                else {"id": self._number, **question}
            ).encode()
        )
        return self._number

    def heard(self, key, value=None):
        """The next line with this key, and this value if one is named."""
        while True:
            answer = json.loads(self._answers.readline())
            if key in answer and value in (None, answer[key]):
                return answer

    def ask(self, name, **values):
        return self.heard("id", self.send(ask=name, **{"with": values}))

    def is_answered(self):
        """Whether the next question is."""
        return bool(self.ask("state")["answer"])

    def end(self):
        self._questions.close()


@pytest.fixture
def caller(hermes_home):
    """Of a server in a thread, on a store of Hermes 0.19."""
    (source, questions), (answers, output) = os.pipe(), os.pipe()
    with (
        os.fdopen(source, "rb") as read,
        os.fdopen(answers, "rb") as heard,
        os.fdopen(output, "wb") as write,
    ):
        store = Store(hermes_home / "state.db")
        server = serving.Server(store, Location(store.path), write, may_change=True)
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
        b'{"id": {}, "ask": "state"}',
        b'{"cancel": [1]}',
        b'{"stop": {}}',
        b'{"unknown": true}',
        b'{"id": 7, "ask": 5}',
        b'{"id": 7, "ask": "state", "with": []}',
        b'{"id": 7, "ask": "messages", "with": {"ids": [1e999]}}',
        b'{"id": 7, "ask": "messages", "with": {"ids": [99999999999999999999999]}}',
        b'{"id": 7, "ask": "resolve", "with": {"text": "\\ud800"}}',
    ],
)
def test_a_bad_line_harms_nobody(caller, line):
    """The next question is answered."""
    caller.line(line)
    assert caller.is_answered()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "UPDATE sessions SET title = 'x'",
        "ATTACH '{other}' AS other",
        "VACUUM INTO '{other}'",
        "PRAGMA writable_schema=1",
    ],
)
def test_no_statement_is_run(caller, hermes_home, tmp_path, sql):
    """Neither as a question of its own nor in an argument."""
    before = (hermes_home / "state.db").read_bytes()
    sql = sql.format(other=tmp_path / "other.db")
    answer = caller.heard("id", caller.send(sql=sql, values=[]))
    assert "no call" in answer["error"][1]
    for name, values in (
        ("search", {"query": sql}),
        ("resolve", {"text": f"x' OR 1; {sql}"}),
        ("recap", {"segments": [[f"'; {sql} --", sql]]}),
        ("count_rows", {"session_ids": [f"'); {sql} --"]}),
        ("first_page", {"now": 0.0, "view": sql}),
        ("search", {"query": "a", "sort": sql}),
    ):
        assert caller.ask(name, **values)
    assert not (tmp_path / "other.db").exists()
    assert (hermes_home / "state.db").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("no_such_call", {}, "no call"),
        ("__init__", {}, "no call"),
        ("close", {}, "no call"),
        ("old_files", {"folder": "/"}, "no call"),
        ("messages", {}, "missing 1 required positional argument: 'ids'"),
        ("messages", {"ids": ["a"]}, "Expected `int`"),
        ("messages", {"ids": [1], "more": 1}, "unknown field `more`"),
        ("vocabulary", {"catalog": {"sessions": []}}, "unknown field `catalog`"),
        ("measure", {"sessions": []}, "no call"),
        ("undo", {"done": ["", [["s", {}, {"model_config": ""}]]]}, "Only flags and titles"),
        ("plan", {"selection": {"marks": []}, "now": 0.0}, "Expected `array`"),
    ],
)
def test_a_call_has_its_arguments_and_no_others(caller, name, values, said):
    kind, sentence, *_remedy = caller.ask(name, **values)["error"]
    assert kind == "RefusedError" and said in sentence


def test_a_cancelled_call_stops(caller, endless):
    """Another one is answered meanwhile, and the next afterwards."""
    number = caller.send(**ENDLESS_CALL)
    other = caller.send(ask="state")
    assert caller.heard("id")["id"] == other
    caller.send(cancel=number)
    assert caller.heard("id", number)["error"][0] == "QueryInterruptedError"
    assert caller.is_answered()


def test_a_call_ends_with_what_is_done_so_far(caller, monkeypatch):
    """It is told to stop, and told what it has done."""

    def until_stopped(store, *, stopped, tell, **_):
        tell(0.5)
        while not stopped():
            time.sleep(0.01)
        return Found(Answer(notes=("so far",)), (), 0, {})

    codec.signature("search")  # of the real one
    monkeypatch.setitem(CALLS, "search", until_stopped)
    number = caller.send(ask="search", **{"with": {"query": "a"}})
    assert caller.heard("tell") == {"id": number, "tell": 0.5}
    caller.send(stop=number)
    assert caller.heard("id", number)["answer"][0]["notes"] == ["so far"]


def test_an_answer_that_is_too_large_is_refused(caller, monkeypatch):
    """The caller would end the connection."""
    monkeypatch.setattr(serving, "ANSWER_BYTES", 1000)
    kind, sentence, *_remedy = caller.ask("sessions_after", after=None)["error"]
    assert kind == "ValueTooLongError" and "too large" in sentence


def test_only_values_are_counted(caller, monkeypatch):
    """Not the commas of a text; more values than the caller takes are refused as well."""
    monkeypatch.setattr(codec, "ITEMS", 10)
    assert codec.decode(codec.encode('1,2,"[{' * 10), str) == '1,2,"[{' * 10
    with pytest.raises(ValueError, match="23"):
        codec.decode(codec.encode([1] * 11), list[int])
    assert caller.ask("sessions_after", after=None)["error"][0] == "ValueTooLongError"
    assert caller.is_answered()


def test_a_text_without_an_end_is_counted_at_once(monkeypatch):
    """All that a host sends is looked at once: the screen waits as long as that takes."""
    monkeypatch.setattr(codec, "ITEMS", 10)
    begun = time.process_time()
    assert not codec.is_too_much(b'"' + b'\\",' * 50_000)
    assert time.process_time() - begun < 5.0


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_refused(caller, monkeypatch, endless):
    """And what comes after it is answered."""
    monkeypatch.setattr(serving, "QUESTION_SECONDS", 0.2)
    number = caller.send(**ENDLESS_CALL)
    assert "took longer" in caller.heard("id", number)["error"][1]
    monkeypatch.undo()
    assert caller.is_answered()


def test_a_change_that_takes_too_long_says_what_it_has_done(caller, monkeypatch):
    """It is asked to stop, and only its end is told."""

    def until_stopped(store, session_ids, *, stopped, **_):
        while not stopped():
            time.sleep(0.01)
        raise RefusedError("one is done")

    codec.signature("delete")  # of the real one
    monkeypatch.setitem(CALLS, "delete", until_stopped)
    monkeypatch.setattr(serving, "CHANGE_SECONDS", 0.2)
    assert caller.ask("delete", session_ids=["one"])["error"][:2] == ["RefusedError", "one is done"]
    assert caller.is_answered()


def test_more_questions_than_have_room_are_refused(caller, monkeypatch, endless):
    """Each with a sentence, and they take no memory."""
    number = caller.send(**ENDLESS_CALL)
    with monkeypatch.context() as patch:
        patch.setattr(serving, "_WAITING", 1)
        assert "too many" in caller.ask("state")["error"][1]
    caller.send(cancel=number)
    assert caller.is_answered()


@pytest.fixture
def program(hermes_home):
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


@pytest.mark.slow
@needs_proc
def test_the_program_holds_no_handle_and_ends_with_its_input(program, hermes_home):
    """Hermes counts an open store as a holder (0.22)."""
    caller, store = Caller(program.stdin, program.stdout), hermes_home / "state.db"
    assert handles(store, program.pid) == []
    assert caller.is_answered()
    assert handles(store, program.pid) != []
    until(lambda: not handles(store, program.pid))
    assert caller.is_answered()
    caller.send(ask="space_map")
    caller.end()
    assert program.wait(120) == 0


GREEDY = [
    ("search", {"query": "the", "limit": 0}),
    ("messages", {"ids": list(range(200_000))}),
    ("count_rows", {"session_ids": ["x" * 30] * 100_000}),
    ("resolve", {"text": "x" * 3_900_000}),
    ("recap", {"segments": [["s", "cli"]] * 200_000}),
]


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize(("name", "values"), GREEDY, ids=[each[0] for each in GREEDY])
def test_no_question_takes_memory_without_bound(program, name, values):
    """The next question is answered."""
    caller = Caller(program.stdin, program.stdout)
    assert caller.ask(name, **values)
    assert caller.is_answered()
    status = Path(f"/proc/{program.pid}/status").read_text()
    (peak,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
    assert peak < 1_000_000, "kilobytes"


@pytest.mark.slow
def test_the_program_ends_well_in_the_middle_of_everything(
    program,
):
    """Python aborts a program that ends while a thread holds one of its streams."""
    caller = Caller(program.stdin, program.stdout)
    for _number in range(10):
        caller.send(ask="space_map")
        caller.send(ask="list_page", **{"with": {"now": 0.0, "view": "all"}})
        caller.send(argv=["serve", "--stdio"])
        caller.send(call="serve")
    caller.end()
    program.stdout.read()  # a program that nobody listens to waits until it is heard
    assert program.wait(120) == 0 and program.stderr.read() == b""
