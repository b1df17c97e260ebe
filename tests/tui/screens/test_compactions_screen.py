"""The inspector of compactions, and what the model saw at a message, on stores that Hermes
wrote."""

import pytest
from browsing import HeldAnswers, on_store, tree_of
from builders import T0, make_store
from compressed import END, case, long_conversation, read_memory, store_of
from effort import slow_but

from hermes_browse.store.compression.losses import Losses
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.preflight import not_remembered
from hermes_browse.tui.screens.compactions import CompactionsScreen
from hermes_browse.tui.screens.inspection import CompactionRow
from hermes_browse.tui.text.family import CompactionEntry
from hermes_browse.tui.text.styled import line_width

NOW = T0 + 86_400


def _screen(browser):
    screen = browser.app.screen
    assert isinstance(screen, CompactionsScreen)
    return screen


def _deploys(path, said="Never deploy on Fridays, use the staging host db-7.example.org first."):
    """A conversation compressed once, by rotation: the summary mentions nothing of what the user
    decided."""
    sessions = [
        {"id": "old", "title": "Deploys", "end_reason": "compression", "ended_at": T0 + 50},
        {"id": "new", "parent_session_id": "old", "started_at": T0 + 50},
    ]
    told = [
        ("old", "user", said),
        ("old", "assistant", "Understood. I edited deploy/rollout.yaml and ran it."),
        ("old", "user", "How long did it take?"),
        ("old", "assistant", "It took 4721 s."),
        (
            "new",
            "user",
            "[CONTEXT COMPACTION — REFERENCE ONLY] The user asked for a rollout." + END,
        ),
        ("new", "assistant", "Ready."),
        ("new", "user", "Go on then."),
        ("new", "assistant", "Deploying now."),
    ]
    messages = [
        {
            "id": number,
            "session_id": session,
            "role": role,
            "content": text,
            "timestamp": T0 + number * 10,
        }
        for number, (session, role, text) in enumerate(told, 1)
    ]
    return make_store(path, "22", sessions, messages)


@pytest.mark.slow
async def test_what_was_left_before_it_was_read_is_read_on_the_way_back(tmp_path, monkeypatch):
    path = long_conversation(tmp_path / "state.db", 1200, 1)
    async with on_store(path, NOW, (160, 40)) as browser:
        await browser.press("M", "tab", "n", "G")
        pane, answers = _screen(browser).replaced, HeldAnswers(monkeypatch)
        answers.hold()
        while pane.page.missing is None:
            await browser.send("pageup")
        place = pane.page.position
        await browser.send("n")
        answers.release()
        await browser.settle()
        pane._go(place)
        await browser.settle()
        assert pane.page.missing is None and "…" not in browser.text("#replaced")


async def test_every_row_says_what_was_lost(tmp_path):
    """Not only the one under the cursor."""
    path = long_conversation(tmp_path / "state.db", 300, 3)
    async with on_store(path, NOW, (160, 40)) as browser:
        await browser.press("M")
        rows = browser.text("#compactions").splitlines()[:3]
        assert len(rows) == 3 and all("lost" in row and "…" not in row for row in rows)


async def test_a_conversation_without_compactions_says_so(tmp_path):
    store = store_of(tmp_path / "state.db", case("0.19.0-place-killed.json"))
    async with on_store(store, NOW) as browser:
        await browser.press("M", "n", "c", "C", "tab")
        assert "has not compressed" in browser.text("#compactions")


RECORDED = ("0.19.0-rotation-twice", "0.18.2-place-often", "0.16.0-rotation-failing")


@pytest.mark.parametrize("name", slow_but(RECORDED[:1], RECORDED))
async def test_recorded_compactions_are_listed_each(tmp_path, name):
    store = store_of(tmp_path / "state.db", case(f"{name}.json"))
    async with on_store(store, NOW) as browser:
        await browser.press("4", "M")
        compactions = _screen(browser)._history.compactions
        assert compactions
        for number, one in enumerate(compactions):
            screen = _screen(browser)
            screen.rows.cursor = number
            await browser.settle()
            assert screen._number == number
            assert len(screen.replaced.page.model.outline.rows) == len(one.replaced)


async def test_escapes_and_markup_of_a_store_are_only_shown(tmp_path, clipboard):
    said = (
        "Never use \x1b]0;owned\x07/tmp/[bold]evil[/bold]/x.py, always run \u202egnp.exe instead."
    )
    async with on_store(_deploys(tmp_path / "state.db", said), NOW) as browser:
        await browser.press("M", "n")
        for widget in ("#status", "#replaced", "#compactions", "#about"):
            text = browser.text(widget)
            assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
        assert "[bold]" in browser.text("#replaced")
        await browser.press("C")
        assert "\x1b" not in clipboard[-1]


