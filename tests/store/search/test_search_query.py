"""The query language: what a typed text is taken to mean."""

from datetime import datetime

import pytest
from paths import ROOT
from search_stores import found

from hermes_browse.store.search.filters import (
    EVERYTHING,
    FILTERS,
    Filter,
)
from hermes_browse.store.search.query import (
    USUAL,
    as_looked_for,
    parse,
    unknown_filters,
    values_of,
)
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.search.terms import TermKind

GUIDE = (ROOT / "docs" / "searching.md").read_text(encoding="utf-8")
NOW = datetime(2026, 3, 18, 12, 30).timestamp()  # a Wednesday, local like the dates people type


def said(text):
    """The terms of a query as text: those of a group between dots, groups between bars."""
    return " | ".join(" · ".join(term.text for term in group) for group in parse(text).groups)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("docker deploy", "docker · deploy"),
        ("a b OR c", "a · b | c"),
        ("a AND b", "a · b"),
        ("a and b", "a · and · b"),
        ("a or b", "a · or · b"),
        ("don't .env src/main.py 50% C++", "don't · .env · src/main.py · 50% · C++"),
        ("main() f(x)", "main() · f(x)"),
        ("(docker", "docker"),
        ("docker)", "docker"),
        ("(a OR b)", "a | b"),
        ("((deep)) (", "((deep))"),
        ("http://x TODO: foo:bar", "http://x · TODO: · foo:bar"),
        ("git --amend", "git · --amend"),
        ("a - b", "a · - · b"),
        ('say "docker only', "say · docker · only"),
        ('"docker deployment" x', "docker deployment · x"),
        ("OR OR a", "a"),
        ("\x00", ""),
        ('*** " ()', "()"),
        # An operator at an end is dropped, as in Hermes; one in lower case alone is a word.
        ("hello AND", "hello"),
        ("OR hello", "hello"),
        ("NOT hello", "hello"),
        ("and hello", "hello"),
        ("hello or", "hello"),
        ("not hello not", "hello"),
        ("not", "not"),
        ("and", "and"),
        ("or", "or"),
    ],
)
def test_words(text, terms):
    assert said(text) == terms
    assert parse(text).excluded == ()


@pytest.mark.parametrize("text", ["a -b", "a NOT b", "-b a", 'a -"b'])
def test_exclusion(text):
    assert [term.text for term in parse(text).excluded] == ["b"]
    assert said(text) == "a"


def test_only_exclusion_is_a_problem_and_nothing_to_look_for():
    query = parse("-foo")
    assert query.is_empty
    assert "only exclusions" in query.problems[0].text
    assert not parse("role:user -foo").problems


@pytest.mark.parametrize(
    ("text", "kind", "bare"),
    [
        ("dock*", TermKind.PREFIX, "dock"),
        ('"two words"', TermKind.PHRASE, "two words"),
        ('"two wor"*', TermKind.PREFIX, "two wor"),
        ('"star*"', TermKind.PHRASE, "star*"),
        ("word", TermKind.WORD, "word"),
    ],
)
def test_kinds(text, kind, bare):
    (term,) = parse(text).terms
    assert (term.kind, term.text) == (kind, bare)
    assert text[term.start : term.end] == text


def test_a_lone_quote_keeps_what_it_was_part_of():
    query = parse('title:"big plan')
    assert [(each.key, each.value) for each in query.filters] == [("title", "big")]
    assert [problem.start for problem in query.problems] == [6]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("source:cli", ("source", ":", "cli", False)),
        ("-ROLE:user", ("role", ":", "user", True)),
        ("NOT role:user", ("role", ":", "user", True)),
        ("NOT source:cron AND", ("source", ":", "cron", True)),
        ('title:"two words"', ("title", ":", "two words", False)),
        ("cost>0.5", ("cost", ">", "0.5", False)),
        ("msgs>=20k", ("msgs", ">=", "20k", False)),
        ("after:3d", ("after", ":", "3d", False)),
    ],
)
def test_filters(text, expected):
    (typed,) = parse(text, now=NOW).filters
    assert (typed.key, typed.op, typed.value, typed.negated) == expected


@pytest.mark.parametrize(
    "text",
    [
        "after:money",
        "before:2026-13",
        "on:99999999d",
        "on:٣٣٣٣",
        "is:purple",
        "has:wings",
        "cost>nan",
        "msgs>",
        "role:",
    ],
)
def test_a_bad_value_is_a_problem_and_left_out(text):
    query = parse(f"docker {text}", now=NOW)
    assert query.filters == ()
    assert said(f"docker {text}") == "docker"
    assert [(problem.start, problem.end) for problem in query.problems] == [(7, 7 + len(text))]


