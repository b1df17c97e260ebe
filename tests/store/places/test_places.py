"""Several stores as one: ids that name their place, calls that go there, one search."""

import re
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from builders import make_store
from store_builder import T0
from trashing import add_message

from hermes_browse.store.api import OpenStore
from hermes_browse.store.call import CALLS
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import build_home
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hermes.homes import Location, locate_file
from hermes_browse.store.hosts import codec
from hermes_browse.store.hosts.connection import Links
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.places import id_of, merged, place, place_of
from hermes_browse.store.places.merged import MergedConnection, MergedStore, places_of
from hermes_browse.store.places.place import Place
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import View

NOW = T0 + 1000.0
HERE, THERE = (
    Place(number, Location(Path("state.db"), profile=name), Links())
    for number, name in ((0, "default"), (3, "work"))
)
REFUSED = {
    *("resolve", "last", "plan", "clean_up"),
    *("file_space", "space_map", "retention", "facts", "summary", "search_health"),
    *("archive", "unarchive", "pin", "unpin", "rename", "delete", "restore", "check_index"),
    *("deletions", "list_page", "hit_page", "report", "plan_delete", "trash_path"),
    *("find_deletion", "find_in_deletion", "undo"),
    *("tag", "rename_tag", "undo_tags", "tags", "job_output"),
}
"""Calls about one store, as changes are."""


NO_IDS = {"call_id", "tool_call_id"}
"""Fields with ids that are none of sessions or messages."""


def hints_of(kind):
    """Return the types of the fields of a class of rows."""
    return get_type_hints(kind, vars(codec) | vars(sys.modules[kind.__module__]))


def classes_in(kind):
    """Return the classes of rows in a type."""
    is_row = hasattr(kind, "_fields") or is_dataclass(kind)
    inner = hints_of(kind).values() if is_row else get_args(kind)
    return set().union([kind] if is_row else [], *map(classes_in, inner))


def merged_store(root):
    """All profiles of a root as one store."""
    return MergedStore(root.path.parent / "places", places_of(root, (), Links()))


@pytest.fixture
def root(tmp_path):
    """A root and a profile with the same ids of sessions and messages."""
    for path, said in ((tmp_path, "a lighthouse"), (tmp_path / "profiles" / "work", "lighthouses")):
        path.mkdir(parents=True, exist_ok=True)
        make_store(
            path / "state.db",
            sessions=[
                {"id": f"s{number}", "title": f"{said} {number}", "started_at": T0 + number}
                for number in range(5)
            ],
            messages=[
                {
                    "session_id": f"s{number}",
                    "content": f"{said} {number}",
                    "timestamp": T0 + number,
                }
                for number in range(5)
            ],
        )
    return locate_file(tmp_path / "state.db")


@pytest.fixture
def several(root):
    """That root as one store, open."""
    with OpenStore(merged_store(root)) as opened:
        yield opened


def test_every_call_is_carried_out_or_refused():
    """So that a new one is not forgotten."""
    own = {name for name in CALLS if hasattr(MergedConnection, name)}
    done = {*merged.OF_ONE, *merged.MERGED, *own}
    assert done | REFUSED == set(CALLS) and not done & REFUSED


def test_every_field_with_an_id_is_known_by_its_name():
    """A new one in an answer would keep the id of its own store."""
    known = place._ID_FIELDS | place._KEYED_FIELDS | NO_IDS
    answers = [codec.signature(name).answer for name in {*merged.OF_ONE, *merged.MERGED}]
    classes = set().union(*map(classes_in, answers))
    named = {name for each in classes for name in hints_of(each) if re.search(r"(^|_)ids?$", name)}
    assert named and named <= known


def test_a_refused_call_says_so(several):
    with pytest.raises(RefusedError, match="one store at a time"):
        several.summary()


@pytest.mark.parametrize("keys", [HERE, THERE])
@pytest.mark.parametrize("message_id", [1, 2**62, -3])
def test_a_key_leads_back_to_its_id(keys, message_id):
    assert keys.with_own_ids(keys.with_keys(["a b"])) == ["a b"]
    assert keys.with_own_ids(keys.with_keys([message_id])) == [message_id]
    key = keys.with_keys(["cron_x_20241206_175337"])[0]
    assert (id_of(key), place_of(key)) == ("cron_x_20241206_175337", keys.name)


def test_ids_that_are_alike_are_kept_apart(several):
    """Each conversation is read in its own store, with its own messages."""
    catalog = several.catalog(NOW)
    keys = catalog.order(View.ALL)
    assert sorted(keys) == sorted(
        f"s{number} {place}" for number in range(5) for place in ("default", "work")
    )
    texts = {}
    for key in keys:
        outline = several.outline(catalog.conversation(key).segments)
        (message,) = several.messages([row.id for row in outline.rows])
        assert message.session_id == key
        texts[key] = message.text
    assert texts["s3 default"] == "a lighthouse 3" and texts["s3 work"] == "lighthouses 3"


