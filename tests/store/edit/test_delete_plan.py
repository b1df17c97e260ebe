"""What goes with a conversation and what stays, on sessions without a store."""

import pytest
from builders import T0
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session


def session(name, parent=None, source="cli", **columns):
    """A session; the number in its name is the minute it started in."""
    started = T0 + 60 * int("".join(filter(str.isdigit, name)) or 0)
    return Session(name, source, parent, **{"started_at": started, **columns})


def ended(name, parent=None, reason="compression", **columns):
    """A session that ended when it started."""
    one = session(name, parent, **columns)
    return one._replace(end_reason=reason, ended_at=one.started_at)


def affected(*sessions, of="a1"):
    """What a delete of one takes."""
    return affected_by_delete(Catalog(sessions), of)


def test_all_segments_and_what_lost_a_race():
    """A sibling beside the continuation is reachable from nowhere else."""
    found = affected(
        ended("a1"), ended("a2", "a1"), session("a3", "a2"), ended("a4", "a1", "cli_close")
    )
    assert set(found.session_ids) == {"a1", "a2", "a3", "a4"} and found.reparented == ()
    assert [chain.root.id for chain in found.dependent] == ["a4"]
    alone = affected(
        ended("a1"), ended("a2", "a1"), session("a3", "a2"), ended("a4", "a1", "cli_close"), of="a4"
    )
    assert alone.session_ids == ("a4",)


def test_subagents_by_marker_wherever_their_parent_is():
    """Nested ones, ones whose parent link is gone or leads to another, and with all their
    segments."""
    found = affected(
        session("a1"),
        session("b2", "a1", delegate_from="a1"),
        session("c3", "b2", delegate_from="b2"),
        session("d4", None, delegate_from="a1"),
        session("e5", "gone", delegate_from="c3"),
        session("f6", "a1", delegate_from="gone"),
        ended("g7", "a1", delegate_from="a1"),
        session("h8", "g7", delegate_from="a1"),
        session("z9"),
    )
    assert set(found.session_ids) == {"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"}


def test_a_child_nobody_marked_stays_unless_its_source_says_subagent():
    """It may be a person's chat: Hermes keeps it too."""
    found = affected(
        session("a1"),
        session("b2", "a1"),
        session("c3", "a1", "subagent"),
        session("d4", "a1", "tool"),
    )
    assert set(found.session_ids) == {"a1", "c3", "d4"} and [
        each.id for each in found.reparented
    ] == ["b2"]


def test_branches_and_resets_stay_a_branch_though_it_inherits_a_marker():
    """Unlike Hermes 0.19, which follows the marker into a branch of a subagent."""
    found = affected(
        session("a1"),
        session("b2", "a1", branched_from="a1", delegate_from="a1"),
        session("c3", "a1", reset_from="a1"),
    )
    assert found.session_ids == ("a1",) and {each.id for each in found.reparented} == {"b2", "c3"}


def test_a_segment_that_inherited_a_marker_stays_with_its_conversation():
    """A continuation has the settings of whoever compressed: what it is says the root."""
    found = affected(session("a1"), ended("b2"), session("b3", "b2", delegate_from="a1"))
    assert found.session_ids == ("a1",) and found.reparented == ()


def test_markers_that_lead_back():
    """A ring of markers takes each once, and what is asked for is not its own subagent."""
    found = affected(
        session("a1", delegate_from="c3"),
        session("b2", "a1", delegate_from="a1"),
        session("c3", "b2", delegate_from="b2"),
    )
    assert sorted(found.session_ids) == ["a1", "b2", "c3"] and found.conversation.root.id == "a1"


def test_a_subagent_alone_leaves_its_parent():
    """Upwards nothing goes."""
    found = affected(session("a1"), session("b2", "a1", delegate_from="a1"), of="b2")
    assert found.session_ids == ("b2",)


def test_what_is_no_session_is_an_error():
    """The caller has looked it up before."""
    with pytest.raises(NotFoundError):
        affected(session("a1"), of="b")


NAMES = [f"s{number}" for number in range(8)]
ANY = st.builds(
    lambda name, parent, marker, branch, reason, source: Session(
        name, source, parent, started_at=T0, delegate_from=marker, branched_from=branch, end_reason=reason,
        ended_at=T0 if reason else None,
    ),
    st.sampled_from(NAMES), *[st.none() | st.sampled_from(NAMES)] * 3,
    st.sampled_from([None, "compression", "cli_close"]), st.sampled_from(["cli", "subagent", "tool"]),
)  # fmt: skip


@given(st.lists(ANY, min_size=1, max_size=8, unique_by=lambda each: each.id), st.data())
def test_any_family_is_parted_cleanly(sessions, data):
    """Whole conversations go, and all others stay; whoever loses a parent is named, rings or
    not."""
    catalog = Catalog(sessions)
    found = affected_by_delete(catalog, data.draw(st.sampled_from([each.id for each in sessions])))
    gone = set(found.session_ids)
    assert len(found.session_ids) == len(gone)
    for chain in catalog.conversations():
        ids = {segment.id for segment in chain.segments}
        assert ids <= gone or not ids & gone
    losing = {each.id for each in sessions if each.id not in gone and each.parent_id in gone}
    assert {each.id for each in found.reparented} == losing and len(found.reparented) == len(losing)
