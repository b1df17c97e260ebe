"""Rules are pure: what they mean, and what they never mean."""

from __future__ import annotations

import pytest
from builders import DAY
from pruning import NOW

from hermes_browse.store.ages import HOUR, WEEK
from hermes_browse.store.cleanup.protection import Standing, standing
from hermes_browse.store.cleanup.rules import Rules, age_words
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.relations import STALE_AFTER
from hermes_browse.store.sessions.session import Session


def one(**columns: object) -> Conversation:
    """A conversation of one session that was used 30 days ago and ended."""
    used = NOW - 30 * DAY
    named: dict[str, object] = {"last_active": used, "started_at": used - DAY, "ended_at": used}
    forest = Forest([Session(**({"id": "s", "source": "cli"} | named | columns))], NOW)  # type: ignore[arg-type]  # test rows
    return forest.chain_of("s")


def test_without_a_rule_nothing_matches() -> None:
    """That archived ones count, too, is no rule."""
    for rules in (Rules(), Rules(include_archived=True)):
        assert rules.nothing and not rules.matches(one(), 0, NOW)


@pytest.mark.parametrize(
    ("rules", "meant"),
    [
        (Rules(older_than=29 * DAY), True),
        (Rules(older_than=31 * DAY), False),
        (Rules(before=NOW - 29 * DAY), True),
        (Rules(before=NOW - 31 * DAY), False),
        (Rules(before=NOW - 29 * DAY, older_than=31 * DAY), False),
        (Rules(sources=frozenset(["cli", "tui"])), True),
        (Rules(sources=frozenset(["cron"])), False),
        (Rules(title="PLAN"), True),
        (Rules(title="_"), False),
        (Rules(title="%"), False),
        (Rules(model="Sonnet"), True),
        (Rules(model="gpt"), False),
        (Rules(cwd="/work"), True),
        (Rules(cwd="/work/"), True),
        (Rules(cwd="/work/site"), True),
        (Rules(cwd="/work/si"), False),
        (Rules(cwd="/"), True),
        (Rules(cwd="/work/site/deep"), False),
        (Rules(empty=True), False),
        (Rules(automation=True), False),
        (Rules(min_messages=7), True),
        (Rules(min_messages=8), False),
        (Rules(max_messages=7), True),
        (Rules(max_messages=6), False),
        (Rules(min_size=1000), True),
        (Rules(min_size=1001), False),
        (Rules(max_size=1000), True),
        (Rules(max_size=999), False),
        (Rules(max_cost=0.5), True),
        (Rules(max_cost=0.49), False),
        (Rules(older_than=29 * DAY, title="plan", min_messages=7, max_size=1000), True),
        (Rules(older_than=29 * DAY, title="plan", min_messages=7, max_size=999), False),
        (Rules(older_than=31 * DAY, title="plan"), False),
        (Rules(older_than=31 * DAY, marks=frozenset("s")), True),
    ],
)
def test_every_rule_must_hold(rules: Rules, meant: bool) -> None:
    """Each by itself, and together."""
    conversation = one(title="Trip plan", model="claude-sonnet-4.6", cwd="/work/site/", message_count=7, cost_usd=0.5)
    assert rules.matches(conversation, 1000, NOW) is meant


def test_what_is_not_known_is_not_old_and_not_big() -> None:
    """No time at all, no measure: a rule on it does not hold."""
    assert not Rules(older_than=0).matches(one(last_active=None, started_at=None), 0, NOW)
    assert Rules(older_than=DAY).matches(one(last_active=None), 0, NOW)
    assert not Rules(min_size=0).matches(one(), None, NOW) and not Rules(max_size=5).matches(one(), None, NOW)
    assert not Rules(max_cost=5).matches(one(), None, NOW)
    assert not Rules(cwd="/").matches(one(), None, NOW)


def test_archived_ones_are_asked_for() -> None:
    """They were put away on purpose."""
    assert not Rules(older_than=1).matches(one(archived=True), 0, NOW)
    assert Rules(older_than=1, include_archived=True).matches(one(archived=True), 0, NOW)


def test_empty_and_automation() -> None:
    """By rows, not by the stored counter; by source."""
    assert Rules(empty=True).matches(one(has_messages=False, message_count=5), 0, NOW)
    assert Rules(automation=True).matches(one(source="cron"), 0, NOW)


def test_stale_open_alone_is_a_class_of_its_own() -> None:
    """With another rule it only lets open ones in."""
    rules = Rules(stale_open=STALE_AFTER)
    assert not rules.matches(one(), 0, NOW)
    assert rules.matches(one(ended_at=None), 0, NOW)
    assert not Rules(stale_open=40 * DAY).matches(one(ended_at=None), 0, NOW)
    assert not rules.matches(one(ended_at=None, busy=True), 0, NOW)
    assert Rules(stale_open=40 * DAY, older_than=DAY).matches(one(), 0, NOW)


def test_standing() -> None:
    """Ended by either sign; open until it has been idle for long; held is never stale."""
    assert standing(one(), NOW) is Standing.ENDED
    assert standing(one(ended_at=None, end_reason="compression"), NOW) is Standing.ENDED
    assert standing(one(ended_at=None), NOW) is Standing.STALE
    assert standing(one(ended_at=None), NOW, 31 * DAY) is Standing.OPEN
    assert standing(one(ended_at=None, busy=True), NOW) is Standing.OPEN


def test_words() -> None:
    """Rules are said as a person would."""
    rules = Rules(older_than=90 * DAY, sources=frozenset(["cron"]), title="x", min_size=10, max_cost=1, stale_open=WEEK)
    assert rules.words() == (
        "no activity for 90 days, source cron, title contains “x”, at least 10 bytes, at most $1.00, "
        "also open ones, idle for 7 days"
    )
    assert [age_words(each) for each in (0, 30, 90, HOUR, DAY, 3.4 * DAY)] == [
        "0 minutes", "0 minutes", "2 minutes", "1 hour", "1 day", "3 days",
    ]  # fmt: skip
