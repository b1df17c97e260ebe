"""What waits, went wrong, or is running: planted by the code of the real Hermes, found without a
false one."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from store_builder import tool_call
from trashing import execute

from hermes_browse.store import open_store
from hermes_browse.store.hermes.homes import Location

hermes_state = pytest.importorskip("hermes_state")

Row = dict[str, Any]
DAY = 86_400.0


def asks(question):
    """A turn in which the assistant asks the user by its tool."""
    calls = [tool_call("clarify", {"question": question}, id="call_clarify")]
    return [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": calls}]


def runs(*results):
    """A turn with terminal calls and their results."""
    rows = [{"role": "user", "content": "go"}]
    for number, result in enumerate(results):
        call = tool_call("terminal", {"command": "make"}, id=f"call_{number}")
        text = result if isinstance(result, str) else json.dumps(result)
        rows.append({"role": "assistant", "tool_calls": [call]})
        rows.append({"role": "tool", "content": text, "tool_call_id": call["id"]})
    return rows


def says(text, **more):
    """A turn that is answered."""
    return [{"role": "user", "content": "go"}, {"role": "assistant", "content": text} | more]


APPROVAL = {"output": "", "exit_code": -1, "status": "pending_approval", "command": "rm -rf build/"}
FAILED, DONE = {"output": "no", "exit_code": 2}, {"output": "yes", "exit_code": 0}
ANSWER = {"role": "tool", "content": '{"user_response": "yes"}', "tool_call_id": "call_clarify"}
WAITING = {
    "clarify": (asks("Keep the old table?"), "asks: “Keep the old table?”"),
    "approval": (runs(APPROVAL), "wants approval: rm -rf build/"),
    "approval-told": ([*runs(APPROVAL), *says("I need your permission.")[1:]], "wants approval:"),
}
"""Certain."""
INFERRED = {
    "question": (says("Two boats sail. Which one do you want?"), "ends with a question:"),
    "bold": (says("Done.\n\n**Shall I send it?**"), "ends with a question:"),
    "chinese": (says("两条船。你要哪一条？"), "ends with a question:"),
    "promise": (says("I will check back once CI is green."), "says it will “check back"),
}
NOTHING = {
    "answered": [*asks("Which?"), ANSWER, {"role": "assistant", "content": "Kept."}],
    "told": [*asks("Which?"), {"role": "user", "content": "the old one"}],
    "approved": [*runs(APPROVAL), {"role": "user", "content": "yes, do it"}],
    "done": says("It is done. Was it hard? No."),
    "asked-before": says("Which one?\n\nNever mind, the 15:10 it is."),
    "armed": says("I will let you know when the build ends."),
    "recovered": [*runs(FAILED, FAILED, DONE), *says("Fixed.")[1:]],
    "ran": runs(DONE),
}
WRONG = {
    "cut": (says("It begins with", finish_reason="length"), "cut off (length)"),
    "empty": ([*says(""), *says("")[1:], *says("")[1:]], "empty 3 times"),
}
FAILING = {
    "failing": (
        [*runs(FAILED, FAILED, FAILED), *says("It does not work.")[1:]],
        "last 3 tool calls",
    ),
    "failed-last": (runs(FAILED), "the last tool call failed"),
    "crashed": (runs("Error executing tool 'terminal': no shell"), "the last tool call failed"),
}
"""Inferred."""


class Home:
    """A home that the real Hermes writes to."""

    def __init__(self, folder):
        self.folder = folder
        self.db = hermes_state.SessionDB(folder / "state.db")
        self.begun = time.time()

    def session(self, name, rows, source="cli"):
        """A session with messages."""
        self.db.create_session(name, source)
        for row in rows:
            self.db.append_message(name, **row)

    def write(self, name, document):
        """A file of Hermes beside the store."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(json.dumps(document))

    def change(self, sql, *values):
        """What only a statement can make: another time, another state."""
        execute(self.folder / "state.db", sql, *values)

    def since(self, now=None):
        """What this program finds."""
        moment = now or time.time()
        location = Location(self.folder / "state.db", self.folder, "default", demo=True)
        with open_store(location) as store:
            return store.since(store.catalog(moment), moment, self.begun - DAY)


@pytest.fixture
def home(tmp_path):
    """A new one."""
    made = Home(tmp_path)
    yield made
    made.db.close()


