"""The run of a conversation: its total, and what stands out in it."""

import random

import pytest
from paths import DATA
from store_builder import T0, StoreBuilder, add_tool_use, tool_call

from hermes_browse.store.changes.run import read_run
from hermes_browse.store.connection.connect import Store

STORES = sorted(DATA.glob("state-v*.db"))


def run_of(builder, session="s"):
    """The run of a session."""
    with Store(builder.write()).reader() as reader:
        return read_run(reader, session)


def texts(run, kind):
    """The marks of a kind: where, and what they say."""
    return [(mark.row.id, mark.text) for mark in run.marks if mark.kind == kind]


@pytest.mark.parametrize("seed", range(20))
def test_the_total_is_the_sum_over_the_tree(seed, builder):
    chance = random.Random(seed)
    costs = [round(chance.random() * 5, 4) for _session in range(chance.randint(2, 13))]
    for number, cost in enumerate(costs):
        parent = f"s{chance.randrange(number)}" if number else None
        builder.session(
            f"s{number}",
            source="subagent" if number else "cli",
            parent_session_id=parent,
            model_config={"_delegate_from": parent},
            estimated_cost_usd=cost,
        )
    run = run_of(builder, "s0")
    assert run.conversation.tree_cost_usd == pytest.approx(sum(costs), abs=1e-9)
    shown = [run.conversation.cost_usd, *(each.cost_usd for each in run.subagents)]
    assert sorted(shown) == pytest.approx(sorted(costs), abs=1e-9)


@pytest.mark.parametrize("differs", ["nothing", "result", "arguments", "turn", "number"])
def test_a_loop_is_found(differs, builder):
    """The same call with the same result in one turn, and not only twice."""
    builder.session("s")
    rows = []
    for number in range(2 if differs == "number" else 4):
        if differs == "turn" or number == 0:
            builder.message("s", "user", "go")
        command = f"pytest {number}" if differs == "arguments" else "pytest"
        result = f"{number} failed" if differs == "result" else "1 failed"
        call = add_tool_use(builder, f"c{number}", "terminal", {"command": command}, result)
        rows.append(call)
    run = run_of(builder)
    sentence = "terminal was called 4 times with the same result"
    assert texts(run, "loop") == ([(rows[2], sentence)] if differs == "nothing" else [])


def _two_parts(builder, first, second, **changed):
    tokens = {"input_tokens": 1000, "model": "m/one", "system_prompt": "be kind"}
    builder.session(
        "s", **tokens, cache_read_tokens=first, end_reason="compression", ended_at=T0 + 30
    )
    builder.message("s", "user", "go")
    builder.session("t", parent_session_id="s", **tokens | {"cache_read_tokens": second} | changed)
    builder.message("t", "user", "on")
    return builder


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model": "m/two"}, "the model changed from m/one to m/two"),
        ({"system_prompt": "be quick"}, "the system prompt changed"),
        ({}, "nothing that is stored explains it"),
        # Columns of a newer release are empty before the update.
        ({"model": None, "system_prompt": None}, "nothing that is stored explains it"),
    ],
)
def test_a_fall_of_the_cache_share_is_found(changed, reason, builder):
    run = run_of(_two_parts(builder, 9000, 250, **changed))
    assert texts(run, "cache") == [(2, f"the cache share fell from 90% to 20%: {reason}")]


def test_a_small_fall_is_none(builder):
    run = run_of(_two_parts(builder, 9000, 2000))
    assert texts(run, "cache") == []


def test_a_model_change_within_a_session(builder):
    builder.session("s", input_tokens=2000, cache_read_tokens=9000)
    builder.message("s", "user", "go")
    later = builder.message("s", "user", "now with the other model")
    for model, since, cached in (("m/one", T0, 9000), ("m/two", T0 + 2, 0)):
        builder.row(
            "session_model_usage", session_id="s", model=model, first_seen=since, input_tokens=1000,
            cache_read_tokens=cached,
        )  # fmt: skip
    run = run_of(builder)
    assert [where for where, _text in texts(run, "cache")] == [later]


