"""Each compaction found: by rotation, in place, aborted, between empty sessions, without summary or
originals."""

import json

import pytest
from builders import T0, make_store, tool_call
from compressed import END, SUMMARY, case, long_conversation, store_of
from hypothesis import given
from hypothesis import strategies as some

from hermes_browse.store.compression import NOTES, CompactionNote
from hermes_browse.store.compression.compactions import read_history
from hermes_browse.store.compression.history_rows import RowOrigin
from hermes_browse.store.compression.model_context import Contexts
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Session
from hermes_browse.store.wording import _

GONE = {"active": 0, "compacted": 1}
CHAIN = [
    {"id": "a", "end_reason": "compression", "ended_at": T0 + 99},
    {"id": "b", "parent_session_id": "a"},
]


def _history(path, session_id):
    with Store(path).reader() as reader:
        conversation = read_neighbourhood(reader, [session_id], 2e9).of_session(session_id)
        return read_history(reader, conversation.segments)


def _recorded(name, folder):
    recorded = case(f"{name}.json")
    return _history(store_of(folder / "state.db", recorded), recorded["sessions"][0]["id"])


ALONE = [{"id": "a"}]


def _found(folder, rows, sessions=ALONE):
    """The compactions of a conversation."""
    path = make_store(folder / "state.db", "22", sessions, rows)
    return _history(path, sessions[-1]["id"]).compactions


def _one(folder, rows, sessions=ALONE):
    """The only one."""
    (one,) = _found(folder, rows, sessions)
    return one


def _row(id, role, content, **more):
    return {"id": id, "session_id": "a", "role": role, "content": content} | more


def _chat(first, count, session="a", **flags):
    """Rows of questions and answers in turn, a second apart."""
    return [
        _row(each, ("user", "assistant")[(each - first) % 2], f"said {session} {each}")
        | {"session_id": session}
        | flags
        for each in range(first, first + count)
    ]


def _summary(id, text=""):
    return _row(id, "assistant", SUMMARY.format(number=1) + text + END)


def _batch(*rows):
    """Rows that Hermes wrote at once."""
    return [row | {"timestamp": T0 + 1000 + at * 1e-6} for at, row in enumerate(rows)]


@pytest.mark.parametrize("kind", ["rotation", "place"])
def test_two_compactions_of_the_real_hermes(kind, tmp_path):
    history = _recorded(f"0.19.0-{kind}-twice", tmp_path)
    first, second, *_rest = history.compactions
    is_rotation = {not one.is_in_place for one in history.compactions}
    assert is_rotation == {kind == "rotation"}
    assert first.before == (*range(1, 11),) and first.replaced == (4, 5)
    assert (first.summary, first.merged) == (14, 6)
    assert dict(zip(first.kept, first.originals, strict=True)) == {
        11: 1,
        12: 2,
        13: 3,
        15: 7,
        16: 8,
        17: 9,
        18: 10,
    }
    assert [row.id for row in history.rows if row.why is RowOrigin.HEAD] == [11, 12, 13]
    assert second.summary == 30 and 14 in second.replaced
    assert second.originals == (26, 27, 28, 29)
    assert all(one.is_known for one in history.compactions)
    assert 0 < second.bytes_after < second.bytes_before


def test_the_same_summary_written_again_is_a_compaction_of_its_own(tmp_path):
    history = _recorded("0.18.2-place-resumed", tmp_path)
    again = [one for one in history.compactions if not one.replaced]
    assert again
    assert all(one.notes == () and one.is_known for one in again)


def test_the_substitute_of_a_summary_is_called_one(tmp_path):
    history = _recorded("0.19.0-place-failing", tmp_path)
    assert CompactionNote.FALLBACK in history.compactions[0].notes


def test_what_compress_here_kept_and_did_not_store_again_is_named(tmp_path):
    (one,) = _recorded("0.19.0-place-partial", tmp_path).compactions
    assert one.not_stored_again == (9, 10)
    assert CompactionNote.NOT_STORED_AGAIN in one.notes and not set(one.replaced) & {9, 10}


def test_sessions_that_stay_empty_and_a_tip_without_its_history(tmp_path):
    history = _recorded("0.18.2-rotation-resumed", tmp_path)
    broken = [one for one in history.compactions if one.empty_sessions]
    expected = {CompactionNote.EMPTY_SESSIONS, CompactionNote.NO_SUMMARY}
    assert broken and all(expected <= {*one.notes} and not one.is_known for one in broken)
    sessions = case("0.18.2-rotation-resumed.json")["sessions"]
    empty = [session for session in sessions if not session["message_count"]]
    assert sum(len(one.empty_sessions) for one in broken) == len(empty)


