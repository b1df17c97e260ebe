"""Newest and oldest go by time, also where ids do not: imported, merged and restored stores, clocks
set back."""

import random

import pytest
from builders import make_store
from effort import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from search_stores import NOW, ask, change, found, ids, pages, write_store

from hermes_browse.store.connection.connect import Store

QUERIES = ["docker", "d*", "docker ro*", "role:user", "桂 OR docker", "row -needle", "::", "桂林"]


def _by_time(path, keys, *, oldest=False):
    with Store(path).reader() as reader:
        times = {
            int(str(key)): stamp for key, stamp in reader.rows("SELECT id, timestamp FROM messages")
        }
    return sorted(
        keys, key=lambda key: (times[key] is not None, times[key], key), reverse=not oldest
    )


PLACES = range(1500)
ORDERS = {
    "shuffled": random.Random(5).sample(PLACES, 1500),
    # One session after another, each of them in order.
    "imported": [place for session in (3, 0, 4, 1, 2) for place in PLACES[session::5]],
    "one late": [*PLACES[:700], 1499, *PLACES[700:1499]],  # a clock was set back for a moment
    "backwards": PLACES[::-1],
}


@pytest.fixture(scope="module", params=slow_but(("shuffled", "one late"), ORDERS))
def store(request, tmp_path_factory):
    """1,500 messages whose ids do not follow their times."""
    rows = [
        {
            "session_id": "abcde"[place % 5],
            "role": ("user", "assistant", "tool")[place % 3],
            "content": f"docker row {place} :: ow{' needle' * (place % 100 == 0)}{' 桂林' * (place % 9 == 0)}",
            "timestamp": NOW + place * 60,
        }
        for place in ORDERS[request.param]
    ]
    sessions = [{"id": name, "source": "cli", "started_at": NOW} for name in "abcde"]
    return make_store(tmp_path_factory.mktemp("order") / "state.db", "22", sessions, rows)


@pytest.mark.parametrize("query", slow_but(QUERIES[::5], QUERIES))
@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_pages_go_by_time_and_join_into_the_whole(store, query, sort):
    whole = found(store, query, sort=sort)
    assert len(whole) > 100
    assert whole == _by_time(store, whole, oldest=sort == "oldest")
    assert pages(store, query, sort=sort, limit=170) == whole


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Twelve messages, to be given times."""
    rows = [{"id": 3 * number + 1, "content": "docker"} for number in range(12)]
    return write_store(tmp_path_factory.mktemp("times") / "state.db", rows)


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=12, max_size=12), st.booleans())
def test_any_times_in_any_order(small, stamps, oldest):
    times = " ".join(
        f"WHEN {3 * at + 1} THEN {'NULL' if stamp is None else NOW + stamp}"
        for at, stamp in enumerate(stamps)
    )
    change(small, f"UPDATE messages SET timestamp = CASE id {times} END")
    sort = "oldest" if oldest else "newest"
    whole = found(small, "docker", sort=sort)
    assert whole == _by_time(small, [3 * at + 1 for at in range(12)], oldest=oldest)
    first = ask(small, "docker", sort=sort, limit=5)
    assert ids(first) + found(small, "docker", sort=sort, before=first.hits[-1]) == whole
