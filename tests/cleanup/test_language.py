"""The rules as one line of text: what each word asks for, and what is said of those that cannot be read."""

from __future__ import annotations

import pytest
from builders import DAY
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning import NOW

from hermes_browse.store.cleanup.rule_line import EXAMPLES, parse_rules, toggled
from hermes_browse.store.cleanup.rules import Rules
from hermes_browse.store.sessions.relations import STALE_AFTER


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", Rules()),
        ("older:30d", Rules(older_than=30 * DAY)),
        (
            "older:2w source:cron,telegram source:cli",
            Rules(older_than=14 * DAY, sources=frozenset(["cron", "telegram", "cli"])),
        ),
        ("is:automation IS:EMPTY is:archived", Rules(automation=True, empty=True, include_archived=True)),
        ("is:stale", Rules(stale_open=STALE_AFTER)),
        ("is:stale older:2d", Rules(older_than=2 * DAY, stale_open=2 * DAY)),
        ("msgs<5", Rules(max_messages=4)),
        ("messages<=5 msgs>=2", Rules(max_messages=5, min_messages=2)),
        ("msgs:0", Rules(min_messages=0, max_messages=0)),
        ("msgs<1,000 msgs>0", Rules(min_messages=1, max_messages=999)),
        ("cost<=.5", Rules(max_cost=0.5)),
        ("size>10M", Rules(min_size=10_000_001)),
        ("size<=1GB cost<=$0.10", Rules(max_size=1_000_000_000, max_cost=0.1)),
        ('title:"two words" model:haiku', Rules(title="two words", model="haiku")),
        ("title:it's", Rules()),
        ("cwd:~/src", Rules(cwd="/home/me/src")),
    ],
)
def test_words(text: str, rules: Rules) -> None:
    """Each is the field of the rules it names."""
    assert parse_rules(text, NOW, lambda folder: folder.replace("~", "/home/me")).rules == rules


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("foo", "is no rule: title:foo"),
        ("older:soon", "is no age (30min 5h 3d 2w 6mo 1y)"),
        ("older:", "wants a value"),
        ("size>big", "size wants a size"),
        ("msgs<few", "msgs wants a whole number"),
        ("msgs>-5", "msgs wants a whole number"),
        ("msgs<1_000", "msgs wants a whole number"),
        ("msgs<99999999999999999999", "msgs wants a whole number"),
        ("msgs<0", "msgs is never below 0"),
        ("size<0", "size is never below 0"),
        ("msgs>10 msgs<5", "msgs: nothing is above 10 and below 5"),
        ("size>=2k size<=1k", "size: nothing is above 1,999 and below 1,001"),
        ("older:-3d", "is no age (30min 5h 3d 2w 6mo 1y)"),
        ("cost<x", "cost wants an amount"),
        ("cost<nan", "cost wants an amount"),
        ("cost<inf", "cost wants an amount"),
        ("cost<-1", "cost wants an amount"),
        ("cost<1e99", "cost wants an amount"),
        ("cost>1", "with < only"),
        ("is:odd", "is: knows automation, empty, stale, archived"),
        ("colour:red", "colour: is no rule"),
        ('title:"open', "a quote is not closed"),
        ("title:it's", "a quote is not closed"),
    ],
)
def test_problems(text: str, words: str) -> None:
    """Said in a sentence that names the word; what is right beside it holds."""
    parsed = parse_rules(f"is:empty {text}", NOW)
    assert len(parsed.problems) == 1 and words in parsed.problems[0]
    assert parsed.rules.empty


def test_examples_are_rules() -> None:
    """What the help shows can be typed."""
    for text, _ in EXAMPLES:
        assert not parse_rules(text, NOW).problems, text


@settings(max_examples=examples(300))
@given(st.text(max_size=60))
def test_any_text_is_rules_or_a_problem(text: str) -> None:
    """Never an error; text that asks for nothing known has a problem, so that it is not taken for no rules."""
    parsed = parse_rules(text, NOW)
    assert parsed.problems or parsed.rules != Rules() or not text.split()


def test_switches() -> None:
    """A word comes and goes; of ages there is one; what else was typed stays as it is read."""
    assert toggled("", "is:empty") == "is:empty"
    assert toggled("is:empty older:30d", "is:empty") == "older:30d"
    assert toggled("older:30d is:empty", "older:90d") == "is:empty older:90d"
    assert toggled("older:30d", "older:30d") == ""
    line = toggled('title:"two words" cwd:/a', "is:stale")
    assert parse_rules(line, NOW) == parse_rules('title:"two words" cwd:/a is:stale', NOW)
    assert toggled('title:"open', "is:empty") == 'title:"open'
