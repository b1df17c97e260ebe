"""Reports about compression, each as a store, which the real Hermes wrote where it could:
what is shown."""

import json
from collections import Counter

import pytest
from browsing import on_store
from builders import DAY, T0, make_store
from compressed import case, read_memory, store_of

from hermes_browse.store.compression import CompactionNote
from hermes_browse.store.compression.compactions import read_history
from hermes_browse.store.compression.model_context import (
    Contexts,
)
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.screens.compactions import CompactionsScreen

NOW = T0 + 400 * DAY


def _recorded(name, folder):
    return store_of(folder / "state.db", case(f"{name}.json"))


def _conversation(store):
    with Store(store).reader() as reader:
        (found,) = read_catalog(reader, NOW).select(View.ALL)
    return found


async def _inspect(browser, number):
    """Open the inspector at a compaction, counted from 0."""
    await browser.press("4", "M", "g", *["j"] * number)
    screen = browser.app.screen
    assert isinstance(screen, CompactionsScreen)
    return screen


@pytest.mark.slow
async def test_45117_the_history_before_each_compression_is_found_and_given_back(
    tmp_path, clipboard
):
    """Hermes opens the newest session whichever is named: what an older one said is copied from the
    inspector."""
    store = _recorded("0.19.0-rotation-twice", tmp_path)
    async with on_store(store, NOW, (160, 50)) as browser:
        screen = await _inspect(browser, 1)
        assert len(screen.rows) == 3
        one = screen._compaction
        assert not one.is_in_place
        assert f"{one.session_id} → {one.into_session_id}" in browser.text("#about")
        await browser.press("c")
        assert "question 2: what about the quay?" in clipboard[-1]


@pytest.mark.slow
async def test_38763_a_session_that_asks_what_to_do_says_what_it_lacks(tmp_path, clipboard):
    """Five of its thirteen sessions are empty, and what follows them knows nothing of before:
    Hermes 0.18 wrote it."""
    store = _recorded("0.18.2-rotation-resumed", tmp_path)
    conversation = _conversation(store)
    assert len(conversation.segments) == 13
    with Store(store).reader() as reader:
        memory = read_memory(reader, conversation.segments)
    assert not memory.has_summary and len(memory.forgotten) > 20
    async with on_store(store, NOW, (160, 50)) as browser:
        screen = await _inspect(browser, 6)
        rows = browser.text("#compactions").splitlines()
        assert [row.strip("▌▏ ")[0] for row in rows[3:7]] == ["!", "?", "!", "!"]
        assert "7 messages were left behind without a summary" in rows[6]
        assert "Left behind: 7 messages" in browser.text("#replaced-title")
        assert (
            f"! Hermes resumes …{conversation.id[-6:]} without these messages: c copies them"
            in browser.text("#about")
        )
        await browser.press("c")
        assert "question 13: what about the harbour?" in clipboard[-1]
        await browser.press("n")
        assert "lost 1 of" in browser.status
        await browser.press("k", "k", "k")
        assert len(screen._compaction.empty_sessions) == 2
        assert "Empty sessions stand between the two." in browser.text("#about")


def _aborted(path, with_shell):
    """Six messages in a session that was ended to be compressed, and perhaps an empty session after
    it."""
    sessions = [{"id": "full", "end_reason": "compression", "ended_at": T0 + 9}, {"id": "empty"}]
    sessions[1] |= {"parent_session_id": "full", "started_at": T0 + 10}
    messages = [
        {
            "session_id": "full",
            "role": ("user", "assistant")[each % 2],
            "content": f"said {each}",
            "timestamp": T0 + each,
        }
        for each in range(6)
    ]
    return make_store(path, "22", sessions[: 1 + with_shell], messages)


@pytest.mark.parametrize("with_shell", [False, True])
def test_hermes_resumes_an_aborted_compression_as_the_inspector_says(tmp_path, with_shell):
    hermes = pytest.importorskip("hermes_state").SessionDB(
        _aborted(tmp_path / "state.db", with_shell)
    )
    opened = hermes.resolve_resume_session_id(hermes.get_compression_tip("full"))
    assert opened == ("empty" if with_shell else "full")
    assert len(hermes.get_messages_as_conversation(opened)) == (0 if with_shell else 6)
    hermes.close()


def _interrupted(path):
    """Rows 1 to 6, then 57 ids of nothing, no summary, and a conversation that goes on."""
    ids = [*range(1, 7), *range(64, 70)]
    messages = [
        {
            "id": each,
            "session_id": "a",
            "role": ("user", "assistant")[each % 2 == 0],
            "content": f"said {each}",
            "timestamp": T0 + each,
        }
        for each in ids
    ]
    return make_store(path, "22", [{"id": "a", "title": "Interrupted"}], messages)


@pytest.mark.slow
async def test_79391_a_gap_of_ids_without_a_summary_is_named(tmp_path):
    store = _interrupted(tmp_path / "state.db")
    with Store(store).reader() as reader:
        segments = _conversation(store).segments
        contexts = Contexts(reader, segments)
    context = contexts.at(68)
    assert CompactionNote.GAP in context.notes and not context.is_certain
    assert contexts.at(None).is_certain  # a resume loads what is there
    async with on_store(store, NOW, (120, 50)) as browser:
        await browser.press("M")
        assert "the ids 7 to 63 are in no row: messages of this or of" in browser.text(
            "#compactions"
        )


def test_86366_a_tail_that_was_written_again_counts_once(tmp_path):
    """Some rows were carried over several times: all lead to one original, and a context has each
    text once."""
    store = _recorded("0.18.2-place-often", tmp_path)
    rows = case("0.18.2-place-often.json")["messages"]
    texts = {row["id"]: json.dumps([row["content"], row.get("tool_calls")]) for row in rows}
    segments = _conversation(store).segments
    with Store(store).reader() as reader:
        history = read_history(reader, segments)
        contexts = Contexts(reader, segments)
        context = contexts.at(None)
        memory = contexts.memory(context)
    copied = Counter(texts[each] for each in history.copies)
    assert max(copied.values()) > 4
    assert max(Counter(texts[row.id] for row in context.rows).values()) == 1
    asked = Counter(
        texts[each] for each in memory.forgotten if texts[each].startswith('["question')
    )
    assert len(asked) > 10 and max(asked.values()) == 1


@pytest.mark.slow
async def test_86234_a_summary_is_no_message(tmp_path):
    """It is a folded line in the transcript, is not counted, and names no conversation."""
    store = _recorded("0.19.0-place-twice", tmp_path)
    conversation = _conversation(store)
    with Store(store).reader() as reader:
        memory = read_memory(reader, conversation.segments)
        summaries = {one.summary for one in read_history(reader, conversation.segments).compactions}
    assert memory.has_summary and not summaries & {*memory.forgotten}
    async with on_store(store, NOW, (120, 60)) as browser:
        await browser.press("4", "tab")
        page = browser.text("#transcript")
        assert "compaction summary · " in page and "REFERENCE ONLY" not in page
        assert "CONTEXT" not in browser.text("#list")
