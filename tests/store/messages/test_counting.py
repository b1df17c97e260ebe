"""Messages are counted as they would be shown, by SQLite where it can tell."""

import random
from unittest.mock import patch

import pytest
from builders import T0
from compressed import case, store_of

from hermes_browse.store.compression.compactions import read_history
from hermes_browse.store.compression.history_rows import RowOrigin
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages import transcript as module
from hermes_browse.store.messages.transcript import count_rows, read_outline
from hermes_browse.store.sessions.models import Session


def counted(path):
    """What is counted, what the outlines show, and the sessions whose copies had to be found to
    count."""
    with Store(path).reader() as reader:
        ids = [str(row[0]) for row in reader.rows("SELECT id FROM sessions")]
        shown = {each: len(read_outline(reader, [Session(each, "")]).rows) for each in ids}
        with patch.object(module, "_find_copies", wraps=module._find_copies) as find:
            found = count_rows(reader, ids)
    needed = [asked.args[1] for asked in find.call_args_list]
    return {each: found.get(each, 0) for each in ids}, shown, needed


COLUMNS = {
    "role": ("user", "user", "assistant", "tool", "session_meta"),
    "content": ("", "ok", "a lantern", None, "one", "two", "three", "four"),
    "timestamp": (*(T0 + number for number in range(9)), T0, "soon", -5.0),
    "active": (1,) * 8 + (0,) * 4 + (2,),
    "compacted": (0, 1),
}
SINCE_31 = {
    "display_order": (None, None, 0, 1, 2, 3),
    "display_kind": (None, None, None, "hidden"),
    "display_metadata": (None,) * 20 + ('{"model_only": true}', "{}"),
}


def random_messages(chance, session_id, shape):
    """Compacted and rewound rows, repeated tails, equal times, orders or none, times that are none,
    hidden rows."""
    columns = COLUMNS | (SINCE_31 if shape == "31" else {})
    rows = [
        {"session_id": session_id} | {name: chance.choice(columns[name]) for name in columns}
        for _ in range(chance.randrange(1, 14))
    ]
    if chance.random() < 0.4:  # the tail a compaction keeps, said again behind a summary
        gone, live = {"active": 0, "compacted": 1}, {"active": 1, "compacted": 0}
        summary = rows[-1] | live | {"content": "[CONTEXT SUMMARY]: x"}
        tail = rows[-3:]
        rows[-3:] = [*(each | gone for each in tail), summary, *(each | live for each in tail)]
        for at, row in enumerate(rows[-7:]):
            row["timestamp"] = T0 + 50 + at
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["22", "31", "31-migrated"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_the_outline(made, shape, seed):
    """Whatever states, copies and orders a store holds; some by either way."""
    chance = random.Random(f"{shape} {seed}")
    sessions = [f"s{number}" for number in range(150)]
    messages = [row for each in sessions for row in random_messages(chance, each, shape)]
    path = made(shape, [{"id": each} for each in sessions], messages)
    found, shown, needed = counted(path)
    assert found == shown
    assert 0 < len(needed) < len(sessions)


@pytest.mark.parametrize("summary", [True, False])
def test_a_repeated_tail_is_counted_once(made, summary):
    """With times of its own, a microsecond apart, as what a compaction writes has."""
    said = [f"text {number}" for number in range(6)]
    live = [*["[CONTEXT SUMMARY]: before"] * summary, *said[-2:], "new"]
    messages = [
        {
            "session_id": "a",
            "content": text,
            "timestamp": T0 + (at if at < 6 or text == "new" else 9 + at * 1e-6),
            "active": at >= 6,
            "compacted": at < 6,
        }
        for at, text in enumerate([*said, *live])
    ]
    path = made("22", [{"id": "a"}], messages)
    found, shown, needed = counted(path)
    assert found == shown == {"a": 7 + summary} and needed == ["a"]


@pytest.mark.parametrize("name", ["twice", "failing", "partial"])
def test_what_the_real_hermes_carried_over_is_shown_once(name, tmp_path):
    """What was said first where it was said, what was kept at the end behind the summary."""
    recorded = case(f"0.19.0-place-{name}.json")
    segments = [Session(recorded["sessions"][0]["id"], "")]
    with Store(store_of(tmp_path / "state.db", recorded)).reader() as reader:
        outline = read_outline(reader, segments)
        history = read_history(reader, segments)
    shown = {row.id: outline.copies.get(row.id, row.id) for row in history.rows}
    kept = [row for row in history.rows if row.why in (RowOrigin.HEAD, RowOrigin.KEPT)]
    for row in kept:
        assert shown[row.id] == shown[row.original]
        assert shown[row.id] != (row.id if row.why is RowOrigin.HEAD else row.original)
    assert len(kept) > 6 and outline.rows[0].id == 1


def test_what_is_said_again_behind_a_summary_is_no_copy(made):
    said = ("start", "ok", "continue", "ok", "[CONTEXT SUMMARY]: before", "continue", "ok")
    messages = [
        {
            "session_id": "a",
            "role": ("assistant" if text == "ok" else "user"),
            "content": text,
            "active": at >= 4,
            "compacted": at < 4,
        }
        for at, text in enumerate(said)
    ]
    path = made("22", [{"id": "a"}], messages)
    found, shown, _needed = counted(path)
    assert found == shown == {"a": 7}
