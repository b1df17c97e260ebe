"""Every Hermes: stores that each release wrote or brought up to its schema, read as that release
reads them."""

import json
import shutil
import subprocess
import time

import pytest
from builders import make_store
from commandline import PROGRAM
from driver import FEW, Driven
from paths import DATA
from platforms import HAS_HERMES, needs_hermes
from releases import Releases, offered, open_and_ask, write_and_ask
from schemas import MESSAGES, SESSIONS, read_all
from searching import search
from trashing import run
from watching import digest

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.messages.chat_message import Reading, State
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.lineage import predict_resume
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Session, View
from hermes_browse.store.sessions.session_rows import resolve_session, resolve_title

IDEA = "every Hermes"
RELEASES = offered()


@pytest.fixture(scope="session")
def releases(tmp_path_factory):
    """Each fetched once."""
    return Releases(tmp_path_factory.mktemp("releases"))


def compare(store, said, tell):
    """Hold what we read against what the release that wrote it says itself."""
    before = digest(store)
    with Store(store).reader() as reader:
        catalog = read_catalog(reader, time.time())
        assert sorted(catalog.sessions) == said["ids"]
        for row in said["list"]:
            ours = catalog.of_session(row["id"])
            for name in ("id", "title", "source", "last_active"):
                assert getattr(ours, name) == row[name]
            for name in ("end_reason", "message_count"):
                assert getattr(ours.tip, name) == row[name]
        tell("rows of its lists", len(said["list"]))
        for each in said["ids"]:
            assert catalog.conversation(each).tip.id == said["tips"][each]
            if said["schema"] >= 17:  # before that Hermes opens what it is given
                assert predict_resume(catalog, each, said["schema"]) == said["resume"][each]
            _compare_messages(reader, each, said, tell)
        tell("resume targets", len(said["ids"]))
        for title, expected in said["titles"].items():
            assert resolve_title(reader, title) == expected
        for text, expected in said["prefixes"].items():
            if expected is not None:
                assert resolve_session(reader, text) == expected
            else:
                with pytest.raises(NotFoundError):
                    resolve_session(reader, text)
        for text, found in said["search"].items():
            _compare_search(reader, text, found)
            tell("searches")
        for conversation in with_details(reader, catalog.select(View.ALL)):
            assert conversation.preview or conversation.message_count == 0
    assert digest(store) == before


def _compare_messages(reader, session, said, tell):
    def rows(reading):
        return list(read_outline(reader, [Session(session, "")], reading).rows)

    live = read_messages_of(reader, [row.id for row in rows(Reading.LIVE)])
    assert [[each.id, each.role] for each in live] == [row[:2] for row in said["messages"][session]]
    for ours, (_, _, content, calls) in zip(live, said["messages"][session], strict=True):
        if isinstance(content, str) or content is None:
            assert ours.text == (content or "")
        else:
            assert content[0]["text"] in ours.text
        assert [call.name for call in ours.tool_calls] == [
            call["function"]["name"] for call in calls
        ]
    if said["every"] is not None:
        assert [row.id for row in rows(Reading.EVERYTHING)] == said["every"][session]
    tell("messages", len(live))


def _hits(reader, text):
    return search(reader, parse(text), limit=0).hits


def _compare_search(reader, text, found):
    # What was taken back is a hit of ours that says so; Hermes leaves it out (since 0.16, which can
    # take back).
    assert {hit.message_id for hit in _hits(reader, text) if hit.state is not State.REWOUND} == set(
        found
    ), text


def _release(version, releases, tell):
    """The folder of a release.

    Raises:
        Skipped: It cannot be had; it is told by name.
    """
    folder = releases.get(version)
    if folder is None:
        missing = f"{version} cannot be had from the package index"
        is_known = any(DATA.glob(f"state-v*-hermes-{version}.db"))
        tell.remark(missing + (": only its store in tests/data is read" if is_known else ""))
        pytest.skip(f"hermes-agent {missing}")
    return folder


@needs_hermes
def test_the_installed_release(tmp_path, tell):
    """A store it writes, and what it says is in it."""
    compare(tmp_path / "state.db", write_and_ask(None, tmp_path / "state.db"), tell)


