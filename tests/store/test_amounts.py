"""Ages, dates, counts, sizes and amounts of money as people write them: one reader for the search, the
clean-up, the options and the settings."""

import re
from datetime import datetime

import pytest
from builders import DAY
from pruning import opened

from hermes_browse.store.amounts import (
    HOUR,
    MINUTE,
    MONTH,
    WEEK,
    YEAR,
    parse_age,
    parse_bytes,
    parse_count,
    parse_money,
    parse_when,
)
from hermes_browse.store.cleanup.plan import make_plan
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.search.query import parse as parse_query
from hermes_browse.store.search.scope import compile_filters, roots_in
from hermes_browse.store.sessions.relations import STALE_AFTER

NOW = datetime(2026, 3, 18, 12, 30).timestamp()  # a Wednesday, local like the dates people type
UNITS = {"30min": MINUTE, "5h": HOUR, "3d": DAY, "2w": WEEK, "6mo": MONTH, "1y": YEAR}
DAYS = {
    "90": 90, "0": 0, "1.5": 1.5, "0.5d": 0.5, " 12H ": 0.5, "1w 2d": 9, "1w2d": 9, "2h30min 30MIN": 0.125,
}  # fmt: skip


def test_ages():
    """In each unit, as a bare number, which is days, and sums."""
    for text, unit in UNITS.items():
        assert parse_age(text) == int(re.sub(r"\D", "", text)) * unit
    for text, days in DAYS.items():
        assert parse_age(text) == days * DAY


@pytest.mark.parametrize(
    "text",
    ["", " ", "d", "-1", "-1d", "5q", "1d!", "1 2", "1e3", "nan", "99999999999w", "x1d", "1mon", "2minutes"],
)  # fmt: skip
def test_no_ages(text):
    """A slip of the finger is no age."""
    with pytest.raises(ValueError, match="is no age such as"):
        parse_age(text)
    with pytest.raises(ValueError, match=r"is no age .* and no date"):
        parse_when(text, NOW)


@pytest.mark.parametrize("text", ["3m", "3M", " 3 m", "1h 3m", "3m1d"])
def test_an_age_in_m_is_refused_by_name(text):
    """Hermes' `m` is minutes, and a search took it for months; both ways out are named, wherever it
    is typed."""
    words = "3m could be minutes or months: write 3min or 3mo"
    for read in (parse_age, lambda typed: parse_when(typed, NOW)):
        with pytest.raises(ValueError) as refusal:
            read(text)
        assert str(refusal.value) == words
    word = text.strip().replace(" ", "")
    assert [each.text for each in parse_query(f"after:{word}", now=NOW).problems] == [
        f"after: {words}"
    ]
    assert [each.text for each in parse_line(f"older:{word}", NOW).problems] == [f"older: {words}"]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("2026-03-05", "2026-03-05", "2026-03-06"),
        ("20260305", "2026-03-05", "2026-03-06"),
        ("2026-03-05T14:30", "2026-03-05T14:30", "2026-03-05T14:30"),
        ("2026-03-05 14:30:10", "2026-03-05T14:30:10", "2026-03-05T14:30:10"),
        ("today", "2026-03-18", "2026-03-19"),
        ("yesterday", "2026-03-17", "2026-03-18"),
        ("wed", "2026-03-18", "2026-03-19"),
        ("Thursday", "2026-03-12", "2026-03-13"),
    ],
)
def test_dates(text, start, end):
    """Days are whole, times are moments, in local time."""
    first, last = (datetime.fromisoformat(each).timestamp() for each in (start, end))
    assert parse_when(text, NOW) == (first, last, None)


def test_a_time_may_name_its_zone():
    """Such times stand in logs."""
    assert parse_when("2026-03-05T14:30:00Z", NOW).start == 1_772_721_000.0
    assert parse_when("2026-03-05t16:30+02:00", NOW).start == 1_772_721_000.0


@pytest.mark.parametrize(
    "text", ["money", "2026-13", "2026-02-30", "9999-12-31", "2026-03-05T25:00", "m", "5000y"]
)
def test_no_dates(text):
    """What is beyond the calendar is refused as well."""
    with pytest.raises(ValueError, match=r"is no age .* and no date"):
        parse_when(text, NOW)


@pytest.mark.parametrize(
    "text", [*UNITS, "90", "1w 2d", "2026", "2026-03", "2026-03-05", "20260305T1430", "mon"]
)
def test_a_search_and_a_clean_up_read_the_same(text):
    """What is `older:` was last active `before:` the same moment."""
    when = parse_when(text, NOW)
    age = Selection(parse_line(f'older:"{text}"', NOW)).age(NOW)
    assert age == pytest.approx(NOW - when.start)
    if " " not in text:
        assert not parse_query(f"before:{text}", now=NOW).problems


def test_stale_is_one_span(made):
    """A search for `is:stale` and a clean-up by it choose the same conversations."""
    ages = {"a-day": 2 * DAY, "nearly": STALE_AFTER - 60, "stale": STALE_AFTER, "ended": 30 * DAY}
    sessions = [{"id": name, "started_at": NOW - age} for name, age in ages.items()]
    sessions[-1] |= {"ended_at": NOW - 30 * DAY, "end_reason": "cli_close"}
    rows = [{"session_id": "stale", "timestamp": NOW - STALE_AFTER}]
    with opened(made("22", sessions, rows), NOW) as (reader, catalog):
        searched = set(
            roots_in(reader, compile_filters(parse_query("is:stale", now=NOW), NOW), catalog)
        )
        plan = make_plan(reader, catalog, Selection(parse_line("is:stale", NOW)), NOW)
    planned = {each.conversation.root_id for each in plan.selected}
    assert searched == planned == {"stale"}


def test_sizes():
    """In thousands, as sizes are shown; with an i in 1024s."""
    sizes = {
        "0": 0, "1024": 1024, "10M": 10_000_000, "10mb": 10_000_000, "1.5G": 1_500_000_000, "2k": 2000,
        "4MiB": 4 * 1024 * 1024, "1T": 10**12, "7B": 7, "1 K": 1000,
    }  # fmt: skip
    assert {text: parse_bytes(text) for text in sizes} == sizes


def test_counts():
    """Whole, with separators or units."""
    texts = ("0", " 5 ", "1,000", "1,234,567", "20k", "1.5M")
    assert [parse_count(text) for text in texts] == [0, 5, 1000, 1_234_567, 20_000, 1_500_000]


def test_money():
    """With and without the sign."""
    amounts = {"5": 5, "$0.50": 0.5, ".5": 0.5, "2k": 2e3, "$1.5M": 1.5e6, "0": 0}
    assert {text: parse_money(text) for text in amounts} == amounts


@pytest.mark.parametrize(
    ("parse", "words", "texts"),
    [
        (parse_bytes, "wants a size", "M -1 10X 1i 1e3 inf 99999999T"),
        (parse_count, "wants a whole number", "k few -5 1.5 1_000 1,00 99999999999999999999 inf 1e3 $5"),
        (parse_money, "wants an amount", "$ . x -1 nan inf 1e99 99999999M"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused(parse, words, texts):
    """Nothing is none either, and a part of a message is no message."""
    for text in ("", *texts.split()):
        with pytest.raises(ValueError, match=words):
            parse(text)
