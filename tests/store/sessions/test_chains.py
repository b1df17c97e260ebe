"""Sessions that continue each other are one chain."""

from collections import Counter
from operator import attrgetter

import pytest
from builders import T0

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import grouped
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.sessions import relations
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.lineage import DEEPEST, read_lineage
from hermes_browse.store.sessions.models import Relation, Session, View
from hermes_browse.store.sessions.relations import edge
from hermes_browse.tui.text import formats


def chained(length, name):
    """A compression chain of so many segments, the newest activity in the middle."""
    return [
        Session(
            f"{name}{at}",
            "cli",
            f"{name}{at - 1}" if at else None,
            title=f"{name} {at}" if at < 2 else None,
            started_at=at * 10.0,
            ended_at=at * 10.0 + 9 if at < length - 1 else None,
            end_reason="compression" if at < length - 1 else None,
            last_active=100.0 if at == 1 else at * 10.0,
        )
        for at in range(length)
    ]


def test_a_chain_knows_its_ends_its_title_and_its_newest_activity():
    sessions = chained(4, "long")
    catalog = Catalog([*reversed(sessions), *chained(1, "one"), *chained(2, "two")])
    assert sorted(chain.root_id for chain in catalog.conversations()) == ["long0", "one0", "two0"]
    chain = catalog.conversation("long2")
    assert (chain.segments, chain.title, chain.last_active) == (tuple(sessions), "long 1", 100.0)
    assert catalog.root_of("nobody") is None
    with pytest.raises(NotFoundError):
        catalog.conversation("nobody")


def test_rings_and_what_hangs_on_itself_are_each_reached_once():
    """Four damaged families: a ring of continuations, one of branches, one that hangs on its own
    tip, a self-parent."""

    def session(name, parent, reason=None, **fields):
        return Session(
            name, "cli", parent, started_at=float(ord(name[-1])), end_reason=reason, **fields
        )

    catalog = Catalog(
        [
            session("ring-b", "ring-a", "compression"),
            session("ring-a", "ring-b", "compression"),
            session("branch-b", "branch-a", branched_from="branch-a"),
            session("branch-a", "branch-b", branched_from="branch-b"),
            session("own-a", "own-b", "compression", branched_from="own-b"),
            session("own-b", "own-a"),
            session("self", "self"),
        ]
    )
    ring = "its parents form a cycle"
    assert {
        " ".join(each.id for each in chain.segments): (chain.relation, chain.note)
        for chain in catalog.conversations()
    } == {
        "ring-a ring-b": (Relation.ORPHAN, ring),
        "branch-b": (Relation.BRANCHED, ""),
        "branch-a": (Relation.ORPHAN, ring),
        "own-a own-b": (Relation.ORPHAN, ring),
        "self": (Relation.ORPHAN, ring),
    }


@pytest.mark.parametrize("is_long", [False, True])
def test_large_families_cost_no_more_for_each_session(monkeypatch, is_long):
    """One session with very many children, and one conversation of very many segments."""
    count, asked = 3_000, Counter[str]()
    sessions = chained(count, "s")
    if not is_long:
        sessions[1:] = [each._replace(parent_id="s0", end_reason=None) for each in sessions[1:]]

    def counted(child, parent):
        asked[child.id] += 1
        return edge(child, parent)

    monkeypatch.setattr(relations, "edge", counted)
    catalog = Catalog(sessions)
    roots = {catalog.root_of(each.id) for each in sessions}
    assert len(roots) == catalog.counts()[View.ALL] == (1 if is_long else count - 1)
    assert asked.total() < 20 * count


def test_a_tree_shows_what_hangs_on_which_segment(tmp_path, made):
    """Segments stand in one column, subagents below the one that asked for them, each named by its
    task."""

    def agent(name, parent, after):
        row = {"id": name, "source": "subagent", "started_at": T0 + after}
        return row | {"parent_session_id": parent}

    said = {
        "one": "Book the ferry", "two": "Go on", "task": "Compare\nthe \x1b[31mfares", "inner": "Ask Stena",
        "task2": "And the rest", "named": "Look around",
    }  # fmt: skip
    delegated = {"model_config": '{"_delegate_from": "one"}'}
    chained = {"end_reason": "compression", "ended_at": T0 + 50}
    made(
        sessions=[
            {"id": "one", "title": "Ferry", "started_at": T0, **chained},
            {"id": "two", "title": "Ferry #2", "started_at": T0 + 60, "parent_session_id": "one"},
            agent("task", "one", 10) | delegated | chained,
            agent("inner", "task", 12),
            agent("task2", "task", 60),
            agent("named", "two", 70) | {"title": "Scout"},
            agent("mute", "two", 80),
        ],
        messages=[{"session_id": name, "content": text} for name, text in said.items()],
    )
    with Store(tmp_path / "state.db").reader() as reader:
        lineage = read_lineage(reader, "two", T0 + 100)
    children = grouped(lineage.nodes, attrgetter("above"))
    assert {above: [node.name for node in nodes] for above, nodes in children.items()} == {
        None: ["Ferry", "Ferry #2"],
        "one": ["Compare the ␛[31mfares", "And the rest"],
        "task": ["Ask Stena"],
        "two": ["Scout", "no messages"],
    }
    assert lineage.reason == "newest of 2 parts"


def test_a_tree_has_every_node_of_a_deep_family_once(tmp_path, made):
    """However deep a damaged store nests them."""
    line = [{"id": f"s{at}", "parent_session_id": f"s{at - 1}"} for at in range(1, 1000)]
    made(sessions=[{"id": "s0"}, *line])
    with Store(tmp_path / "state.db").reader() as reader:
        nodes = read_lineage(reader, "s500", T0).nodes
    children = grouped(nodes, attrgetter("above"))
    assert list(children) == [None, *(f"s{at}" for at in range(DEEPEST))]
    assert [node for below in children.values() for node in below] == [*nodes]
    assert [node.session.id for node in nodes] == [f"s{at}" for at in range(1000)]


@pytest.mark.parametrize("source", ["api_server", "api-server"])
def test_the_server_is_automation_in_both_spellings(source):
    """Hermes stores one, its guide writes the other."""
    catalog = Catalog([Session("a", source), Session("b", "cli")])
    views = {each.id: each.view for each in catalog.conversations()}
    assert views == {"a": View.AUTOMATION, "b": View.CHATS}
    assert formats.source(source) == "api"


@pytest.mark.parametrize(("begun", "kind"), [(-0.3, "chat"), (0.1, "chat"), (-3600.0, "subagent")])
def test_a_sibling_that_lost_a_race_is_no_subagent(begun, kind):
    """0.18 and later write the continuation before the end; unmarked subagents of older releases
    began while their parent worked."""
    parent, winner, _tip = chained(3, "s")
    at = parent.ended_at + begun
    other = Session("other", "cli", parent.id, started_at=at, ended_at=at + 50, end_reason="done")
    found = Catalog([parent, winner, _tip, other]).conversation("other")
    assert found.kind == kind
    assert ("stale sibling" in found.note) is (kind == "chat")
