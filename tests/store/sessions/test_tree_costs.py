"""What a conversation cost itself, and with its subagents: exact over chains, nesting, branches and
damaged files."""

import random

import pytest

from hermes_browse.store.search.query import parse
from hermes_browse.store.search.scope import compile_filters, roots_in
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session, Sort, View, known_sum

NOW = 1_000_000.0


def session(name, parent=None, cost=None, **columns):
    """A session that started before its parent ended."""
    return Session(name, "cli", parent, cost_usd=cost, started_at=1.0, last_active=2.0, **columns)


FAMILY = [
    session("root", cost=1.0, end_reason="compression", ended_at=5.0),
    Session("tip", "cli", "root", cost_usd=0.25, started_at=6.0, last_active=7.0),
    session("helper", "root", 0.5, delegate_from="root"),
    session("nested", "helper", 0.125, delegate_from="helper"),
    session("free", "tip", 0.0, delegate_from="tip"),
    session("unknown", "tip", None, delegate_from="tip"),
    session("branch", "tip", 8.0, branched_from="tip"),
    session("of-branch", "branch", 16.0, delegate_from="branch"),
    session("branch-of-helper", "helper", 32.0, branched_from="helper"),
    session("reset", "tip", 64.0, reset_from="tip"),
    session("nothing"),
    session("of-nothing", "nothing", None, delegate_from="nothing"),
    session("dear", "of-nothing", 4.0, delegate_from="of-nothing"),
    session("bare"),
]
OWN_AND_WHOLE = {
    "tip": (1.25, 1.875), "helper": (0.5, 0.625), "nested": (0.125, 0.125), "free": (0.0, 0.0),
    "unknown": (None, None), "branch": (8.0, 24.0), "of-branch": (16.0, 16.0), "branch-of-helper": (32.0, 32.0),
    "reset": (64.0, 64.0), "nothing": (None, 4.0), "of-nothing": (None, 4.0), "dear": (4.0, 4.0), "bare": (None, None),
}  # fmt: skip


def costs(catalog):
    """By tip."""
    return {each.id: (each.cost_usd, each.tree_cost_usd) for each in catalog.select(View.ALL)}


@pytest.mark.parametrize("seed", range(3))
def test_a_cost_is_its_own_and_with_all_subagents(seed):
    """Over all segments and nested ones; a branch and a chat after a reset are others; unknown
    stays unknown."""
    sessions = list(FAMILY)
    random.Random(seed).shuffle(sessions)
    assert costs(Catalog(sessions, NOW)) == OWN_AND_WHOLE


def test_lists_searches_and_clean_ups_go_by_the_whole():
    """What is sorted, found and cleaned up is what the user paid; an unknown cost is neither high
    nor low."""
    catalog = Catalog(FAMILY, NOW)
    in_order = [catalog.conversation(each).id for each in catalog.order(View.ALL, sort=Sort.COST)]
    assert in_order[:4] == ["reset", "branch-of-helper", "branch", "of-branch"]
    assert set(in_order[-2:]) == {"bare", "unknown"}

    def found(text):
        conditions = compile_filters(parse(text, now=NOW), NOW)
        roots = roots_in(None, conditions, catalog)
        return {catalog.conversation(root).id for root in roots}

    assert found("cost>$1.8") == {
        "tip",
        "branch",
        "of-branch",
        "branch-of-helper",
        "reset",
        "nothing",
        "of-nothing",
        "dear",
    }
    assert found("cost<=0.125") == {"nested", "free"}


def test_ten_thousand_nested_subagents_are_added_up_at_once(monkeypatch):
    """Without recursion, and each a few times for all sums together."""
    count = 10_000
    sessions = [session("s0", cost=1.0)]
    sessions += [
        session(f"s{at}", f"s{at - 1}", 1.0, delegate_from=f"s{at - 1}") for at in range(1, count)
    ]
    added = []

    def counted(amounts):
        listed = list(amounts)
        added.extend(listed)
        return known_sum(listed)

    monkeypatch.setattr("hermes_browse.store.sessions.catalog.known_sum", counted)
    catalog = Catalog(sessions, NOW)
    assert [catalog.conversation(f"s{at}").tree_cost_usd for at in (0, 1, count - 1)] == [
        count,
        count - 1,
        1,
    ]
    conversations = catalog.select(View.ALL)
    assert sum(each.subagents for each in conversations) == count * (count - 1) // 2
    assert len(added) < 6 * count
