"""What a reading leaves out is told where it stands, and what Hermes put to a message can be looked
at."""

import pytest
from browsing import NOW, on_demo, on_store
from store_builder import T0, StoreBuilder
from transcripts import lines_of, model_of
from trashing import add_message, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import ChatMessage, Reading, injected_context
from hermes_browse.store.messages.transcript import END, read_outline
from hermes_browse.store.sessions.models import Session

MEMORY = "<memory-context>\nTova swims on Tuesdays.\n</memory-context>\n\n"


def rewound_store(path):
    """Two rewound rows in the middle and one at the end, compacted ones before, bookkeeping
    between."""
    builder = StoreBuilder(path)
    builder.session("s", title="Rewound")
    builder.message("s", "user", "compacted", active=0, compacted=1)
    builder.message("s", "user", "first")
    builder.message("s", "session_meta", "{}")
    builder.message("s", "user", "wrong question", active=0)
    builder.message("s", "assistant", "wrong answer", active=0)
    builder.message("s", "user", "second")
    builder.message("s", "user", "taken back", active=0)
    return builder.write()


def test_gaps_count_what_was_said_and_is_left_out(tmp_path):
    with Store(rewound_store(tmp_path / "state.db")).reader() as reader:
        session = [Session("s", "cli")]
        assert read_outline(reader, session).gaps == {6: (2, 0), END: (1, 0)}
        assert read_outline(reader, session, Reading.LIVE).gaps == {
            2: (0, 1),
            6: (2, 0),
            END: (1, 0),
        }
        assert read_outline(reader, session, Reading.EVERYTHING).gaps == {}


async def test_what_is_left_out_is_told_in_its_place_and_shown_on_demand(tmp_path):
    async with on_store(rewound_store(tmp_path / "state.db")) as browser:
        shown = browser.text("#transcript")
        assert "2 rewound messages left out" in shown and "1 rewound message left out" in shown
        assert (
            shown.index("first")
            < shown.index("2 rewound")
            < shown.index("second")
            < shown.index("1 rewound")
        )
        assert "wrong answer" not in shown
        await browser.press("v", "v")
        shown = browser.text("#transcript")
        assert "wrong answer" in shown and "left out" not in shown


async def test_what_the_model_still_sees_is_of_the_tip_alone(tmp_path):
    """Earlier segments are known to it by their summary; what is hidden from people it does see."""
    builder = StoreBuilder(tmp_path / "state.db", "31")
    builder.session("root", end_reason="compression", ended_at=T0 + 9, title="Long")
    builder.session("tip", parent_session_id="root", started_at=T0 + 10)
    builder.message("root", "user", "said long ago")
    builder.message("tip", "user", "[CONTEXT COMPACTION] summary")
    builder.message("tip", "user", "go on by yourself", display_kind="hidden")
    builder.message("tip", "session_meta", "{}")
    builder.message("tip", "assistant", "still there")
    async with on_store(builder.write()) as browser:
        shown = browser.text("#transcript")
        assert "said long ago" in shown and "go on by yourself" not in shown
        await browser.press("tab", "z", "v", "home")
        shown = browser.text("#transcript")
        assert "said long ago" not in shown and "1 compacted message left out" in shown
        assert "go on by yourself" in shown and "hidden" in shown and "still there" in shown
        assert "what the model still sees" in browser.text("#facts"), "told in words, not by colour"


@pytest.mark.slow
async def test_a_tail_that_compaction_repeats_is_folded_when_everything_is_read(
    tmp_path,
):
    """Shown once in what was said; each repetition is one line in everything, and opens."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    tail = [("user", "keep this question"), ("assistant", "and this answer")]
    for role, text in [("user", "old"), *tail]:
        builder.message("s", role, text, active=0, compacted=1)
    for at, (role, text) in enumerate([("user", "[CONTEXT COMPACTION] summary"), *tail]):
        builder.message("s", role, text, timestamp=T0 + 60 + at * 1e-6)
    async with on_store(builder.write()) as browser:
        await browser.press("tab", "z", "home")
        assert browser.text("#transcript").count("keep this question") == 1
        for key in ("v", "v", "home"):
            await browser.press(key)
        shown = browser.text("#transcript")
        assert (
            shown.count("keep this question") == 1
            and shown.count("repeated: the same as message") == 2
        )
        assert (
            shown.index("old")
            < shown.index("repeated: the same as message 5")
            < shown.index("keep this question")
        )
        await browser.press("right_curly_bracket", "enter")
        assert browser.text("#transcript").count("keep this question") == 2
        await browser.press("enter")
        assert browser.text("#transcript").count("keep this question") == 1
        await browser.press("backslash", *"keep", "enter", "n", "n")
        assert browser.app.is_running


async def test_the_id_of_a_repeated_row_goes_to_the_one_that_is_shown(tmp_path):
    """It is larger than any number of a message here, so it is an id."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("other", started_at=T0 - 900, ended_at=T0 - 800)
    for _ in range(9):
        builder.message("other", "user", "something else", timestamp=T0 - 900)
    builder.session("s")
    builder.message("s", "user", "keep this question", timestamp=T0, active=0, compacted=1)
    builder.message("s", "user", "keep this question", timestamp=T0)
    builder.message("s", "assistant", "the answer")
    async with on_store(builder.write()) as browser:
        await browser.press("tab", "z", "number_sign", *"10", "enter")
        assert browser.screen.transcript.current_id == 11
        assert "message 1 of 2" in browser.status


