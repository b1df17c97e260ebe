"""A table of packed sessions says what a dictionary of them says, in a fraction of the room."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import T0, big_store
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store import table as tables
from hermes_browse.store.connect import Store
from hermes_browse.store.models import Session, Sort, View
from hermes_browse.store.ordering import Asked
from hermes_browse.store.packed import PackedForest, packed
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.table import pack

_TEXTS = st.text(st.characters(exclude_categories=()), max_size=6)  # lone surrogates and NUL too
_MAYBE = st.none() | _TEXTS
_TIMES = st.none() | st.floats() | st.integers(-(2**40), 2**40)
_COUNTS = st.sampled_from([0, 1, 77, 2**31, 2**63 - 1])
_SESSIONS = st.builds(
    lambda **fields: Session(**fields),
    id=_TEXTS,
    source=_TEXTS,
    parent_id=_MAYBE,
    title=_MAYBE,
    model=_MAYBE,
    cwd=_MAYBE,
    git_branch=_MAYBE,
    started_at=_TIMES,
    ended_at=_TIMES,
    end_reason=_MAYBE,
    last_active=st.none() | st.floats(allow_nan=False),
    branched_from=_MAYBE,
    delegate_from=_MAYBE,
    reset_from=_MAYBE,
    session_key=_MAYBE,
    archived=st.booleans(),
    pinned=st.booleans(),
    hidden=st.booleans(),
    message_count=_COUNTS,
    tool_call_count=_COUNTS,
    cache_write_tokens=_COUNTS,
    reasoning_tokens=_COUNTS,
    cost_usd=st.none() | st.floats(allow_nan=False),
    busy=st.booleans(),
    has_messages=st.booleans(),
)


@given(st.lists(_SESSIONS, max_size=12))
def test_what_is_packed_comes_out_as_it_went_in(sessions: list[Session]) -> None:
    """Of two with one id the later one, in the place of the first, as in a dictionary."""
    expected = {each.id: each for each in sessions}
    table = pack(sessions).table
    assert list(table) == list(expected)
    assert [repr(each) for each in table.each()] == [repr(each) for each in expected.values()]
    assert [repr(table[each]) for each in expected] == [repr(each) for each in expected.values()]
    assert [repr(each) for each in table.some(range(len(table)))] == [repr(each) for each in expected.values()]
    assert len(table) == len(expected)
    for other in ("", "nobody", "\0"):
        assert (other in table) is (other in expected)


@given(st.lists(_SESSIONS, max_size=8), st.sampled_from([0, 2**63 - 1, -(2**63)]))
def test_ids_that_collide_are_told_apart(sessions: list[Session], hashed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "hash_text", lambda text: hashed | len(text) % 2)
        expected = {each.id: each for each in sessions}
        table = pack(sessions).table
        assert [repr(table[each]) for each in expected] == [repr(each) for each in expected.values()]
        assert "nobody" not in table
        assert table.get("") is not None or "" not in expected


def test_many_pieces_are_one_table() -> None:
    sessions = [Session(f"s{number}", "cli", started_at=float(number)) for number in range(2_345)]
    table = pack(iter(sessions)).table
    assert list(table.each()) == sessions
    assert [table.place(each.id) for each in sessions] == list(range(len(sessions)))
    assert table.some([3, 124, 125, 1_999, 2_344]) == [sessions[each] for each in (3, 124, 125, 1_999, 2_344)]


def test_an_order_is_a_list_of_ids(tmp_path: Path) -> None:
    with Store(big_store(tmp_path / "state.db", 900, 1_800)).reader() as reader:
        forest = read_catalog(reader, T0).forest
        old = Forest(list(forest.sessions.values()))
    fresh = [each._replace(last_active=T0 + 5, title="Later") for each in list(old.sessions.values())[::50]]
    for before, after in ((old, forest), (old.updated(fresh), forest.updated(fresh))):
        for sort in Sort:
            asked = Asked(sort, sizes={each: len(each) for each in old.sessions})
            ids, order = list(before.order(View.ALL, asked)), after.order(View.ALL, asked)
            assert order == ids and ids == order and order != ids[1:]
            assert order[3:9] == ids[3:9] and order[-1] == ids[-1]
            assert [order.index(each) for each in ids[::40]] == list(range(0, len(ids), 40))
            assert "nobody" not in order and ids[5] in order
            with pytest.raises(ValueError):
                order.index("nobody")


def test_with_much_in_front_all_is_packed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [Session(f"s{number}", "cli", last_active=float(number)) for number in range(50)]
    forest = packed(sessions)
    monkeypatch.setattr("hermes_browse.store.packed._MOST_LOOSE", 10)
    few = [each._replace(title="x") for each in sessions[:10]]
    many = [each._replace(title="x") for each in sessions[:11]]
    little, much = forest.updated(few), forest.updated(many)
    assert isinstance(little, PackedForest) and isinstance(much, PackedForest)
    assert little.changed_since(forest) == {each.id for each in few}
    assert much.changed_since(forest) is None, "another table"
    assert forest.changed_since(Forest(sessions)) is None and Forest(sessions).changed_since(forest) is None
    assert list(much.sessions.values()) == [*many, *sessions[11:]]
    assert list(little.sessions.values()) == [*few, *sessions[10:]]
    assert list(forest.sessions.values()) == sessions, "the old one stays as it is"


def test_chains_of_two_moments_say_the_same() -> None:
    sessions = [
        Session("a", "cli", ended_at=2.0, end_reason="compression"),
        Session("b", "cli", "a", started_at=3.0),
        Session("c", "cli", "b", started_at=4.0),
    ]
    forest = packed(sessions)
    first, second = forest.chains["a"], forest.chain_of["b"]
    assert first is not second and first == second and hash(first) == hash(second)
    assert first != forest.chains["c"] and first != "a"
    assert first == Forest(sessions).chains["a"]
