"""Each compaction found: by rotation, in place, aborted, between empty sessions, without summary or
originals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import T0, make_store, tool_call
from compressed import END, SUMMARY, case, long_conversation, store_of
from hypothesis import given
from hypothesis import strategies as some

from hermes_browse.store.compression.compactions import (
    NOTES,
    CompactionHistory,
    CompactionKind,
    CompactionNote,
    read_history,
)
from hermes_browse.store.compression.model_context import Contexts
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import _

Rows = Sequence[Mapping[str, Any]]


def _history(path: Path, session_id: str) -> CompactionHistory:
    with Store(path).reader() as reader:
        conversation = read_neighbourhood(reader, [session_id], 2e9).of_session(session_id)
        assert conversation is not None
        return read_history(reader, conversation.segments)


def _chat(session: str, first: int, count: int, **flags: object) -> list[dict[str, Any]]:
    """Rows of questions and answers in turn, a second apart."""
    roles = ("user", "assistant")
    return [
        {
            "id": each,
            "session_id": session,
            "role": roles[(each - first) % 2],
            "content": f"said {session} {each}",
        }
        | flags
        for each in range(first, first + count)
    ]


def _summary(session: str, id: int, number: int = 1, **more: object) -> dict[str, Any]:
    content = SUMMARY.format(number=number) + END
    return {"id": id, "session_id": session, "role": "assistant", "content": content} | more


CHAIN = [
    {"id": "a", "end_reason": "compression", "ended_at": T0 + 99},
    {"id": "b", "parent_session_id": "a"},
]


@pytest.mark.parametrize("kind", ["rotation", "place"])
def test_two_compactions_of_the_real_hermes(kind: str, tmp_path: Path) -> None:
    recorded = case(f"0.19.0-{kind}-twice.json")
    history = _history(store_of(tmp_path / "state.db", recorded), recorded["sessions"][0]["id"])
    first, second, *_rest = history.compactions
    assert {one.kind for one in history.compactions} == {
        CompactionKind.ROTATION if kind == "rotation" else CompactionKind.IN_PLACE
    }
    assert first.before == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert first.replaced == (4, 5)
    assert (first.summary, first.merged) == (14, 6)
    assert [(each.id, each.original) for each in first.kept] == [
        (11, 1),
        (12, 2),
        (13, 3),
        (15, 7),
        (16, 8),
        (17, 9),
        (18, 10),
    ]
    assert [each.id for each in first.kept if each.is_head] == [11, 12, 13]
    assert second.summary == 30 and 14 in second.replaced
    assert [each.original for each in second.kept] == [26, 27, 28, 29]
    assert all(one.is_known for one in history.compactions)
    assert 0 < second.bytes_after < second.bytes_before


def test_the_same_summary_written_again_is_a_compaction_of_its_own(tmp_path: Path) -> None:
    recorded = case("0.18.2-place-resumed.json")
    history = _history(store_of(tmp_path / "state.db", recorded), recorded["sessions"][0]["id"])
    again = [one for one in history.compactions if not one.replaced]
    assert again
    assert all(one.notes == () and one.is_known for one in again)


def test_the_substitute_of_a_summary_is_called_one(tmp_path: Path) -> None:
    recorded = case("0.19.0-place-failing.json")
    history = _history(store_of(tmp_path / "state.db", recorded), recorded["sessions"][0]["id"])
    assert CompactionNote.FALLBACK in history.compactions[0].notes


def test_what_compress_here_kept_and_did_not_store_again_is_named(tmp_path: Path) -> None:
    recorded = case("0.19.0-place-partial.json")
    history = _history(store_of(tmp_path / "state.db", recorded), recorded["sessions"][0]["id"])
    (one,) = history.compactions
    assert one.not_stored_again == (9, 10)
    assert CompactionNote.NOT_STORED_AGAIN in one.notes and not set(one.replaced) & {9, 10}


def test_sessions_that_stay_empty_and_a_tip_without_its_history(tmp_path: Path) -> None:
    recorded = case("0.18.2-rotation-resumed.json")
    history = _history(store_of(tmp_path / "state.db", recorded), recorded["sessions"][0]["id"])
    broken = [one for one in history.compactions if one.empty_sessions]
    assert broken and all(
        {CompactionNote.EMPTY_SESSIONS, CompactionNote.NO_SUMMARY} <= set(one.notes)
        for one in broken
    )
    assert sum(len(one.empty_sessions) for one in broken) == sum(
        not each["message_count"] for each in recorded["sessions"]
    )
    assert not any(one.is_known for one in broken)


@pytest.mark.parametrize("with_child", [False, True])
def test_a_rotation_after_which_nothing_was_written(with_child: bool, tmp_path: Path) -> None:
    path = make_store(
        tmp_path / "state.db", "22", CHAIN if with_child else CHAIN[:1], _chat("a", 1, 6)
    )
    (one,) = _history(path, "a").compactions
    assert one.notes == (CompactionNote.ABORTED,)
    assert (one.replaced, one.summary, one.at) == ((), None, T0 + 99)
    assert one.into_session_id == ("b" if with_child else None)
    assert one.empty_sessions == (("b",) if with_child else ())


def test_a_summary_whose_originals_are_gone(tmp_path: Path) -> None:
    rows = [_summary("b", 10), *_chat("b", 11, 4)]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "b"}], rows), "b").compactions
    assert (one.before, one.replaced, one.summary) == ((), (), 10)
    assert CompactionNote.NO_ORIGINALS in one.notes


def test_a_continuation_without_a_summary(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db", "22", CHAIN, [*_chat("a", 1, 6), *_chat("b", 7, 4)])
    (one,) = _history(path, "b").compactions
    assert CompactionNote.NO_SUMMARY in one.notes and one.summary is None
    assert one.replaced == (1, 2, 3, 4, 5, 6)


def test_rows_marked_as_compacted_without_a_summary(tmp_path: Path) -> None:
    rows = [*_chat("a", 1, 6, active=0, compacted=1), *_chat("a", 7, 4)]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert (one.kind, one.summary, one.replaced) == (
        CompactionKind.IN_PLACE,
        None,
        (1, 2, 3, 4, 5, 6),
    )
    assert CompactionNote.NO_SUMMARY in one.notes


def test_ids_missing_where_it_was_compressed(tmp_path: Path) -> None:
    rows = [*_chat("a", 1, 4, active=0, compacted=1), _summary("a", 60), *_chat("a", 61, 4)]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert CompactionNote.GAP in one.notes
    assert one.gap is not None and (one.gap.first, one.gap.last, one.gap.number) == (5, 59, 55)


def test_a_summary_in_the_middle_of_live_rows_that_repeats_them(tmp_path: Path) -> None:
    said = _chat("a", 1, 8)
    again = [row | {"id": 10 + place} for place, row in enumerate(said[-4:])]
    (one,) = _history(
        make_store(tmp_path / "state.db", "22", [{"id": "a"}], [*said, _summary("a", 9), *again]),
        "a",
    ).compactions
    assert CompactionNote.NOT_MARKED in one.notes
    assert one.replaced == (1, 2, 3, 4) and [each.original for each in one.kept] == [5, 6, 7, 8]


def test_what_was_taken_back_before_a_compaction_was_not_replaced_by_it(tmp_path: Path) -> None:
    rows = [
        *_chat("a", 1, 4, active=0, compacted=1),
        *_chat("a", 5, 2, active=0, compacted=0),
        *_chat("a", 7, 2, active=0, compacted=1),
        _summary("a", 9),
        *_chat("a", 10, 2),
    ]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert one.before == (1, 2, 3, 4, 7, 8)


def test_results_of_tools_carried_over_in_a_line_are_known_again(tmp_path: Path) -> None:
    calls = [tool_call("read_file", {"path": "a.py"}, id="call_1")]
    gone = {"active": 0, "compacted": 1}
    rows = [
        *_chat("a", 1, 4, **gone),
        {"id": 5, "session_id": "a", "role": "assistant", "content": "", "tool_calls": calls}
        | gone,
        {
            "id": 6,
            "session_id": "a",
            "role": "tool",
            "content": "text " * 500,
            "tool_call_id": "call_1",
        }
        | gone,
        _summary("a", 7),
        {"id": 8, "session_id": "a", "role": "assistant", "content": "", "tool_calls": calls},
        {
            "id": 9,
            "session_id": "a",
            "role": "tool",
            "content": "[read_file] read a.py",
            "tool_call_id": "call_1",
        },
    ]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert [(each.original, each.is_changed) for each in one.kept] == [(5, False), (6, True)]
    assert one.is_known


def test_rows_of_one_length_with_another_text_are_no_copies(tmp_path: Path) -> None:
    def long(letter: str) -> str:
        return "x" * 200 + letter

    gone = {"active": 0, "compacted": 1, "session_id": "a"}
    rows = [
        *_chat("a", 1, 3, **gone),
        {"id": 4, "role": "assistant", "content": long("a")} | gone,
        _summary("a", 5),
        {"id": 6, "role": "assistant", "content": long("b"), "session_id": "a"},
    ]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert [each.original for each in one.kept] == [None]
    assert one.replaced == (1, 2, 3, 4)


@pytest.mark.parametrize("size", [10, 5000])
def test_short_and_long_texts_are_compared_alike(size: int, tmp_path: Path) -> None:
    """Long ones are trimmed and searched by SQLite; a picture is carried over as a word."""
    gone, here = {"active": 0, "compacted": 1, "session_id": "a"}, {"session_id": "a"}
    picture = "\0json:" + json.dumps(
        [{"type": "image_url", "image_url": {"url": "data:," + "A" * size}}]
    )
    rows = [
        *_chat("a", 1, 2, **gone),
        {"id": 3, "role": "user", "content": "é" * size + " \n"} | gone,
        {"id": 4, "role": "assistant", "content": "seen"} | gone,
        {"id": 5, "role": "user", "content": picture} | gone,
        _summary("a", 6) | {"content": SUMMARY.format(number=1) + " more" * size + END},
        {"id": 7, "role": "user", "content": "é" * size} | here,
        {"id": 8, "role": "assistant", "content": "seen"} | here,
        {"id": 9, "role": "user", "content": picture.replace("A", "B")} | here,
    ]
    (one,) = _history(make_store(tmp_path / "state.db", "22", [{"id": "a"}], rows), "a").compactions
    assert one.summary == 6
    assert [each.original for each in one.kept] == [3, 4, 5]
    assert one.replaced == (1, 2)


@pytest.mark.parametrize("in_place", [True, False])
def test_twenty_compactions(in_place: bool, tmp_path: Path) -> None:
    history = _history(long_conversation(tmp_path / "state.db", 1000, 20, in_place=in_place), "s0")
    assert len(history.compactions) == 20
    assert all(one.notes == () for one in history.compactions)
    assert {len(one.kept) for one in history.compactions[1:]} == {8}


_row = some.fixed_dictionaries(
    {
        "role": some.sampled_from(("user", "assistant", "tool", "system", "session_meta")),
        "content": some.sampled_from(
            ("yes", "no", "", SUMMARY.format(number=1), SUMMARY.format(number=2) + END, None)
        ),
        "active": some.sampled_from((0, 1)),
        "compacted": some.sampled_from((0, 1)),
        "timestamp": some.sampled_from((T0, T0 + 1e-6, T0 + 2e-6, T0 + 9, "soon")),
        "session_id": some.sampled_from(("a", "b")),
        "tool_call_id": some.sampled_from((None, "call_1")),
    }
)


@given(some.lists(_row, max_size=24))
def test_whatever_stands_in_a_store_each_row_is_in_one_generation_and_has_a_context(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    path = make_store(tmp_path_factory.mktemp("any") / "state.db", "22", CHAIN, rows, fts=False)
    history, segments = _history(path, "a"), [Session("a", ""), Session("b", "")]
    found = [row.id for generation in history.generations for row in generation.rows]
    assert sorted(found) == [at for at, row in enumerate(rows, 1) if row["role"] != "session_meta"]
    contexts = Contexts(history, segments)
    for each in found:
        request = contexts.at(each)
        assert request.of in found
        assert {row.id for row in request.rows} <= set(found)
    for one in history.compactions:
        parts = [*one.replaced, *(each.original for each in one.kept if each.original is not None)]
        assert set(parts) <= set(one.before)


def test_each_note_has_a_sentence() -> None:
    assert all(_(NOTES[note]) for note in CompactionNote)
