"""The screen of a run: its axis, and what can be read from there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.tui.screens.run import RunAxis, Scale

HOUR = 3600.0


@given(st.lists(st.floats(0, 1e6), max_size=30), st.lists(st.floats(-10, 2e6), max_size=30))
def test_time_goes_on_from_left_to_right(times, others):
    scale = Scale(times)
    places = [scale.share(at) for at in sorted([*times, *others])]
    assert places == sorted(places) and all(0 <= place <= 1 for place in places)


def test_pauses_are_short():
    """A night between two hours of work takes a twentieth of them."""
    work = [60.0 * minute for minute in range(61)]
    scale = Scale([*work, *(12 * HOUR + at for at in work)])
    assert scale.share(12 * HOUR) - scale.share(HOUR) == pytest.approx(0.05 / 1.05)
    assert scale.share(HOUR / 2) == pytest.approx(0.25, rel=0.06)


@pytest.mark.slow
async def test_a_key_moves_the_mark_and_counts_nothing_anew(browser, monkeypatch):
    await browser.press("B")
    monkeypatch.setattr(RunAxis, "_rows", None)
    before = browser.text("#axis").splitlines()
    await browser.press("G")
    after = browser.text("#axis").splitlines()
    moved = [line for line in after if line not in before]
    assert moved and moved == [line for line in after if "▲" in line]
