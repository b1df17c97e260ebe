"""The plan: what would go, what is spared and why, what goes along, what loses its parent; its bytes,
piece by piece."""

import pytest
from builders import DAY, big_store, hostile_store, make_store
from pruning import NOW, aged, chosen, expected, family, opened, plan_of, said
from statements import noted_statements
from trashing import add_message

from hermes_browse.store.cleanup.plan import Plan, make_plan
from hermes_browse.store.cleanup.sizes import Sizes, measure


def going(plan):
    """All sessions that would go."""
    return {session_id for each in plan.selected for session_id in each.session_ids}


def spared(plan):
    """Why each is spared, by id."""
    return {each.conversation.id: each.why.code for each in plan.spared}


@pytest.mark.parametrize("archived", [False, True])
def test_what_hermes_would_prune_in_whole_conversations(fixture_store, archived):
    """The real prune of 0.22, less the subagent of a chat that stays, and less archived ones unless
    asked for."""
    answer = expected("v31")["mutations"]["prune_90"]
    plan = plan_of(
        fixture_store("state-v31"),
        chosen("older:90d include:archived" if archived else "older:90d"),
    )
    kept = {"20260101_091500_aaad01"} | (set() if archived else {"20260111_090000_ggg001"})
    assert going(plan) == set(answer["gone"]) - kept
    assert {session.id for session in plan.reparented} == set(answer["changed"])
    assert (
        "20260102_120000_a9e999" not in going(plan) | spared(plan).keys()
    )  # begun 119 days ago, used yesterday


@pytest.mark.parametrize("name", ["state-v11", "state-v14", "state-v22", "state-v31"])
def test_age_is_last_activity_in_every_schema(fixture_store, name):
    """Hermes up to 0.19 counts from the start; its answer is known to hold the chat of
    yesterday."""
    plan = plan_of(fixture_store(name), chosen("older:100d"))
    assert "20260106_100000_a9e005" in going(plan)
    assert not {"20260102_120000_a9e999", "20260210_100000_a9e040"} & (
        going(plan) | spared(plan).keys()
    )
    # A chain whose tip is open stays whole; Hermes cuts its ended segments off.
    assert spared(plan)["20260103_090000_aaa003"] == "open"
    assert not {"20260101_090000_aaa001", "20260101_100000_aaa002"} & going(plan)
    if name == "state-v22":
        assert "20260102_120000_a9e999" in expected("v22")["prune"]["older_90"]


def test_stale_open_ones_are_taken_only_when_asked_for(fixture_store):
    """Leased, pinned and hidden ones are spared even then; subagents go with their chain."""
    path = fixture_store("state-v31")
    without = plan_of(path, chosen("older:90d"))
    assert {each.why.code for each in without.spared} >= {"open", "pinned", "leased", "hidden"}
    plan = plan_of(path, chosen("older:90d include:open include:archived"))
    stale = {each.conversation.id for each in plan.selected if each.standing == "stale-open"}
    assert {"20260103_090000_aaa003", "20260111_110000_ggg003"} <= stale
    assert {"20260101_090000_aaa001", "20260101_100000_aaa002", "20260101_091500_aaad01"} <= going(
        plan
    )
    assert spared(plan) == {
        "20260119_090000_111001": "pinned",
        "20260119_092000_111003": "pinned",
        "20260119_150000_666002": "pinned",
        "20260119_091000_111002": "hidden",
        "20260119_170000_888102": "leased",
    }
    alone = plan_of(path, chosen("is:stale"))
    assert (
        all(each.standing == "stale-open" for each in alone.selected) and len(alone.selected) > 20
    )


def test_subagents_go_along_as_hermes_deletes_them(fixture_store):
    """The real 0.22 deletes a row with its subagents; ours adds the other segments of the
    conversation."""
    path = fixture_store("state-v31")
    for target, gone in expected("v31")["delete_targets"].items():
        with opened(path) as (reader, catalog):
            conversation = catalog.of_session(target)
            assert conversation is not None
            plan = make_plan(reader, catalog, chosen("", target), NOW)
        segments = {segment.id for segment in conversation.segments}
        assert set(gone) <= going(plan)
        extra = {"20260101_091500_aaad01"} if "20260101_090000_aaa001" in segments else set()
        assert going(plan) - segments == set(gone) - segments | extra


def test_what_loses_its_parent_is_listed_in_the_order_of_the_plan(fixture_store):
    """Each run prints the same document."""
    plan = plan_of(fixture_store("state-v31"), chosen("older:1d include:archived"))
    order = [session_id for each in plan.selected for session_id in each.session_ids]
    parents = [order.index(session.parent_id or "") for session in plan.reparented]
    assert len(parents) > 3 and parents == sorted(parents)


