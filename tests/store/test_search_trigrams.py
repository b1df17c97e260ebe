"""What the trigram index is asked for words and for terms too short for it: never a row less than a scan finds."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from builders import make_store
from effort import slow_but
from search_stores import change

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.search.engine import search
from hermes_browse.store.search.fold import fold
from hermes_browse.store.search.index_terms import ranges_with_terms, read_terms
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.trigrams import _LETTERS, superset

TEXTS = (
    "deployment of the harbour",
    "Déployé hier",
    "DÉPLOYER demain",
    "redeploy the rest",
    "une façade à déplier",
    "no match here",
    "日本",
    "旅行は日本へ",
    "終わりは 日本",
    "本日は",
    "🚀 launch",
    "x::y",
)


@pytest.fixture(params=slow_but(["31-migrated"], ["11", "22", "31-migrated"]))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Texts of many scripts among two thousand plain ones."""
    rows = [{"session_id": "s", "content": f"plain row {number}"} for number in range(2000)]
    for place, text in enumerate(TEXTS):
        rows[place * 150] = {"session_id": "s", "content": text}
    said = [{"type": "text", "text": "das 日本 im Bild, deployed"}]
    rows[1999] = {"session_id": "s", "content": "\x00json:" + json.dumps(said)}
    rows[1998] = {"session_id": "s", "role": "tool", "content": "", "tool_name": "terminal", "tool_calls": '"日本"'}
    return make_store(tmp_path / "state.db", str(request.param), [{"id": "s", "source": "cli"}], rows)


def found(path: Path, text: str, *, indexed: bool = True) -> tuple[list[int], str]:
    """Ids of the hits of a query being typed, and the engine."""
    with Store(path).reader() as reader:
        if not indexed:
            reader.schema = reader.schema.without_search()
        answer = search(reader, parse(text), prefix_last=True, limit=0)
        return [hit.message_id for hit in answer.hits], answer.engine


@pytest.mark.parametrize(
    "typed", ["dep", "depl", "deplo", "deploye", "fac", "plain 1", "row 19", "harb", "deplox", "zzz"]
)
def test_a_prefix_finds_what_a_scan_finds(store: Path, typed: str) -> None:
    assert found(store, typed)[0] == found(store, typed, indexed=False)[0]


def test_marks_of_their_own_are_not_missed(store: Path) -> None:
    change(store, "UPDATE messages SET content = 'de\u0301ployer a part' WHERE id = 700")
    hits = found(store, "deplo")[0]
    assert 700 in hits
    assert hits == found(store, "deplo", indexed=False)[0]
    with Store(store).reader() as reader:
        assert reader.schema.trigram is not None
        assert superset(reader, reader.schema.trigram, ["deplo"]) == "", "its letters cannot be asked for"


@pytest.mark.parametrize("typed", ["日本", "日", "🚀", "::", "日本 depl", "日本 im", "設定"])
def test_one_or_two_characters_find_what_a_scan_finds(store: Path, typed: str) -> None:
    assert found(store, typed)[0] == found(store, typed, indexed=False)[0]


def test_two_characters_do_not_read_the_store(store: Path) -> None:
    hits, engine = found(store, "日本")
    assert len(hits) == 5
    assert engine == "trigram"
    with Store(store).reader() as reader:
        search(reader, parse("設計"), prefix_last=True)  # looks once at what there is in the store
        before = reader.statements
        assert search(reader, parse("設定"), prefix_last=True).hits == ()
        looked = reader.statements - before
        assert looked <= 20, "what is nowhere is told by the index, not by all the rows"


def test_a_prefix_of_no_word_is_told_at_once(store: Path) -> None:
    with Store(store).reader() as reader:
        search(reader, parse("ferrying"), prefix_last=True)  # looks once at what there is in the store
        before = reader.statements
        assert search(reader, parse("plainly"), prefix_last=True).hits == ()
        assert reader.statements - before <= 13, "the vocabulary is asked once whether letters with accents are meant"


def test_every_letter_that_folds_to_an_ascii_one_is_known() -> None:
    strays = [
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if code not in _LETTERS and fold(chr(code)).isascii() and fold(chr(code)).isalpha()
    ]
    assert strays == []


def test_the_vocabulary_is_not_written_into_the_store(store: Path) -> None:
    before = hashlib.sha256(store.read_bytes()).digest()
    with Store(store).reader() as reader:
        index = reader.schema.trigram
        assert index is not None and "日本へ" in read_terms(reader, index, ("日本", "日杭"), 50)
        assert ranges_with_terms(reader, index, [("日本", "日杭"), ("設", "設\uffff")]) == {("日本", "日杭")}
        with pytest.raises(BrowseError):
            reader.rows("CREATE TABLE another (x)")
        with pytest.raises(BrowseError):
            reader.rows("DELETE FROM messages")
    assert hashlib.sha256(store.read_bytes()).digest() == before
