"""The list explains itself: its head, its order, what it measures, what a row is in words, and one
count everywhere."""

from itertools import pairwise

import pytest
from browsing import NOW, browsing, demo_app, on_demo, rows_of
from builders import make_store
from pruning import chosen
from rich.cells import cell_len

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.plan import make_plan
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.search.suggestions import Suggestion
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Sort, Status, View
from hermes_browse.store.wording import LANGUAGES, speak
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.header import about, conversation_title
from hermes_browse.tui.browser.list import measuring
from hermes_browse.tui.browser.list.columns import COLUMNS, ListLayout
from hermes_browse.tui.browser.list.rows import (
    ConversationRow,
    HitRow,
    JobRow,
    MoreRow,
    SuggestionRow,
)
from hermes_browse.tui.text import formats

RESUME = "Enter resumes …{id}"


def listed(browser):
    """The conversations on screen, in order; of a job the run that stands for it."""
    source = browser.screen.rows.source
    rows = [source.row(index) for index in range(len(source))]
    return [
        row.conversation
        if isinstance(row, ConversationRow)
        else source._details.complete(row.runs[0])
        for row in rows
        if isinstance(row, ConversationRow | JobRow)
    ]


async def click(browser, name):
    """Click a name in the head."""
    await browser.pilot.click("#head", offset=(browser.text("#head").rindex(name) + 1, 0))
    await browser.settle()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "chosen", [(), ("size", "tokens"), ("branch", "directory", "model", "age")]
)
def test_the_head_is_as_wide_as_the_rows_in_every_order(language, chosen):
    """No name is cut, and the one with the arrow is there at every width."""
    speak(language)
    try:
        for sort in Sort:
            layout = ListLayout(chosen, sort, sort is Sort.COST)
            for width in (38, 54, 79, 91, 160):
                head = layout.head(width)
                assert cell_len("".join(text for text, _look, _sort in head)) == width
                assert not any("…" in text for text, _look, _sort in head)
                arrows = [each for text, _look, each in head if "↓" in text or "↑" in text]
                assert arrows == (
                    [] if sort is Sort.ACTIVITY and chosen and "age" not in chosen else [sort]
                )
    finally:
        speak("en")


@pytest.mark.parametrize("width", [79, 91, 160])
def test_names_stand_above_what_they_name(width, tmp_path):
    """Right above right, left above left, and what a list is sorted by is the last column."""
    sessions = [
        {
            "id": "a",
            "source": "cli",
            "model": "x/m",
            "title": "T",
            "message_count": 142,
            "started_at": NOW,
        }
    ]
    with Store(make_store(tmp_path / "state.db", "22", sessions, [])).reader() as reader:
        row = ConversationRow(
            read_catalog(reader, NOW).conversation("a")._replace(size=480, shown_count=142)
        )
    for sort in (Sort.MESSAGES, Sort.SIZE):
        layout = ListLayout(sort=sort)
        head = "".join(text for text, _look, _sort in layout.head(width))
        line = "".join(text for text, _look in row.spans(width, NOW, layout))
        told = {Sort.MESSAGES: ("msgs↓", "142"), Sort.SIZE: ("size↓", "480 B")}[sort]
        assert head.rstrip().endswith(told[0]) and line.rstrip().endswith(told[1])
        assert head.index("source") == line.index("cli") and head.index("title") == line.index("T")
    assert {column.order for column in COLUMNS.values() if column.order} == set(Sort) - {Sort.TITLE}


