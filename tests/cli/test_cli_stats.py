"""`stats`: the sums as a document and as a table."""

import os
import re
import subprocess

import pytest
from commandline import STORES, ask, copy_store
from contract import holds
from paths import HERMES


@pytest.mark.slow
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


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "by", ["model", "source", "day", "tool", "week", "month", "hour", "project", "conversation"]
)
def test_the_document(tmp_path, store, by):
    """The same keys for all time and a period; bytes are of no period, tools have failures."""
    copy_store(store, tmp_path)
    whole = ask("--home", str(tmp_path), "stats", "--by", by)
    period = ask("--home", str(tmp_path), "stats", "--by", by, "--period", "1y")
    for found in (whole, period):
        holds(found, "STATS")
        holds(found, "GROUPS")
        assert {tuple(line) for line in found["by"]} == {tuple(whole["by"][0])}
        assert ("failed" in found["by"][0]) is (by == "tool")
    assert whole["total"].keys() - {"file_bytes"} == period["total"].keys()
    assert period["total"]["bytes"] is None and len(period["since"]) == 10
    assert whole["total"]["sessions"] >= 55
    assert sum(line["messages"] for line in period["by"]) == period["total"]["messages"]
    if by == "tool":
        for name in ("calls", "answers", "failed"):
            assert sum(line[name] for line in whole["by"]) == whole["total"][name]


def test_the_demo_over_a_month():
    whole = ask("--demo stats")
    assert whole["grouped_by"] == "source"
    total = whole["total"]
    assert total["cost_estimated_usd"] + total["cost_actual_usd"] == pytest.approx(
        total["cost_usd"]
    )
    month = ask("--demo stats --period 30d --by model")
    assert 0 < month["total"]["sessions"] < total["sessions"] and len(month["by"]) > 3
