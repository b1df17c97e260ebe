"""Our answers held against those that the Hermes which wrote the store gave itself; each difference
is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import AmbiguousError, NotFoundError
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_messages, read_outline, read_system_prompt
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.lineage import predict_resume
from hermes_browse.store.sessions.models import View
from hermes_browse.store.sessions.resolve import resolve_last, resolve_session, resolve_title
from hermes_browse.store.sessions.session import Session

DATA = Path(__file__).parent.parent / "data"
VERSIONS = (11, 14, 22, 31)
STALE_TIP = {"20260104_090000_sss001": "20260104_092000_sss003"}
"""Hermes up to 0.17 follows the stale sibling of a race by its time; since 0.18 it takes the real
one, as we do."""
BOOKKEEPING = {77}
"""Rows of the gateway that Hermes hands out with all others and sends to no model
(session_meta)."""
SCAFFOLDING = {
    "20260114_100000_888002": {77},  # session_meta: the gateway's own notes
    "20260119_130000_555001": {138, 143},  # display_kind hidden, model_only
}
"""Rows Hermes hands out and does not paint: they are not part of what was said."""


@dataclass
class Oracle:
    """A fixture, what its Hermes said of it, and what we read."""

    version: int
    said: dict[str, Any]
    reader: Reader
    catalog: Catalog
    notes: list[str] = field(default_factory=list)


@pytest.fixture(params=VERSIONS, ids=lambda version: f"v{version}")
def oracle(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Oracle]:
    """One fixture after the other, opened on a copy."""
    version = request.param
    path = tmp_path / "state.db"
    shutil.copy(next(DATA.glob(f"state-v{version}-*.db")), path)
    said = json.loads((DATA / f"expected-v{version}.json").read_text(encoding="utf-8"))
    with Store(path).reader() as reader:
        yield Oracle(version, said, reader, read_catalog(reader, said["now"]))


LISTS = (
    "list_default",
    "list_cli",
    "list_by_last_active",
    "list_include_archived",
    "list_archived_only",
)


@pytest.mark.parametrize("name", [*LISTS, "list_include_hidden", "list_source_cli", "list_limit5"])
def test_everything_hermes_lists_is_a_conversation_of_ours(oracle: Oracle, name: str) -> None:
    """Same tip, title, source, times and end reason."""
    rows = oracle.said.get(name)
    if rows is None:
        pytest.skip("this Hermes has no such list")
    assert rows or name == "list_archived_only"
    for row in rows:
        ours = oracle.catalog.of_session(row["id"])
        assert ours is not None
        if row["id"] in STALE_TIP.values() and oracle.version < 17:
            assert ours.id != row["_lineage_root_id"]
            continue
        assert ours.id == row["id"]
        assert ours.title == row["title"] and ours.source == row["source"]
        assert ours.root.started_at == row["started_at"] and ours.last_active == row["last_active"]
        assert ours.tip.end_reason == row["end_reason"]
        assert ours.tip.message_count == row["message_count"]


def test_the_default_list_is_in_our_chats_or_automation(oracle: Oracle) -> None:
    """Nothing Hermes shows by default hides in another view of ours."""
    shown = {
        chain.tip.id
        for view in (View.CHATS, View.AUTOMATION)
        for chain in oracle.catalog.forest.in_view(view)
    }
    listed = {row["id"] for row in oracle.said["list_default"]}
    differing = set(STALE_TIP.values()) if oracle.version < 17 else set()
    assert listed - differing <= shown


def test_every_session_is_in_exactly_one_chain(oracle: Oracle) -> None:
    """Reachable, and counted once."""
    count = oracle.reader.value("SELECT count(*) FROM sessions")
    segments = [
        segment.id for chain in oracle.catalog.forest.chains() for segment in chain.segments
    ]
    assert len(segments) == len(set(segments)) == count == oracle.said["counts"]["sessions"]
    counts = oracle.catalog.forest.counts()
    for view in View:
        hidden = oracle.catalog.hidden(view, counts[view])
        assert counts[view] + hidden.automation + hidden.archived + hidden.other == counts[View.ALL]


def test_tips_are_those_of_hermes(oracle: Oracle) -> None:
    """The segment a chain ends with, from every session."""
    for session_id, lineage in oracle.said["lineage"].items():
        tip = oracle.catalog.forest.chain_of(session_id).tip.id
        if oracle.version < 17 and STALE_TIP.get(session_id) == lineage["compression_tip"]:
            assert tip == "20260104_091000_sss002"
            continue
        assert tip == lineage["compression_tip"], session_id


def test_what_a_resume_opens_is_predicted(oracle: Oracle) -> None:
    """The second walk of 0.18 and later, for every session; older versions have none."""
    if oracle.version < 17:
        pytest.skip("0.14 and 0.16 open what they are given")
    for session_id, lineage in oracle.said["lineage"].items():
        opened = predict_resume(oracle.catalog.forest, session_id, oracle.version)
        assert opened == lineage["resume"], session_id


def ids(oracle: Oracle, session_id: str, reading: Reading) -> list[int]:
    """Message ids of one session in a reading."""
    return [row.id for row in read_outline(oracle.reader, [Session(session_id, "")], reading).rows]


def test_messages_are_those_of_hermes(oracle: Oracle) -> None:
    """What the model sees, everything, and since 0.22 what is displayed."""
    for session_id, messages in oracle.said["messages"].items():
        live = [each for each in messages["message_ids"] if each not in BOOKKEEPING]
        assert ids(oracle, session_id, Reading.LIVE) == live, session_id
        if messages["inactive_ids"] is not None:
            assert ids(oracle, session_id, Reading.EVERYTHING) == messages["inactive_ids"], (
                session_id
            )
    for session_id, displayed in oracle.said.get("display_ids", {}).items():
        hidden = SCAFFOLDING.get(session_id, set())
        assert ids(oracle, session_id, Reading.SAID) == [
            each for each in displayed if each not in hidden
        ]


def test_the_repeated_tail_of_a_compaction_is_shown_once(oracle: Oracle) -> None:
    """0.19 writes the kept tail again as live rows; where there is no display order we fold it."""
    if oracle.version != 22:
        pytest.skip("only 0.19 compacts in place without a display order")
    outline = read_outline(oracle.reader, [Session("20260115_100000_999002", "")])
    assert outline.copies == {91: 93}
    assert [row.id for row in outline.rows] == [84, 85, 86, 87, 88, 89, 90, 92, 93, 94]
    assert outline.index_of(91) == outline.index_of(93)


def test_counts_are_what_the_transcript_shows(oracle: Oracle) -> None:
    """The number beside a conversation is the number of messages in it."""
    for each in with_details(oracle.reader, oracle.catalog.select(View.ALL)):
        outline = read_outline(oracle.reader, each.segments)
        assert each.message_count == len(outline.rows)
        assert len(read_messages(oracle.reader, outline.rows)) == len(outline.rows)
        assert each.preview or each.message_count == 0, each.id


def test_titles_and_prefixes_resolve_as_in_hermes(oracle: Oracle) -> None:
    """The newest numbered title; a prefix only when one id has it."""
    for title, expected in oracle.said["resolve_title"].items():
        assert resolve_title(oracle.reader, title) == expected, title
    for text, expected in oracle.said["prefix"].items():
        if expected is not None:
            assert resolve_session(oracle.reader, text) == expected
        else:
            with pytest.raises((NotFoundError, AmbiguousError)):
                resolve_session(oracle.reader, text)
    assert resolve_last(oracle.reader, "cli") == oracle.said["last_cli"][0]


def test_the_first_page_is_the_exact_one(oracle: Oracle) -> None:
    """What is painted first is in the order that follows from the whole."""
    first = read_first_page(oracle.reader, oracle.said["now"])
    exact = oracle.catalog.order()[:20]
    assert first.order()[:20] == exact


def test_system_prompts_are_found_where_they_stand(oracle: Oracle, tmp_path: Path) -> None:
    """In the row, or since 0.20 in a table of their own."""
    session_id = "20260101_090000_aaa001"
    writer = sqlite3.connect(tmp_path / "state.db")
    with writer:
        if "system_prompts" in oracle.reader.schema.tables:
            writer.execute(
                "UPDATE sessions SET system_prompt_hash = NULL WHERE id = ?", [session_id]
            )
        writer.execute("UPDATE sessions SET system_prompt = 'be kind' WHERE id = ?", [session_id])
    assert read_system_prompt(oracle.reader, session_id) == "be kind"
    if "system_prompts" in oracle.reader.schema.tables:
        with writer:
            writer.execute("INSERT INTO system_prompts (hash, prompt) VALUES ('h1', 'be brief')")
            writer.execute(
                "UPDATE sessions SET system_prompt = NULL, system_prompt_hash = 'h1' WHERE id = ?",
                [session_id],
            )
        assert read_system_prompt(oracle.reader, session_id) == "be brief"
    writer.close()
    assert read_system_prompt(oracle.reader, "20260102_120000_a9e999") is None
