"""The real Hermes as the measure: what its own delete leaves is what ours leaves; where we differ
has a name here."""

import shutil
from pathlib import Path

import pytest
from pruning import expected
from trashing import (
    NOW,
    as_before,
    differences,
    dump,
    family,
    health,
    hermes_db,
    is_sound,
    meanwhile,
    put_back,
    remove,
    rows,
    run,
    session_ids,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.trash.shelf import list_bundles


@pytest.mark.slow
def test_the_same_as_hermes_segment_by_segment(fixture_store, tmp_path):
    """Each conversation of a store, deleted by us and by Hermes 0.19: every row of every table."""
    settled = fixture_store("state-v22")
    with hermes_db(settled):
        pass  # whatever it does to a store on opening it has done now
    with Store(settled).reader() as reader:
        roots = [chain.root.id for chain in read_catalog(reader, NOW).conversations()]
    for number, root in enumerate(roots):
        (tmp_path / str(number)).mkdir()
        ours, theirs = (
            Path(shutil.copy(settled, tmp_path / str(number) / name)) for name in ("a.db", "b.db")
        )
        done = remove(ours, root)
        with hermes_db(theirs) as db:
            for session in reversed(done.bundle.sessions):
                db.delete_session(session)  # subagents went with their parent
        assert differences(dump(theirs), dump(ours)) == {}, root
        assert health(ours) == health(theirs)


def test_topics_of_telegram_go_and_come_back(fixture_store):
    """Hermes makes their tables when a user wants topics: they refer to sessions (0.19)."""
    path = fixture_store("state-v22")
    session = min(session_ids(path))
    with hermes_db(path) as db:
        db.bind_telegram_topic(
            chat_id="1", thread_id="2", user_id="3", session_key="key", session_id=session
        )
    with as_before(path):
        done = remove(path, session)
        assert rows(path, "SELECT * FROM telegram_dm_topic_bindings") == []
        put_back(path, done.bundle.name)


MUTATIONS = (
    ("delete_branch_root", "bbb001"),
    ("delete_delegate_parent", "ccc001"),
    ("delete_conversation_by_root", "aaa001"),
    ("delete_conversation_by_tip", "aaa003"),
)


@pytest.mark.parametrize("store", ["v11", "v14", "v22", "v31"])
@pytest.mark.parametrize("mutation, session", MUTATIONS)
def test_the_same_as_each_hermes_recorded(fixture_store, store, mutation, session):
    """Hermes 0.14 to 0.22 on the same stores: who went, and who lost a parent.

    Difference: before 0.17 Hermes makes roots of marked subagents, where they stand among the
    chats; here they go.
    """
    said = expected(store)["mutations"].get(mutation)
    if said is None:
        pytest.skip("this Hermes has no such call")
    path = fixture_store(f"state-{store}")
    (name,) = (each for each in session_ids(path) if each.endswith(session))
    done = remove(path, name)
    old = mutation == "delete_delegate_parent" and store in ("v11", "v14")
    assert [each[-6:] for each in done.bundle.sessions if each not in said["gone"]] == (
        ["ccc002", "ccc003"] if old else []
    )
    assert set(said["gone"]) <= set(done.bundle.sessions)
    lost = {key for key, change in said["changed"].items() if change["after"][0] is None}
    assert set(done.reparented) == lost - set(done.bundle.sessions)


def both(tmp_path, change, *ids):
    """Sessions left by us and by Hermes after a delete of the same conversation."""
    ours = family(tmp_path / "a.db", "22")
    run(ours, change)
    theirs = Path(shutil.copy(ours, tmp_path / "b.db"))
    done = remove(ours, ids[0])
    with hermes_db(theirs) as db:
        for session in ids:
            db.delete_session(session)
    left = session_ids(ours)
    assert not left & set(done.bundle.sessions)
    return left ^ session_ids(theirs)


_BRANCHED = """'{"_branched_from": "tip", "_delegate_from": "root"}'"""
CHAIN = ("tip", "next", "root", "stale")


@pytest.mark.parametrize(
    "change, ids, differing",
    [
        # Hermes leaves a stale sibling as a root; here it goes with the history that it repeats.
        ("SELECT 1", CHAIN[:3], {"stale"}),
        # Hermes 0.19 follows an inherited marker and takes what a person went on with.
        (f"UPDATE sessions SET model_config = {_BRANCHED} WHERE id = 'branch'", CHAIN, {"branch"}),
        # Hermes makes a root of a subagent without a marker, where it stands among the chats.
        (
            "UPDATE sessions SET model_config = NULL WHERE id IN ('helper', 'nested')",
            CHAIN,
            {"helper", "nested"},
        ),
    ],
)
def test_differences(tmp_path, change, ids, differing):
    """Each with its reason."""
    assert both(tmp_path, change, *ids) == differing


def test_difference_a_goal_goes_with_its_session(tmp_path):
    """Hermes 0.19 leaves the user's words behind under a key nobody looks up any more."""
    ours = family(tmp_path / "a.db", "22")
    theirs = Path(shutil.copy(ours, tmp_path / "b.db"))
    with hermes_db(theirs) as db:
        settled = dump(theirs)
        for session in CHAIN:
            db.delete_session(session)
    gone = differences(settled, dump(theirs))
    remove(ours, "tip")
    goals = "SELECT key FROM state_meta WHERE key LIKE 'goal:%'"
    assert rows(ours, goals) == [("goal:other",)]
    assert rows(theirs, goals) == [("goal:other",), ("goal:tip",)] and "state_meta" not in gone


def test_hermes_reads_and_goes_on_with_what_was_restored(tmp_path):
    """Messages, lineage and search as before, and a turn can be added."""
    path = family(tmp_path / "state.db", "22")

    def answers():
        with hermes_db(path) as db:
            found = [db.get_messages(each) for each in ("root", "next", "tip", "helper")]
            return [
                found,
                db.get_compression_tip("root"),
                db.search_messages("gangway", limit=50),
                db.session_count(),
            ]

    before = answers()
    name = remove(path, "root").bundle.name
    assert answers() != before
    put_back(path, name)
    assert answers() == before
    with hermes_db(path) as db:
        number = db.append_message("tip", "user", "on with it")
        assert number == 33 and db.get_messages("tip")[-1]["content"] == "on with it"


def test_a_message_that_comes_while_the_bundle_is_written(tmp_path, monkeypatch):
    """Refused, the bundle is taken back, and the gateway's next turn is stored."""
    path = family(tmp_path / "state.db", "22")
    with hermes_db(path) as db:
        meanwhile(
            monkeypatch, lambda: db.append_message("tip", "user", "wait", timestamp=NOW - 9000)
        )
        before = dump(path)
        with pytest.raises(RefusedError, match="changed meanwhile"):
            remove(path, "root")
        assert differences(before, dump(path)).keys() <= {"messages", "sessions", "sqlite_sequence"}
        assert list_bundles(tmp_path / "trash") == []
        db.append_message("tip", "assistant", "here")
        db.append_message("helper", "assistant", "here")
    assert is_sound(path)


def test_writing_elsewhere_does_not_hinder_a_delete(tmp_path, monkeypatch):
    """Another chat goes on: the rows are read once more and are the same."""
    path = family(tmp_path / "state.db", "22")
    with hermes_db(path) as db:
        meanwhile(monkeypatch, lambda: db.append_message("other", "user", "meanwhile"))
        assert "tip" in remove(path, "root").bundle.sessions
        db.append_message("other", "user", "and on")
    assert is_sound(path)