@pytest.mark.parametrize(
    "text", ["source:cli OR cost>1", "docker OR role:user", "is:live OR docker"]
)
def test_or_beside_a_filter_is_a_problem(text):
    """Filters of different keys must all hold, whatever stands between them."""
    (problem,) = parse(text, now=NOW).problems
    assert text[problem.start : problem.end] == "OR" and "must all hold" in problem.text
    assert not parse("docker OR podman source:cli", now=NOW).problems


def test_a_query_that_is_cut_is_a_problem():
    """What is behind the end is not looked for, and the last word may be half of one."""
    (problem,) = parse("docker " * 400).problems
    assert (problem.start, problem.end) == (2048, 2800)
    assert "the rest is ignored" in problem.text


_CALLS = '[{"function": {"name": "grep", "arguments": "{}"}}]'


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("role:user role:tool", {"role": "tool"}, True),
        ("-role:user -role:tool", {"role": "tool"}, False),
        ("-role:user -role:tool", {"role": "assistant"}, True),
        ("after:2026-03-17", {}, True),
        ("after:2026-03-18", {}, False),
        ("before:2026-03-18", {"timestamp": NOW - 86_400}, True),
        ("after:2026-01-01 after:2027-01-01", {}, False),
        ("on:today", {}, True),
        ("on:today", {"timestamp": None}, False),
        ("-on:today", {"timestamp": None}, True),
        ("tool:grep", {"tool_calls": _CALLS}, True),
        ("tool:GREP", {"tool_name": "grep"}, True),
        (
            "tool:grep",
            {"tool_calls": '[{"function": {"name": "find", "arguments": "grep"}}]'},
            False,
        ),
        ("tool:grep", {"tool_calls": '["grep"]'}, False),
        ("tool:grep", {"tool_calls": '[{"name": "grep"'}, False),
        ("has:code", {"content": "```x```"}, True),
        ("has:image", {"content": '\x00json:[{"type": "image_url"}]'}, True),
        ("has:image", {"content": 'about "image_url"'}, False),
        ("has:error", {"role": "tool", "content": '{"error": "no"}'}, True),
        ("has:reasoning", {}, False),
        ("has:reasoning", {"reasoning": "so"}, True),
        ("is:compacted", {"active": 0, "compacted": 1}, True),
        ("is:rewound", {"active": 0, "compacted": 0}, True),
        ("is:rewound", {"active": None}, False),
    ],
)
def test_conditions_on_messages(written, text, row, expected):
    path = written([{"content": "", "timestamp": NOW} | row])
    assert bool(found(path, text, now=NOW)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("dock", True), ("dock ", False), ("dock source:cli", False), ('"dock"', False)],
)
def test_the_last_word_is_a_prefix_until_a_space_follows(text, expected):
    (each,) = as_looked_for(parse(text), prefix_last=True).terms
    assert each.is_prefix is expected


@pytest.mark.parametrize("kind", FILTERS, ids=lambda kind: kind.key)
def test_each_filter_knows_all_of_itself(kind):
    """Its example is one it takes, its values are too, its other names lead to it; the guide has its
    example, and guide and help have every word that it knows."""
    for example in kind.example.replace("…", "").split():
        query = parse(example, now=NOW, for_cleanup=kind.is_cleanup_only)
        assert [asked.key for asked in query.filters] == [kind.key]
        tested = [each for each in compile_filters(query, NOW) if each != EVERYTHING]
        assert len(tested) == (not kind.is_cleanup_only)
        assert f"`{example.removeprefix('-')}`" in GUIDE
    told = f"{kind.example} {kind.help}"
    assert [each for each in kind.known if each not in told] == []
    assert [each for each in kind.known if f"`{kind.key}:{each}`" not in GUIDE] == []
    for value in values_of(kind, USUAL, NOW):
        assert not parse(f"{kind.key}:{value}", now=NOW, for_cleanup=kind.is_cleanup_only).problems
    for name in kind.also_called:
        (problem,) = unknown_filters(parse(f"x {name}:y1"))
        assert f"is {kind.key}{kind.sign} meant?" in problem.text
    assert bool(kind.reason(Filter(kind.key, ":", " "), NOW)), (
        "no filter means anything without a value"
    )
