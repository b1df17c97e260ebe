"""What a keystroke costs, told by counting: statements, rows of text, rows kept; never seconds."""

from __future__ import annotations

import gc
import json
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import make_store
from effort import slow_but

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.search import message_rows as rows_read
from hermes_browse.store.search import streams, trigrams
from hermes_browse.store.search.conditions import Scope
from hermes_browse.store.search.engine import Answer, search
from hermes_browse.store.search.message_rows import SearchCache
from hermes_browse.store.search.query import parse

ROWS = 6000
PAGE = 32


def said(number: int) -> str:
    """A text of the store: common, rarer and rare words, some of them inside others."""
    words = ["plain", "docker" if number % 3 == 0 else "ferry", f"n{number}"]
    if number % 50 == 0:
        words.append("harbour")
    if number % 7 == 0:
        words.append("sharp charter")  # the letters of `har`, and no word that begins so
    if number % 2000 == 1:
        words.append("zanzibar café")
    return " ".join(words)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six thousand messages, two hundred of them with pictures and accents."""
    rows = [{"session_id": "s", "content": said(number)} for number in range(ROWS)]
    for number in range(5, ROWS, 30):
        parts = [{"type": "text", "text": f"déjà vu {number}"}]
        rows[number] = {"session_id": "s", "content": "\x00json:" + json.dumps(parts)}
    path = tmp_path_factory.mktemp("keystrokes") / "state.db"
    return make_store(path, "22", [{"id": "s", "source": "cli"}], rows)


class Counted:
    """What the statements of a search were."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.matches: list[str] = []
        """What indexes were asked for."""
        self.texts = 0
        """Rows of `messages` read with their texts."""


@contextmanager
def counted(reader: Reader) -> Iterator[Counted]:
    """Count what is asked of a reader."""
    found, original = Counted(), reader.rows

    def rows(sql: str, parameters: object = ()) -> object:
        answer = original(sql, parameters)  # type: ignore[arg-type]  # passed through
        found.asked.append(sql)
        if " MATCH ?" in sql and isinstance(parameters, list):
            found.matches.append(str(parameters[0]))
        if "m.content, " in sql.partition(" FROM ")[0]:
            found.texts += len(answer)
        return answer

    reader.rows = rows  # type: ignore[method-assign,assignment]  # counts, and passes on
    try:
        yield found
    finally:
        reader.rows = original  # type: ignore[method-assign]  # as it was


def typed(reader: Reader, text: str, limit: int = PAGE) -> tuple[Answer, Counted]:
    """A keystroke and what it asked."""
    with counted(reader) as found:
        return search(reader, parse(text), limit=limit, prefix_last=True), found


def by_index(path: Path, match: str, limit: int) -> list[int]:
    """What FTS5 itself gives."""
    connection = sqlite3.connect(path)
    try:
        sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rowid DESC LIMIT ?"
        return [row[0] for row in connection.execute(sql, [match, limit])]
    finally:
        connection.close()


@pytest.mark.parametrize("text", ["docker", "docker ", "plain docker ", "dock", "plain doc", "har"])
def test_no_more_rows_are_read_than_the_page_needs(store: Path, text: str) -> None:
    with Store(store).reader() as reader:
        answer, found = typed(reader, text)
    assert len(answer.hits) == PAGE
    assert found.texts <= PAGE + 1 + 8


def test_the_next_letter_reads_few_rows_anew(store: Path) -> None:
    with Store(store).reader() as reader:
        texts = [typed(reader, "docker"[:length])[1].texts for length in range(1, 7)]
        again, nothing = typed(reader, "docker")
    assert sum(texts[1:]) <= 60, "rows of the letter before are at hand"
    assert nothing.texts == 0
    assert len([sql for sql in nothing.asked if not sql.startswith("PRAGMA")]) <= 6
    assert len(again.hits) == PAGE


@pytest.mark.parametrize("text", ["déjà v", "café r", "déjà q", "café d", "déjà vu 5"])
def test_accents_beside_one_letter_merge_no_prefix(store: Path, text: str) -> None:
    with Store(store).reader() as reader, counted(reader) as found:
        values: list[object] = []
        original = reader.rows

        def rows(sql: str, parameters: object = ()) -> object:
            values.append(parameters)
            return original(sql, parameters)  # type: ignore[arg-type]  # passed through

        reader.rows = rows  # type: ignore[method-assign,assignment]  # listens
        search(reader, parse(text), limit=PAGE, prefix_last=True)
        reader.rows = original  # type: ignore[method-assign]  # as it was
    asked = " ".join(str(each[0]) for each in values if isinstance(each, list) and each)
    # No message of this store spells `café` so: then it is not asked for.
    assert ('"d u00e9j u00e0"' in asked) is text.startswith("d"), "it is asked for as JSON spells it"
    assert not any(f'"{letter}"*' in asked for letter in "vrqd5"), "a word of one letter is never merged beside others"
    assert found.texts <= ROWS / 30 + PAGE, "at most those with pictures and accents are read"


_TYPED = ["har", "ferry har", "zanz", "plain zan", "docker har", "caf", "harx", "plain harx"]


