"""Archiving, pinning and renaming beside Hermes' own calls: the same rows, or a difference that has
a name."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from builders import T0, make_store
from effort import slow_but

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags, titles
from hermes_browse.store.edit.flags import Change, undo
from hermes_browse.store.errors import NotFoundError, RefusedError, StoreBusyError

HermesDB = pytest.importorskip("hermes_state").SessionDB


def table(path: Path, name: str = "sessions") -> list[tuple[object, ...]]:
    """All rows of a table in order."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()


def everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables that can be read without an extension."""
    with closing(sqlite3.connect(path)) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"
            )
        ]
    return {name: table(path, name) for name in names}


def ids_of(path: Path) -> list[str]:
    """All session ids."""
    with closing(sqlite3.connect(path)) as connection:
        return [str(row[0]) for row in connection.execute("SELECT id FROM sessions ORDER BY id")]


@pytest.fixture
def two(fixture_store: Callable[[str], Path], tmp_path: Path) -> tuple[Path, Path]:
    """The store of Hermes 0.19 twice, opened by it once so that both are as it leaves them."""
    ours = fixture_store("state-v22")
    HermesDB(ours).close()
    theirs = tmp_path / "theirs.db"
    shutil.copy(ours, theirs)
    return ours, theirs


def test_archiving_leaves_what_hermes_leaves(two: tuple[Path, Path]) -> None:
    """Every session of the store archived and brought back, one after another, in both."""
    ours, theirs = two
    hermes = HermesDB(theirs)
    try:
        for number, session_id in enumerate(ids_of(ours)):
            archived = number % 3 != 2
            (flags.archive if archived else flags.unarchive)(Store(ours), [session_id])
            hermes.set_session_archived(session_id, archived)
            assert table(ours) == table(theirs), session_id
    finally:
        hermes.close()
    assert everything(ours)["messages"] == everything(theirs)["messages"]


@pytest.mark.slow
def test_renaming_leaves_what_hermes_leaves(two: tuple[Path, Path]) -> None:
    """Titles of all kinds, taken ones and those of ancestors among them; what Hermes refuses is
    refused."""
    ours, theirs = two
    hermes = HermesDB(theirs)
    typed = [
        "Plain",
        "  two   words ",
        "Fix auth bug",
        "Fix auth bug #2",
        "tab\there",
        "a\u200bb",
        "x" * 100,
        "y" * 101,
        "",
        "Plain",
    ]
    refused = 0
    try:
        for session_id in ids_of(ours)[:40]:
            for title in typed:
                try:
                    hermes.set_session_title(session_id, title)
                    accepted = True
                except ValueError:
                    accepted = False
                if accepted:
                    titles.rename(Store(ours), session_id, title)
                else:
                    refused += 1
                    with pytest.raises((RefusedError, titles.TitleError)):
                        titles.rename(Store(ours), session_id, title)
                assert table(ours) == table(theirs), (session_id, title)
    finally:
        hermes.close()
    assert refused > 40


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "a",
        " a  b ",
        "\x00\x1fx",
        "a\r\nb",
        "\u202egnp",
        "\ud800",
        "é" * 100,
        "👩‍👩‍👧",
        "\x85",
        "\u3000x",
    ],
)
def test_a_title_is_cleaned_as_hermes_cleans_it(typed: str) -> None:
    assert titles.check_title(typed).title == HermesDB.sanitize_title(typed)


@pytest.fixture(
    params=slow_but(
        ["11", "22", "31", "31-migrated"], ["11", "14", "22", "26", "31", "31-migrated"]
    )
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A chain with a subagent, and ids that are anything but ids."""
    sessions = [
        {"id": "root", "title": "Ferry", "end_reason": "compression", "ended_at": T0 + 9},
        {"id": "tip", "title": "Ferry #2", "parent_session_id": "root", "started_at": T0 + 10},
        {"id": "other", "title": "Other"},
        *({"id": each} for each in ("-rf", "../../x", "x'; DROP TABLE sessions;--", "%", "")),
    ]
    return make_store(
        tmp_path / "state.db",
        str(request.param),
        sessions,
        [{"session_id": "tip", "content": "hi"}],
    )


def has(path: Path, column: str) -> bool:
    with Store(path).reader() as reader:
        return column in reader.schema.session_columns


def test_what_is_done_can_be_undone(store: Path) -> None:
    """On every shape; what a shape has no column for is refused and changes nothing."""
    before = everything(store)
    changes: list[Change] = []
    for column, work in (("archived", flags.archive), ("pinned", flags.pin)):
        if has(store, column):
            changes.append(work(Store(store), ["tip"]))
            assert set(changes[-1].session_ids) == {"root", "tip"}
            assert work(Store(store), ["root"]).rows == (), "done already"
        else:
            with pytest.raises(RefusedError, match=column):
                work(Store(store), ["tip"])
    renamed = titles.rename(Store(store), "tip", " Ferry ")
    assert (renamed.title, renamed.differs) == ("Ferry", True)
    assert {row.session_id for row in renamed.change.rows} == {"root", "tip"}, (
        "the ancestor gives it up"
    )
    changes.append(renamed.change)
    assert everything(store) != before
    for change in reversed(changes):
        undo(Store(store), change)
    assert everything(store) == before


def test_an_undo_does_not_take_back_what_came_after(store: Path) -> None:
    change = titles.rename(Store(store), "other", "Mine").change
    titles.rename(Store(store), "other", "Someone else's")
    before = everything(store)
    with pytest.raises(RefusedError, match="changed since"):
        undo(Store(store), change)
    assert everything(store) == before


def test_the_title_is_the_users(store: Path) -> None:
    """Hermes' titler leaves it alone then (0.22)."""
    if not has(store, "title_source"):
        pytest.skip("this shape keeps no source of titles")
    titles.rename(Store(store), "other", "Mine")
    with closing(sqlite3.connect(store)) as connection:
        read = "SELECT title, title_source FROM sessions WHERE id = 'other'"
        assert connection.execute(read).fetchall() == [("Mine", "user")]
        titles.rename(Store(store), "other", "")
        assert connection.execute(read).fetchall() == [(None, None)]


@pytest.mark.parametrize("session_id", ["-rf", "../../x", "x'; DROP TABLE sessions;--", "%", ""])
def test_ids_are_data(store: Path, session_id: str) -> None:
    before = {row[0]: row for row in table(store)}
    titles.rename(Store(store), session_id, "Odd")
    after = {row[0]: row for row in table(store)}
    assert [each for each in after if after[each] != before[each]] == [session_id]


def test_what_is_not_there_is_said(store: Path) -> None:
    before = everything(store)
    with pytest.raises(NotFoundError):
        titles.rename(Store(store), "nobody", "x")
    if has(store, "archived"):
        with pytest.raises(NotFoundError):
            flags.archive(Store(store), ["tip", "nobody"])
    assert everything(store) == before, "all or nothing"


def test_a_taken_title_names_its_holder(store: Path) -> None:
    with pytest.raises(RefusedError, match="tip"):
        titles.rename(Store(store), "other", "Ferry #2")


@pytest.mark.slow
def test_a_store_that_is_busy_stays_as_it_is(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 0.3)
    before = everything(store)
    with closing(sqlite3.connect(store, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="Nothing was changed"):
            titles.rename(Store(store), "other", "x")
        writer.execute("ROLLBACK")
    assert everything(store) == before


def test_it_waits_its_turn(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 10.0)
    writer = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.4, lambda: writer.execute("COMMIT"))
    timer.start()
    assert titles.rename(Store(store), "other", "x").title == "x"
    timer.join()
    writer.close()
