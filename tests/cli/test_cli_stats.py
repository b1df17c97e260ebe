"""`stats`: the sums as a document and as a table."""

import os
import re
import subprocess

import pytest
from commandline import STORES, ask, call, copy_store
from contract import COUNT, TEXT, each, holds, keys, of
from paths import HERMES

SUMS = {
    name: COUNT
    for name in (
        "conversations", "sessions", "messages", "input_tokens", "output_tokens", "cache_read_tokens",
        "cache_write_tokens", "reasoning_tokens", "bytes",
    )
}  # fmt: skip
WHOLE = SUMS | {"archived_sessions": COUNT, "cost_usd": of(float)}
STATS = keys(total=keys(**WHOLE), by=each(keys(**WHOLE, key=TEXT)))


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("by", ["model", "source", "day", "tool"])
def test_the_document(tmp_path, store, by):
    """One line for each key; calls by tool only."""
    copy_store(store, tmp_path)
    found = ask("--home", str(tmp_path), "stats", "--by", by)
    holds(found, STATS)
    assert found["by"] and all(("calls" in line) is (by == "tool") for line in found["by"])
    assert found["total"]["sessions"] >= 55


def test_hermes_counts_the_same(tmp_path):
    """What the real `hermes sessions stats` prints is among our sums; it leaves out what is
    archived."""
    pytest.importorskip("hermes_state")
    path = copy_store("state-v22", tmp_path)
    env = {**os.environ, "HERMES_HOME": str(path.parent)}
    said = subprocess.run(
        [HERMES, "sessions", "stats"], env=env, capture_output=True, text=True, timeout=120
    ).stdout
    found = ask("--home", str(path.parent), "stats")
    counted = {"Total sessions": found["total"], **{line["key"]: line for line in found["by"]}}
    theirs = dict(re.findall(r"^ *([\w ]+): (\d+)(?: sessions)?$", said, re.MULTILINE))
    assert int(theirs.pop("Total messages")) == found["total"]["messages"] > 0
    assert {"Total sessions", "cli", "telegram"} <= set(theirs)
    assert {name: int(count) for name, count in theirs.items()} == {
        name: counted[name]["sessions"] - counted[name]["archived_sessions"] for name in theirs
    }
    assert found["total"]["archived_sessions"] > 0


@pytest.mark.parametrize("by", ["tool", "model", "source", "day"])
def test_a_period_has_the_same_keys(tmp_path, by):
    """In each row and in the total, and all time counts the same either way."""
    copy_store("state-v31", tmp_path)
    whole = ask("--home", str(tmp_path), "stats", "--by", by)
    period = ask("--home", str(tmp_path), "stats", "--by", by, "--period", "1y")
    assert {tuple(line) for line in (*whole["by"], *period["by"])} == {tuple(whole["by"][0])}
    assert whole["total"].keys() - {"file_bytes"} == period["total"].keys()
    if by == "tool":
        for name in ("calls", "answers", "failed"):
            assert sum(line[name] for line in whole["by"]) == whole["total"][name]
        assert whole["total"]["calls"] > 0
    else:
        for name in ("archived_sessions", "cost_unknown_sessions", "cost_estimated_usd"):
            assert sum(line[name] for line in whole["by"]) >= whole["total"][name]


GROUPED = SUMS | {
    "bytes": of(type(None)),
    "cost_unknown_sessions": COUNT,
    "cost_included_sessions": COUNT,
}
COSTS = {"cost_usd": of(float), "cost_estimated_usd": of(float), "cost_actual_usd": of(float)}
INSIGHTS = keys(
    total=keys(**GROUPED, **COSTS), by=each(keys(**GROUPED, **COSTS, key=TEXT)), period=TEXT
)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("by", ["week", "month", "hour", "project", "conversation", "tool"])
def test_insights_as_a_document(tmp_path, store, by):
    """Cost in its parts; bytes are of no period; tools with their failures."""
    copy_store(store, tmp_path)
    found = ask("--home", str(tmp_path), "stats", "--by", by, "--period", "1y")
    holds(found, INSIGHTS)
    assert found["period"] == "1y" and len(found["since"]) == 10
    assert all(("failed" in line) is (by == "tool") for line in found["by"])
    assert sum(line["messages"] for line in found["by"]) == found["total"]["messages"]


def test_the_demo_over_a_month():
    """A table for people: what is estimated and what is unknown is marked."""
    whole = ask("--demo stats")
    assert whole["grouped_by"] == "source"
    total = whole["total"]
    assert total["cost_estimated_usd"] + total["cost_actual_usd"] == pytest.approx(
        total["cost_usd"]
    )
    month = ask("--demo stats --period 30d --by model")
    assert 0 < month["total"]["sessions"] < total["sessions"] and len(month["by"]) > 3
    ended = call("--demo stats --period 30d --by model")
    assert (
        "~$" in ended.out
        and ended.out.splitlines()[-1].startswith("all ")
        and "estimated (~)" in ended.err
    )
    ended = call("--demo stats --period 90d --by tool")
    assert ended.out.split()[:7] == [
        "tool",
        "convs",
        "sessions",
        "calls",
        "answers",
        "failed",
        "rate",
    ]
    assert "%" in ended.out
