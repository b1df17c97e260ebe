"""Typing a query: filters lit, mistakes underlined with their reason, what can be typed next."""

import pytest
from browsing import NOW

from hermes_browse.store.search.query import parse, unknown_filters
from hermes_browse.tui.browser.search.box import Offer
from hermes_browse.tui.browser.search.query_line import complete

KNOWN = {
    "source": ("cli", "cron", "telegram"),
    "model": ("claude-sonnet-4.6",),
    "cwd": ("/home/a b",),
    "tool": ("terminal", "read_file"),
}


@pytest.mark.parametrize(
    "text, offer",
    [
        ("boat sou", Offer(5, "", ("source:",))),
        ("boat -sou", Offer(6, "", ("source:",))),
        ("SOU", Offer(0, "", ("source:",))),
        ("tok", Offer(0, "", ("tokens>",))),
        ("source:", Offer(7, "source", ("cli ", "cron ", "telegram "))),
        ("boat source:cr", Offer(12, "source", ("cron ",))),
        ("-tool:t", Offer(6, "tool", ("terminal ",))),
        ("cwd:", Offer(4, "cwd", ('"/home/a b" ',))),
        ("is:arch", Offer(3, "is", ("archived ",))),
        ("after:y", Offer(6, "after", ("yesterday ",))),
        ("is", None),
        ("source:cli", None),
        ("source:nowhere", None),
        ("source:cli ", None),
        ('"in quotes sou', None),
        ("", None),
    ],
)
def test_what_can_come_next(text, offer):
    assert complete(text, KNOWN, NOW) == offer


def test_what_can_never_match_is_not_offered():
    """After a day is after its end, which today, this weekday and this month have not reached."""
    after, before = (complete(text, KNOWN, NOW) for text in ("after:", "before:"))
    assert after.choices[0] == "yesterday " and "thu " not in after.choices, after
    assert not any(each.startswith("2026") for each in after.choices)
    assert before.choices[0] == "today " and "thu " in before.choices


@pytest.mark.parametrize(
    "text, reason",
    [
        ("sorce:cli", "is source: meant?"),
        ("since:3d", "is after: meant?"),
        ("cots>5", "is cost> meant?"),
        ("colour:red", "looked for as text"),
        ("source>cli", "is source: meant?"),
    ],
)
def test_what_looks_like_a_filter_is_told(text, reason):
    problems = tuple(unknown_filters(parse(f"boat {text} x")))
    assert [(each.start, each.end) for each in problems] == [(5, 5 + len(text))]
    assert reason in problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        "host:8080",
        "std::vector",
        "https://a.b",
        "TODO:x",
        "12:30",
        "a:b",
        '"sorce:cli"',
        "colour:",
        "C:\\x",
    ],
)
def test_words_with_a_colon_stay_words(text):
    assert not list(unknown_filters(parse(text)))


def _marks(browser):
    box = browser.screen.box
    return [(name, box.value[start:end]) for name, start, end in box.marks]


@pytest.mark.slow
async def test_mistakes_are_underlined_and_nothing_is_searched(browser):
    await browser.search("cookie source:cli after:never ")
    assert _marks(browser) == [("accent", "source:cli"), ("problem", "after:never")]
    status = browser.status
    assert "is no age (30min 5h 3d 2w 6mo 1y) and no date" in status and "hits in" not in status
    assert "Nothing is looked for" in browser.text("#list")
    assert not browser.screen.matchers
    line = browser.screen.box.render_line(0)
    looks = {segment.text: segment.style for segment in line}
    style = looks["after:never"]
    assert style.underline
    plain = looks["cookie "]
    assert not plain.underline


@pytest.mark.slow
async def test_an_unfinished_filter_is_no_mistake_yet(browser):
    await browser.search("title:")
    assert _marks(browser) == [] and "wants a value" not in browser.status
    await browser.type(" ")
    assert _marks(browser) == [("problem", "title:")]
    await browser.press("escape")
    await browser.type("is:arc")
    assert _marks(browser) == [] and "knows" not in browser.status
    await browser.type("x")
    assert _marks(browser) == [("problem", "is:arcx")]
    assert "is: knows live" in browser.status
