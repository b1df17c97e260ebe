"""Delete and restore: a store that went through both is the store it was, value for value, whatever
made it."""

from itertools import cycle

import pytest
import shapes
from builders import big_store, hostile_store, make_store
from effort import slow_but
from searching import search
from trashing import (
    FAMILY,
    NOW,
    as_before,
    column_of,
    differences,
    dump,
    family,
    health,
    is_sound,
    matches,
    put_back,
    remove,
    rows,
    run,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import describe_restored
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.trash.shelf import list_bundles

FIXTURES = ("state-v11", "state-v14", "state-v22", "state-v31")


def roots(path):
    """The root of every conversation."""
    with Store(path).reader() as reader:
        return [chain.root.id for chain in read_catalog(reader, NOW).conversations()]


def hits(path, text):
    """Ids of the messages our search finds."""
    with Store(path).reader() as reader:
        return {hit.message_id for hit in search(reader, parse(text), limit=0).hits}


@pytest.mark.parametrize("name", slow_but((), FIXTURES))
def test_every_conversation_of_a_real_store_goes_and_comes_back(fixture_store, name):
    """Every table of every fixture, and the search indexes after either."""
    path = fixture_store(name)
    if name == "state-v31":  # the rest of this test is about what is not protected
        run(path, "UPDATE sessions SET pinned = 0", "UPDATE session_turn_leases SET expires_at = 1")
    before, sound = dump(path), health(path)
    lines = 0
    for root in roots(path):
        done = remove(path, root)
        assert differences(before, dump(path)).keys() >= {"sessions"} and health(path) == sound
        back = put_back(path, done.bundle.name)
        assert (
            back.verified
            and set(back.sessions) == set(done.bundle.sessions)
            and back.messages == done.bundle.messages
        )
        assert health(path) == sound
        assert back.notes == () and dump(path) == before, (
            root
        )  # one of them names a parent that is in no store
        lines += 1
    assert lines > 50
    assert len(list_bundles(path.parent / "trash")) == lines


@pytest.mark.parametrize("shape", shapes.NAMES)
@pytest.mark.parametrize("journal", slow_but(["wal"], ["wal", "delete"]))
def test_every_shape_of_store(tmp_path, shape, journal):
    """A conversation with everything; searching finds the same before and after, and nothing of it
    between."""
    path = family(tmp_path / "state.db", shape, journal=journal)
    with as_before(path):
        found = {
            text: hits(path, text)
            for text in ("lantern", "gangway", "rope helper", "antern", "because")
        }
        assert len(found["lantern"]) == 8
        done = remove(path, "tip")
        assert is_sound(path)
        assert len(hits(path, "lantern")) == 2 and len(matches(path, "gangway")) == 2
        assert column_of(path, "parent_session_id") == {"branch": None, "other": None}
        left = rows(path, "SELECT DISTINCT session_id FROM messages ORDER BY 1")
        assert left == [("branch",), ("other",)]
        assert rows(path, "PRAGMA journal_mode") == [(journal,)]
        assert (
            set(done.bundle.sessions) == FAMILY
            and done.reparented == ("branch",)
            and done.bundle.messages == 24
        )
        assert done.sentence == "deleted 6 sessions, 24 messages to the trash"
        back = put_back(path, done.bundle.name)
        said = describe_restored([back])
        assert back.notes == () and said == "restored 6 sessions, 24 messages"
        assert is_sound(path)
    assert {text: hits(path, text) for text in found} == found


@pytest.mark.slow
@pytest.mark.parametrize("shape", slow_but(shapes.NAMES[::3], shapes.NAMES))
def test_many_at_once_are_one_bundle(tmp_path, shape):
    """A whole store deleted and restored."""
    path = big_store(tmp_path / "state.db", 60, 700, shape=shape)
    before, found = dump(path), hits(path, "needle")
    done = remove(path, *roots(path))
    gone = dump(path)
    assert gone["sessions"] == gone["messages"] == [] and matches(path, "harbour") == []
    assert gone["sqlite_sequence"] == before["sqlite_sequence"]
    put_back(path, done.bundle.name)
    assert dump(path) == before and hits(path, "needle") == found and is_sound(path)


@pytest.mark.slow
def test_a_store_no_hermes_wrote(tmp_path):
    """Rings of parents, blobs for text, broken settings, ids that are flags."""
    path = hostile_store(tmp_path / "state.db", without=())
    before = dump(path)
    for root in roots(path):
        done = remove(path, root)
        back = put_back(path, done.bundle.name)
        assert dump(path) == before, (root, back.notes)


def test_prompts_go_with_their_last_user(path):
    """One that another session uses stays; both are in the bundle."""

    def prompts():
        return [hash for (hash,) in rows(path, "SELECT hash FROM system_prompts ORDER BY 1")]

    first = remove(path, "tip")
    assert prompts() == ["shared"]
    second = remove(path, "other")
    assert prompts() == []
    put_back(path, first.bundle.name)
    assert prompts() == ["own", "shared"]
    put_back(path, second.bundle.name)
    assert prompts() == ["own", "shared"]


def test_what_only_mentions_a_session_stays(path):
    """Locks, leases, routing and delegations stay as Hermes leaves them; a goal goes, which only
    the session knew."""
    before = dump(path)
    remove(path, "tip")
    gone = differences(before, dump(path))
    assert gone == {
        "sessions": (7, 1), "messages": (24, 0), "session_model_usage": (1, 0), "state_meta": (1, 0),
        "system_prompts": (1, 0),
    }  # fmt: skip
    assert rows(path, "SELECT key FROM state_meta WHERE key LIKE 'goal:%'") == [("goal:other",)]


def test_values_of_any_kind_in_any_column(tmp_path):
    """Blobs, invalid text, infinities and numbers where text belongs, in every column that takes
    them."""
    path = family(tmp_path / "state.db", "31", fts=False)
    odd = (
        "CAST(x'fffe00' AS TEXT)",
        "x'00ff'",
        "9e999",
        "-9e999",
        "'a' || char(0) || 'b'",
        "9223372036854775807",
    )
    kept = ("id", "session_id", "parent_session_id", "title", "system_prompt_hash", "tool_names")
    for table in ("messages", "sessions"):
        columns = [row[1] for row in rows(path, f"PRAGMA table_info({table})")]
        for column, value in zip([each for each in columns if each not in kept], cycle(odd)):
            run(path, f"UPDATE {table} SET {column} = {value} WHERE id IN (5, 'next')")
    run(path, "UPDATE messages SET timestamp = -9e999 WHERE id = 6")
    before = dump(path)
    kinds = {
        value
        for row in before["messages"]
        for value in row
        if value in (b"\xff\xfe\x00", float("-inf"))
    }
    assert len(kinds) == 2
    put_back(path, remove(path, "next").bundle.name)
    assert dump(path) == before


def test_the_bundle_tells_what_it_is_called(tmp_path):
    """By its title, else by what was asked first, of however many conversations."""
    path = make_store(
        tmp_path / "state.db", "22", [{"id": "a"}, {"id": "b", "title": "B"}, {"id": "c"}],
        [{"session_id": "a", "content": "Where is\nthe quay?"}],
    )  # fmt: skip
    titles = [
        remove(path, each, now=NOW + at).bundle.title for at, each in enumerate(("a", "b", "c"))
    ]
    assert titles == ["Where is the quay?", "B", None]


def test_a_foreign_text_encoding_is_refused(tmp_path):
    """Bytes of UTF-16 text would not come back as such."""
    path = tmp_path / "state.db"
    path.touch()
    run(
        path,
        "PRAGMA encoding = 'UTF-16'",
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT, title TEXT, started_at REAL)",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)",
        "INSERT INTO sessions VALUES ('a', 'cli', NULL, 'A', 1.0)",
    )
    with pytest.raises(RefusedError, match="UTF-16"):
        remove(path, "a")