@pytest.mark.parametrize("with_child", [False, True])
def test_a_rotation_after_which_nothing_was_written(with_child, tmp_path):
    one = _one(tmp_path, _chat(1, 6), CHAIN[: 1 + with_child])
    assert one.notes == (CompactionNote.ABORTED,)
    assert (one.replaced, one.summary, one.at) == ((), None, T0 + 99)
    assert one.into_session_id == ("b" if with_child else None)
    assert one.empty_sessions == (("b",) if with_child else ())


def test_a_first_session_without_rows_is_named(tmp_path):
    one = _one(tmp_path, _chat(1, 4, "b"), CHAIN)
    assert one.empty_sessions == ("a",) and CompactionNote.EMPTY_SESSIONS in one.notes


SAID = (1, 2, 3, 4, 5, 6)
AGAIN = [row | {"id": row["id"] + 5} for row in _chat(1, 8)[-4:]]


@pytest.mark.parametrize(
    "rows, sessions, note, before, replaced, summary",
    [
        pytest.param(
            [_summary(10), *_chat(11, 4)], ALONE, CompactionNote.NO_ORIGINALS, (), (), 10,
            id="its originals are gone",
        ),
        pytest.param(
            [*_chat(1, 6), *_chat(7, 4, "b")], CHAIN, CompactionNote.NO_SUMMARY, SAID, SAID, None,
            id="continued without a summary",
        ),
        pytest.param(
            [*_chat(1, 6, **GONE), *_chat(7, 4)], ALONE, CompactionNote.NO_SUMMARY, SAID, SAID, None,
            id="marked as compacted without a summary",
        ),
        pytest.param(
            [*_chat(1, 8), _summary(9), *AGAIN], ALONE, CompactionNote.NOT_MARKED,
            tuple(range(1, 9)), (1, 2, 3, 4), 9, id="a summary between live rows that it repeats",
        ),
        pytest.param(
            [*_chat(1, 4, **GONE), *_chat(5, 2, active=0), *_chat(7, 2, **GONE), _summary(9)],
            ALONE, None, (1, 2, 3, 4, 7, 8), (1, 2, 3, 4, 7, 8), 9, id="some were taken back before",
        ),
    ],
)  # fmt: skip
def test_what_was_replaced(
    rows,
    sessions,
    note,
    before,
    replaced,
    summary,
    tmp_path,
):
    one = _one(tmp_path, rows, sessions)
    assert (one.before, one.replaced, one.summary) == (before, replaced, summary)
    assert note is None or note in one.notes
    assert one.is_in_place is (sessions is ALONE)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(_batch(*_chat(1, 6)), id="all written once more"),
        pytest.param([*_chat(1, 2), *_batch(*_chat(3, 6))], id="some written once more"),
        pytest.param(
            [row | {"timestamp": T0 + (row["id"] + 1) // 2} for row in _chat(1, 6)],
            id="each answer at the time of its question",
        ),
        pytest.param([row | {"timestamp": T0} for row in _chat(1, 6)], id="all at the same time"),
        pytest.param(
            [row | (GONE if row["id"] == 2 else {}) for row in _chat(1, 6)],
            id="a compacted row behind a live one",
        ),
    ],
)
def test_what_was_written_at_once_is_no_compaction(rows, tmp_path):
    """An edit writes all messages once more, a gateway all of a turn with one time."""
    assert _found(tmp_path, rows) == ()


def test_a_turn_with_one_time_is_not_taken_for_rows_written_again(tmp_path):
    """A gateway gives all rows of a turn one time; then it is compressed twice."""
    turn = [row | {"timestamp": T0} for row in _chat(1, 6)]
    rows = [*turn, *_batch(_summary(7), turn[-1] | {"id": 8}), *_chat(9, 2)]
    again = [
        at | {"timestamp": T0 + 2000 + at["id"] * 1e-6} for at in [_summary(11), *_chat(12, 2)]
    ]
    first, second = _found(tmp_path, [*(row | GONE for row in rows), *again])
    assert first.before == (1, 2, 3, 4, 5, 6) and second.before == (7, 8, 9, 10)
    assert first.kept == (8,)


@pytest.mark.parametrize("state", [{}, GONE])
def test_the_summaries_a_branch_begins_with_are_no_compactions_of_its_own(state, tmp_path):
    """It copies all that its parent had at the time, one row after the other."""
    rows = [*_chat(1, 2), _summary(3), *_chat(4, 2), _summary(6, "merged"), *_chat(7, 4)]
    compressed = [*_batch(_summary(11), *AGAIN[-1:])] if state else []
    rows = [*(row | state for row in rows), *(row | {"id": row["id"] + 9} for row in compressed)]
    first, *others = _found(tmp_path, rows)
    assert (first.summary, first.before, first.notes) == (3, (), (CompactionNote.NO_ORIGINALS,))
    assert [one.before for one in others] == [tuple(range(1, 11))] * bool(state)


