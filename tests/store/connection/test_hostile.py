"""A store no Hermes wrote: everything reads, and a bad row costs itself alone."""

import unicodedata

import builders
import pytest
from searching import search
from trashing import run

from hermes_browse.store.cleanup.sizes import content_bytes
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.health import problems_of, search_health, summarize, warnings_of
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hermes.resume_command import plan_resume
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.details import read_recap
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page, read_neighbourhood
from hermes_browse.store.sessions.lineage import predict_resume, read_lineage
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Relation, Session, Sort, View
from hermes_browse.store.sessions.session_rows import resolve_last, resolve_session, resolve_title
from hermes_browse.store.text import printable

NOW = builders.T0 + builders.DAY
BLOB = "\ufffdA"
"""What the id x'ff41' is read as."""


@pytest.fixture
def path(tmp_path):
    """The hostile store, and more of it: NULL roles, ids that are blobs, notes and names that are
    no text."""
    found = builders.hostile_store(tmp_path / "state.db")
    # A salvaged table has lost its constraints.
    run(
        found,
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name IN ('messages', 'sessions')",
    )
    run(
        found,
        "UPDATE messages SET role = NULL WHERE session_id = 'config-1'",
        "UPDATE messages SET role = x'ff00' WHERE session_id = 'config-2'",
        "UPDATE messages SET active = 'perhaps', compacted = x'01' WHERE session_id = 'config-3'",
        "UPDATE messages SET active = NULL, timestamp = NULL WHERE session_id = 'config-4'",
        "INSERT INTO sessions (id, source, started_at) VALUES (x'ff41', x'fe', 'never'), ('', 'cli', 1.0)"
        " ON CONFLICT DO NOTHING",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES (x'ff41', 'user', 'in a blob', 1.0)",
        "INSERT INTO state_meta (key, value) VALUES ('fts_note', CAST(x'ff' AS TEXT))",
        "INSERT INTO schema_version (version) VALUES (CAST(x'ff31' AS TEXT))",
        "INSERT INTO sessions (id, source, parent_session_id, started_at)"
        " VALUES ('loop-a', 'cli', 'loop-b', 2.0), ('loop-b', 'cli', 'loop-a', 3.0), ('below', 'cli', 'loop-b', 4.0)",
        'CREATE TABLE "\x1b[2J\u202e" (id)',
    )
    return found


@pytest.fixture
def reader(path):
    """The store, open."""
    with Store(path).reader() as opened:
        yield opened


@pytest.fixture
def catalog(reader):
    """All of it."""
    return read_catalog(reader, NOW)


def printed(text):
    """Whether a text is safe on one line of a terminal."""
    return not any(
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or letter in "\u202e\u2066"
        for letter in text
    )


def test_every_session_is_in_one_chain_and_reachable(reader, catalog):
    """All rows but the one without an id, which is said; each under a conversation that is on top
    of something."""
    rows = reader.value("SELECT count(*) FROM sessions WHERE id IS NOT NULL")
    segments = [segment.id for chain in catalog.conversations() for segment in chain.segments]
    assert len(segments) == len(set(segments)) == rows
    assert any("no id" in each.text for each in warnings_of(reader))
    reached = set()
    stack = [
        chain
        for view in (View.CHATS, View.AUTOMATION, View.ARCHIVED)
        for chain in catalog.select(view)
    ]
    while stack:
        chain = stack.pop()
        if chain.root.id not in reached:
            reached.update(segment.id for segment in chain.segments)
            stack.extend(catalog.child_conversations(chain))
    assert reached == set(segments)
    counts = catalog.counts()
    listed = [root for view in View if view is not View.ALL for root in catalog.listed(view)]
    assert len(listed) == len(set(listed)) <= counts[View.ALL]


def test_markers_that_were_inherited(tmp_path):
    """A continuation keeps the marker of the session it continues: it counts only where it names
    the parent."""
    ended = {"end_reason": "compression", "ended_at": builders.T0 + 300}
    rows = [
        {"id": "root", **ended},
        {"id": "tip", "parent_session_id": "root"},
    ]
    markers = {"branch": "_branched_from", "agent": "_delegate_from", "reset": "_reset_from"}
    for name, marker in markers.items():
        config = {"model_config": {marker: "root"}}
        rows.append({"id": name, "parent_session_id": "root", **config, **ended})
        rows.append({"id": f"{name}-2", "parent_session_id": name, **config})
    with Store(builders.make_store(tmp_path / "state.db", "31", rows)).reader() as reader:
        chains = list(read_catalog(reader, NOW).conversations())
    assert {chain.root.id: (chain.relation, chain.tip.id) for chain in chains} == {
        "root": (Relation.ROOT, "tip"),
        "branch": (Relation.BRANCHED, "branch-2"),
        "agent": (Relation.DELEGATED, "agent-2"),
        "reset": (Relation.RESET, "reset-2"),
    }


def test_markers_that_are_none(catalog):
    """Malformed, list, string and endless model_config: roots like any other."""
    for number in range(5):
        session = catalog.sessions[f"config-{number}"]
        assert session.branched_from is session.delegate_from is session.reset_from is None
        assert catalog.conversation(session.id).relation is Relation.ROOT
    assert catalog.sessions["config-6"].delegate_from is None