def test_hits_are_merged_by_time_and_read_on(several):
    """The newest of all, and a longer page continues it."""
    catalog = several.catalog(NOW)
    query, asked = parse("lighthouse*"), several.search
    hits = asked(query, catalog, View.ALL, now=NOW, limit=4).answer
    more = asked(query, catalog, View.ALL, now=NOW, limit=8).answer
    every = asked(query, catalog, View.ALL, now=NOW, limit=20).answer
    assert [each.timestamp for each in hits.hits] == [T0 + 4, T0 + 4, T0 + 3, T0 + 3]
    assert hits.more and hits.total is None and more.hits[:4] == hits.hits
    assert len(every.hits) == 10 == every.total and not every.more and every.complete


def test_a_broken_profile_is_away_and_the_others_are_read(root):
    broken = root.path.parent / "profiles" / "broken"
    broken.mkdir()
    (broken / "state.db").write_bytes(b"no database at all" * 100)
    store = merged_store(root)
    with OpenStore(store) as several:
        catalog = several.catalog(NOW)
    assert len(catalog.order(View.ALL)) == 10
    assert [each.name for each in store.places if each.away is not None] == ["broken"]


def test_what_is_written_to_a_place_is_read_again(several, root):
    several.catalog(NOW)
    before = several.source.fingerprint()
    (root.path.parent / "profiles" / "work" / "state.db").unlink()
    assert several.source.fingerprint() != before
    assert {place_of(key) for key in several.catalog(NOW).order(View.ALL)} == {"default"}


@pytest.mark.slow
def test_all_that_is_said_of_a_conversation_is_that_of_its_own_store(tmp_path):
    """Lineage, compactions, what the model saw, details and export rows of the sample store: the
    same as asked directly, with keys for ids."""
    location = locate_file(build_home(tmp_path / "home", now=NOW))
    backwards = reversed(location.profiles())
    places = [Place(number, at, Links()) for number, at in enumerate(backwards)]
    several = OpenStore(MergedStore(tmp_path / "places", places))
    one, keys = OpenStore(Store(location.path), location), places[-1]
    assert keys.name == "default" and keys.number > 0
    with several, one:
        catalog, own = several.catalog(NOW), one.catalog(NOW)
        for root_id in own.order(View.ALL)[:60]:
            conversation = own.conversation(root_id)
            key = keys.with_keys([root_id])[0]
            merged_one = catalog.conversation(key)
            assert merged_one == keys.with_keys(conversation)
            segments, of_key = conversation.segments, merged_one.segments
            ids = [row.id for row in one.outline(segments, Reading.EVERYTHING).rows]
            asked = keys.with_keys(ids)
            assert [row.id for row in several.outline(of_key, Reading.EVERYTHING).rows] == asked
            assert several.messages(asked) == keys.with_keys(one.messages(ids))
            lineage = several.lineage(key, NOW)
            assert lineage == keys.with_keys(one.lineage(root_id, NOW))
            names = {None, *(node.session.id for node in lineage.nodes)}
            assert names >= {node.above for node in lineage.nodes}
            assert several.compactions(of_key) == keys.with_keys(one.compactions(segments))
            assert several.recap(of_key) == one.recap(segments)
            changes = one.file_changes(root_id, NOW)
            assert several.file_changes(key, NOW) == keys.with_keys(changes)
            assert several.run(key, NOW) == keys.with_keys(one.run(root_id, NOW))
            for command in changes.commands:
                asked_by = one.prompt_before(command.session_id, command.message_id)
                of_place = keys.with_keys(command)
                answer = several.prompt_before(of_place.session_id, of_place.message_id)
                assert answer == keys.with_keys(asked_by)
            assert several.details(merged_one) == one.details(conversation)
            assert several.sizes_of(of_key) == keys.with_keys(one.sizes_of(segments))
            assert list(several.sizes_of(of_key).values()) == list(one.sizes_of(segments).values())
            stored, direct = several.stored_session(key), one.stored_session(root_id)
            assert several.stored_messages([each for each, _state in stored.messages]) == (
                one.stored_messages([each for each, _state in direct.messages])
            )


def test_marks_of_a_place(several, tmp_path):
    """All of a conversation is read in its own place, in no other one."""
    several.catalog(NOW)
    several.begin_marks(NOW)
    for folder in (tmp_path, tmp_path / "profiles" / "work"):
        add_message(folder / "state.db", "s1", "again", NOW)
    catalog = several.catalog(NOW)
    assert len(several.attention(catalog, NOW).unread) == 2
    several.mark_read(["s1 work"], None)
    left = several.attention(several.catalog(NOW), NOW).unread
    assert list(left) == ["s1 default"]


def test_marks_that_no_place_can_keep(several, tmp_path, monkeypatch):
    """Nothing is said to be done, and nothing to be new since 1970."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "hermes-browse").mkdir()
    (tmp_path / "hermes-browse" / "notes.db").write_bytes(b"no database" * 100)
    catalog = several.catalog(NOW)
    with pytest.raises(RefusedError, match=r"default: .*cannot be used.* · work: "):
        several.mark_all_read(NOW)
    since = several.since(catalog, NOW)
    assert since.since == NOW and not since.lane("new")
    assert ["cannot be used" in note for note in since.notes] == [True], "it is said once"