def test_auxiliary_calls_are_no_change_of_model(builder):
    builder.session("s", model="m/one", input_tokens=1000, cache_read_tokens=9000)
    builder.message("s", "user", "go")
    for model, task in (("m/one", ""), ("m/small", "title_generation")):
        cached = 0 if task else 9000
        builder.row(
            "session_model_usage", session_id="s", model=model, task=task, first_seen=T0 + bool(task),
            input_tokens=1000, cache_read_tokens=cached,
        )  # fmt: skip
    run = run_of(builder)
    assert texts(run, "cache") == [] and [part.model for part in run.stretches] == ["m/one"]


@pytest.mark.parametrize(
    ("costs", "paid"),
    [
        ({"estimated_cost_usd": 1.0, "actual_cost_usd": 0.4}, 0.4),
        ({"estimated_cost_usd": float("inf")}, None),  # JSON has no infinity
    ],
)
def test_a_part_costs_what_was_actually_paid(costs, paid, builder):
    builder.session("s", actual_cost_usd=0.8, estimated_cost_usd=2.0)
    for model in ("m/one", "m/two"):
        builder.row("session_model_usage", session_id="s", model=model, first_seen=T0, **costs)
    assert [part.cost_usd for part in run_of(builder).stretches] == [paid, paid]


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.stem)
def test_recorded_stores_have_no_loops_and_no_falls(path):
    with Store(path).reader() as reader:
        for (session,) in reader.rows("SELECT id FROM sessions"):
            kinds = {mark.kind for mark in read_run(reader, str(session)).marks}
            assert not kinds & {"loop", "cache"}


def test_gaps_the_slowest_and_the_dearest(builder):
    builder.session("s")
    builder.message("s", "user", "go", token_count=5)
    slow = builder.message("s", "assistant", "", tool_calls=[tool_call("terminal")])
    builder.message("s", "tool", "done", tool_call_id="call_1", timestamp=T0 + 1000)
    late = builder.message("s", "user", "are you there?", timestamp=T0 + 9000, token_count=100)
    run = run_of(builder)
    assert texts(run, "gap") == [(late, "2 hours until the next prompt")]
    assert texts(run, "slowest") == [(slow, "the slowest call: terminal, 17 minutes")]
    assert texts(run, "dearest") == [(late, "the most expensive turn: 100 tokens")]


def test_there_is_no_silence_while_a_subagent_works(builder):
    builder.session("s")
    builder.message("s", "user", "go", timestamp=T0)
    builder.session(
        *("a",), source="subagent", parent_session_id="s", model_config={"_delegate_from": "s"}
    )
    builder.message("a", "user", "work", timestamp=T0 + 60)
    builder.message("a", "assistant", "done", timestamp=T0 + 7000)
    late = builder.message("s", "assistant", "well", timestamp=T0 + 9000)
    assert texts(run_of(builder), "gap") == [(late, "33 minutes of silence")]


def test_what_hermes_says_to_the_model_is_no_prompt(tmp_path):
    """It stands in hidden rows of the user (0.20 to 0.22)."""
    builder = StoreBuilder(tmp_path / "state.db", "31")
    builder.session("s")
    builder.message("s", "user", "go")
    for number in range(4):
        builder.message("s", "user", "go on", display_kind="hidden")
        add_tool_use(builder, f"c{number}", "terminal", {"command": "make"}, "failed")
    run = run_of(builder)
    assert len(run.turns) == 1 and len(texts(run, "loop")) == 1


def test_turns_begin_with_a_prompt(builder):
    run = run_of(_two_parts(builder, 1, 1))
    assert [turn.id for turn in run.turns] == [1, 2]
    assert [part.first.id for part in run.stretches] == [1, 2]