def test_times_that_are_none(catalog):
    """Words, blobs and the far future are no time; an ISO time is one."""
    times = {
        each.id: each.started_at
        for each in catalog.sessions.values()
        if each.id.startswith("time-")
    }
    assert times == {
        "time-0": None, "time-1": builders.T0, "time-2": None, "time-3": None, "time-4": None, "time-5": -1.0,
        "time-6": 0.0, "time-7": None,
    }  # fmt: skip


def test_every_order_has_every_row(reader, catalog):
    """Nothing is lost to a missing time, title or cost, whichever way round."""
    sizes = content_bytes(reader, list(catalog.sessions))
    for sort in Sort:
        for reverse in (False, True):
            order = catalog.order(View.ALL, sort=sort, reverse=reverse, amounts=sizes)
            assert sorted(order) == sorted(chain.root.id for chain in catalog.conversations())
    first = read_first_page(reader, NOW, view=View.ALL)
    # The quick page seeks by text, so the id that is a blob is for the exact reading, which it says
    # is still to come.
    assert first.order(View.ALL) == [each for each in catalog.order(View.ALL) if each != BLOB]
    assert not first.exact


def test_previews_are_printable_and_counts_are_counts(reader, catalog):
    """And a conversation with any text has a preview."""
    for each in with_details(reader, catalog.select(View.ALL)):
        assert printed(each.preview), each.id
        shown = len(read_outline(reader, each.segments).rows)
        assert each.message_count == shown, each.id
        assert each.preview or not each.shown_count, each.id
        assert all(
            printed(line.text.replace("\n", " ").replace("\t", " "))
            for line in read_recap(reader, each.segments)
        )


@pytest.mark.parametrize("reading", Reading)
def test_every_message_reads(reader, catalog, reading):
    """Blobs, broken JSON, roles that are escape sequences: each is a chat message with a text."""
    rows = 0
    for session in catalog.sessions.values():
        outline = read_outline(reader, [session], reading)
        messages = read_messages_of(reader, [row.id for row in outline.rows])
        assert [message.id for message in messages] == [row.id for row in outline.rows]
        for message in messages:
            message.text.encode("utf-8")
            assert message.role
        rows += len(messages)
    if reading is Reading.EVERYTHING:
        theirs = "SELECT count(*) FROM messages WHERE session_id IN (SELECT id FROM sessions)"
        assert rows == int(str(reader.value(f"{theirs} AND typeof(session_id) = 'text'")))


def test_broken_texts_are_shown_as_far_as_they_go(reader):
    """Invalid bytes as U+FFFD, numbers as digits, cut JSON as it stands."""
    counts, messages = (
        read_messages_of(reader, [row.id for row in read_outline(reader, [Session(name, "")]).rows])
        for name in ("counts", "control")
    )
    blob, number, _text, invalid, *_others = (each.text for each in counts)
    assert (number, invalid) == ("42", "invalid \ufffd\ufffd text") and blob.endswith("\x00blob")
    assert messages[-1].text == '\x00json:[{"type": "text", '
    assert messages[2].tool_calls == ()
    assert messages[3].tool_calls[0].arguments == '{"cut": "sho'


def test_lineage_and_resume_of_each(reader, catalog, path):
    """The tree is finite and holds its focus; a plan is one printable line, or a refusal with a
    reason."""
    location = locate_file(path)
    for session in catalog.sessions.values():
        assert predict_resume(catalog, session.id, reader.schema.version) in catalog.sessions
        if session.id == BLOB:  # no text finds it again
            continue
        lineage = read_lineage(reader, session.id, NOW)
        assert session.id in {node.session.id for node in lineage.nodes}
        assert len(lineage.nodes) == len({node.session.id for node in lineage.nodes})
        try:
            plan = plan_resume(reader, location, session.id, NOW)
        except BrowseError as error:
            assert error.sentence
            continue
        assert printed(plan.shell())
        assert plan.argv[-1] == f"--resume={plan.target}"


def test_odd_ids_are_found_by_themselves(reader):
    """Flags, paths, patterns and the empty id name exactly their session; a pattern matches nothing
    else."""
    for session_id in builders.HOSTILE_IDS:
        assert resolve_session(reader, session_id) == session_id
        assert read_neighbourhood(reader, [session_id], NOW).of_session(session_id) is not None
    for text in ("_onfig-0", "%onfig", "confi_", "\udcff", "\x00", "*", "[c]onfig-0"):
        with pytest.raises(BrowseError):
            resolve_session(reader, text)
    assert resolve_title(reader, "%") is None
    assert resolve_last(reader, "\x1b[2J") == "control"


@pytest.mark.parametrize(
    "text",
    ["ring", "wh", "nul", "blob", "in*", "said", "\udcff", "\x00", '"', "id:% config", "日本"],
)
def test_search_goes_through_it(reader, text):
    """By index or by scan, with ranges that lie inside their snippets."""
    answer = search(reader, parse(text), limit=0)
    for hit in answer.hits:
        assert printed(printable(hit.snippet).replace("\n", " ").replace("\t", " "))
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.match)
    if text in ("ring", "said"):
        assert len(answer.hits) >= {"ring": 3, "said": len(builders.HOSTILE_IDS)}[text]


def test_the_doctor_reads_it_too(reader, path):
    """What is odd about the store as a whole is said in sentences."""
    summary = summarize(reader, locate_file(path))
    assert summary.schema_version is None
    assert any("which schema" in warning.text for warning in summary.warnings)
    problems = list(problems_of(summary, search_health(reader), None))
    assert all(printed(problem.text + problem.remedy) for problem in problems)