def test_two_compactions_after_each_other_in_a_resumed_conversation(tmp_path):
    """Hermes writes rows that it loaded with their times: those of both stand side by side."""

    def again(first, rows):
        return [row | {"id": first + at} for at, row in enumerate(rows)]

    def at(row, time):
        return row | {"timestamp": T0 + time}

    said = [at(row, row["id"]) for row in _chat(1, 8)]
    one = [*said[:2], at(_summary(0), 20), *said[-4:]]
    two = [at(_summary(0, "again"), 6 - 1), *said[-3:]]  # merged with the row of that time
    live = at(_row(20, "user", "and now?"), 30)
    rows = [row | GONE for row in [*said, *again(9, one)]] + [*again(16, two), live]
    first, second = _found(tmp_path, rows)
    assert (first.summary, second.summary) == (11, 16)
    assert first.kept == (9, 10, 12, 13, 14, 15)
    assert second.originals == (13, 14, 15) and second.since == (20,)
    assert first.is_known and second.is_known
    later = [row | GONE for row in rows] + [at(_summary(21), 40)]
    (tmp_path / "state.db").unlink()
    assert _found(tmp_path, later)[:2] == (first, second)


def test_ids_missing_where_it_was_compressed(tmp_path):
    one = _one(tmp_path, [*_chat(1, 4, **GONE), _summary(60), *_chat(61, 4)])
    assert CompactionNote.GAP in one.notes
    assert (one.gap.first, one.gap.last, one.gap.number) == (5, 59, 55)


def test_results_of_tools_carried_over_in_a_line_are_known_again(tmp_path):
    call = {"tool_calls": [tool_call("read_file", {"path": "a.py"}, id="call_1")]}
    answer = {"tool_call_id": "call_1"}
    rows = [
        *_chat(1, 4, **GONE),
        _row(5, "assistant", "", **call, **GONE),
        _row(6, "tool", "text " * 500, **answer, **GONE),
        *_batch(
            _summary(7),
            _row(8, "assistant", "", **call),
            _row(9, "tool", "[read_file] read a.py", **answer),
        ),
    ]
    one = _one(tmp_path, rows)
    assert (one.kept, one.originals, one.shortened) == ((8, 9), (5, 6), (9,))
    assert one.is_known


def test_rows_of_one_length_with_another_text_are_no_copies(tmp_path):
    old, new = "x" * 200 + "a", "x" * 200 + "b"
    rows = [*_chat(1, 3, **GONE), _row(4, "assistant", old, **GONE)]
    one = _one(tmp_path, [*rows, *_batch(_summary(5), _row(6, "assistant", new))])
    assert one.originals == (None,)
    assert one.replaced == (1, 2, 3, 4)


@pytest.mark.parametrize("size", [10, 5000])
def test_short_and_long_texts_are_compared_alike(size, tmp_path):
    """Long ones are trimmed and searched by SQLite; a picture is carried over as a word."""
    url = {"url": "data:," + "A" * size}
    picture = "\0json:" + json.dumps([{"type": "image_url", "image_url": url}])
    rows = [
        *_chat(1, 2, **GONE),
        _row(3, "user", "é" * size + " \n", **GONE),
        _row(4, "assistant", "seen", **GONE),
        _row(5, "user", picture, **GONE),
        *_batch(
            _summary(6, " more" * size),
            _row(7, "user", "é" * size),
            _row(8, "assistant", "seen"),
            _row(9, "user", picture.replace("A", "B")),
        ),
    ]
    one = _one(tmp_path, rows)
    assert one.summary == 6 and one.replaced == (1, 2)
    assert one.originals == (3, 4, 5)


@pytest.mark.parametrize("in_place", [True, False])
def test_twenty_compactions(in_place, tmp_path):
    history = _history(long_conversation(tmp_path / "state.db", 1000, 20, in_place=in_place), "s0")
    assert len(history.compactions) == 20
    assert all(one.notes == () for one in history.compactions)
    assert {len(one.kept) for one in history.compactions[1:]} == {8}


_any_row = some.fixed_dictionaries(
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


@given(some.lists(_any_row, max_size=24))
def test_whatever_stands_in_a_store_each_row_is_in_one_generation_and_has_a_context(
    tmp_path_factory, rows
):
    path = make_store(tmp_path_factory.mktemp("any") / "state.db", "22", CHAIN, rows, fts=False)
    with Store(path).reader() as reader:
        contexts = Contexts(reader, [Session("a", ""), Session("b", "")])
    history = contexts.history
    found = [row.id for row in history.rows]
    assert sorted(found) == [at for at, row in enumerate(rows, 1) if row["role"] != "session_meta"]
    for request in map(contexts.at, found):
        assert {request.of, *(row.id for row in request.rows)} <= {*found}
    for one in history.compactions:
        originals = {*one.originals} - {None}
        assert originals.union(one.replaced) <= {*one.before}


def test_each_note_has_a_sentence():
    assert all(_(NOTES[note]) for note in CompactionNote)
