"""A plan in two steps: what goes at once, its bytes piece by piece."""

import pytest
from builders import DAY, big_store
from pruning import NOW, chosen, family, opened, said
from trashing import add_message

from hermes_browse.store.cleanup.plan import make_plan
from hermes_browse.store.cleanup.sizes import measure

LATER = NOW + 3000 * DAY
OLD = chosen("older:0d include:archived")


@pytest.mark.slow
def test_what_goes_is_known_before_its_bytes(tmp_path):
    """Conversations, sessions, rows, costs, reasons and order are those of the whole plan; no
    message is looked at."""
    path = big_store(tmp_path / "state.db", 600, 6000)
    with opened(path, LATER) as (reader, catalog):
        whole = make_plan(reader, catalog, OLD, LATER)
        before = reader.statements
        quick = make_plan(reader, catalog, OLD, LATER, measure_sizes=False)
        assert (
            reader.statements - before < 6
        )  # leases, locks, and a count from an index for each 400 sessions
    assert whole.is_measured and not quick.is_measured
    unmeasured = {"bytes": 0, "messages_shown": 0, "free_bytes": 0, "given_back_bytes": 0}
    assert quick.totals() == whole.totals()._replace(**unmeasured)
    archived = whole.for_archive().totals()
    assert quick.for_archive().totals() == archived._replace(**unmeasured)
    assert [each.session_ids for each in quick.selected] == [
        each.session_ids for each in whole.selected
    ]
    assert [(each.own.rows, each.messages) for each in quick.selected] == [
        (each.own.rows, each.messages) for each in whole.selected
    ]
    assert all(each.conversation.size is None for each in quick.selected)
    assert quick.spared == whole.spared and set(quick.reparented) == set(whole.reparented)


@pytest.mark.slow
def test_pieces_make_the_whole(tmp_path):
    """Longest idle first; no piece changes what the pieces before it said; the next plan has all of
    it at once."""
    path = big_store(tmp_path / "state.db", 900, 9000)
    known = {}
    with opened(path, LATER) as (reader, catalog):
        whole = make_plan(reader, catalog, OLD, LATER)
        plan = make_plan(reader, catalog, OLD, LATER, known=known, measure_sizes=False)
        pieces, ready = 0, 0
        while not plan.is_measured:
            waiting = len(plan.unmeasured())
            plan = plan.measured(measure(reader, plan.unmeasured(), known=known, most=1000))
            assert len(plan.unmeasured()) < waiting
            states = [each.is_measured for each in plan.selected]
            ready = states.index(False) if False in states else len(states)
            assert plan.selected[:ready] == whole.selected[:ready]
            assert plan.totals().bytes == sum(each.conversation.size or 0 for each in plan.selected)
            pieces += 1
        assert pieces > 2 and plan.selected == whole.selected and plan.totals() == whole.totals()
        again = make_plan(reader, catalog, OLD, LATER, known=known, measure_sizes=False)
        assert again.is_measured and again.totals() == whole.totals()


@pytest.mark.parametrize("selection", [chosen("", "old"), chosen("title:old size>=1")])
def test_a_session_that_grew_is_measured_again(tmp_path, selection):
    """Else the plan would say less than goes, and the delete would refuse what the plan says."""
    path = family(tmp_path / "state.db")
    known = {}
    with opened(path) as (reader, catalog):
        before = make_plan(reader, catalog, selection, NOW, known=known)
        add_message(path, "old", "a lantern" * 100, said("old", 100)["timestamp"])
        after = make_plan(reader, catalog, selection, NOW, known=known)
    (one,), (other,) = before.selected, after.selected
    assert (one.own.rows, other.own.rows) == (1, 2)
    assert other.own.content == one.own.content + 900 and known["old"] == other.own