@pytest.mark.slow
async def test_rows_fill_exactly_their_width(tmp_path):
    store = long_conversation(tmp_path / "state.db", 300, 4, in_place=False)
    async with on_store(store, NOW) as browser:
        await browser.press("M")
        compactions = _screen(browser)._history.compactions
        for number, one in enumerate(compactions):
            row = CompactionRow(number, one, Losses((None,) * 27, True))
            assert [line_width(row.spans(width, NOW)) for width in range(20, 160)] == list(
                range(20, 160)
            )


def _keys(browser):
    return [each.key for each in tree_of(browser)]


async def test_the_lineage_shows_each_compaction_and_enter_inspects_it(tmp_path):
    store = long_conversation(tmp_path / "state.db", 120, 3, in_place=False)
    async with on_store(store, NOW, (160, 40)) as browser:
        await browser.press("l")
        tree = browser.screen.lineage
        assert _keys(browser) == ["ls0", "xs0 0", "ls1", "xs1 1", "ls2", "xs2 2", "ls3"]
        assert "messages became a summary, " in browser.text("#lineage").splitlines()[1]
        assert "compressed 3 times" in browser.text("#lineage-title")
        await browser.press("k", "k", "k")
        current = browser.screen.transcript.current
        assert current.is_summary  # the transcript is at the seam
        await browser.press("enter")
        assert _screen(browser).rows.cursor == 1
        await browser.press("escape")
        assert isinstance(tree.entry, CompactionEntry) and tree.entry.number == 1


async def test_a_session_compressed_in_place_has_a_tree_too(tmp_path):
    async with on_store(
        long_conversation(tmp_path / "state.db", 120, 2), NOW, (120, 40)
    ) as browser:
        assert _keys(browser) == ["ls0", "xs0 0", "xs0 1", "xs0 2"]
        assert browser.screen.lineage.display


def _lit(browser):
    """The messages on the page that are not dimmed."""
    page = browser.screen.transcript.page
    found = set()
    for index, line in page.frame():
        row = page.model.row(index)
        if row is not None and any(
            "dim" not in looks.split() for text, looks in line if text.strip()
        ):
            found.add(row.id)
    return found


async def test_what_the_model_saw_at_a_message_is_lit_and_counted(tmp_path):
    async with on_store(_deploys(tmp_path / "state.db"), NOW, (160, 50)) as browser:
        await browser.press("tab", ".")
        number = browser.screen.model.number_of(browser.screen.transcript.current_id)
        words = f"at message {number} the model had: a summary of 4 messages + 2 messages"
        assert words in browser.text("#facts")
        assert browser.text("#keys").startswith(" Esc back ")
        assert "a summary of 4 messages" in browser.status
        assert {6, 7, 8} <= _lit(browser) and not _lit(browser) & {1, 2, 3, 4}
        await browser.press("z", "escape")  # before the pane that is alone
        assert _lit(browser) >= {1, 2, 3, 4, 6, 7, 8}
        assert "the model had" not in browser.text("#facts") + browser.status
        assert browser.screen.transcript.has_focus and browser.screen.has_class("-zoom-side")
        assert "Esc back" not in browser.text("#keys")
        await browser.press(".", ".")
        assert browser.screen.transcript.page.seen is None


async def test_what_came_after_a_message_was_not_seen_there(tmp_path):
    async with on_store(_deploys(tmp_path / "state.db"), NOW, (120, 50)) as browser:
        await browser.press("tab", "g", "J", ".")
        assert "the model had: 3 messages" in browser.text("#facts")
        assert _lit(browser) == {1, 2, 3}
        await browser.press("v")  # another reading is read anew
        assert "the model had" not in browser.text("#facts")
        assert browser.screen.transcript.page.seen is None


@pytest.mark.parametrize("in_place", [True, False])
def test_what_a_resume_lacks(tmp_path, in_place):
    path = long_conversation(tmp_path / "state.db", 300, 4, in_place=in_place)
    with Store(path).reader() as reader:
        conversation = read_neighbourhood(reader, ["s0"], NOW).of_session("s0")
        memory = read_memory(reader, conversation.segments)
        live = {row.id for row in read_outline(reader, conversation.segments, Reading.LIVE).rows}
    assert live <= memory.known and not live & set(memory.forgotten)
    assert f"summary of {len(memory.forgotten)} of {memory.said} messages" in not_remembered(memory)


def test_nothing_is_said_where_nothing_is_forgotten(tmp_path):
    path = store_of(tmp_path / "state.db", case("0.19.0-place-killed.json"))
    with Store(path).reader() as reader:
        found = read_catalog(reader, NOW).select(View.ALL)
        assert [not_remembered(read_memory(reader, each.segments)) for each in found] == [""] * len(
            found
        )
