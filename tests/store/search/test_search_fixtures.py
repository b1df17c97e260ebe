"""Our hits against those of the real Hermes, on stores it wrote, and against a plain reading of all
rows."""

import pytest
import trashing
from pruning import expected
from search_stores import found, standing

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
    "don't what? hi! 50% a/b foo,bar x=y [z] <tag> #12 O'Reilly bob@example.com 🚀 src/ C++ TODO: 100% => 会 한국어 "
    "read_file ()"
)
"""Queries some Hermes silently answers with nothing, and other odd ones."""


@pytest.fixture(params=(11, 14, 22, 31), ids=lambda version: f"v{version}")
def version(request):
    return request.param


@pytest.fixture
def store(version, fixture_store):
    return fixture_store(f"state-v{version}")


def _ids(entries):
    return {int(entry["id"]) if isinstance(entry, dict) else int(entry) for entry in entries}


@pytest.mark.slow
def test_nothing_hermes_finds_is_missing(version, store):
    answers = expected(f"v{version}")["search"]
    assert len(answers) > 50
    missing = {}
    for query, entries in answers.items():
        if query not in LITERAL and (lost := _ids(entries) - set(found(store, query))):
            missing[query] = lost
    assert missing == {}


@pytest.mark.parametrize("query", LITERAL)
def test_a_literal_query_finds_exactly_what_stands_there(query, store):
    assert found(store, query) == standing(store, query)


@pytest.mark.parametrize("query", [*DROPPED.split(), "'; DROP"])
def test_what_hermes_drops_is_found_where_it_stands(query, store):
    assert found(store, query) == standing(store, query)


def test_relevance_is_that_of_fts5(store):
    sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rank, rowid DESC"
    ranked = [row[0] for row in trashing.rows(store, sql, '"docker"')]
    ours = found(store, "docker", order="relevance")
    assert ours == [row for row in ranked if row in ours]


def test_hidden_rows_are_no_hits(fixture_store):
    store = fixture_store("state-v31")
    sql = "SELECT id FROM messages WHERE display_kind = 'hidden' OR role = 'session_meta'"
    hidden = {row[0] for row in trashing.rows(store, sql)}
    assert hidden
    assert not hidden & set(
        found(store, "role:user role:assistant role:system role:tool role:session_meta")
    )
