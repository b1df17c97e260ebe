"""Numbers, times and texts: short, never raising, and exactly as wide as they claim."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_browse.store.text import printable
from hermes_browse.store.wording import LANGUAGES, speak
from hermes_browse.tui.screens.insights.words import tick, weekday
from hermes_browse.tui.text import formats, sentences
from hermes_browse.tui.text.styled import breaks

NOW = 1_700_000_000.0
_DAYS = range(0, 900 * 86_400, 86_400)
"""Seconds: every day of two years and a half."""
_JOINER = "\u200d"
_CHARACTERS = st.one_of(
    st.characters(exclude_categories=["Cs"], exclude_characters=_JOINER + "\n\t"),
    st.sampled_from([" ", "語", "é", "e\u0301", "👍🏽", "❤\ufe0f", "👨\u200d👩\u200d👧"]),
)
TEXTS = st.lists(_CHARACTERS, max_size=60).map("".join).map(printable)
"""Printable lines with wide, combined and joined characters; joiners between emoji only."""


@pytest.mark.parametrize(
    "passed, shown",
    [
        (0, "now"),
        (59, "now"),
        (5 * 60, "5min"),
        (59.9 * 60, "1h"),
        (2 * 3600, "2h"),
        (23.9 * 3600, "1d"),
        (3 * 86400, "3d"),
        (13.9 * 86400, "13d"),
        (42 * 86400, "6w"),
        (200 * 86400, "6mo"),
        (729 * 86400, "24mo"),
        (800 * 86400, "2y"),
        (101 * 365 * 86400, ""),
    ],
)
def test_age(passed, shown):
    """An age is never rounded into a unit that does not exist, like 60m."""
    assert formats.age(NOW - passed, NOW) == shown


def test_no_month_reads_as_a_day():
    """A month has its whole year, and a day of another year has that: `Apr 26` could be either."""
    assert tick("day", "2026-04-26", 2027) == "26 Apr 2026"
    assert (
        tick("day", "2026-04-26", 2026) == "26 Apr" and tick("month", "2026-04", 2026) == "Apr 2026"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_ages_keep_to_their_column(language):
    """In every language, from seconds to years: a column of a list is as wide as it claims."""
    speak(language)
    try:
        ages = [formats.age(NOW - passed, NOW) for passed in (*range(0, 90_000, 977), *_DAYS)]
        assert max(map(cell_len, ages)) <= formats.AGE_WIDTH
        assert max(cell_len(weekday(number)) for number in range(7)) <= 4
    finally:
        speak("en")


@pytest.mark.parametrize("moment", [0.0, -1e18, 1e18, 1.7e12, math.nan, math.inf, -math.inf])
def test_times_never_raise(moment):
    """Salvaged rows hold any number: what is no date is shown as none."""
    for shown in (
        formats.age(moment, NOW),
        formats.clock(moment),
        formats.day(moment),
        formats.day_key(moment),
    ):
        assert printable(shown) == shown
        assert "\n" not in shown


def test_unknown_times_are_blank():
    """None is neither now nor 1970; the clock keeps its column."""
    assert formats.clock(None) == " " * 5
    assert formats.age(None, NOW) == formats.day_key(None) == ""


@pytest.mark.parametrize(
    "value, shown",
    [(0, "0"), (999, "999"), (1000, "1k"), (3400, "3.4k"), (120_000, "120k"), (1_234_000, "1.2M")],
)
def test_number(value, shown):
    """Counts have a unit from a thousand on."""
    assert formats.number(value) == shown


def test_numbers_are_rounded_into_the_next_unit():
    """Four digits before a unit would break the column they stand in."""
    assert formats.number(999_950) == "1M"
    assert formats.size(999_600) == "1.0 MB"


def test_size_and_money():
    """Sizes in powers of ten; a cost that exists is never shown as nothing."""
    assert (formats.size(480), formats.size(12_000), formats.size(1_200_000_000)) == (
        "480 B",
        "12 KB",
        "1.2 GB",
    )
    assert (formats.money(1.24), formats.money(0.004), formats.money(None)) == ("$1.24", "<1¢", "")


def test_end_reasons():
    """Known reasons in words, unknown ones as they stand."""
    assert sentences.end_reason("compression") == "compressed"
    assert sentences.end_reason("something_new") == "something_new"
    assert sentences.end_reason(None) == ""


@given(TEXTS, st.integers(0, 40), st.booleans())
def test_fit_is_exact(text, width, right):
    """Whatever stands right of a fitted text stays in its column."""
    assert cell_len(formats.fit(text, width, right=right)) == width
    assert cell_len(formats.clip(text, width)) <= width


def test_fit_is_exact_after_a_stray_joiner():
    """Rich gives what follows a joiner no width, the padding too."""
    assert cell_len(formats.fit(printable("❤" + _JOINER), 19)) == 19


@pytest.mark.parametrize("whole", ["👨\u200d👩\u200d👧", "e\u0301", "❤\ufe0f", "語"])
def test_clip_never_halves_a_character(whole):
    """What is left of the ellipsis is a number of whole characters."""
    for width in range(1, 12):
        kept = formats.clip(whole * 6, width).removesuffix("…")
        assert kept == whole * (len(kept) // len(whole))


@given(TEXTS, st.integers(2, 30))
def test_breaks_fit_and_lose_only_spaces(text, width):
    """No line is too wide, and every character but spaces is on one of them."""
    ranges = breaks(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end in ranges)
    kept = "".join(text[start:end] for start, end in ranges)
    assert kept.replace(" ", "") == text.replace(" ", "")