def test_a_family(tmp_path):
    """One of each, with reasons."""
    plan = plan_of(family(tmp_path / "state.db"), chosen("older:30d"))
    assert [each.conversation.id for each in plan.selected] == [
        "old", "boss", "cron_job1_20260101_030000", "cron_job1_20260102_030000", "cron_job2_20260102_040000",
    ]  # fmt: skip
    assert going(plan) == {each.conversation.id for each in plan.selected} | {"helper", "helper2"}
    assert spared(plan) == {"open": "open", "pinned": "pinned", "hidden": "hidden"}
    assert {session.id for session in plan.reparented} == {"stray", "branch"}
    totals = plan.totals()
    assert totals[:2] == (5, 7) and totals.cost_usd == pytest.approx(7 * 0.25)
    sizes = totals.sizes
    assert sizes.rows == 7 and sizes.total < sizes.given_back_bytes
    assert sizes.total == sum(each.conversation.size or 0 for each in plan.selected)
    alone = plan.for_archive().totals()
    assert alone[:2] == (5, 5) and alone.cost_usd == pytest.approx(5 * 0.25)
    assert alone.sizes.rows == 5 and alone.sizes.total < sizes.total


def test_marks_do_not_unprotect(tmp_path):
    """A mark is no way around a pin, nor around being written to this minute."""
    path = make_store(
        tmp_path / "state.db",
        "31",
        [aged("pin", 9, pinned=1), aged("now", 9)],
        [said("pin", 9), said("now", 0.0001)],
    )
    plan = plan_of(path, chosen("", "now", "pin"))
    assert not plan.selected and spared(plan) == {"pin": "pinned", "now": "recent"}
    future = make_store(tmp_path / "future.db", "31", [aged("late", 9)], [said("late", -1)])
    assert spared(plan_of(future, chosen("", "late"))) == {"late": "recent"}


def test_a_subagent_that_stays_keeps_its_parent(tmp_path):
    """A delete would take it along."""
    marker = {
        "parent_session_id": "boss",
        "source": "subagent",
        "model_config": '{"_delegate_from": "boss"}',
    }
    path = make_store(
        tmp_path / "state.db", "31", [aged("boss", 50), aged("pet", 50, pinned=1, **marker)]
    )
    plan = plan_of(path, chosen("older:1d"))
    assert not plan.selected and spared(plan) == {"boss": "subagent"}
    assert plan.spared[0].why.words == "its subagent pet stays: pinned"


@pytest.mark.parametrize("is_sibling", [True, False])
def test_what_was_used_lately_keeps_its_family(tmp_path, is_sibling):
    """A subagent, or the sibling that lost a race, which is a row of the list: an age is for all
    that goes. Marked by hand, they go."""
    sessions = [aged("boss", 200, end_reason="compression" if is_sibling else "cli_close")]
    marker = {"parent_session_id": "boss"}
    if is_sibling:
        sessions.append(aged("boss2", 120, **marker, ended=False))
    else:
        marker |= {"source": "subagent", "model_config": '{"_delegate_from": "boss"}'}
    sessions.append(aged("pet", 1, **marker))
    path = make_store(tmp_path / "state.db", "31", sessions)
    plan = plan_of(path, chosen("older:90d include:stale"))
    kind = "stale sibling" if is_sibling else "subagent"
    (why,) = (each.why.words for each in plan.spared)
    assert not plan.selected and why == f"its {kind} pet stays: idle for 1 day only"
    assert plan_of(path, chosen("", "boss")).selected


@pytest.mark.parametrize("shape", ["6", "11", "14", "22", "26", "31", "31-migrated"])
def test_every_layout(tmp_path, shape):
    """Columns a store lacks protect nobody and break nothing."""
    plan = plan_of(family(tmp_path / "state.db", shape), chosen("older:90d include:archived"))
    assert {"old", "put-away"} <= going(plan) and "tip" not in going(plan)
    assert ("pinned" in going(plan)) is (shape in ("6", "11", "14", "22"))


def test_a_hostile_store_has_a_plan(tmp_path):
    """Ids that are flags and paths, times that are none, rings."""
    path = hostile_store(tmp_path / "state.db")
    plan = plan_of(path, chosen("older:0d include:open size>=0"))
    assert {"-rf", "", "../../etc/passwd", "x'; DROP TABLE sessions;--"} <= going(plan)
    assert plan.totals().sizes.rows > 10


def test_no_rule_reads_nothing(tmp_path):
    """An empty plan without a look at the messages."""
    with opened(family(tmp_path / "state.db")) as (reader, catalog):
        with noted_statements() as statements:
            assert make_plan(reader, catalog, chosen(), NOW) == Plan()
        assert not statements


LATER = NOW + 3000 * DAY
OLD = chosen("older:0d include:archived")


@pytest.mark.slow
def test_what_goes_is_known_before_its_bytes(tmp_path):
    """Conversations, sessions, rows, costs, reasons and order are those of the whole plan; no
    message is looked at."""
    path = big_store(tmp_path / "state.db", 600, 6000)
    with opened(path, LATER) as (reader, catalog):
        whole = make_plan(reader, catalog, OLD, LATER)
        with noted_statements() as statements:
            quick = make_plan(reader, catalog, OLD, LATER, measure_sizes=False)
        # Leases, locks, and a count from an index for each 400 sessions.
        assert len(statements) < 6
    assert whole.is_measured and not quick.is_measured
    for found, measured in ((quick, whole), (quick.for_archive(), whole.for_archive())):
        totals = measured.totals()
        assert found.totals() == totals._replace(sizes=Sizes(rows=totals.sizes.rows))
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
            assert plan.totals().sizes.total == sum(
                each.conversation.size or 0 for each in plan.selected
            )
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
