"""Where our answers differ from those of the Hermes that wrote the store: exactly where the table
says, and why."""

import json
import shutil
from pathlib import Path

import pytest
from paths import DATA

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import AmbiguousError, NotFoundError
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.lineage import predict_resume, read_lineage
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
    (OLD, "resume", {"bbb001", "ccc001"}, "0.14 and 0.16 do not go on to an unmarked child"),
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


def listed(said):
    """Every row of every list Hermes was asked for that shows conversations, not sessions."""
    for name, rows in said.items():
        if (
            name.startswith("list_")
            and name not in ("list_children", "list_no_projection")
            and rows
        ):
            for row in rows:
                yield name, row


def differing(said, catalog, reader):
    """Cases and ids where we do not say what Hermes said."""
    details = {each.id: each for each in with_details(reader, catalog.select(View.ALL))}
    for _, row in listed(said):
        ours = details.get(row["id"])
        if ours is None:
            yield "is a conversation", row["id"]
            continue
        if ours.root_id != (row["_lineage_root_id"] or row["id"]):
            yield "root", row["id"]
        mine = (
            ours.title,
            ours.source,
            ours.root.started_at,
            ours.tip.end_reason,
            ours.tip.message_count,
        )
        if mine != tuple(
            row[key] for key in ("title", "source", "started_at", "end_reason", "message_count")
        ):
            yield "data", row["id"]
        if ours.last_active != row["last_active"]:
            yield "last active", row["id"]
        if not ours.preview.startswith(row["preview"].removesuffix("...")):
            yield "preview", row["id"]
    default = {row["id"] for row in said["list_default"]}
    shown = {
        chain.tip.id for view in (View.CHATS, View.AUTOMATION) for chain in catalog.select(view)
    }
    yield from (("shown by Hermes alone", each) for each in default - shown)
    yield from (("shown by us alone", each) for each in shown - default)
    theirs = [row["id"] for row in said["list_by_last_active"]]
    ours_in_order = [catalog.conversation(root).tip.id for root in catalog.order(View.ALL)]
    ours_in_order = [each for each in ours_in_order if each in theirs]
    yield from (
        ("order", one) for one, other in zip(theirs, ours_in_order, strict=True) if one != other
    )
    for session, lineage in said["lineage"].items():
        if catalog.conversation(session).tip.id != lineage["compression_tip"]:
            yield "tip", session
        if predict_resume(catalog, session, reader.schema.version) != lineage["resume"]:
            yield "resume", session
        family = {node.session.id for node in read_lineage(reader, session, 0.0).nodes}
        if lineage["conversation_root"] not in (None, *family):
            yield "family", session
    for session, messages in said["messages"].items():
        for case, key, reading in (
            ("live", "message_ids", Reading.LIVE), ("everything", "inactive_ids", Reading.EVERYTHING),
        ):  # fmt: skip
            ids = [row.id for row in read_outline(reader, [Session(session, "")], reading).rows]
            if messages[key] is not None and ids != messages[key]:
                yield case, session
    for session, displayed in said.get("display_ids", {}).items():
        if [row.id for row in read_outline(reader, [Session(session, "")]).rows] != displayed:
            yield "displayed", session
    for title, expected in said["resolve_title"].items():
        if resolve_title(reader, title) != expected:
            yield "title", title
    if resolve_last(reader, "cli") != said["last_cli"][0]:
        yield "last", "cli"
    for text, expected in said["prefix"].items():
        try:
            found = resolve_session(reader, text)
        except (NotFoundError, AmbiguousError):
            found = None
        if found != expected:
            yield "prefix", text


@pytest.mark.parametrize("version", VERSIONS)
def test_we_differ_where_the_table_says(version, tmp_path):
    """Nowhere else, and everywhere there: a difference that has gone must leave the table."""
    path = Path(shutil.copy(next(DATA.glob(f"state-v{version}-*.db")), tmp_path / "state.db"))
    said = json.loads((DATA / f"expected-v{version}.json").read_text(encoding="utf-8"))
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, said["now"])
        found = set(differing(said, catalog, reader))
    expected = {
        (case, next((each for each in said["lineage"] if each.endswith(end)), end))
        for versions, case, ends, _ in DIFFERENCES
        if version in versions
        for end in ends
    }
    assert found == expected
