"""Where our answers differ from those of the Hermes that wrote the store: exactly where the table
says, and why."""

from contextlib import suppress

import pytest
from pruning import expected
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.details import read_details
from hermes_browse.store.messages.transcript import read_outline, read_system_prompt
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.lineage import predict_resume, read_lineage
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Session, View
from hermes_browse.store.sessions.session_rows import resolve_last, resolve_session, resolve_title

VERSIONS = (11, 14, 22, 31)
OLD, NEW, ALL = (11, 14), (22, 31), VERSIONS

DIFFERENCES = [
    (
        OLD,
        "tip",
        {"sss001"},
        "the stale of two continuations, by its start; since 0.18 the real one, as ours",
    ),
    (OLD, "root", {"sss003"}, "for the same reason listed as the tip of sss001"),
    (OLD, "data", {"sss003"}, "for the same reason with the title and start of its root"),
    (
        OLD,
        "resume",
        {"aaa001", "aaa002", "ggg002", "sss001"},
        "0.14 and 0.16 open what they are given, not its tip",
    ),
    ((11,), "shown by us alone", {"bbb003"}, "a branch by a marker, which 0.14 does not know"),
    (OLD, "shown by us alone", {"sss002"}, "the continuation that 0.14 and 0.16 do not take"),
    (NEW, "shown by us alone", {"sss003"}, "a stale sibling is in no list of Hermes"),
    (ALL, "shown by us alone", {"888003"}, "its parent is gone, so it is in no list of Hermes"),
    (
        (31,),
        "shown by us alone",
        {"333003"},
        "after a reset with neither key nor marker: in no list of Hermes",
    ),
    (NEW, "family", {"888003"}, "Hermes names a root that does not exist"),
    (
        ALL,
        "preview",
        {"aaa003", "ggg003"},
        "the first thing said in the conversation, not in its tip",
    ),
    (NEW, "preview", {"sss002"}, "the first thing said in the conversation, not in its tip"),
    ((31,), "preview", {"666002"}, "what was said, not the summary of it"),
    (ALL, "preview", {"777004"}, "runs of white space are one space"),
    (
        ALL,
        "preview",
        {"cron_job42_20260109_030000"},
        "what the job is asked, without the preamble of all jobs",
    ),
    (ALL, "live", {"888002"}, "session_meta is the gateway's bookkeeping"),
    (
        (31,),
        "displayed",
        {"555001", "888002"},
        "Hermes, too, leaves these out only where it paints",
    ),
]
"""Schemas, case, what differs (the ends of ids), and why we stay with it."""


_ROW = ("title", "source", "started_at", "end_reason", "message_count")


def listed(said):
    """Every row of every list Hermes was asked for that shows conversations, not sessions."""
    for name in said:
        if name.startswith("list_") and name not in ("list_children", "list_no_projection"):
            yield from said[name] or ()


def compared(said, catalog, reader):
    """What we say and what Hermes said: the case, the id, ours, theirs."""
    details = {each.id: each for each in with_details(reader, catalog.select(View.ALL))}
    for row in listed(said):
        ours = details.get(row["id"])
        yield "is a conversation", row["id"], ours is not None, True
        if ours is not None:
            tip, begin = ours.tip, row["preview"].removesuffix("...")
            mine = (
                ours.title,
                ours.source,
                ours.root.started_at,
                tip.end_reason,
                tip.message_count,
            )
            yield "root", row["id"], ours.root_id, row["_lineage_root_id"] or row["id"]
            yield "data", row["id"], mine, tuple(row[key] for key in _ROW)
            yield "last active", row["id"], ours.last_active, row["last_active"]
            yield "preview", row["id"], ours.preview[: len(begin)], begin
    default = {row["id"] for row in said["list_default"]}
    views = (View.CHATS, View.AUTOMATION)
    shown = {chain.tip.id for view in views for chain in catalog.select(view)}
    yield from (("shown by Hermes alone", each, each in shown, True) for each in default)
    yield from (("shown by us alone", each, True, each in default) for each in shown)
    theirs = [row["id"] for row in said["list_by_last_active"]]
    tips = (catalog.conversation(root).tip.id for root in catalog.order(View.ALL))
    yield "order", "", [each for each in tips if each in theirs], theirs
    version = reader.schema.version
    for session, lineage in said["lineage"].items():
        family = {node.session.id for node in read_lineage(reader, session, 0.0).nodes}
        is_known = lineage["conversation_root"] in (None, *family)
        yield "tip", session, catalog.conversation(session).tip.id, lineage["compression_tip"]
        yield "resume", session, predict_resume(catalog, session, version), lineage["resume"]
        yield "family", session, is_known, True
    for session, messages in said["messages"].items():
        for case, key, reading in (
            ("live", "message_ids", Reading.LIVE), ("everything", "inactive_ids", Reading.EVERYTHING),
        ):  # fmt: skip
            if messages[key] is not None:
                yield case, session, shown_in(reader, session, reading), messages[key]
    for session, displayed in said.get("display_ids", {}).items():
        yield "displayed", session, shown_in(reader, session), displayed
    for title, theirs in said["resolve_title"].items():
        yield "title", title, resolve_title(reader, title), theirs
    yield "last", "cli", resolve_last(reader, "cli"), said["last_cli"][0]
    for text, theirs in said["prefix"].items():
        found = None
        with suppress(NotFoundError):
            found = resolve_session(reader, text)
        yield "prefix", text, found, theirs


