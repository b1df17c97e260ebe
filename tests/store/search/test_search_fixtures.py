"""Our hits against those of the real Hermes, on stores it wrote, and against a plain reading of all
rows."""

import json

import pytest
import trashing
from paths import DATA
from search_stores import containing, copy_fixture, found
from searching import search

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.search.query import parse

LITERAL = {
    "C++": "Hermes drops the signs and finds every C",
    "^docker": "to Hermes ^ anchors to the start of the text, or is dropped",
    "content:docker": "to Hermes a colon names a column, or is dropped",
    "docker {": "Hermes drops the brace; here it has to be there",
    "100%": "Hermes 0.22 drops the percent sign and finds every 100",
    "NEAR(docker deployment)": "Hermes 0.22 looks for any of the words when it finds nothing",
}
"""Queries that find less here than in Hermes, because what is typed is meant literally."""

DROPPED = (
    *("don't", "what?", "hi!", "50%", "a/b", "foo,bar", "x=y", "[z]", "<tag>", "#12", "O'Reilly"),
    *(
        "bob@example.com",
        "🚀",
        "src/",
        "C++",
        "TODO:",
        "'; DROP",
        "100%",
        "=>",
        "会",
        "한국어",
        "read_file",
        "()",
    ),
)
"""Queries some Hermes silently answers with nothing, and other odd ones."""


@pytest.fixture(params=(11, 14, 22, 31), ids=lambda version: f"v{version}")
def version(request):
    number = request.param
    assert isinstance(number, int)
    return number


@pytest.fixture
def store(version, tmp_path):
    return copy_fixture(version, tmp_path)


def _expected(version):
    loaded = json.loads((DATA / f"expected-v{version}.json").read_text())
    assert isinstance(loaded, dict)
    return loaded


def _ids(entries):
    return {int(entry["id"]) if isinstance(entry, dict) else int(entry) for entry in entries}


def test_nothing_hermes_finds_is_missing(version, store):
    answers = _expected(version)["search"]
    assert isinstance(answers, dict)
    assert len(answers) > 50
    missing = {}
    for query, entries in answers.items():
        if query not in LITERAL and (lost := _ids(entries) - set(found(store, query))):
            missing[query] = lost
    assert missing == {}


@pytest.mark.parametrize("query", LITERAL)
def test_a_literal_query_finds_exactly_what_stands_there(query, store):
    needles = query.split() if query != "NEAR(docker deployment)" else ["NEAR(docker", "deployment"]
    every = set.intersection(*(set(containing(store, needle)) for needle in needles))
    ours = set(found(store, query))
    assert ours <= every
    if len(needles) == 1:
        assert ours == every


def _stands_alone(text, needle):
    """Whether the needle stands in the text with no letter of a longer word at its ends."""
    text, needle = text.casefold(), needle.casefold()
    at = text.find(needle)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(needle) : at + len(needle) + 1]
        cut = (needle[0].isalnum() and before.isalnum()) or (
            needle[-1].isalnum() and after.isalnum()
        )
        if not cut or not needle.isascii():
            return True
        at = text.find(needle, at + 1)
    return False


@pytest.mark.parametrize("query", DROPPED)
def test_what_hermes_drops_is_found_where_it_stands(query, store):
    from search_stores import rows

    texts = rows(store)
    needles = query.split()
    expected = [
        row for row in texts if all(_stands_alone(texts[row], needle) for needle in needles)
    ]
    assert found(store, query) == sorted(expected, reverse=True)


def test_relevance_is_that_of_fts5(store):
    sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rank, rowid DESC"
    ranked = [row[0] for row in trashing.rows(store, sql, '"docker"')]
    ours = found(store, "docker", sort="relevance")
    assert ours == [row for row in ranked if row in ours]


def test_taken_back_and_compacted_rows_are_hits_that_say_so(tmp_path):
    with Store(copy_fixture(22, tmp_path)).reader() as reader:
        states = {hit.state for hit in search(reader, parse("narwhal")).hits}
        assert states == {State.REWOUND}
        compacted = search(reader, parse("is:compacted"), limit=0).hits
        assert len(compacted) == 8
        assert {hit.state for hit in compacted} == {State.COMPACTED}


def test_hidden_rows_are_no_hits(tmp_path):
    store = copy_fixture(31, tmp_path)
    sql = "SELECT id FROM messages WHERE display_kind = 'hidden' OR role = 'session_meta'"
    hidden = {row[0] for row in trashing.rows(store, sql)}
    assert hidden
    assert not hidden & set(
        found(store, "role:user role:assistant role:system role:tool role:session_meta")
    )