def found(since, lane):
    """Reason and certainty of what is in a lane, by session."""
    return {item.session_id: (item.why, item.certain) for item in since.lane(lane)}


def test_what_was_said_and_asked(home):
    """All that is certain and nothing else is certain; what is inferred says so."""
    planted = {**WAITING, **INFERRED, **WRONG, **FAILING}
    for name, (rows, _why) in planted.items():
        home.session(name, rows)
    for name, rows in NOTHING.items():
        home.session(name, rows)
    process = [{"session_id": "proc_1", "session_key": "armed", "command": "make", "pid": 1}]
    home.write("processes.json", process)
    since = home.since()
    waiting, wrong = found(since, "waiting"), found(since, "wrong")
    assert waiting.keys() == {*WAITING, *INFERRED} and wrong.keys() == {*WRONG, *FAILING}
    assert {name for name, (_why, certain) in waiting.items() if certain} == {*WAITING}
    assert {name for name, (_why, certain) in wrong.items() if certain} == {*WRONG}
    for name, (_rows, why) in planted.items():
        assert why in {**waiting, **wrong}[name][0], name
    assert found(since, "new").keys() == {*planted, *NOTHING}


def test_a_question_waits_again_when_the_answer_was_taken_back(home):
    home.session("s", [*says("Which one?"), {"role": "user", "content": "the 15:10"}])
    assert found(home.since(), "waiting") == {}
    home.db.rewind_to_message("s", home.db.get_messages("s")[-1]["id"])
    assert found(home.since(), "waiting")["s"] == ("ends with a question: “Which one?”", False)


def test_whom_nothing_waits_for(home):
    """What was ended, put away or hidden waits for nobody; nobody asks in automation; after a week
    of silence only what Hermes stores counts."""
    for name in ("ended", "archived", "old"):
        home.session(name, asks("Which?"))
    home.session("old-question", says("Which one?"))
    home.session("cron", says("Which one?"), "cron")
    home.db.end_session("ended", "cli_close")
    home.db.set_session_archived("archived", True)
    waiting = found(home.since(time.time() + 30 * DAY), "waiting")
    assert waiting.keys() == {"old"}
    assert found(home.since(), "waiting").keys() == {"old", "old-question"}


def test_what_hermes_stores(home):
    """A handoff that was not taken or failed, an answer of a background agent that was not
    delivered, a turn that a restart of the gateway cut off."""
    names = ("handed", "taken", "refused", "agent", "delivered", "cut", "plain")
    for name in names:
        home.session(name, says("Done."), "telegram")
    for name in names[:3]:
        assert home.db.request_handoff(name, "telegram")
    assert home.db.claim_handoff("taken") and home.db.claim_handoff("refused")
    home.db.complete_handoff("taken")
    home.db.fail_handoff("refused", "no such chat")
    for name, state in (("agent", "pending"), ("delivered", "delivered")):
        home.change(
            "INSERT INTO async_delegations (delegation_id, origin_session, parent_session_id, state, "
            "dispatched_at, updated_at, delivery_state) VALUES (?, 'x', ?, 'completed', 1, 1, ?)",
            *(name, name, state),
        )
    for name in ("cut", "plain"):
        entry = json.dumps({"session_id": name, "resume_pending": name == "cut"})
        home.change("INSERT INTO gateway_routing VALUES ('', ?, ?, 1)", name, entry)
    since = home.since()
    assert found(since, "waiting").keys() == {"handed", "agent", "cut"}
    assert found(since, "wrong") == {"refused": ("the handover failed: no such chat", True)}


@pytest.fixture
def executions(home, monkeypatch):
    """Hermes' own ledger of cron, in its home."""
    ledger = pytest.importorskip("cron.executions")
    monkeypatch.setattr(ledger, "EXECUTIONS_FILE", home.folder / "cron" / "executions.db")
    return ledger