@pytest.mark.slow
async def test_sizes_come_in_and_are_sorted_once(tmp_path, monkeypatch):
    """No row moves before all bytes are known, and the status line tells how far that is."""
    monkeypatch.setattr(measuring, "_PIECE", 150)
    orders = []
    app = demo_app(tmp_path)
    async with browsing(app) as browser:
        main, before = browser.screen, [each.id for each in listed(browser)]
        told = []
        watch_progress = main.watch_progress

        def watched():
            watch_progress()
            orders.append([each.id for each in listed(browser)])
            told.append(main.progress)

        monkeypatch.setattr(main, "watch_progress", watched)
        await browser.sort("size")
        assert main.sort is Sort.SIZE
        sizes = [each.size for each in listed(browser)]
        assert None not in sizes and sizes == sorted(sizes, key=lambda size: -(size or 0))
        begun = next(at for at, words in enumerate(told) if words.startswith("measuring"))
        shares = [words for words in told if words.startswith("measuring")]
        assert told[begun:].count("") <= 2 and len(set(shares)) >= 3 and shares == sorted(shares)
        assert all(sorted(order) == sorted(before) for order in orders)
        measured = orders[begun : len(told) - told[::-1].index(shares[-1])]
        moves = sum(order != after for order, after in pairwise(measured))
        assert moves <= 1, (
            "the list takes its order once, perhaps after the first batch, and keeps it until all is measured"
        )
        assert formats.size(sizes[0] or 0) in browser.text("#list")


@pytest.mark.slow
async def test_the_numbers_of_a_conversation_are_the_same_everywhere(tmp_path):
    """Messages and bytes in the list, on the card of details, on that of a delete, and in the plan
    of a clean-up."""
    path = tmp_path / "state.db"
    async with on_demo(tmp_path, (200, 60)) as browser:
        with Store(path).reader() as reader:
            catalog = read_catalog(reader, NOW)
            plan = make_plan(reader, catalog, chosen("older:0d include:archived include:open"), NOW)
        planned = {each.conversation.root_id: each for each in plan.selected}
        assert any(each.own.shown != each.own.rows for each in plan.selected), (
            "bookkeeping is no message"
        )
        assert any(each.subagents for each in plan.selected)
        await browser.press("4")
        await browser.sort("size")
        by_size = {each.root_id: each.size for each in listed(browser)}
        await browser.sort("messages")
        assert browser.screen.sort is Sort.MESSAGES
        rows = rows_of(browser)
        totals = [row.total for row in rows if isinstance(row, JobRow)]
        counts = [
            row.total.message_count if isinstance(row, JobRow) else row.conversation.message_count
            for row in rows
            if isinstance(row, ConversationRow | JobRow)
        ]
        assert (
            len(totals) > 1 and len(counts) == len(rows) and counts == sorted(counts, reverse=True)
        )
        for each in listed(browser):
            if (
                each.root_id in planned and each.root_id in by_size
            ):  # another run may stand for a job
                assert each.message_count == planned[each.root_id].own.shown, each.title
                assert by_size[each.root_id] == planned[each.root_id].conversation.size, each.title
        both = [each for each in listed(browser) if each.root_id in planned]
        several = next(each for each in both if each.subagents)
        gateway = next(each for each in both if planned[each.root_id].own.rows > each.message_count)
        for each in (several, gateway):
            browser.screen.open(each)
            browser.screen.rows.focus()
            await browser.press("i")
            card = "\n".join(browser.text("#details").splitlines())
            assert f"{each.message_count:,} shown" in card
            await browser.press("escape", "D")
            assert isinstance(browser.app.screen, DeleteCard)
            told = f"{each.message_count:,} msgs · {formats.size(by_size[each.root_id] or 0)}"
            assert told in browser.card()
            await browser.press("escape")


def conversations(tmp_path):
    """One of each kind, by its root."""
    old = {"started_at": NOW - 7200.0, "ended_at": NOW - 3600.0, "source": "cli"}
    sessions = [
        {"id": "chain1", **old, "end_reason": "compression", "ended_at": NOW - 7000.0},
        {
            "id": "chain2_a5d6cc",
            "parent_session_id": "chain1",
            "started_at": NOW - 6999.0,
            "source": "cli",
        },
        {"id": "ended1", **old, "end_reason": "cli_close", "title": "Done"},
        {"id": "empty1", "source": "tui", "started_at": NOW - 90_000.0},
        {"id": "hook1", **old, "source": "webhook", "archived": 1},
    ]
    messages = [
        {
            "session_id": each,
            "role": "user",
            "content": "x",
            "timestamp": NOW - (5.0 if "chain" in each else 3600.0),
        }
        for each in ("chain1", "chain2_a5d6cc", "ended1", "hook1")
    ]
    with Store(make_store(tmp_path / "state.db", "22", sessions, messages)).reader() as reader:
        catalog = read_catalog(reader, NOW)
        return {each.root_id: each for each in catalog.select(View.ALL)}


