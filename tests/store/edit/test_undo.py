"""What was done, told and undone: value for value, all of it or nothing."""

import pytest
from builders import HOSTILE_IDS, T0, hostile_store, make_store
from effort import slow_but
from trashing import as_before, differences, dump, health, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags
from hermes_browse.store.edit.flags import Change, undo
from hermes_browse.store.errors import NotFoundError, RefusedError


@pytest.fixture(
    params=slow_but(
        ["11", "22", "31", "31-migrated"], ["11", "14", "22", "26", "31", "31-migrated"]
    )
)
def store(request, tmp_path):
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


def has(path, column):
    """Whether sessions of a store have a column."""
    return column in dict(rows(path, "SELECT name, 1 FROM pragma_table_info('sessions')"))


def test_what_is_done_can_be_undone(store):
    """On every shape; what a shape has no column for is refused and changes nothing."""
    before = dump(store)
    changes = []
    for column, work in (("archived", flags.archive), ("pinned", flags.pin)):
        if has(store, column):
            changes.append(work(Store(store), ["tip"]))
            assert set(changes[-1].session_ids) == {"root", "tip"}
            assert work(Store(store), ["root"]).rows == (), "done already"
        else:
            with pytest.raises(RefusedError, match=column):
                work(Store(store), ["tip"])
    renamed = flags.rename(Store(store), "tip", " Ferry ")
    assert renamed.rows[-1].after["title"] == "Ferry"
    assert {row.session_id for row in renamed.rows} == {"root", "tip"}, "the ancestor gives it up"
    changes.append(renamed)
    assert dump(store) != before
    for change in reversed(changes):
        undo(Store(store), change)
    assert dump(store) == before


def test_the_title_is_the_users(store):
    """Hermes' titler leaves it alone then (0.22)."""
    if not has(store, "title_source"):
        pytest.skip("this shape keeps no source of titles")
    flags.rename(Store(store), "other", "Mine")
    read = "SELECT title, title_source FROM sessions WHERE id = 'other'"
    assert rows(store, read) == [("Mine", "user")]
    flags.rename(Store(store), "other", "")
    assert rows(store, read) == [(None, None)]


def test_what_is_not_there_is_said(store):
    """All or nothing."""
    with as_before(store):
        with pytest.raises(NotFoundError, match="There is no session nobody"):
            flags.rename(Store(store), "nobody", "x")
        if has(store, "archived"):
            with pytest.raises(NotFoundError):
                flags.archive(Store(store), ["tip", "nobody"])


@pytest.mark.parametrize("session", HOSTILE_IDS)
def test_ids_are_data(tmp_path, session):
    """Flags, paths, patterns and statements as ids: their one row is changed, and put back."""
    path = hostile_store(tmp_path / "state.db")
    before = dump(path)
    changes = [
        flags.rename(Store(path), session, "../../Odd '; --"),
        flags.archive(Store(path), [session]),
    ]
    assert all(each.session_ids == (session,) for each in changes)
    assert differences(before, dump(path)) == {"sessions": (1, 1)}
    for each in reversed(changes):
        undo(Store(path), each)
    assert dump(path) == before
    assert sorted(
        each.name for each in tmp_path.iterdir() if not each.name.startswith("state.db-")
    ) == ["state.db"]


def test_odd_values_come_back_or_stay(tmp_path):
    """A number comes back in its class; a blob or a title of invalid bytes would not everywhere, so
    they are left alone."""
    path = make_store(tmp_path / "state.db", "22", [{"id": each} for each in "abc"])
    run(
        path,
        "UPDATE sessions SET title = CAST(x'ff4100' AS TEXT), archived = 'maybe' WHERE id = 'a'",
        "UPDATE sessions SET title = x'00ff' WHERE id = 'b'",
        "UPDATE sessions SET archived = 0.5 WHERE id = 'c'",
    )
    with as_before(path):
        for each in "ab":
            with pytest.raises(
                RefusedError, match=r"title.* could not be brought back.* Nothing was changed"
            ):
                flags.rename(Store(path), each, "Title")
        changes = [flags.rename(Store(path), "c", "Title c")]
        changes.append(flags.archive(Store(path), ["a", "b", "c"]))
        assert changes[-1].sentence == "archived 3 conversations"
        for each in reversed(changes):
            undo(Store(path), each)