def test_runs_of_cron(home, executions):
    """By Hermes' own ledger: a script without a session, and a run with one; those that went well
    and those that were read are not there."""
    jobs = [{"id": "j1", "name": "backup.sh"}, {"id": "j2", "name": "Morning paper"}]
    home.write("cron/jobs.json", {"jobs": jobs})
    stamp = time.strftime("%Y%m%d_%H%M%S")
    for job, error in (("j1", "exit 3"), ("j1", None), ("j2", "model 404")):
        made = executions.create_execution(job, source="schedule")
        executions.mark_execution_running(made["id"])
        if job == "j2":
            home.session(f"cron_j2_{stamp}", says("No network."), "cron")
        executions.finish_execution(made["id"], success=error is None, error=error)
    executions.create_execution("j1", source="schedule")
    since = home.since()
    failed = {(item.title, item.session_id, item.why) for item in since.lane("wrong")}
    assert failed == {
        ("backup.sh", None, "the job failed: exit 3"),
        ("go", f"cron_j2_{stamp}", "the job failed: model 404"),
    }
    assert [item.title for item in since.lane("running") if item.session_id is None] == [
        "backup.sh"
    ]


def test_each_run_has_its_own_session(home, executions):
    """Also where one comes each minute and the one before it went well, where a script takes longer
    than a minute, and where one is silent for long."""
    now = time.time()
    for number, began, session, ended, error in (
        (0, 1_205, 1_204, 1_200, None),
        (1, 1_145, 1_144, 1_140, "no model"),
        (2, 1_085, 1_084, 1_080, "no network"),
        (3, 900, 800, 790, "after a script of 100 s"),
        (4, 600, 599, None, None),
    ):
        id = f"cron_j1_20260101_00000{number}"
        home.session(id, runs() if ended is None else says("Done."), "cron")
        home.change("UPDATE sessions SET started_at = ? WHERE id = ?", now - session, id)
        home.change("UPDATE messages SET timestamp = ? WHERE session_id = ?", now - session, id)
        made = executions.create_execution("j1", source="schedule")["id"]
        executions.mark_execution_running(made)
        if ended is not None:
            home.db.end_session(id, "cron_complete")
            executions.finish_execution(made, success=error is None, error=error)
        times = [
            None if each is None else time.strftime("%FT%TZ", time.gmtime(now - each))
            for each in (began, began, ended)
        ]
        sql = "UPDATE executions SET claimed_at = ?, started_at = ?, finished_at = ? WHERE id = ?"
        execute(executions.EXECUTIONS_FILE, sql, *times, made)
    since = home.since()
    assert found(since, "wrong") == {
        "cron_j1_20260101_000001": ("the job failed: no model", True),
        "cron_j1_20260101_000002": ("the job failed: no network", True),
        "cron_j1_20260101_000003": ("the job failed: after a script of 100 s", True),
    }
    assert found(since, "running") == {"cron_j1_20260101_000004": ("at work, or just done", True)}


def test_bookkeeping_hides_no_question(home):
    home.session("asked", says("Shall I?"))
    home.db.append_message("asked", "session_meta", "{}")
    assert list(found(home.since(), "waiting")) == ["asked"]


def test_the_last_run_without_a_ledger(home):
    """Before the ledger, the list of jobs has the outcome of the last run."""
    failed = {"id": "j1", "name": "backup", "last_status": "error", "last_error": "exit 3"}
    fine = {"id": "j2", "name": "fine", "last_status": "ok", "last_run_at": time.time()}
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    home.write("cron/jobs.json", {"jobs": [failed | {"last_run_at": stamp}, fine]})
    assert [item.title for item in home.since().lane("wrong")] == ["backup"]
    (home.folder / "cron" / "jobs.json").write_text("{")
    assert not home.since().items


def test_ended_by_an_error(home):
    """It is there without a new message; another end is none, nor is one from before."""
    for name in ("broken", "closed"):
        home.session(name, says("Done."))
    home.db.end_session("broken", "provider_error")
    home.db.end_session("closed", "cli_close")
    home.change("UPDATE messages SET timestamp = 1000000000")
    home.change("UPDATE sessions SET started_at = 1000000000")
    assert found(home.since(), "wrong") == {"broken": ("it was ended by: provider_error", True)}
    home.change("UPDATE sessions SET ended_at = 1000000000")
    assert not home.since().items


def test_running(home):
    """What is live, since its prompt and in which tool; by a lease it is certain."""
    calls = [tool_call("terminal")]
    home.session(
        "busy", [*says("Done."), *says("")[:1], {"role": "assistant", "tool_calls": calls}]
    )
    home.session("ended", says("Done."))
    home.db.end_session("ended", "cli_close")
    assert found(home.since(), "running") == {"busy": ("in terminal", False)}
    assert home.db.try_acquire_compression_lock("busy", "holder", ttl_seconds=60)
    assert found(home.since(), "running") == {"busy": ("in terminal", True)}
