"""Carrying out a plan: whole conversations, one after another, with an end between any two."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from pruning import NOW, chosen, family, opened
from writing import handles

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import Step, carry_out
from hermes_browse.store.cleanup.plan import Plan, Planned, make_plan
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import portions
from hermes_browse.store.edit.flags import archive
from hermes_browse.store.errors import (
    RefusedError,
    StoreBusyError,
    StoreError,
    StoreRefusedError,
    WriteFailedError,
)
from hermes_browse.tui.cli import prune

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one of each kind of conversation."""
    return family(tmp_path / "state.db")


def plan_of(path: Path) -> Plan:
    """Five conversations, of which one takes two subagents along."""
    with opened(path) as (reader, catalog):
        return make_plan(reader, catalog, chosen("older:30d"), NOW)


def run(path: Path, unit: Callable[[Sequence[Planned]], object]) -> object:
    """Carry it out as the command does."""
    plan = plan_of(path)
    return prune.carry_out(plan, partial(carry_out, Store(path), plan, unit))


def change(path: Path, statement: str) -> None:
    """What another process does meanwhile."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def test_all_of_it_in_order_with_pauses(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each unit once, its bundle kept; a rest after each."""
    monkeypatch.setattr(portions, "FEW_ROWS", 3)
    plan = plan_of(path)
    seen: list[list[str]] = []
    rests: list[float] = []

    def unit(some: Sequence[Planned]) -> int:
        seen.append([each.conversation.id for each in some])
        return len(some)

    steps: list[Step] = []
    outcome = carry_out(Store(path), plan, unit, pause=rests.append, tell=steps.append)
    assert [id for some in seen for id in some] == [each.conversation.id for each in plan.selected]
    assert [len(some) for some in seen] == [1, 1, 3] and len(
        rests
    ) == 3  # the second has three messages of its own
    assert outcome.plan == plan and outcome.results == (1, 1, 3)
    assert [(step.done, step.total) for step in steps] == [(1, 5), (2, 5), (5, 5)]
    assert outcome.sentence("archived") == "5 conversations archived."


def test_the_log_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection stays from the first unit to the last: what SQLite knows of the log goes with
    the last one."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    log = Path(f"{path}-wal")
    change(path, "PRAGMA journal_mode=WAL")
    opened_at: list[list[str]] = []

    def unit(some: Sequence[Planned]) -> None:
        archive(Store(path), [some[0].conversation.id])

    outcome = carry_out(
        Store(path), plan_of(path), unit, pause=lambda _: opened_at.append(handles(path))
    )
    assert len(opened_at) == len(outcome.plan.selected) == 5 and not handles(path)
    if sys.platform == "linux":
        assert all({str(path), str(log)} <= set(each) for each in opened_at)
        assert len(opened_at[-1]) == len(opened_at[1])


def test_a_store_that_is_gone(path: Path) -> None:
    """Nothing was done, and why is said where other errors are."""
    plan = plan_of(path)
    path.rename(path.with_name("away.db"))
    outcome = carry_out(Store(path), plan, lambda _: None, pause=lambda _: None)
    assert isinstance(outcome.error, StoreError) and outcome.left == 5 and not outcome.plan.selected


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('boss', 'user', 'hi', 1)",
            "written to",
        ),
        (
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('helper2', 'user', 'hi', 1)",
            "written",
        ),
        ("UPDATE sessions SET ended_at = NULL WHERE id = 'boss'", "resumed"),
        ("UPDATE sessions SET id = 'boss3' WHERE id = 'helper2'", "gone"),
    ],
)
def test_what_was_taken_up_again_is_spared(path: Path, statement: str, words: str) -> None:
    """Looked at right before each unit, subagents included; the others go on."""
    plan = plan_of(path)
    change(path, statement)
    outcome = carry_out(Store(path), plan, lambda _: None, pause=lambda _: None)
    late = outcome.plan.spared[-1]
    assert late.conversation.id == "boss" and late.why.code == "changed" and words in late.why.words
    assert outcome.refused == 1 and len(outcome.plan.selected) == 4
    assert "1 changed meanwhile" in outcome.sentence("archived")


def test_a_refusal_spares_one(path: Path) -> None:
    """The unit has the last word."""

    def unit(some: Sequence[Planned]) -> None:
        if any(each.conversation.id == "old" for each in some):
            raise RefusedError("It is being written to.")

    outcome = carry_out(Store(path), plan_of(path), unit, pause=lambda _: None)
    assert (
        outcome.plan.spared[-1].why.words == "It is being written to."
        and len(outcome.plan.selected) == 4
    )


