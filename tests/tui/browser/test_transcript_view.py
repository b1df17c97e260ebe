"""The viewer: lays out only the page, keeps what is being read in place, and paints hostile text
harmlessly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import START, give, lines_of, model_of, screen_text, viewing

from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.store.search.query import parse
from hermes_browse.store.text import printable
from hermes_browse.tui.browser.transcript import block_layout
from hermes_browse.tui.browser.transcript.entries import Look, Tools, TranscriptModel
from hermes_browse.tui.browser.transcript.markdown_layout import render_markdown
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.text.styled import TextLayout, line_text, line_width


async def _resize(pilot, view, size):
    """Give the terminal another size, and wait until all is laid out for it."""
    await pilot.resize_terminal(*size)
    while (view.size.width, view.page.height) != size or view._being_laid_out:
        await pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("at_end", [True, False])
async def test_a_resize_keeps_what_is_read(*, at_end):
    """Down to one line of another width and back: the same message at the top, or the end."""
    async with viewing(model_of(60), size=(60, 20)) as (view, pilot):
        if not at_end:
            view.action_scroll_lines(-30)
        await pilot.pause()
        before = view.page.position[0]
        for size in ((40, 1), (40, 3), (100, 1), (60, 20)):
            await _resize(pilot, view, size)
            place = view.page.position[0]
            assert place >= 50 if at_end else abs(place - before) <= 1, size
            assert view.page.at_end == at_end
        assert abs(view.page.position[0] - before) <= 1


async def test_another_width_keeps_the_line_of_a_long_message():
    """What was in the middle of it still is."""
    async with viewing(
        model_of(1, text=" ".join(f"word{n}" for n in range(4_000))), size=(120, 20)
    ) as (view, pilot):
        view.page.go((1, view.page.heights[1] // 2))
        view._update_page()
        for size in ((50, 20), (120, 20)):
            await _resize(pilot, view, size)
            words = line_text(view.page.frame()[0][1]).split()
            assert 1_800 < int(words[0].removeprefix("word")) < 2_200


@pytest.mark.slow
@pytest.mark.parametrize("message_id", [None, 25_000, 0])
async def test_fifty_thousand_messages_lay_out_one_page(message_id, monkeypatch):
    """Opening at the end, in the middle or at the start renders what is on screen and no more."""
    laid = set()

    lay_out = block_layout.lay_out

    def counted(shown):
        laid.add(shown.message.id)
        return lay_out(shown)

    monkeypatch.setattr(block_layout, "lay_out", counted)
    async with viewing(model_of(50_000), message_id=message_id) as (view, _pilot):
        wanted = f"message {49_999 if message_id is None else message_id}"
        assert any(f"{line} ".lstrip().startswith(f"{wanted} ") for line in screen_text(view))
        assert 0 < len(laid) <= 2 * 24


async def test_what_is_missing_is_asked_for_once():
    """A page of unread messages is asked for with one request, and stays quiet until it is
    answered."""
    model = model_of(5000, read=False)
    async with viewing(model, message_id=2500) as (view, pilot):
        view.refresh()
        await pilot.pause()
        assert len(view.app.wanted) == 1
        _model, first, last = view.app.wanted[0]
        place = model.entry_of(2500)
        assert place is not None and first <= place < last
        assert last - first < 200
        view.loaded()
        await pilot.pause()
        assert len(view.app.wanted) == 1, "what was deleted meanwhile is not asked for for ever"


async def test_text_that_arrives_moves_nothing():
    """Heights were guessed; the entry opened at keeps its line when the real ones come in."""
    model = model_of(400, read=False)
    async with viewing(model, message_id=200) as (view, pilot):
        give(model, 198, 215)
        view.loaded()
        await pilot.pause()
        before = screen_text(view)
        assert any("message 200" in line for line in before[:6])
        give(model, 0, 400)
        view.loaded()
        await pilot.pause()
        assert screen_text(view) == before


@pytest.mark.slow
async def test_line_by_line_scrolling_is_exact_in_both_directions():
    """Up through entries never drawn before, then down again: each step is one line, and back is
    back."""
    async with viewing(model_of(400), message_id=200) as (view, pilot):
        seen = [screen_text(view)]
        await pilot.press("up", "down")
        assert screen_text(view) == seen[0]
        for _ in range(12):
            await pilot.press("up")
            now = screen_text(view)
            assert now[1:] == seen[-1][:-1]
            seen.append(now)
        for earlier in reversed(seen[:-1]):
            await pilot.press("down")
            assert screen_text(view) == earlier


async def test_a_growing_conversation_is_followed_only_from_its_end():
    """At the end the new message is on screen; further up nothing moves and the news are
    counted."""
    async with viewing(model_of(100)) as (view, pilot):
        assert view.grow(model_of(101)) == 0
        assert any("message 100" in line for line in screen_text(view))
        await pilot.press("home")
        view.focus()
        await pilot.press("home")
        await pilot.pause()
        before = screen_text(view)
        assert view.grow(model_of(103)) == 2
        assert screen_text(view) == before


async def test_hits_are_lit_and_the_current_one_stands_out():
    """Both differ from plain text and from each other."""
    matchers = parse("needle").terms
    async with viewing(model_of(6, text="a needle here"), message_id=2, matchers=matchers) as (
        view,
        _pilot,
    ):
        styles = {
            str(part.style)
            for y in range(view.size.height)
            for part in view.render_line(y)
            if part.text == "needle"
        }
        assert len(styles) == 2


async def test_stored_text_is_neither_markup_nor_control():
    """Markup stands there literally; controls and bidi overrides reach no strip."""
    hostile = "[bold]x[/] [@click=app.quit]q[/] \x1b]0;owned\x07 \u202eevil \x9b2J"
    async with viewing(model_of(2, text=hostile), size=(120, 24)) as (view, _pilot):
        shown = screen_text(view)
        assert any("[bold]x[/] [@click=app.quit]q[/]" in line for line in shown)
        assert all(printable(line) == line for line in shown)


def test_entities_do_not_smuggle_controls():
    """`&#x202e;` must not become the override that the raw character is kept from being."""
    for line in markdown("a &#x202e;b &#8203; c", 40):
        assert printable(line_text(line)) == line_text(line)


@pytest.mark.parametrize("text", ["- " * 20 + "deep", "1. " * 15 + "deep"])
def test_deep_nesting_stays_within_the_width(text):
    """What is wider than the line is cut off and cannot be read."""
    assert max(line_width(line) for line in markdown(text, 12)) <= 12


def markdown(text, width):
    """Its lines."""
    return TextLayout(render_markdown(printable(text), width), width).lines


def _call_lines(result, tools):
    call = ToolCall("c1", "terminal", '{"command": "ls -la src"}')
    model = model_of(2)
    asking = ChatMessage(0, "s", "assistant", "", START, tool_calls=(call,))
    model.add([asking, ChatMessage(1, "s", "tool", result, START + 4.1, tool_call_id="c1")])
    return lines_of(asking, model, 80, Look(tools))


def test_a_tool_call_is_one_line_with_its_outcome():
    """What was asked, how much came back, how it went and how long it took."""
    line = next(
        each
        for each in _call_lines('{"output": "x", "exit_code": 0}', Tools.SHORT)
        if "terminal" in each
    )
    assert "ls -la src" in line and "ok" in line and "4.1 s" in line
    for failed in ('{"error": "no"}', '{"output": "", "exit_code": 2}'):
        assert any("error" in each for each in _call_lines(failed, Tools.SHORT))


def test_tool_modes_show_more_and_more():
    """Off names the tools, short adds the argument, full the output; none says nothing."""
    off, short, full = ("\n".join(_call_lines("the output", mode)) for mode in Tools)
    assert "terminal" in off and "ls -la" not in off
    assert "ls -la" in short and "the output" not in short
    assert "the output" in full


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_a_line_of_the_whole_is_one_of_an_entry(heights):
    """For the scroll bar; entries without lines are passed over."""
    page = Page()
    page.heights = heights
    lines = [(i, line) for i, height in enumerate(heights) for line in range(height)]
    assert [page.locate(y) for y in range(len(lines))] == lines


async def test_messages_that_hermes_takes_back_leave_a_current_one():
    """It was one of them."""
    model = model_of(30)
    async with viewing(model, size=(60, 20)) as (view, pilot):
        view.action_step(-1, "")
        left = TranscriptModel(
            model.conversation, model.outline._replace(rows=model.outline.rows[:5])
        )
        left.add(model.messages.values())
        view.grow(left)
        await pilot.pause()
        assert view.current_id == 4
        assert "message 4" in "\n".join(screen_text(view))


@pytest.mark.parametrize("start", ["▾", "│ …"])
async def test_a_click_on_a_fold_turns_it(start):
    """Also on the line that says how much more there is."""
    model = model_of(2)
    call = ToolCall("c1", "terminal", '{"command": "ls"}')
    model.add([ChatMessage(0, "s", "assistant", "", START, tool_calls=(call,))])
    model.add([ChatMessage(1, "s", "tool", "line\n" * 12, START + 1, tool_call_id="c1")])
    async with viewing(model) as (view, pilot):
        view.action_cycle_tools()
        await pilot.pause()
        shown = screen_text(view)
        row = next(y for y, line in enumerate(shown) if line.strip().startswith(start))
        assert "6 more lines" in "\n".join(shown)
        await pilot.click(TranscriptView, offset=(8, row))
        assert sum("│ line" in line for line in screen_text(view)) == 12
