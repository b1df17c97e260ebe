"""Stores that Hermes wrote agree with themselves: what is counted is what is shown. Its own answers
are held against ours in `test_fixtures`."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import dataclass
from typing import Any

import pytest
from paths import DATA

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_messages, read_outline, read_system_prompt
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.models import Session, View

VERSIONS = (11, 14, 22, 31)


@dataclass
class Oracle:
    """A fixture, what its Hermes said of it, and what we read."""

    version: int
    said: dict[str, Any]
    reader: Reader
    catalog: Catalog


@pytest.fixture(params=VERSIONS, ids=lambda version: f"v{version}")
def oracle(request, tmp_path):
    """One fixture after the other, opened on a copy."""
    version = request.param
    path = tmp_path / "state.db"
    shutil.copy(next(DATA.glob(f"state-v{version}-*.db")), path)
    said = json.loads((DATA / f"expected-v{version}.json").read_text(encoding="utf-8"))
    with Store(path).reader() as reader:
        yield Oracle(version, said, reader, read_catalog(reader, said["now"]))


def test_the_repeated_tail_of_a_compaction_is_shown_once(oracle):
    """0.19 writes the kept tail again as live rows; where there is no display order we fold it."""
    if oracle.version != 22:
        pytest.skip("only 0.19 compacts in place without a display order")
    outline = read_outline(oracle.reader, [Session("20260115_100000_999002", "")])
    assert outline.copies == {91: 93}
    assert [row.id for row in outline.rows] == [84, 85, 86, 87, 88, 89, 90, 92, 93, 94]
    assert outline.index_of(91) == outline.index_of(93)


def test_counts_are_what_the_transcript_shows(oracle):
    """The number beside a conversation is the number of messages in it."""
    for each in with_details(oracle.reader, oracle.catalog.select(View.ALL)):
        outline = read_outline(oracle.reader, each.segments)
        assert each.message_count == len(outline.rows)
        assert len(read_messages(oracle.reader, outline.rows)) == len(outline.rows)
        assert each.preview or each.message_count == 0, each.id


def test_the_first_page_is_the_exact_one(oracle):
    """What is painted first is in the order that follows from the whole."""
    first = read_first_page(oracle.reader, oracle.said["now"])
    exact = oracle.catalog.order()[:20]
    assert first.order()[:20] == exact


def test_system_prompts_are_found_where_they_stand(oracle, tmp_path):
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
