"""Carrying out a plan: whole conversations, in portions, with an end between any two."""

import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from pruning import chosen, delete_planned, family, plan_of
from trashing import gone_by_hand, meanwhile, run

from hermes_browse.store import open_store, progress
from hermes_browse.store.cleanup.bulk import Step, archived_of, done_of
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.edit import flags
from hermes_browse.store.errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreError,
    StoreRefusedError,
    WriteFailedError,
)
from hermes_browse.store.progress import NOBODY, Portions, Progress
from hermes_browse.store.trash import shelf
from hermes_browse.store.trash.copying import ChangedMeanwhileError
from hermes_browse.tui.cli import prune

OLD = chosen("older:30d")
"""Chooses five conversations of `family`, of which one takes two subagents along."""


@pytest.fixture
def path(tmp_path):
    """A store with one of each kind of conversation."""
    return family(tmp_path / "state.db")


@pytest.fixture
def rests(monkeypatch):
    """Pauses, in seconds, which pass at once."""
    found = []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=found.append)
    monkeypatch.setattr(progress, "time", clock)
    return found


def delete(path, plan, **how):
    """Carry it out."""
    return delete_planned(Store(path), plan, path.parent / "trash", **how)


def fail_at_the_third(monkeypatch, error):
    """Portions of one, of which the third fails."""
    monkeypatch.setattr(progress, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(progress, "BUSY_PAUSE", 0.0)
    here, calls = deleting._delete_portion, []

    def act(*arguments):
        calls.append(1)
        if len(calls) > 2:
            raise error
        here(*arguments)

    monkeypatch.setattr(deleting, "_delete_portion", act)


def test_portions_grow_and_rest_while_others_write(rests, monkeypatch):
    """Each item once and in order; small again, after a pause, once another process has written."""
    monkeypatch.setattr(progress, "FEW_ROWS", 3)
    seen = []
    items = [2, 2, 9, 1, 1, 1, 1, 1, 3]
    work = Portions(NOBODY, int)
    work.run(items, seen.append, iter([0, 0, 0, 1, 1, 1]).__next__)
    assert seen == [[2], [2], [9, 1, 1, 1], [1, 1], [3]]
    assert work.done == items and len(rests) == 1


@pytest.mark.parametrize("begin", [0, 1])
def test_a_busy_store_is_waited_for(rests, begin):
    """Longer once a part is done, since Hermes may keep the lock for minutes; else it is given up.
    It is said while it waits."""
    told = []
    items = [1000, 1000]
    work = Portions(Progress(tell=told.append), int, spares=True)

    def unit(some):
        if len(work.done) == begin and len(rests) < progress.BUSY_TRIES + 5:
            raise StoreBusyError("busy")

    if begin:
        work.run(items, unit, lambda: 0)
        assert work.done == items
    else:
        with pytest.raises(StoreBusyError):
            work.run(items, unit, lambda: 0)
        assert not work.done and rests == [progress.BUSY_PAUSE] * (progress.BUSY_TRIES - 1)
    waiting = next(stage for stage in told if stage.is_waiting)
    words = "1 of 5 · waiting: another program keeps the store for itself"
    assert Step(1, 5, 9.0, waiting).words == words


def test_waiting_ends_when_it_is_stopped(rests):
    """Between two tries as between two portions."""
    unit = Mock(side_effect=StoreBusyError("busy"))
    work = Portions(Progress(lambda: len(rests) == 3), int, spares=True)
    with pytest.raises(QueryInterruptedError):
        work.run([1, 2], unit, lambda: 0)
    assert not work.done and len(rests) == 3


def test_a_refusal_spares_one():
    """The transaction has the last word; one that is about the store ends it."""

    def unit(some):
        if 3 in some:
            raise error

    for error in (RefusedError("It is being written to."), StoreRefusedError("odd")):
        work = Portions(NOBODY, int, spares=True)
        if isinstance(error, StoreRefusedError):
            with pytest.raises(StoreRefusedError):
                work.run([1, 2, 3, 4], unit, lambda: 0)
            assert not work.spared
        else:
            work.run([1, 2, 3, 4], unit, lambda: 0)
            assert work.done == [1, 2, 4] and work.spared == [(3, error)]


def test_a_store_that_is_gone(path):
    """Nothing was done, and why is said where other errors are."""
    plan = plan_of(path, OLD)
    path.rename(path.with_name("away.db"))
    outcome = delete_planned(Store(path), plan, path.parent / "trash")
    assert isinstance(outcome.error, StoreError) and outcome.left == 5 and not outcome.done


_SAID = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('{}', 'user', 'hi', 1)"


@pytest.mark.parametrize(
    "statement",
    [
        _SAID.format("boss"),
        _SAID.format("helper2"),
        "UPDATE sessions SET ended_at = NULL WHERE id = 'boss'",
        "UPDATE sessions SET id = 'boss3' WHERE id = 'helper2'",
        "UPDATE sessions SET end_reason = 'compression' WHERE id = 'boss';"
        "INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at) "
        "SELECT 'next', source, id, ended_at, ended_at + 60 FROM sessions WHERE id = 'boss'",
    ],
)
def test_what_was_taken_up_again_is_spared(path, statement):
    """Subagents included; the others go on."""
    plan = plan_of(path, OLD)
    run(path, *statement.split(";"))
    outcome = delete(path, plan)
    late = done_of(plan, outcome).spared[-1]
    assert late.conversation.id == "boss" and late.why.code == "changed"
    assert len(outcome.spared) == 1 and len(outcome.done) == 4
    assert "1 changed meanwhile" in outcome.sentence("deleted")


def test_two_at_once(path, monkeypatch):
    """What the other one has deleted is in both deletions, and that is said: nobody can tell who
    deleted it, and whether for good."""
    plan, others = plan_of(path, OLD), []

    def other():
        if not others:
            others.append("begun")
            others.append(delete(path, plan))

    meanwhile(monkeypatch, other)
    outcome = delete(path, plan)
    assert len(others[1].done) == 5 and not others[1].notes
    assert (outcome.deleted, outcome.done, len(outcome.spared)) == (None, (), 5)
    bundles = shelf.list_bundles(path.parent / "trash")
    mine = next(each for each in bundles if each.name != others[1].deleted.bundle.name)
    (note,) = outcome.notes
    assert f"{mine.name} in the trash has copies of 5 conversations" in note


def test_what_goes_before_it_is_copied(path, monkeypatch):
    """The others are deleted all the same."""
    plan, act = plan_of(path, OLD), deleting.write_bundle

    def write(*arguments):
        gone_by_hand(path, "old")
        return act(*arguments)

    monkeypatch.setattr(deleting, "write_bundle", write)
    outcome = delete(path, plan)
    assert (len(outcome.done), [id for id, _why in outcome.spared]) == (4, ["old"])
    assert outcome.error is None and not outcome.left
    assert outcome.deleted.bundle.conversations == outcome.done


def test_a_child_that_comes_while_it_is_copied(path, monkeypatch):
    """It is planned for, in a second copy; the first one is gone."""
    child = "INSERT OR IGNORE INTO sessions (id, source, parent_session_id, started_at) VALUES ('late', 'cli', 'old', 9)"
    meanwhile(monkeypatch, lambda: run(path, child))
    outcome = delete(path, plan_of(path, OLD))
    assert outcome.error is None and len(outcome.done) + len(outcome.spared) == 5
    assert [each.name for each in shelf.list_bundles(path.parent / "trash")] == [
        outcome.deleted.bundle.name
    ]


def test_a_copy_that_is_never_of_the_plan_ends_it(path, monkeypatch):
    """It is not made anew for ever."""
    write = Mock(side_effect=ChangedMeanwhileError)
    monkeypatch.setattr(deleting, "write_bundle", write)
    outcome = delete(path, plan_of(path, OLD))
    assert isinstance(outcome.error, ChangedMeanwhileError) and outcome.left == 5
    assert write.call_count == 2


def test_stopped_between_two(path, monkeypatch):
    """What was not come to is counted, and nothing is wrong."""
    monkeypatch.setattr(progress, "MOST_AT_ONCE", 1)
    steps = []
    outcome = delete(
        path,
        plan_of(path, OLD),
        tell=steps.append,
        stopped=lambda: bool(steps) and steps[-1].done == 2,
    )
    assert outcome.left == 3 and outcome.error is None and len(outcome.done) == 2
    assert outcome.sentence("deleted") == "2 conversations deleted; stopped, 3 are as they were."
    assert len(outcome.deleted.bundle.conversations) == 2


@pytest.mark.parametrize(
    "error",
    [
        StoreBusyError("busy"),
        KeyboardInterrupt(),
        WriteFailedError("The disk is full.", is_unchanged=True),
    ],
)
def test_broken_off_on_the_command_line(path, capsys, monkeypatch, error):
    """How far it came is said, and what stopped it is not swallowed, nor says that nothing was
    changed."""
    monkeypatch.setattr(progress, "BUSY_TRIES_LATER", 2)
    fail_at_the_third(monkeypatch, error)
    plan = plan_of(path, OLD)
    store = SimpleNamespace(
        file_space=lambda: SimpleNamespace(free_bytes=0),
        close=lambda: None,
        delete_planned=lambda plan, tell: delete(path, plan, tell=tell),
    )
    command = prune.PruneCommand()
    command.store, command.given = store, SimpleNamespace(json=False)
    with pytest.raises(type(error)) as caught:
        command._delete(plan)
    said = capsys.readouterr().err
    assert "Stopped after 2 of 5 conversations; the others are as they were." in said
    assert "Nothing was changed" not in str(caught.value)


def test_what_fails_keeps_what_was_done(path, monkeypatch):
    """The bundle is there, for an undo; the error is too."""
    error = BrowseError("odd")
    fail_at_the_third(monkeypatch, error)
    outcome = delete(path, plan_of(path, OLD))
    assert outcome.error is error and len(outcome.done) == 2 and outcome.left == 3
    assert len(outcome.deleted.bundle.conversations) == 2


def test_a_store_that_is_not_written_to_ends_it(path):
    """It is not asked again for each conversation, and none counts as changed meanwhile."""
    run(path, "CREATE TRIGGER odd AFTER UPDATE ON sessions BEGIN SELECT 1; END")
    outcome = delete(path, plan_of(path, OLD))
    assert isinstance(outcome.error, StoreRefusedError) and "odd" in outcome.error.sentence
    assert "Nothing was changed" in str(outcome.error)
    assert (len(outcome.spared), outcome.left, outcome.deleted) == (0, 5, None)


def test_an_archive_is_one_transaction(path):
    """One change undoes it; what the plan spares stays as it is."""
    plan = plan_of(path, OLD)
    with open_store(path) as store:
        done = store.archive_planned(plan)
    words = archived_of(plan, done.session_ids).sentence("archived")
    assert words == "5 conversations archived."
    spared = {each.conversation.id for each in plan.spared}
    assert spared and not spared.intersection(done.session_ids)
    assert {each.conversation.id for each in plan.selected} <= set(done.session_ids)
    flags.undo(Store(path), done)
    with open_store(path) as store:
        assert store.archive_planned(plan) == done


def test_what_another_program_archived_before_is_not_counted(path):
    """It is spared."""
    plan = plan_of(path, OLD)
    flags.archive(Store(path), ["old"])
    with open_store(path) as store:
        cleaned = archived_of(plan, store.archive_planned(plan).session_ids)
    assert cleaned.sentence("archived").startswith("4 conversations archived; 1 changed meanwhile")
    assert [id for id, _why in cleaned.spared] == ["old"] and len(
        done_of(plan, cleaned).selected
    ) == 4


def test_an_archive_passes_over_what_another_program_deleted(path):
    """The others are archived, and it counts as changed."""
    plan = plan_of(path, OLD)
    run(
        path,
        "DELETE FROM messages WHERE session_id = 'old'",
        "DELETE FROM sessions WHERE id = 'old'",
    )
    with open_store(path) as store:
        cleaned = archived_of(plan, store.archive_planned(plan).session_ids)
    assert len(cleaned.done) == 4 and [id for id, _why in cleaned.spared] == ["old"]
