"""Search held to FTS5 itself, for whatever is typed."""

import re
import sqlite3
import unicodedata

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_stores import ids, write_store
from searching import search

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search.terms import fold

TEXTS = [
    "the docker deploy failed, don't retry", "Docker compose up; docker-compose down", "dock the boat",
    "C++ and c# and .env", "see src/main.py:12 or src/main.pyc", "50% of a/b is x=y", "naïve café CAFÉ cafe\u0301s",
    "một ngày đẹp", "Straße STRASSE ΣΊΣΥΦΟΣ σίσυφος", "Йод иод", "大别山项目 会议记录", "桂林山水",
    "テストが通る", "한국어 문서",
    "🚀 launch 👩‍💻 now", "snake_case_name and camelCase", "don’t use “curly”", "", "a b c", "tab\tand\nnewline",
    "filler " * 500 + "docker at the end", "zero\x00docker", "{'json': [1, 2]}", "--amend the -x", "1 12 123 1234",
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("search") / "state.db", TEXTS * 4)


@pytest.fixture(scope="module")
def reader(store):
    with Store(store).reader() as opened:
        yield opened


@pytest.fixture(scope="module")
def raw(store):
    connection = sqlite3.connect(store)
    yield connection
    connection.close()


SLOW = settings(
    max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _found(reader, text, **options):
    answer = search(reader, text, **({"limit": 0} | options))  # type: ignore[arg-type]  # test options
    assert answer.complete
    return ids(answer)


def _match(raw, match):
    sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rowid DESC"
    return [row[0] for row in raw.execute(sql, [match])]


WORDS = sorted(
    {
        word
        for text in TEXTS
        for word in re.findall(r"[^\W_]+", text)
        if not re.search("[\u2e80-\ud7ff]", word)
    }
)


@SLOW
@given(st.sampled_from(WORDS) | st.text("abcdeéñộσςЙß0123", min_size=1, max_size=4))
def test_a_plain_word_finds_what_fts5_finds(reader, raw, word):
    assert _found(reader, f'"{word}"') == _match(raw, f'"{word}"')
    if word.upper() not in ("AND", "OR", "NOT"):
        assert _found(reader, word) == _match(raw, f'"{word}"')


@SLOW
@given(st.sampled_from(WORDS), st.integers(1, 8), st.sampled_from(["", "the ", "docker "]))
def test_typing_gives_the_page_of_fts5s_own_prefix_query(reader, raw, word, length, before):
    typed = word[:length]
    match = " AND ".join([*(f'"{each}"' for each in before.split()), f'"{typed}"*'])
    if typed.upper() in ("AND", "OR", "NOT"):
        typed = f'"{typed}"*'
    assert _found(reader, before + typed, prefix_last=True, limit=20) == _match(raw, match)[:20]


@pytest.mark.slow
def test_letters_are_folded_as_the_index_folds_them():
    """Every letter of Unicode 3.2, which any FTS5 knows, against the vocabulary it makes of it."""
    letters = [
        chr(code)
        for code in range(0x80, 0x10000)
        if unicodedata.ucd_3_2_0.category(chr(code))[0] == "L"
    ]
    # Cherokee got its lower case after FTS5's tables were made.
    letters = [each for each in letters if not unicodedata.name(each, "").startswith("CHEROKEE")]
    letters.remove("\u1e9b")  # long s with a dot: FTS5 takes it for s, Unicode for s with a dot
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, instance)")
    connection.executemany(
        "INSERT INTO words (rowid, word) VALUES (?, ?)",
        ((ord(each), f"q{each}q") for each in letters),
    )
    terms = dict(connection.execute("SELECT doc, term FROM vocabulary WHERE term LIKE 'q_q'"))
    connection.close()
    assert len(terms) > 40_000
    wrong = {chr(code): term for code, term in terms.items() if fold(f"q{chr(code)}q") != term}
    assert wrong == {}


@given(st.text())
def test_folding_keeps_positions(text):
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)
