"""The line of a clean-up is a query without words: what it chooses, what is wrong with it, how it
is edited."""

import pytest
from builders import DAY, make_store
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning import NOW, aged, chosen, family, opened, plan_of, said

from hermes_browse.store.amounts import HOUR, age_words
from hermes_browse.store.cleanup.selection import (
    Selection,
    parse_line,
    toggled,
    with_age,
)
from hermes_browse.store.cleanup.sizes import read_file_space
from hermes_browse.store.search.filters import FILTERS, help_lines, kinds_for
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session


@pytest.mark.parametrize(
    "text, words",
    [
        ("foo", "“foo” is no filter: title:foo looks for it in titles"),
        ("-foo", "“foo” is no filter"),
        ("sorce:cron", "“sorce:cron” is no filter: is source:cron meant?"),
        ("older:soon", "is no age (30min 5h 3d 2w 6mo 1y)"),
        ("older:-3d", "is no age (30min 5h 3d 2w 6mo 1y)"),
        ("older:", "wants a value"),
        ("size>big", "size> needs a number, e.g. size>10M"),
        ("msgs<few", "msgs< needs a number, e.g. msgs<1"),
        ("msgs>-5", "needs a number"),
        ("cost<nan", "needs a number"),
        ("is:odd", "is: knows live, open, stale"),
        ("include:pinned", "include: knows archived, stale, open"),
        ("free:some", "free: wants a share or a size"),
        ("free:0%", "free: wants a share or a size"),
        ("free:101%", "free: wants a share or a size"),
        ("-free:50%", "free: cannot be excluded"),
        ("role:user", "role:user chooses messages; only whole conversations can be chosen here"),
        ("before:2026", "before:2026 chooses messages"),
        ("is:rewound", "is:rewound chooses messages"),
        ("has:image", "has:image chooses messages"),
        ('title:"open', "an unpaired quotation mark"),
        ("OR", "OR joins words only"),
        ("OR source:cron", "OR joins words only"),
        ("not", "“not” is no filter"),
    ],
)
def test_what_is_no_filter_is_a_problem(text, words):
    """A search goes on without it; a clean-up must not. What is right beside it is kept."""
    query = parse_line(f"is:empty {text}", NOW)
    assert len(query.problems) == 1 and words in query.problems[0].text
    assert query.filters[0].value == "empty"


def test_a_line_that_would_be_cut_is_a_problem():
    """What is behind the end might have narrowed it."""
    (problem,) = parse_line("older:30d" + " " * 2048 + "source:cron", NOW).problems
    assert "longer than 2,048" in problem.text


def test_what_is_excluded_is_not_chosen():
    """Wherever the NOT stands; the opposite would be deleted."""
    for text in ("NOT source:cron", "older:90d NOT source:cron", "NOT source:cron older:90d"):
        query = parse_line(text, NOW)
        assert not query.problems
        assert [each.key for each in query.filters if each.negated] == ["source"]
    assert "“not”" in parse_line("not source:cron", NOW).problems[0].text


def test_a_search_refuses_what_only_a_clean_up_knows():
    """By name."""
    assert parse("walrus free:50%", now=NOW).refusal == "free: works in a clean-up only"
    assert parse("include:archived", now=NOW).refusal == "include: works in a clean-up only"


def test_the_help_names_filters_that_it_takes():
    """Each example can be typed; a clean-up is told nothing of messages, a search nothing of what
    it refuses."""
    for text, _ in help_lines(for_cleanup=True):
        line = " ".join(
            word for word in text.split() if word not in ("…", "-is:rewound") and "has:" not in word
        )
        assert not parse_line(line, NOW).problems, text
    both = {each.key for each in kinds_for(for_cleanup=True)} & {
        each.key for each in kinds_for(for_cleanup=False)
    }
    assert {"source", "title", "is", "older", "size", "cost"} <= both
    assert {each.key for each in FILTERS} - {each.key for each in kinds_for(for_cleanup=False)} == {
        "include",
        "free",
    }


@settings(max_examples=examples(300))
@given(st.text(max_size=60))
def test_any_text_is_filters_or_a_problem(text):
    """Never an error; text that asks for nothing known has a problem, so that it is not taken for
    no filters."""
    query = parse_line(text, NOW)
    cleaned = text.replace("\x00", " ").split()
    only_signs = all(
        word.strip("*()") in ("", "AND", "OR", "NOT", "and", "or", "not", '""') for word in cleaned
    )
    assert query.problems or query.filters or only_signs


def test_without_a_filter_nothing_is_chosen():
    """What counts as well is no choice."""
    for selection in (
        Selection(),
        chosen("include:archived"),
        chosen("include:stale include:open"),
    ):
        assert selection.is_empty
    assert not chosen("-source:cron").is_empty and not chosen("", "a").is_empty


def _found(path, line):
    return {each.conversation.id for each in plan_of(path, chosen(line)).selected}


RUNS = {"cron_job1_20260101_030000", "cron_job1_20260102_030000", "cron_job2_20260102_040000"}


