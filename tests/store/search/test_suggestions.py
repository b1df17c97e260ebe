"""Wider queries that are offered: each finds what it says, and excludes what the query did."""

import time

import pytest
from builders import make_store

from hermes_browse.store import open_store
from hermes_browse.store.search import suggestions
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import View

TEXTS = ("cat fish", "cat dog", "cat bird", "bird dog", "fish")


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """What is offered for a query: other queries, with what is different and the number of hits."""
    monkeypatch.setattr(suggestions, "_SECONDS", 60.0)
    messages = [{"session_id": "a", "content": text} for text in TEXTS]
    sessions = [{"id": "a", "source": "cli"}]
    path = make_store(tmp_path / "state.db", "22", sessions, messages)

    def ask(query):
        now = time.time()
        with open_store(path) as store:
            found = store.suggestions(parse(query), store.catalog(now), View.ALL, now)
        return {each.query: (each.text, each.hits) for each in found}

    return ask


@pytest.mark.parametrize("query", ["cat bird NOT dog fish", "cat bird -dog fish"])
def test_what_was_excluded_is_looked_for_again_alone(offered, query):
    """Without the word goes its NOT, which would exclude the next one."""
    found = offered(query)
    assert found.pop("cat OR bird OR fish -dog") == ("any of the words", 3)
    assert not found


@pytest.mark.parametrize("query", ["fish NOT dog cat", "fish -dog cat"])
def test_without_what_was_excluded(offered, query):
    found = offered(query)
    assert {text for text, _hits in found.values()} >= {"any of the words"}
    assert found["fish cat"][1] == 1


def test_an_excluded_filter_stays_excluded(offered):
    assert "bird OR fish -source:cli" not in offered("bird fish NOT source:cli")
    assert offered("bird fish NOT source:cron")["bird OR fish -source:cron"][1] == 4
