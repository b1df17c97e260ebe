"""What a keystroke costs, told by counting: statements, rows of text, rows kept; never seconds."""

import gc
import json
import weakref

import pytest
import trashing
from builders import make_store
from search_stores import ids
from searching import search

from hermes_browse.store.connection import reader as of_reader
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search import rows as module

ROWS = 6000
PAGE = 32


def said(number):
    """A text of the store: common, rarer and rare words, some of them inside others."""
    rare = {
        "harbour": number % 50 == 0,
        "sharp charter": number % 7 == 0,  # the letters of `har`, and no word that begins so
        "zanzibar café": number % 2000 == 1,
    }
    common = ("plain", "docker" if number % 3 == 0 else "ferry", f"n{number}")
    return " ".join([*common, *filter(rare.get, rare)])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Six thousand messages, two hundred of them with pictures and accents."""
    rows = [{"session_id": "s", "content": said(number)} for number in range(ROWS)]
    for number in range(5, ROWS, 30):
        parts = [{"type": "text", "text": f"déjà vu {number}"}]
        rows[number] = {"session_id": "s", "content": "\x00json:" + json.dumps(parts)}
    path = tmp_path_factory.mktemp("keystrokes") / "state.db"
    return make_store(path, "22", [{"id": "s", "source": "cli"}], rows)


def typed(reader, text, limit=PAGE):
    """A keystroke: its answer, what it asked, and how many rows it read with their texts."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_reader, "observe", lambda sql, seconds, rows: asked.append((sql, rows)))
        answer = search(reader, text, limit=limit, prefix_last=True)
    texts = [rows for sql, rows in asked if "m.content, " in sql.partition(" FROM ")[0]]
    return answer, [sql for sql, _rows in asked], sum(texts)


@pytest.mark.parametrize("text", ["docker", "docker ", "plain docker ", "dock", "plain doc", "har"])
def test_no_more_rows_are_read_than_the_page_needs(store, text):
    with Store(store).reader() as reader:
        answer, _asked, texts = typed(reader, text)
    assert len(answer.hits) == PAGE
    assert 0 < texts <= 3 * (PAGE + 1)


def test_the_next_letter_reads_few_rows_anew(store):
    with Store(store).reader() as reader:
        texts = [typed(reader, "docker"[:length])[2] for length in range(1, 7)]
        again, asked, read_anew = typed(reader, "docker")
    assert sum(texts[1:]) <= 3 * PAGE, "rows of the letter before are at hand"
    assert (len(again.hits), read_anew) == (PAGE, 0)
    assert len(asked) <= 12


def test_what_is_kept_is_bounded(store, monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 100)
    monkeypatch.setattr(module, "LONGEST_KEPT", 50)  # no pictures
    with Store(store).reader() as reader:
        search(reader, "plai", limit=300, prefix_last=True)
        rows = reader.kept[module.StoredRow, False]
        assert 0 < len(rows) <= 164
        assert not any(row.stored.startswith("\x00json:") for row in rows.values())
        kept = weakref.ref(next(iter(rows.values())))
        del rows
    gc.collect()
    assert kept() is None, "gone with the connection"


def test_nothing_kept_outlives_a_change(written):
    path = written([f"docker row {number}" for number in range(40)])
    with Store(path).reader() as reader:
        assert ids(typed(reader, "dock", 3)[0]) == [40, 39, 38]
        trashing.run(
            path,
            "UPDATE messages SET content = 'docker said anew' WHERE id = 40",
            "UPDATE messages SET content = 'nothing here' WHERE id = 39",
        )
        after = typed(reader, "dock", 3)[0]
    assert ids(after) == [40, 38, 37] and after.hits[0].snippet == "docker said anew"


def test_rows_once_read_are_not_shown_to_a_search_that_may_not_see_them(store):
    with Store(store).reader() as reader:
        assert typed(reader, "docker")[0].hits
        for text in ("role:tool docker", "id:none docker"):
            assert search(reader, text, prefix_last=True).hits == ()
        assert search(reader, "docker in:reasoning", prefix_last=True).hits == ()
