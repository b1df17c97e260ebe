"""What the tests of cleaning up share: stores of given ages, opened, with their catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builders import DAY, make_store
from paths import DATA

from hermes_browse.store.cleanup.bulk import CleanedUp, clean_up
from hermes_browse.store.cleanup.plan import Plan, make_plan
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.sessions.catalog import Catalog, read_catalog

NOW = 1_777_626_000.0
"""The moment the answers in tests/data are for."""


def expected(name: str) -> dict[str, Any]:
    """What the real Hermes answered about a store in tests/data, by its schema (`v31`)."""
    found: dict[str, Any] = json.loads((DATA / f"expected-{name}.json").read_text(encoding="utf-8"))
    return found


@contextmanager
def opened(path: Path, now: float = NOW) -> Iterator[tuple[Reader, Catalog]]:
    """A reader and the catalog of a store."""
    with Store(path).reader() as reader:
        yield reader, read_catalog(reader, now)


def plan_of(path: Path, selection: Selection, now: float = NOW, **how: Any) -> Plan:
    """The plan for a store."""
    with opened(path, now) as (reader, catalog):
        return make_plan(reader, catalog, selection, now, **how)


def delete_planned(store: Store, plan: Plan, trash: Path, **how: Any) -> CleanedUp:
    """Carry out a plan."""
    expected = [planned.expected for planned in plan.selected]
    return clean_up(store, expected, trash, None, **how)


def chosen(line: str = "", *marks: str) -> Selection:
    """What a line of filters chooses, and marks."""
    query = parse_line(line, NOW)
    assert not query.problems, query.problems
    return Selection(query, frozenset(marks))


def aged(id: str, days: float, *, ended: bool = True, **columns: object) -> dict[str, object]:
    """A session of `cli` that began, and ended, so many days before `NOW`."""
    at = NOW - days * DAY
    row: dict[str, object] = {"id": id, "started_at": at, "estimated_cost_usd": 0.25}
    if ended:
        row |= {"ended_at": at + 60, "end_reason": "cli_close"}
    return row | columns


def said(
    session_id: str, days: float, text: str = "hello there", **columns: object
) -> dict[str, object]:
    """A message so many days before `NOW`."""
    return {"session_id": session_id, "content": text, "timestamp": NOW - days * DAY} | columns


def family(path: Path, shape: str = "31", **settings: Any) -> Path:
    """A store with one of each: see the ids.

    `old` and `new` ended; `open` never did; `pinned` is. `root` was compressed into `tip`, used
    yesterday. `boss` has a subagent `helper` by marker, with `helper2` below it, a child `stray`
    without a marker, and a branch `branch`, used yesterday. `put-away` is archived, `cron…` are
    runs of two jobs, `hidden` is hidden, `empty` holds nothing.
    """

    def subagent(name: str, parent: str) -> dict[str, object]:
        marker = {"_delegate_from": parent}
        return aged(name, 80, source="subagent", parent_session_id=parent, model_config=marker)

    sessions = [
        aged("old", 100, title="Old plans", cwd="/work/site", model="anthropic/claude-sonnet-4.6"),
        aged("new", 3, title="New plans", cwd="/work/site2"),
        aged("open", 50, ended=False),
        aged("pinned", 100, pinned=1),
        aged("root", 100, end_reason="compression"),
        aged("tip", 99, ended=False, parent_session_id="root"),
        aged("boss", 80),
        subagent("helper", "boss"),
        subagent("helper2", "helper"),
        aged("stray", 80.0001, ended=False, parent_session_id="boss"),
        aged("branch", 79, parent_session_id="boss", model_config={"_branched_from": "boss"}),
        aged("put-away", 100, archived=1),
        aged("cron_job1_20260101_030000", 40, source="cron"),
        aged("cron_job1_20260102_030000", 39, source="cron"),
        aged("cron_job2_20260102_040000", 39, source="cron"),
        aged("hidden", 100, hidden=1),
        aged("empty", 20),
    ]
    ids = [str(each["id"]) for each in sessions]
    used = {"new": 3.0, "tip": 1.0, "branch": 1.0, "open": 50.0}
    used |= dict.fromkeys(("boss", "stray", "helper", "helper2"), 80.0)
    used |= {name: 39.0 for name in ids if name.startswith("cron")}
    messages = [said(name, used.get(name, 100.0)) for name in ids if name != "empty"]
    return make_store(path, shape, sessions, messages, **settings)