def test_stopped_between_two(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not come to is counted, and nothing is wrong."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    done: list[str] = []
    outcome = carry_out(
        Store(path),
        plan_of(path),
        lambda some: done.append(some[0].conversation.id),
        pause=lambda _: None,
        stop=lambda: len(done) == 2,
    )
    assert outcome.left == 3 and outcome.error is None and len(outcome.plan.selected) == 2
    assert outcome.sentence("archived") == "2 conversations archived; stopped, 3 are as they were."


def fails_at_the_third(
    done: list[str], error: BaseException
) -> Callable[[Sequence[Planned]], None]:
    """A unit that does two."""

    def unit(some: Sequence[Planned]) -> None:
        if len(done) == 2:
            raise error
        done.append(some[0].conversation.id)

    return unit


def test_what_fails_keeps_what_was_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of the units before it are there, for an undo; the error is too."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    error = StoreBusyError("busy")
    done: list[str] = []
    outcome = carry_out(
        Store(path), plan_of(path), fails_at_the_third(done, error), pause=lambda _: None
    )
    assert outcome.error is error and len(outcome.plan.selected) == 2 and outcome.left == 3


@pytest.mark.parametrize("begin", [0, 1])
def test_a_busy_store_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, begin: int
) -> None:
    """Longer once a part is done, since Hermes may keep the lock for minutes; else it is given up.
    It is said while it waits."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    plan = plan_of(path)
    done: list[str] = []
    rests: list[float] = []
    told: list[Step] = []

    def unit(some: Sequence[Planned]) -> None:
        if len(done) == begin and len(rests) < portions.BUSY_TRIES + 5:
            raise StoreBusyError("busy")
        done.extend(each.conversation.id for each in some)

    outcome = carry_out(Store(path), plan, unit, pause=rests.append, tell=told.append)
    waiting = f"{begin} of 5 · waiting: another program keeps the store for itself"
    assert waiting in {step.words for step in told}
    if begin:
        assert outcome.error is None
        assert done == [each.conversation.id for each in plan.selected]
    else:
        assert isinstance(outcome.error, StoreBusyError)
        assert not done
        assert rests == [portions.BUSY_PAUSE] * (portions.BUSY_TRIES - 1)


def test_waiting_ends_when_it_is_stopped(path: Path) -> None:
    """Between two tries as between two units."""
    tries: list[int] = []

    def unit(some: Sequence[Planned]) -> None:
        tries.append(len(some))
        raise StoreBusyError("busy")

    outcome = carry_out(
        Store(path), plan_of(path), unit, pause=lambda _: None, stop=lambda: len(tries) == 3
    )
    assert outcome.left == 5 and outcome.error is None and len(tries) == 3


@pytest.mark.parametrize("error", [StoreBusyError("busy"), KeyboardInterrupt()])
def test_broken_off_on_the_command_line(
    path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """How far it came is said, and what stopped it is not swallowed."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(portions, "BUSY_PAUSE", 0.0)
    with pytest.raises(type(error)):
        run(path, fails_at_the_third([], error))
    assert "Stopped after 2 of 5" in capsys.readouterr().err


def test_what_stops_it_later_does_not_say_that_nothing_was_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Two conversations are archived, then the disk is full: the first sentence counts, and the
    second is no lie."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 1)
    done: list[str] = []

    def unit(some: Sequence[Planned]) -> None:
        if len(done) == 2:
            raise WriteFailedError("The disk is full.", is_unchanged=True)
        done.append(some[0].conversation.id)

    with pytest.raises(WriteFailedError) as caught:
        run(path, unit)
    assert str(caught.value) == "The disk is full."
    assert (
        "Stopped after 2 of 5 conversations; the others are as they were."
        in capsys.readouterr().err
    )


def test_what_stops_it_at_once_says_so(path: Path) -> None:
    """Nothing was done before."""

    def unit(some: Sequence[Planned]) -> None:
        raise WriteFailedError("The disk is full.", is_unchanged=True)

    outcome = carry_out(Store(path), plan_of(path), unit)
    assert str(outcome.error) == "The disk is full. Nothing was changed."


def test_a_store_that_is_not_written_to_ends_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not asked again for each conversation, and none counts as changed meanwhile."""
    monkeypatch.setattr(portions, "MOST_AT_ONCE", 2)
    change(path, "CREATE TRIGGER odd AFTER UPDATE ON sessions BEGIN SELECT 1; END")
    plan = plan_of(path)
    outcome = OpenStore(Store(path)).archive_planned(plan)
    assert isinstance(outcome.error, StoreRefusedError) and "odd" in outcome.error.sentence
    assert (outcome.refused, outcome.left, outcome.results) == (0, 5, ())