def shown_in(reader, session, reading=Reading.SAID):
    """The ids of the messages of one session."""
    return [row.id for row in read_outline(reader, [Session(session, "")], reading).rows]


@pytest.fixture(params=VERSIONS, ids=lambda version: f"v{version}")
def version(request):
    return request.param


@pytest.fixture
def path(version, fixture_store):
    """A copy of a store that Hermes wrote."""
    return fixture_store(f"state-v{version}")


@pytest.fixture
def said(version):
    """What its Hermes said of it."""
    return expected(f"v{version}")


@pytest.fixture
def reader(path):
    with Store(path).reader() as opened:
        yield opened


def test_we_differ_where_the_table_says(version, said, reader):
    """Nowhere else, and everywhere there: a difference that has gone must leave the table."""
    every = list(compared(said, read_catalog(reader, said["now"]), reader))
    found = {(case, id) for case, id, ours, theirs in every if ours != theirs}
    wanted = {
        (case, next((each for each in said["lineage"] if each.endswith(end)), end))
        for versions, case, ends, _ in DIFFERENCES
        if version in versions
        for end in ends
    }
    assert found == wanted


def test_what_is_counted_is_what_is_shown(said, reader):
    """The number beside a conversation is the number of messages in it; what is painted first is in
    the order that follows from the whole."""
    catalog = read_catalog(reader, said["now"])
    for each in with_details(reader, catalog.select(View.ALL)):
        outline = read_outline(reader, each.segments)
        assert (
            each.message_count
            == len(outline.rows)
            == len(read_messages_of(reader, [row.id for row in outline.rows]))
        )
        assert each.preview or each.message_count == 0, each.id
        details = read_details(reader, each)
        assert sum(details.roles.values()) == each.message_count
        assert sum(tool.results for tool in details.tools) == details.roles.get("tool", 0)
        assert details.live_rows <= sum(details.states.values())
    assert read_first_page(reader, said["now"]).order()[:20] == catalog.order()[:20]


@pytest.mark.parametrize("version", [22], indirect=True)
def test_the_repeated_tail_of_a_compaction_is_shown_once(reader):
    """0.19 writes the kept tail again as live rows, without a display order: we fold it."""
    outline = read_outline(reader, [Session("20260115_100000_999002", "")])
    assert outline.copies == {91: 93}
    assert [row.id for row in outline.rows] == [84, 85, 86, 87, 88, 89, 90, 92, 93, 94]
    assert outline.index_of(91) == outline.index_of(93)


def test_system_prompts_are_found_where_they_stand(path, reader):
    """In the row, or since 0.20 in a table of their own."""
    session_id = "20260101_090000_aaa001"
    at = f"WHERE id = '{session_id}'"
    places = {f"UPDATE sessions SET system_prompt = 'be kind' {at}": "be kind"}
    if "system_prompts" in reader.schema.tables:
        run(path, f"UPDATE sessions SET system_prompt_hash = NULL {at}")
        run(path, "INSERT INTO system_prompts (hash, prompt) VALUES ('h1', 'be brief')")
        places[f"UPDATE sessions SET system_prompt_hash = 'h1' {at}"] = "be brief"
    for sql, prompt in places.items():
        run(path, sql)
        assert read_system_prompt(reader, session_id) == prompt
    assert read_system_prompt(reader, "20260102_120000_a9e999") is None