def test_an_undo_can_be_undone(tmp_path):
    """Titles that moved along a lineage move to and fro."""
    sessions = [
        {"id": "root", "title": "Ferry", "end_reason": "compression", "ended_at": T0},
        {"id": "tip", "title": "Ferry #2", "parent_session_id": "root"},
    ]
    path = make_store(
        tmp_path / "state.db", "31", sessions, [{"session_id": "tip", "content": "lantern"}]
    )
    with as_before(path):
        done = flags.rename(Store(path), "tip", "Ferry")
        after = dump(path)
        back = undo(Store(path), done)
        assert back.sentence == "undone: the title is “Ferry #2” again"
    undo(Store(path), back)
    assert dump(path) == after
    assert health(path) == dict.fromkeys(health(path), "ok")


def test_an_undone_first_title(tmp_path):
    """What had no title has none again."""
    path = make_store(tmp_path / "state.db", "31", [{"id": "a"}])
    done = flags.rename(Store(path), "a", "Ferry")
    assert undo(Store(path), done).sentence == "undone: it has no title again"


def test_an_undo_of_nothing_is_nothing(tmp_path):
    """What was so already leaves nothing to put back."""
    path = make_store(tmp_path / "state.db", "31", [{"id": "a"}])
    nothing = flags.unarchive(Store(path), ["a"])
    assert nothing == Change("", ()) == undo(Store(path), nothing)
    assert flags.archive(Store(path), []) == nothing


@pytest.mark.parametrize(
    "meanwhile, words",
    [
        ("UPDATE sessions SET title = 'Theirs' WHERE id = 'a'", "a has been changed since"),
        ("UPDATE sessions SET title_source = 'llm' WHERE id = 'a'", "a has been changed since"),
        ("DELETE FROM sessions WHERE id = 'a'", "a has been changed since"),
        (
            "UPDATE sessions SET title = 'Ferry' WHERE id = 'b'",
            "Another session has the title “Ferry” already: b",
        ),
    ],
)
@pytest.mark.parametrize("index", [True, False])
def test_an_undo_takes_nothing_back_that_came_later(tmp_path, meanwhile, words, index):
    """With the unique index on titles, and without."""
    path = make_store(tmp_path / "state.db", "31", [{"id": "a", "title": "Ferry"}, {"id": "b"}])
    if not index:
        run(path, "DROP INDEX idx_sessions_title_unique")
    done = flags.rename(Store(path), "a", "Quay")
    run(path, meanwhile)
    with as_before(path), pytest.raises(RefusedError, match=f"{words}.* Nothing was changed"):
        undo(Store(path), done)


def test_columns_that_are_not_ours_stay(tmp_path):
    """What Hermes writes to the same row between a change and its undo is kept."""
    path = make_store(tmp_path / "state.db", "31", [{"id": "a", "message_count": 3}])
    done = flags.archive(Store(path), ["a"])
    run(path, "UPDATE sessions SET message_count = 4, model = 'm' WHERE id = 'a'")
    undo(Store(path), done)
    assert rows(path, "SELECT archived, message_count, model FROM sessions") == [(0, 4, "m")]


def test_the_spared_are_not_marked_along(tmp_path):
    """Hermes marks a branch of a compressed session with it; a bulk write leaves out what is
    protected."""
    sessions = [
        {"id": "root", "end_reason": "compression", "ended_at": T0},
        {"id": "tip", "parent_session_id": "root"},
        {"id": "branch", "parent_session_id": "root", "model_config": '{"_branched_from": "root"}'},
    ]
    path = make_store(tmp_path / "state.db", "22", sessions)
    assert set(flags.archive(Store(path), ["root"], spared=["branch"]).session_ids) == {
        "root",
        "tip",
    }
    assert set(flags.archive(Store(path), ["root"]).session_ids) == {"branch"}
    assert set(flags.unarchive(Store(path), ["branch"]).session_ids) == {"root", "branch"}, (
        "and the other way"
    )


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_rings_end(tmp_path, parents):
    """Parents that lead back to themselves, as in a damaged file."""
    sessions = [
        {"id": each, "end_reason": "compression", "parent_session_id": parents.get(each)}
        for each in "ab"
    ]
    path = make_store(tmp_path / "state.db", "22", sessions)
    assert set(flags.archive(Store(path), ["a"]).session_ids) == set(parents)
    assert flags.rename(Store(path), "a", "Ring").rows[-1].after["title"] == "Ring"