@pytest.mark.parametrize("text", slow_but(_TYPED[1::3], _TYPED))
@pytest.mark.parametrize("few", [0, 15_000])
def test_by_letters_or_by_words_it_is_the_same(
    store: Path, monkeypatch: pytest.MonkeyPatch, text: str, few: int
) -> None:
    """Whichever way the plan goes, and where it changes its mind, hits are those of FTS5."""
    match = " AND ".join([*(f'"{word}"' for word in text.split()[:-1]), f'"{text.split()[-1]}"*'])
    expected = by_index(store, match, PAGE)
    monkeypatch.setattr(trigrams, "_FEW", few)
    for many, cost in ((150_000, 0.1), (0, 0.1), (0, 0.0), (150_000, 1e9)):
        monkeypatch.setattr(trigrams, "_MANY", many)
        monkeypatch.setattr(trigrams, "_MERGE_COST", cost)
        with Store(store).reader() as reader:
            assert [hit.message_id for hit in typed(reader, text)[0].hits] == expected
            oldest = search(reader, parse(text), limit=0, prefix_last=True, sort="oldest")
        assert [hit.message_id for hit in oldest.hits] == by_index(store, match, ROWS)[::-1]


def test_what_is_kept_is_bounded(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_read, "MOST_BYTES", 50_000)
    with Store(store).reader() as reader:
        search(reader, parse("plai"), limit=300, prefix_last=True)
        rows = reader.cached(SearchCache)
        assert 0 < len(rows) < 300
        assert rows.size <= 50_000
        kept = weakref.ref(rows)
        del rows
    gc.collect()
    assert kept() is None, "gone with the connection"


def test_nothing_kept_outlives_a_change(tmp_path: Path) -> None:
    contents = [f"docker row {number}" for number in range(40)]
    rows = [{"session_id": "s", "content": content} for content in contents]
    path = make_store(tmp_path / "state.db", "22", [{"id": "s", "source": "cli"}], rows)
    with Store(path).reader() as reader:
        before = typed(reader, "dock", 5)[0]
        newest = before.hits[0].message_id
        connection = sqlite3.connect(path)
        connection.execute("UPDATE messages SET content = 'docker said anew' WHERE id = ?", [newest])
        connection.execute("UPDATE messages SET content = 'nothing here' WHERE id = ?", [newest - 1])
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s','user','dock!',4e9)"
        )
        connection.commit()
        connection.close()
        after = typed(reader, "dock", 5)[0]
    assert [hit.message_id for hit in after.hits] == [newest + 1, newest, newest - 2, newest - 3, newest - 4]
    assert after.hits[1].snippet == "docker said anew"


def test_rows_once_read_are_not_shown_to_a_search_that_may_not_see_them(store: Path) -> None:
    with Store(store).reader() as reader:
        assert typed(reader, "docker")[0].hits
        assert search(reader, parse("docker"), prefix_last=True, scope=Scope(roles=frozenset({"tool"}))).hits == ()
        assert search(reader, parse("docker"), prefix_last=True, scope=Scope(sessions=lambda session: False)).hits == ()
        assert search(reader, parse("docker in:reasoning"), prefix_last=True).hits == ()


def test_a_sign_inside_a_word_is_led_to_by_its_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`don't` is two words to the word index, and the second begins like a tenth of all."""
    monkeypatch.setattr(streams, "_TRIED", 5)
    rows = [{"session_id": "s", "content": f"don said the tale {number}"} for number in range(900)]
    for number in (3, 400):
        rows[number] = {"session_id": "s", "content": "please DON'T do that"}
    parts = [{"type": "text", "text": "we don't"}]
    rows[7] = {"session_id": "s", "content": "\x00json:" + json.dumps(parts)}
    path = make_store(tmp_path / "state.db", "22", [{"id": "s", "source": "cli"}], rows)
    with Store(path).reader() as reader:
        answer, found = typed(reader, "don't")
        assert [hit.message_id for hit in answer.hits] == [401, 8, 4]
        assert found.texts <= 70, "a portion of those with the first word, then those with the letters"
        assert [hit.message_id for hit in typed(reader, "don'")[0].hits] == [401, 8, 4]


def test_a_character_beside_a_letter_is_looked_for_in_the_newest_rows(tmp_path: Path) -> None:
    """Where it begins more trigrams than are asked for, it is common, and what begins with the letter is not merged."""
    rows = [{"session_id": "s", "content": f"日{chr(0x4E00 + number)} docker {number}"} for number in range(900)]
    path = make_store(tmp_path / "state.db", "22", [{"id": "s", "source": "cli"}], rows)
    with Store(path).reader() as reader:
        answer, found = typed(reader, "日 d", 300)
        assert [hit.message_id for hit in answer.hits] == list(range(900, 600, -1))
        assert not any('"d"*' in match for match in found.matches)
        oldest = search(reader, parse("日 d"), limit=0, prefix_last=True, sort="oldest")
    assert [hit.message_id for hit in oldest.hits] == list(range(1, 901))


def test_what_is_enough_is_not_followed_by_a_merge(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the rows with the first word are of another role: read in large portions, but not past what is cheap."""
    monkeypatch.setattr(streams, "_TRIED", 256)
    with Store(store).reader() as reader, counted(reader) as found:
        newest = by_index(store, '"docker" AND "n"*', 320)
        values: list[object] = []
        original = reader.rows

        def rows(sql: str, parameters: object = ()) -> object:
            values.append(parameters)
            return original(sql, parameters)  # type: ignore[arg-type]  # passed through

        reader.rows = rows  # type: ignore[method-assign,assignment]  # listens
        some = {*newest[0:300:15], newest[318]}
        monkeypatch.setattr("hermes_browse.store.search.checker.Checker._admits", lambda checker, row: row.id in some)
        answer = search(reader, parse("docker n"), limit=20, prefix_last=True)
        reader.rows = original  # type: ignore[method-assign]  # as it was
    assert [hit.message_id for hit in answer.hits] == sorted(some, reverse=True)[:20], (
        "and a 21st says that there are more"
    )
    assert found.asked
    assert not any('"n"*' in str(each) for each in values)