@pytest.mark.parametrize(
    "line, ids",
    [
        ("title:PLANS", {"old", "new"}),
        ("title:plans -older:5d", {"new"}),
        ("title:plans older:5d", {"old"}),
        ("title:_", set()),
        ("cwd:/work/site/", {"old"}),
        ("cwd:/work/site", {"old", "new"}),
        ("cwd:/work/", {"old", "new"}),
        ("cwd:work/site/", {"old"}),
        ("cwd:/site/", set()),
        ("model:SONNET", {"old"}),
        ("is:archived", {"put-away"}),
        ("older:90d include:archived", {"old", "put-away"}),
        ("is:stale", {"open"}),
        ("older:45d include:stale", {"old", "boss", "open"}),
        ("older:90d source:cli include:open", {"old"}),
        ("source:cron,tui", RUNS),
        ("source:cron source:tui", RUNS),
        ("is:automation is:empty", set()),
        ("is:empty is:ended", set()),
        ("is:archived is:ended", {"put-away"}),
        ("is:live is:ended is:automation", RUNS),
        ("msgs<1", {"empty"}),
        ("tools>0", set()),
        ("id:job2", {"cron_job2_20260102_040000"}),
        ("ended:compression", set()),
    ],
)
def test_what_a_line_chooses(tmp_path, line, ids):
    """Filters of different keys must all hold; those of one key, and states of one kind, are
    alternatives."""
    assert _found(family(tmp_path / "state.db"), line) == ids


def test_filters_that_hermes_prunes_by(tmp_path):
    """Columns that only these read; a store without them has nothing of the kind."""
    rows = [
        aged(
            "a",
            9,
            source="telegram",
            user_id="42",
            chat_id="-100",
            chat_type="group",
            git_branch="main",
        ),
        aged(
            "b",
            9,
            user_id="421",
            chat_type="dm",
            billing_provider="OpenAI",
            git_branch="main2",
            tool_call_count=3,
        ),
        aged("c", 9, end_reason="agent_close"),
    ]
    path = make_store(
        tmp_path / "state.db", "31", rows, [said(str(each["id"]), 9) for each in rows]
    )
    cases = {
        "user:42": {"a"}, "chat:group": {"a"}, "chat:-100": {"a"}, "chat:group,dm": {"a", "b"}, "branch:main": {"a"},
        "provider:openai": {"b"}, "ended:agent_close": {"c"}, "tools>2": {"b"}, "-ended:cli_close": {"c"},
        "-provider:openai": {"a", "c"}, "user:42 chat:dm": set(),
    }  # fmt: skip
    assert {line: _found(path, line) for line in cases} == cases
    old = make_store(tmp_path / "old.db", "6", [aged("a", 9)], [said("a", 9)])
    assert _found(old, "chat:group") == _found(old, "provider:openai") == set()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_free_takes_the_idlest_until_it_is_enough(tmp_path, share):
    """The last one is needed; what is marked goes whatever it frees."""
    rows = [aged(f"s{number:02}", 100 - number) for number in range(30)]
    messages = [said(f"s{number:02}", 100 - number, "walrus " * 900) for number in range(30)]
    path = make_store(tmp_path / "state.db", "31", rows, messages)
    with opened(path) as (reader, _catalog):
        file = read_file_space(reader)
        goal = share * (file.file_bytes - file.free_bytes)
    for measured in (True, False):
        plan = plan_of(path, chosen(f"free:{share:.0%}"), measure_sizes=measured)
        names = [each.conversation.id for each in plan.selected]
        freed = [each.sizes.given_back_bytes for each in plan.selected]
        assert names == [each["id"] for each in rows[: len(names)]] and 1 < len(names) < 30
        assert sum(freed[:-1]) < goal <= sum(freed)
    marked = plan_of(path, chosen("free:1kb", "s29"))
    assert [each.conversation.id for each in marked.selected] == ["s00", "s29"]


def test_switches():
    """A filter comes and goes; of ages there is one; what else was typed stays as it is."""
    assert toggled("", "is:empty") == "is:empty"
    assert toggled("is:empty older:30d", "is:empty") == "older:30d"
    assert toggled("older:30d is:empty", "older:90d") == "is:empty older:90d"
    assert toggled("older:30d", "older:30d") == ""
    assert (
        toggled('title:"two words"  cwd:/a', "include:stale")
        == 'title:"two words"  cwd:/a include:stale'
    )
    assert toggled('title:"is:empty x" is:empty', "is:empty") == 'title:"is:empty x"'
    assert with_age("source:cron older:3d is:empty", 9) == "source:cron older:9d is:empty"
    assert with_age("older: source:cron", 9) == "older:9d source:cron"
    assert with_age("source:cron", 9) == "older:9d source:cron"
    assert with_age("older:3d source:cron older:4d", 9) == "older:9d source:cron"


def one(**columns):
    """A conversation of one session that was used 30 days ago and ended."""
    used = NOW - 30 * DAY
    named = {"last_active": used, "started_at": used - DAY, "ended_at": used}
    catalog = Catalog([Session(**({"id": "s", "source": "cli"} | named | columns))])
    return catalog.conversation("s")


def test_ages_are_said_in_their_largest_unit():
    """As a person would."""
    assert [age_words(each) for each in (0, 30, 90, HOUR, DAY, 3.4 * DAY)] == [
        "0 minutes", "0 minutes", "2 minutes", "1 hour", "1 day", "3 days",
    ]  # fmt: skip