def test_rows_in_words(tmp_path):
    """Each sign of a row has its words, and the sentence ends with what Enter does."""
    found = conversations(tmp_path)
    told = {root: about(ConversationRow(each), NOW, RESUME, 200) for root, each in found.items()}
    assert told["chain1"] == "≡ 2 parts · ● Hermes is writing in cli · Enter resumes …a5d6cc"
    assert told["ended1"] == "ended in cli, last used 1h ago · Enter resumes …ended1"
    assert told["empty1"] == "∅ no messages, started in tui 1d ago · Enter resumes …empty1"
    assert (
        told["hook1"].startswith("automation, nobody typed it · ")
        and " · ▪ archived · " in told["hook1"]
    )
    family = found["ended1"]._replace(branches=1, subagents=2, status=Status.OPEN)
    sentence = "⑂ 1 branch, ⊕ 2 subagents · ○ still open in cli, last used 1h ago"
    assert about(ConversationRow(family), NOW, "", 200) == sentence
    assert about(ConversationRow(family), NOW, RESUME, len(sentence)) == sentence, (
        "what Enter does goes first"
    )
    assert about(ConversationRow(family), NOW, RESUME, 20) == "⑂ 1 branch, ⊕ 2 subagents"
    hit = Hit(1, "ended1", "tool", NOW - 3600.0, "x", ())
    assert (
        about(HitRow(hit, found["ended1"]), NOW, "", 200)
        == "a tool result 1h ago in “Done” · Enter reads on"
    )
    parted = HitRow(hit, found["ended1"]._replace(title="Plan · Done"))
    assert about(parted, NOW, "", 30) == "a tool result 1h ago in “Plan · Done”", (
        "a title is not cut at its own point"
    )
    assert (
        about(MoreRow("ended1", 3, found["ended1"]), NOW, "", 200)
        == "3 more hits in “Done” · Enter shows them"
    )
    job = JobRow("cron x", (found["hook1"],) * 2, found["hook1"])
    assert (
        about(job, NOW, "", 200)
        == "▸ 2 runs of a cron job, the newest 1h ago · the numbers are sums over all runs · Enter shows them"
    )
    other = SuggestionRow(Suggestion("", "x", 3, at_least=False), "in archived", View.ARCHIVED)
    assert about(other, NOW, "", 200) == "another search, in Archived · Enter takes it"
    assert about(None, NOW, RESUME, 200) == ""


@pytest.mark.slow
async def test_what_fails_while_measuring_is_said(browser, monkeypatch):
    """The list stays as it is, and says what is wrong."""

    def broken(store, *_given, **_named):
        raise BrowseError("the disk is gone")

    monkeypatch.setattr(OpenStore, "sizes_of", broken)
    before = [each.id for each in listed(browser)]
    await browser.sort("size")
    assert "the disk is gone" in browser.status
    assert sorted(each.id for each in listed(browser)) == sorted(before) and "…" in browser.text(
        "#list"
    )


def test_a_number_of_messages_that_is_not_counted_is_about(tmp_path):
    """Hermes' own counters are not exact: no number that looks exact changes."""
    told = [{"session_id": "a", "content": "x"}] * 3
    path = make_store(tmp_path / "state.db", "31", [{"id": "a", "message_count": 10}], told)
    with Store(path).reader() as reader:
        (bare,) = read_catalog(reader, NOW).select(View.ALL)
        (counted,) = with_details(reader, [bare])
    assert ListLayout().text(bare, 80, NOW).rstrip().endswith("~10")
    assert ListLayout().text(counted, 80, NOW).rstrip().endswith(" 3")
    assert (
        "~10 msgs" in conversation_title(bare, 80).plain
        and " 3 msgs" in conversation_title(counted, 80).plain
    )
