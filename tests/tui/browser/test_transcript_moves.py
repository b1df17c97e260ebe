"""Moving in a transcript by day, by segment and to a mark, on conversations made for it."""

import pytest
from textual.events import MouseScrollDown, MouseScrollUp
from transcripts import START, conversation_of, give, row_of, screen_text, viewing

from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.sessions.models import (
    Session,
)
from hermes_browse.tui.browser.transcript.entries import EntryKind

DAY = 86_400.0


def week(per_day=30, days=4):
    """A conversation of several days, each of them a segment as well."""
    sessions = [Session(f"s{day}", "cli", ended_at=START + day * DAY + 900) for day in range(days)]
    rows = [
        row_of(day * per_day + n, day, START + day * DAY + n)
        for day in range(days)
        for n in range(per_day)
    ]
    model = conversation_of(sessions, rows)
    give(model, 0, len(rows))
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    "forward, back, kind",
    [
        ("right_square_bracket", "left_square_bracket", EntryKind.DAY),
        ("right_parenthesis", "left_parenthesis", EntryKind.SEAM),
    ],
)
async def test_days_and_segments_are_walked_one_by_one_and_back(forward, back, kind):
    model = week()
    async with viewing(model) as (view, pilot):
        await pilot.press("home")
        goals = [
            index for index, entry in enumerate(model.entries) if entry.kind is kind and index > 0
        ]
        seen = []
        for _ in goals:
            await pilot.press(forward)
            seen.append(view.page.position)
        assert seen == [(goal, 0) for goal in goals]
        await pilot.press(forward)
        assert view.page.position == seen[-1], "there is no further one"
        await pilot.press(back)
        assert view.page.position == seen[-2]
        await pilot.press(*[back] * 5)
        assert view.page.position == (0, 0)


async def test_back_from_the_middle_goes_to_the_beginning_of_this_day():
    model = week()
    async with viewing(model, message_id=2 * 30 + 15) as (view, pilot):
        await pilot.press("down", "left_square_bracket")
        assert model.entries[view.page.position[0]].kind is EntryKind.DAY
        first = model.step(view.page.position[0], 1)
        assert first is not None and model.row(first) == model.outline.rows[60]


async def test_the_next_day_may_be_on_the_page():
    """It is gone to first, wherever on the page the current message is."""
    model = week(per_day=1, days=40)
    async with viewing(model, size=(80, 40)) as (view, pilot):
        await pilot.press("home", "down", "right_square_bracket")
        first = next(
            at for at, each in enumerate(model.entries) if at and each.kind is EntryKind.DAY
        )
        assert view.page.position == (first, 0)


async def test_a_day_that_ends_on_the_last_page_is_not_stepped_to_for_ever():
    """The page cannot scroll further than the end: the next step still goes on from where the last
    one went."""
    async with viewing(week(per_day=2), size=(80, 40)) as (view, pilot):
        for _ in range(6):
            view.action_step(1, "day")
        await pilot.pause()
        assert view.app.told.count("no further day") >= 2


async def test_a_mark_is_gone_back_to_and_forth():
    async with viewing(week(), message_id=40) as (view, pilot):
        await pilot.press("down", "down", "m")
        marked = screen_text(view)
        await pilot.press("home")
        start = screen_text(view)
        assert start != marked
        await pilot.press("apostrophe")
        assert screen_text(view) == marked
        await pilot.press("apostrophe")
        assert screen_text(view) == start


async def test_without_a_mark_the_last_jump_is_undone():
    async with viewing(week(), message_id=40) as (view, pilot):
        await pilot.press("down")
        before = screen_text(view)
        await pilot.press("end", "apostrophe")
        assert screen_text(view) == before


async def test_a_mark_of_another_conversation_goes_nowhere():
    async with viewing(week(), message_id=40) as (view, pilot):
        await pilot.press("m")
        other = week(days=3)
        other.conversation = other.conversation._replace(segments=(Session("other", "cli"),))
        view.show(other)
        before = screen_text(view)
        await pilot.press("apostrophe")
        assert screen_text(view) == before


async def test_at_the_end_keys_are_about_the_last_message():
    """Not about what happens to stand at the top of the last page: copying takes the end, K the
    last prompt."""
    model = week()
    async with viewing(model) as (view, pilot):
        last = len(model.outline.rows) - 1
        assert view.current_id == last, "it opens at its end"
        await pilot.press("home", "end")
        assert view.current_id == last
        await pilot.press("K")
        assert view.current_id == last - 1, "the last prompt is not skipped"


async def test_at_the_end_down_never_goes_up():
    """Where nothing is left to scroll to, the arrows step through the messages from the one that is
    marked."""
    model = week()
    async with viewing(model) as (view, pilot):
        last = len(model.outline.rows) - 1
        await pilot.press("end", *["left_curly_bracket"] * 2)
        seen = [view.current_id]
        assert seen == [last - 2]
        for _ in range(4):
            await pilot.press("down")
            seen.append(view.current_id)
        assert seen == [last - 2, last - 1, last, last, last]


async def test_prompts_are_walked_past_summaries():
    """A summary that compaction wrote as a user's message is no prompt."""
    model = week(days=1)
    summary = (
        "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were folded.\n\nWhat was said before."
    )
    model.add([ChatMessage(20, "s0", "user", summary)])
    async with viewing(model) as (view, pilot):
        await pilot.press("end", *"KKKKK")
        assert view.current_id == 18, "28, 26, 24, 22, and not 20"
        await pilot.press("J")
        assert view.current_id == 22


@pytest.mark.slow
@pytest.mark.parametrize("pane", ["rows", "transcript"])
async def test_the_wheel_scrolls_three_lines(browser, pane):
    await browser.press("tab", "g")
    widget = getattr(browser.screen, pane)
    for event, line in ((MouseScrollDown, 3), (MouseScrollDown, 6), (MouseScrollUp, 3)):
        widget.post_message(event(widget, 5, 5, 0, 0, 0, False, False, False))
        await browser.settle()
        assert widget.scroll_offset.y == line
