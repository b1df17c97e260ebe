"""What a compaction lost: found, ranked, bounded."""

import json

import pytest
from builders import T0, make_store, tool_call
from compressed import END, SUMMARY

from hermes_browse.store.compression.compactions import read_history
from hermes_browse.store.compression.losses import LostKind, find_losses
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.models import Session


def _losses(
    folder,
    replaced,
    summary,
    kept="goodbye",
    since=(),
):
    gone, tail = {"active": 0, "compacted": 1}, {"role": "user", "content": kept}
    told = {"role": "assistant", "content": SUMMARY.format(number=1) + "\n" + summary + END}
    rows = [
        *(row | gone for row in (*replaced, tail)),
        told | {"timestamp": T0 + 99},
        tail | {"timestamp": T0 + 99 + 1e-6},
        *({"timestamp": T0 + 100} | row for row in since),
    ]
    rows = [row | {"session_id": "a"} for row in rows]
    path = make_store(folder / "state.db", "22", [{"id": "a"}], rows)
    with Store(path).reader() as reader:
        (one,) = read_history(reader, [Session("a", "cli")]).compactions
        return find_losses(reader, one)


def test_what_neither_summary_nor_tail_mentions(tmp_path):
    said = (
        "Look at https://example.org/a?b=1 and src/ferry/tides.py, then ask Marta about port 8443. "
        "Use postgres instead of sqlite for the timetable. The class is TideTable, the flag max_retries, "
        "commit 4f5e6d7c."
    )
    calls = [tool_call("terminal", {"command": "make deploy STAGE=blue"}, id="call_1")]
    rows = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": '{"output": "listening on 8443"}', "tool_call_id": "call_1"},
    ]
    found = {
        (lost.kind, lost.term) for lost in _losses(tmp_path, rows, "We looked at things.").terms
    }
    assert {
        (LostKind.URL, "https://example.org/a?b=1"),
        (LostKind.PATH, "src/ferry/tides.py"),
        (LostKind.NAME, "Marta"),
        (LostKind.NUMBER, "8443"),
        (LostKind.DECISION, "Use postgres instead of sqlite for the timetable."),
        (LostKind.IDENTIFIER, "TideTable"),
        (LostKind.IDENTIFIER, "max_retries"),
        (LostKind.IDENTIFIER, "4f5e6d7c"),
        (LostKind.COMMAND, "make deploy STAGE=blue"),
    } <= found


def test_what_summary_or_tail_mention_is_not_lost(tmp_path):
    rows = [
        {
            "role": "user",
            "content": "See src/ferry/tides.py and max_retries and 8443. Never touch the harbour module.",
        }
    ]
    summary = (
        "The file tides.py has MAX_RETRIES. The user said: the harbour module must not be touched."
    )
    assert _losses(tmp_path, rows, summary, kept="port 8443, please").terms == ()


def test_what_is_said_again_before_the_next_compaction_is_not_lost(tmp_path):
    """By whole words: the model has it again."""
    said = "See src/ferry/tides.py, max_retries and QUAY-4711. Never touch the harbour module."
    since = [
        {"role": "user", "content": "Once more: never touch the harbour module. And QUAY-4711?"},
        {"role": "assistant", "content": "It has max_retries_left."},
        {"role": "tool", "content": json.dumps({"path": "/home/tides.py"}), "tool_call_id": "x"},
        {"role": "user", "content": "max_retries, taken back", "active": 0},
    ]
    rows = [{"role": "user", "content": said}]
    (lost,) = _losses(tmp_path, rows, "nothing", since=since).terms
    assert (lost.term, lost.kind) == ("max_retries", LostKind.IDENTIFIER)


def test_what_was_used_often_and_late_comes_first(tmp_path):
    rows = [{"role": "assistant", "content": "early_name"}] + [
        {
            "role": "assistant",
            "content": f"text {each} often_name" + (" late_name" if each == 19 else ""),
        }
        for each in range(20)
    ]
    losses = _losses(tmp_path, rows, "nothing")
    terms = [lost.term for lost in losses.terms]
    assert terms.index("often_name") < terms.index("late_name") < terms.index("early_name")
    often = losses.terms[terms.index("often_name")]
    assert (often.times, often.last_message_id) == (20, 21)
    assert losses.is_complete


def test_no_more_than_can_be_read(tmp_path):
    rows = [{"role": "assistant", "content": " ".join(f"name_{each}" for each in range(600))}]
    losses = _losses(tmp_path, rows, "nothing")
    assert len(losses.terms) == 500 and not losses.is_complete


@pytest.mark.slow
def test_texts_without_an_end_come_to_one(tmp_path):
    hostile = [
        "a",
        "a_",
        "/",
        "a/",
        "Ab",
        "1,",
        "a@",
        "[",
        "a-",
        "A-1",
        "a.b+",
        "Aa ",
        "{",
        "http://",
        "no ",
    ]
    rows = [{"role": "user", "content": text * (20_000 // len(text))} for text in hostile]
    losses = _losses(tmp_path, rows, "nothing")
    assert len(losses.terms) <= 500
    assert all(len(lost.term) <= 400 for lost in losses.terms)


def test_of_a_very_long_message_the_end_is_left_out_and_that_is_said(tmp_path):
    rows = [{"role": "tool", "content": "first_name " + "x " * 60_000 + "last_name"}]
    losses = _losses(tmp_path, rows, "nothing")
    assert [lost.term for lost in losses.terms] == ["first_name"] and not losses.is_complete