async def test_the_key_that_shows_more_is_seen_in_a_narrow_pane(tmp_path):
    """The rule is cut at its end."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    for number in range(1200):
        builder.message("s", "user", f"said long ago {number}", active=0, compacted=1)
    builder.message("s", "user", "said now")
    async with on_store(builder.write()) as browser:
        await browser.press("v")
        shown = browser.text("#transcript")
        assert browser.screen.transcript.size.width < 60
        assert "v: more · 1,200 compacted messages" in shown


async def test_rows_deleted_meanwhile_do_not_move_what_is_read(tmp_path):
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    for number in range(1, 81):
        builder.message("s", "user", f"message {number:03}")
    path = builder.write()
    async with on_store(path) as browser:
        await browser.press("tab", "home", "pagedown", "pagedown")
        top = browser.text("#transcript").split("\n")[0]
        run(path, "DELETE FROM messages WHERE id IN (2, 3)")
        add_message(path, "s", "new", NOW)
        browser.screen.loader.read_new()
        await browser.settle()
        assert browser.text("#transcript").split("\n")[0] == top
        assert "1 new" in browser.status


@pytest.mark.parametrize(
    "text, sent, added",
    [
        ("plan my week", None, ""),
        (MEMORY + "plan my week", None, MEMORY.strip()),
        ("plan my week", MEMORY + "plan my week", MEMORY.strip()),
        ("plan my week", "before\n\nplan my week\n\nafter", "before\n\nafter"),
        ("plan my week", "something else", "something else"),
        ("plan my week", " plan my week\n", ""),
        ("", "sent for nothing said", "sent for nothing said"),
    ],
)
def test_what_was_put_to_a_message_is_told_from_what_was_said(text, sent, added):
    assert injected_context(text, sent) == added


def test_it_is_one_line_until_it_is_opened():
    message = ChatMessage(0, "s", "user", "plan my week", api_content=MEMORY + "plan my week")
    model = model_of(1, text="plan my week")
    index = model.entry_of(message.id)
    assert index is not None and not model.is_foldable(index)
    model.add([message])
    assert model.is_foldable(index)
    closed, opened = (
        "\n".join(lines_of(message, model, is_open=is_open)) for is_open in (False, True)
    )
    assert (
        "context added by Hermes" in closed
        and "Tova" not in closed
        and closed.count("plan my week") == 1
    )
    assert "Tova swims on Tuesdays." in opened and opened.count("plan my week") == 1


async def test_title_and_facts_take_the_width_there_is(tmp_path):
    """Alone on the screen the pane has room for what was left out beside the list: whole facts."""
    async with on_demo(tmp_path, (100, 30)) as browser:
        await browser.press("tab")
        cut = browser.text("#facts")
        assert cut.rstrip().endswith(" · …")
        await browser.press("z")
        wide = browser.text("#facts")
        assert wide.startswith(cut.rstrip().removesuffix("…")) and len(wide) > len(cut)
        await browser.press("z")
        assert browser.text("#facts") == cut


def test_a_summary_is_a_divider_said_by_nobody():
    """Folded to a rule; opened its text stands below. One that is empty is a message like any
    other."""
    text = "[CONTEXT COMPACTION] what was said\n\nbefore"
    message = ChatMessage(0, "s", "user", text, 0.0, is_flagged=True)
    rule, *others = lines_of(message)
    assert rule.startswith("── ▸ compaction summary · 42 B · ") and rule.endswith("──")
    assert len(rule) == 59 and "you" not in rule and others == [""]
    rule, *others = lines_of(message, is_open=True)
    assert rule.startswith("── ▾ compaction summary") and "before" in "".join(others)
    assert "you" in lines_of(message._replace(text="\n"))[0]


async def test_escape_ends_a_recap(browser):
    await browser.press("tab")
    before = browser.text("#transcript")
    await browser.press("p")
    assert browser.text("#transcript") != before
    await browser.press("escape")
    assert (
        browser.text("#transcript") == before
        and browser.screen.focused is browser.screen.transcript
    )
    await browser.press("escape")
    assert browser.screen.focused is browser.screen.rows


async def test_another_reading_keeps_the_place(browser):
    """At a message that the model no longer sees the next one is shown; the reading that has it
    goes back to it."""
    transcript = browser.screen.transcript
    await browser.press("tab", "g", "right_curly_bracket")
    before = transcript.current_id
    await browser.press("v")
    assert transcript.current_id not in (None, before) and not transcript.page.at_end
    assert "what the model still sees · this message is not part of it" in browser.status
    await browser.press("v", "v")
    assert transcript.current_id == before
    assert "what was said" in browser.status
