"""A session in memory: every field, never changed, equal texts held once."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from builders import T0, big_store, make_store
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.sessions.catalog import catalog_of, read_catalog
from hermes_browse.store.sessions.session import Session, Tokens
from hermes_browse.store.sessions.session_rows import read_all

FULL: dict[str, Any] = {
    "id": "a",
    "source": "cli",
    "parent_id": "b",
    "title": "Ferry",
    "model": "opus",
    "cwd": "/home",
    "git_branch": "main",
    "end_reason": "done",
    "session_key": "key",
    "started_at": 1.5,
    "ended_at": 2.5,
    "archived": True,
    "pinned": True,
    "hidden": True,
    "message_count": 1,
    "tool_call_count": 2,
    "input_tokens": 3,
    "output_tokens": 4,
    "cache_read_tokens": 5,
    "cache_write_tokens": 2**63 - 1,
    "reasoning_tokens": 7,
    "cost_usd": 0.1,
    "last_active": 2.25,
    "branched_from": "b",
    "delegate_from": "c",
    "reset_from": "d",
    "busy": True,
    "has_messages": False,
}


def said(session: Session) -> dict[str, Any]:
    return {name: getattr(session, name) for name in FULL}


def test_every_field_comes_out_as_it_went_in() -> None:
    session = Session(**FULL)
    assert said(session) == FULL
    assert session.tokens == Tokens(3, 4, 5, 2**63 - 1, 7)
    assert Session(*FULL.values()) == session
    assert "cache_write_tokens=9223372036854775807, reasoning_tokens=7, cost_usd=0.1" in repr(
        session
    )
    for again in (copy.copy(session), pickle.loads(pickle.dumps(session))):
        assert again == session
        assert said(again) == FULL


@pytest.mark.parametrize("name", [name for name in FULL if name not in ("id", "source")])
def test_each_field_can_be_changed_alone_and_tells_sessions_apart(name: str) -> None:
    plain = Session("a", "cli")
    changed = plain._replace(**{name: FULL[name]})
    assert changed != plain
    assert said(changed) == said(plain) | {name: FULL[name]}


def test_no_cost_is_not_a_cost_of_nothing() -> None:
    assert Session("a", "cli").cost_usd is None
    assert Session("a", "cli", cost_usd=0.0).cost_usd == 0.0
    assert Session("a", "cli") != Session("a", "cli", cost_usd=0.0)
    assert Session("a", "cli") == Session("a", "cli")


_TEXTS = st.none() | st.text(
    st.characters(exclude_categories=()), max_size=6
)  # lone surrogates and NUL too
_TIMES = st.none() | st.floats(allow_nan=False)
_COUNTS = st.sampled_from([0, 77, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**63 - 1])


@given(
    st.fixed_dictionaries(
        {"id": st.text(max_size=3), "source": st.text(max_size=3)}
        | {name: st.booleans() for name in ("archived", "pinned", "hidden", "busy", "has_messages")}
        | {name: _TIMES for name in ("started_at", "ended_at", "last_active", "cost_usd")}
        | {name: _COUNTS for name in FULL if name.endswith(("_count", "_tokens"))}
        | {
            name: _TEXTS
            for name in (
                "parent_id",
                "title",
                "model",
                "branched_from",
                "delegate_from",
                "session_key",
            )
        }
    )
)
def test_any_values_come_out_as_they_went_in(fields: dict[str, Any]) -> None:
    session = Session(**fields)
    assert {name: getattr(session, name) for name in fields} == fields
    assert session == Session(**fields) and hash(session) == hash(Session(**fields))
    assert session._replace(title="other", reasoning_tokens=2**40).reasoning_tokens == 2**40


def test_a_session_is_never_changed() -> None:
    """Catalogs share it, on several threads."""
    session = Session("a", "cli")
    with pytest.raises(AttributeError):
        session.title = "other"  # type: ignore[misc]  # what must not be done
    assert not hasattr(session, "__dict__")


def test_what_sessions_have_in_common_is_held_once(tmp_path: Path) -> None:
    with Store(big_store(tmp_path / "state.db", 3_000, 6_000)).reader() as reader:
        known = read_catalog(reader, T0)
        sessions = known.forest.sessions
        again = catalog_of(read_all(reader), T0, known).forest.sessions
    for name in ("source", "model", "end_reason", "session_key"):
        texts = [getattr(each, name) for each in sessions.values()]
        assert len(set(map(id, texts))) == len(set(texts))
    below = [each for each in sessions.values() if each.parent_id is not None]
    assert below and all(
        each.parent_id is sessions[each.parent_id].id for each in below if each.parent_id
    )
    assert all(again[each.id] is each for each in sessions.values()), (
        "what has not changed is used again"
    )


def test_numbers_larger_than_any_counter_are_the_largest(tmp_path: Path) -> None:
    """A salvaged row may hold a number with a fraction where SQLite counts to 2**63."""
    sessions = [
        {"id": "a", "input_tokens": 1e300, "message_count": -5, "estimated_cost_usd": 1e300}
    ]
    with Store(make_store(tmp_path / "state.db", "22", sessions, [])).reader() as reader:
        found = read_catalog(reader, T0).forest.sessions["a"]
    assert (found.input_tokens, found.message_count, found.cost_usd) == (2**63 - 1, 0, 1e300)


def test_all_sessions_are_read_in_short_statements(tmp_path: Path) -> None:
    """A read holds a lock that a writer waits for in DELETE mode, so none is long."""
    path = big_store(tmp_path / "state.db", 1_200, 2_400)
    longest: list[int] = []
    original = Reader.rows
    with Store(path).reader() as reader:

        def rows(sql: str, parameters: Any = ()) -> Any:
            found = original(reader, sql, parameters)
            longest.append(len(found))
            return found

        reader.rows = rows  # type: ignore[method-assign]  # counts the rows of each statement
        assert len(read_catalog(reader, T0).forest.sessions) == 1_200
    assert max(longest) == 250