@pytest.mark.long
@pytest.mark.parametrize("version", RELEASES)
def test_a_release(version, releases, tmp_path, tell):
    """Stores that each release writes, what it says is in them; our commands and the browser on
    them."""
    folder = _release(version, releases, tell)
    for seed in (7, 8, 9):
        store = tmp_path / str(seed) / "state.db"
        store.parent.mkdir()
        said = write_and_ask(folder, store, seed)
        compare(store, said, tell)
        tell("stores")
        if HAS_HERMES:
            upgraded(store, None, tell)
    done = subprocess.run(
        [*PROGRAM, "--db", str(store), "list", "--view", "all", "--json"],
        capture_output=True,
        text=True,
    )
    shown = {each["id"] for each in json.loads(done.stdout)["conversations"]}
    assert {row["id"] for row in said["list"]} <= shown
    browser = Driven(store)
    browser.opened()
    browser.walk(1.0, FEW)
    browser.finish("q")
    assert browser.is_restored
    tell("releases")
    tell.remark(f"{version} (schema {said['schema']})")


WORDS = ("lantern", "tide", "rope", "boats", "shines")


def upgraded(store, release, tell):
    """Let a release open a store and bring it up to its schema; every session, message and hit is
    still what it says.

    Returns:
        The schema of that release.
    """
    words = ("ferry", "docker", *WORDS)
    with Store(store).reader() as reader:
        rows = reader.value("SELECT count(*) FROM messages")
    said = open_and_ask(release, store, *words)
    with Store(store).reader() as reader:
        assert reader.value("SELECT count(*) FROM messages") == rows
        assert sorted(read_catalog(reader, time.time()).sessions) == said["ids"]
        for each, expected in said["messages"].items():
            rows = read_outline(reader, [Session(each, "")], Reading.LIVE).rows
            assert [row.id for row in rows] == expected, each
        for word in words:
            _compare_search(reader, word, said["search"][word])
    tell("stores brought up to a later schema")
    return int(said["schema"])


@needs_hermes
@pytest.mark.parametrize("fixture", sorted(path.name for path in DATA.glob("state-v*.db")))
def test_a_store_of_another_release_opened_by_the_installed_one(fixture, tmp_path, tell):
    """Those of older releases are brought up to its schema; that of 0.22 is newer than it knows,
    and it opens it."""
    store = tmp_path / "state.db"
    shutil.copy(DATA / fixture, store)
    upgraded(store, None, tell)


BY_HAND = {
    7: ("ALTER TABLE messages ADD COLUMN reasoning_content TEXT",),
    8: ("ALTER TABLE sessions ADD COLUMN api_call_count INTEGER DEFAULT 0",),
    9: ("ALTER TABLE messages ADD COLUMN codex_message_items TEXT",),
    10: (
        "CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, content=messages, content_rowid=id, "
        "tokenize='trigram')",
        "INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('rebuild')",
    ),
}
"""What came with the schemas no release on the package index has, by number."""


@pytest.mark.parametrize(
    "way", ["the installed release", pytest.param("all releases", marks=pytest.mark.long)]
)
def test_a_store_of_schema_6_upgraded_step_by_step(way, releases, tmp_path, tell):
    """Every step reads as the first one does: by hand up to schema 10, then by real releases, one
    after the other."""
    store = make_store(tmp_path / "state.db", "6", SESSIONS, MESSAGES)
    first = _everything(store, 6)
    for version, statements in BY_HAND.items():
        run(store, *statements, f"UPDATE schema_version SET version = {version}")
        assert _everything(store, version) == first
        tell("steps from schema 6")
    steps = [None] * HAS_HERMES
    if way == "all releases":
        steps = list(filter(None, map(releases.get, RELEASES)))
    for release in steps:
        schema = upgraded(store, release, tell)
        assert _everything(store, schema) == first
        tell("steps from schema 6")


def _everything(store, version):
    """What a store tells, once all reading functions have been through it."""
    with Store(store).reader() as reader:
        assert reader.schema.version == version
        read_all(reader)
        conversations = with_details(reader, read_catalog(reader, time.time()).select(View.ALL))
        told = []
        for each in sorted(conversations, key=lambda conversation: conversation.id):
            shown = read_messages_of(
                reader, [row.id for row in read_outline(reader, each.segments).rows]
            )
            told += [(each.id, each.title, each.preview, [part.id for part in each.segments])]
            told += [(each.model, each.branches, each.subagents, each.last_active)]
            told += [
                (row.id, row.role, row.text, row.reasoning, [call.name for call in row.tool_calls])
                for row in shown
            ]
        return told + [{hit.message_id for hit in _hits(reader, word)} for word in WORDS]
