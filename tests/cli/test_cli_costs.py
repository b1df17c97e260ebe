"""What a conversation cost itself and with its subagents, in each document that has it and in the
words for people."""

import json

import pytest
from builders import DAY, make_store
from commandline import ask, call
from pruning import NOW


def _session(name, cost, parent=None, **columns):
    used = NOW - 100 * DAY
    marker = json.dumps({"_delegate_from": parent}) if parent else None
    times = {"started_at": used, "ended_at": used + 9, "end_reason": "cli_close"}
    links = {"parent_session_id": parent, "model_config": marker, "estimated_cost_usd": cost}
    return {"id": name, "title": name.title()} | times | links | columns


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A conversation of two segments with ten subagents and a nested one; one whose only cost is
    below; one without."""
    sessions = [
        _session("root", 2.0, end_reason="compression"),
        _session("tip", 0.72)
        | {"parent_session_id": "root", "started_at": NOW - 99 * DAY, "ended_at": NOW - 99 * DAY},
        *(_session(f"helper{number}", 0.25, "root") for number in range(10)),
        _session("nested", 1.19, "helper3"),
        _session("local", None),
        _session("paid", 0.5, "local"),
        _session("free", None),
        _session("unknown", None, "free"),
    ]
    rows = [
        {"session_id": each["id"], "content": "words", "timestamp": each["started_at"]}
        for each in sessions
    ]
    make_store(tmp_path / "state.db", "31", sessions, rows)
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


WANTED = {"tip": (2.72, 6.41), "local": (None, 0.5), "free": (None, None)}


def _costs(rows):
    return {each["id"]: (each["cost_usd"], each["tree_cost_usd"]) for each in rows}


def _approximately(found, wanted):
    assert found.keys() == wanted.keys()
    for name, pair in wanted.items():
        for amount, expected in zip(found[name], pair, strict=True):
            assert amount is None if expected is None else amount == pytest.approx(expected), name


def test_documents_have_both_costs(home):
    """The own one, and that with all below; null where nothing is known."""
    _approximately(_costs(ask("list --sort cost")["conversations"]), WANTED)
    shown = ask("show root")["conversation"]
    _approximately(_costs([shown]), {"tip": WANTED["tip"]})
    pruned = ask("prune --older-than 90d")
    _approximately(_costs(pruned["would"]), WANTED)
    assert pruned["plan"]["cost_usd"] == pytest.approx(6.91)
    archived = ask("prune --older-than 90d --archive --dry-run")
    assert archived["plan"]["cost_usd"] == pytest.approx(2.72), "subagents stay in an archive"
    assert ask("prune --title free")["plan"]["cost_usd"] is None


def test_a_node_of_the_lineage_costs_what_its_session_did(home):
    """And with all below: later segments, and subagents of each."""
    found = _costs(ask("lineage root")["nodes"])
    wanted = {f"helper{number}": (0.25, 0.25) for number in range(10)} | {"helper3": (0.25, 1.44)}
    _approximately(
        found, wanted | {"root": (2.0, 6.41), "tip": (0.72, 0.72), "nested": (1.19, 1.19)}
    )
    printed = call("lineage root").out
    assert (
        " · $2.00 of $6.41 · " in printed
        and " · $0.25 of $1.44 · " in printed
        and " · $0.72 · " in printed
    )


def test_people_read_both_costs(home):
    """Once where they are equal, blank where none is known, never 0; an archive leaves subagents
    alone."""
    listed = call("list --sort cost").out.splitlines()
    both = " $2.72 of $6.41 "
    assert [(both in line, " ? of $0.50 " in line, "$" in line) for line in listed[1:]] == [
        (True, False, True), (False, True, True), (False, False, False),
    ]  # fmt: skip
    assert both in call("prune --title tip --dry-run").out
    archived = call("prune --title tip --archive --dry-run").out
    assert " $2.72 " in archived and "$6.41" not in archived
