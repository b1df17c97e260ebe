"""The list: asks only for what is on screen, keeps its place, and takes stored text as text."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from transcripts import LooksApp

from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.sessions.models import (
    Conversation,
    ConversationKind,
    Relation,
    Session,
    Status,
)
from hermes_browse.store.text import printable
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow, JobRow
from hermes_browse.tui.text.styled import line_text
from hermes_browse.tui.widgets.list_rows import FixedRows, NoteRow

NOW = 1_700_000_000.0
HOSTILE = "[bold] [/] [@click=app.quit]x[/] \x1b]0;owned\x07 \u202eevil \x00"


def conversation(number, title=None, **more):
    """A chat with an id of its own."""
    session = Session(f"s{number}", "cli", message_count=142, cost_usd=1.24)
    fields = {
        "title": title or f"Chat {number}",
        "last_active": NOW - number * 60,
        **more,
    }
    return Conversation((session,), Relation.ROOT, ConversationKind.CHAT, Status.ENDED, **fields)


class Counted:
    """Many rows, none of them held; counts how often one is asked for."""

    def __init__(self, count, shift=0):
        self.count, self.shift, self.asked = count, shift, 0

    def __len__(self):
        return self.count

    def row(self, index):
        """The row at an index."""
        assert 0 <= index < self.count
        self.asked += 1
        return ConversationRow(conversation(index - self.shift))

    def index_of(self, key):
        """Where the row with a key is."""
        return int(key.removeprefix("cs")) + self.shift if key else None


class ListApp(LooksApp):
    """One list, and what it said."""

    def __init__(self):
        super().__init__()
        self.said = []

    def compose(self):
        yield ConversationList()

    @property
    def list(self):
        """The list, with a clock that stands still."""
        found = self.query_one(ConversationList)
        found.clock = lambda: NOW
        return found

    def on_mount(self):
        """Keep which rows the cursor came to."""
        self.watch(self.list, "at", self.keep, init=False)

    def keep(self, at):
        """Keep it."""
        if at.row is not None and at.is_moved:
            self.said.append(("highlighted", at.row.key))

    def on_conversation_list_selected(self, message):
        """Keep it."""
        self.said.append(("selected", message.row.key))


@asynccontextmanager
async def showing(source, size=(80, 10)):
    """An application with one list, which shows these rows and has the focus, and its pilot."""
    app = ListApp()
    async with app.run_test(size=size) as pilot:
        app.list.show(source)
        app.list.focus()
        await pilot.pause()
        yield app, pilot


def chats(numbers):
    """Rows of chats."""
    return FixedRows([ConversationRow(conversation(number)) for number in numbers])


async def test_rows_off_screen_are_never_asked_for():
    """A frame over 100,000 rows costs a screen of rows, at the top, at the end and for a step."""
    source = Counted(100_000)
    async with showing(source, (80, 24)) as (app, pilot):
        assert source.asked <= 3 * 24 + 10
        for key in ("end", "pageup", "up"):
            source.asked = 0
            await pilot.press(key)
            await pilot.pause()
            assert 0 < source.asked <= 2 * 24 + 10
        assert app.list.cursor == 100_000 - 1 - 23 - 1


async def test_new_rows_above_move_nothing():
    """The cursor stays on its conversation, on the same line of the screen, and says nothing."""
    async with showing(Counted(1000), (80, 24)) as (app, pilot):
        await pilot.press(*["pagedown"] * 3, *["up"] * 5)
        await pilot.pause()
        key = app.list.current
        line = app.list.cursor - app.list.scroll_offset.y
        app.said.clear()
        app.list.show(Counted(1007, shift=7))
        await pilot.pause()
        assert app.list.current == key
        assert app.list.cursor - app.list.scroll_offset.y == line
        assert app.said == []


async def test_keys_and_mouse():
    """Arrows and vim keys move, Enter and a double click take the row; a single click does not."""
    async with showing(Counted(100), (80, 24)) as (app, pilot):
        await pilot.press("j", "down", "k", "G", "g", "enter")
        await pilot.pause()
        assert app.list.cursor == 0
        assert app.said[-1] == ("selected", "cs0")
        app.said.clear()
        await pilot.click(ConversationList, offset=(5, 4))
        await pilot.pause()
        assert app.said == [("highlighted", "cs4")]
        await pilot.click(ConversationList, offset=(5, 6), times=2)
        await pilot.pause()
        assert app.said[-1] == ("selected", "cs6")


async def test_stored_text_is_neither_markup_nor_control():
    """A title from a store stands there letter by letter, and cannot act on the terminal."""
    row = ConversationRow(conversation(1, HOSTILE))
    async with showing(FixedRows([row]), (160, 10)) as (app, _pilot):
        line = app.list.render_line(0).text
        assert "[bold] [/] [@click=app.quit]x[/]" in line
        assert printable(line) == line


async def test_dim_is_dimmer_than_titles():
    """Hierarchy by dimness: what is beside the title is painted fainter than the title."""
    async with showing(chats(range(3))) as (app, _pilot):
        painted = {part.text.strip(): part.style for part in app.list.render_line(1)}
        title = painted["Chat 1"]
        age = next(style for text, style in painted.items() if text.startswith("1m"))
        assert age.dim or age.color != title.color


async def test_the_ages_of_all_rows_are_of_one_moment():
    """A row drawn again, as the cursor leaves it, is not ahead of the others; later all are."""
    async with showing(chats(range(1, 4))) as (app, pilot):
        rows, now = app.list, NOW
        rows.clock = lambda: now
        before = [rows.render_line(y).text for y in range(3)]
        now += 240
        rows.action_move(1)
        await pilot.pause()
        after = [rows.render_line(y).text for y in range(3)]
        assert [text[2:] for text in after] == [text[2:] for text in before]
        rows.refresh_rows()
        await pilot.pause()
        assert all(f"{n + 4}m" in rows.render_line(n - 1).text for n in range(1, 4))


async def test_the_quiet_cursor_shows_in_ansi_themes():
    """The row the cursor is on differs from the others while another pane has the keys."""
    async with showing(chats(range(3))) as (app, pilot):
        app.theme = "ansi-dark"
        app.set_focus(None)
        await pilot.pause()
        cursor, other = (
            [(part.text[:1], part.style) for part in app.list.render_line(y)] for y in (0, 1)
        )
        assert cursor != other


class _BarRow(NamedTuple):
    key: str = "bar"

    def spans(self, width, now):
        """A name and a bar."""
        return [(" · name", "dim"), ("██▌  ", "dim"), (" " * (width - 12), "plain")]


async def test_the_cursor_reverses_words_and_no_bars_in_ansi_themes():
    """Words stay legible on it, and a bar keeps its length."""
    async with showing(FixedRows([_BarRow()])) as (app, pilot):
        app.theme = "ansi-dark"
        await pilot.pause()
        parts = {part.text.strip(): part.style for part in app.list.render_line(0)}
        name, bar = parts["▌· name"], parts["██▌"]
        assert all(
            part.style.reverse
            for part in app.list.render_line(0)
            if not part.text.strip() and part.style
        )
        assert name.reverse and not bar.reverse


@pytest.mark.slow
@example("a name longer than the line " * 3, 40, "tagged")
@given(
    st.text(max_size=80),
    st.integers(38, 160),
    st.sampled_from(["conversation", "tagged", "job", "note"]),
)
def test_rows_are_exactly_as_wide_as_asked(text, width, kind):
    """Every row fills its width and nothing more, whatever it is called."""
    text = text.replace("\u200d", "")
    chat = conversation(1, text, branches=2, subagents=11, note="possibly a subagent")
    session = chat.segments[0]._replace(tags=(text, "urgent"))
    tagged = chat._replace(segments=(session,))
    rows = {
        "conversation": ConversationRow(chat),
        "tagged": ConversationRow(tagged),
        "job": JobRow(text or "job", (chat,) * 412, chat),
        "note": NoteRow(text),
    }
    spans = rows[kind].spans(width, NOW)
    assert sum(cell_len(part) for part, _ in spans) == width
    assert all(printable(part) == part and "\n" not in part for part, _ in spans)


@pytest.mark.parametrize("width", [38, 60, 120])
def test_a_match_is_on_screen_and_lit(width):
    """However narrow the line and however late the match."""
    snippet = "a long beginning " * 6 + "needle and the rest"
    start = snippet.index("needle")
    row = HitRow(Hit(1, "s1", "tool", NOW, snippet, ((start, start + 6),)), None)
    spans = row.spans(width, NOW)
    assert [part for part, look in spans if look == "hit"] == ["needle"]
    assert sum(cell_len(part) for part, _ in spans) == width


def test_the_time_of_a_hit_is_no_count():
    """It stands below the heading of a column of counts."""
    row = HitRow(Hit(1, "s1", "tool", NOW - 11 * 3600, "a word", ()), None)
    assert line_text(row.spans(60, NOW)).endswith(" 11h ago ")
