"""Find in the transcript: folds, results, steps around the ends; and going to an id."""

import threading
from contextlib import asynccontextmanager

import pytest
from browsing import NOW, on_store
from effort import slow_but
from resting import PATIENCE
from store_builder import StoreBuilder, tool_call
from transcripts import LONG_COUNT, drawn, long_store
from trashing import add_message

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.reader import Reader


def broken(tmp_path):
    """Texts that are wrapped in the middle of what is looked for: a phrase, a word, one without
    spaces, code."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    builder.message(
        "s", "user", "x" * 30 + " some words " + "NEEDLE in the haystack of things. " * 9
    )
    builder.message("s", "assistant", "y" * 7 + "unbreakable" * 30)
    builder.message("s", "user", "- item\n\n  > 漢字かな" + "日本語の検索" * 30)
    builder.message(
        "s", "assistant", "```\nrun" + " --option value" * 20 + "\n```\n\nvalue\n\n--option"
    )
    return builder.write()


@pytest.mark.slow
@pytest.mark.parametrize("size", slow_but([(93, 30)], [(80, 24), (93, 30), (120, 36)]))
async def test_what_is_broken_over_two_lines_is_lit_on_both(tmp_path, size):
    """However a line is broken: as many letters are lit as stand in the text, and `n` stops at each
    once."""
    async with on_store(broken(tmp_path), size=size) as browser:
        await browser.press("tab", "z", "home")
        for text, count in (
            ("needle in the haystack", 9),
            ("unbreakable", 30),
            ("検索", 30),
            ("--option value", 20),
        ):
            await find(browser, text)
            await browser.press("enter")
            page = browser.screen.transcript.page
            lines = drawn(page)
            lit_text = "".join(span for line in lines for span, looks in line if "hit" in looks)
            wanted = text.replace(" ", "")
            assert lit_text.replace(" ", "").lower() == wanted * count
            stops = len(page.match_lines(page.hit_entry))
            for _ in range(stops - 1):
                assert lit(browser), "each stop is on the page"
                await browser.press("n")
            assert page.hit_number == stops - 1
            await browser.press("escape")


async def find(browser, text):
    """Open the box in the transcript and type."""
    await browser.press("backslash")
    await browser.type(text)


def not_dim(browser, wanted):
    """Whether a text stands on the page, and is nowhere dim."""
    view = browser.screen.transcript
    parts = [part for y in range(view.size.height) for part in view.render_line(y)]
    styles = [part.style for part in parts if wanted in part.text]
    return styles and not any(style.dim for style in styles)


@asynccontextmanager
async def finding_in(tmp_path, text="needle"):
    """The browser on the long conversation, where a text is looked for from its beginning."""
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home")
        await find(browser, text)
        yield browser


def lit(browser):
    """Lines of the transcript in which something is lit as the current find."""
    page = browser.screen.transcript.page
    return [
        "".join(text for text, _ in line).strip()
        for _, line in page.frame()
        if any(looks.endswith("hit-current") for _, looks in line)
    ]


async def test_finds_are_walked_line_by_line_and_around_the_ends(tmp_path):
    async with finding_in(tmp_path) as browser:
        assert lit(browser) == ["a NEEDLE deep down"]
        assert "1 of 3 messages" in browser.text("#ask-answer")
        await browser.press("enter")
        assert browser.screen.transcript.has_focus
        await browser.press("n")
        assert lit(browser) == ["needle two"]
        await browser.press("n")
        assert lit(browser) == ["haystackneedles inside a word"]
        await browser.press("n")
        assert any("needlé here" in line for line in lit(browser)), "the folded result is opened"
        await browser.press("n")
        assert lit(browser) == ["a NEEDLE deep down"]
        assert browser.screen.transcript.page.opened == set(), "and folded again when left"
        await browser.press("N")
        assert any("needlé here" in line for line in lit(browser))
        await browser.press("escape")
        assert lit(browser) == []
        assert browser.screen.transcript.has_focus
        await browser.press("n")
        assert "no search" in browser.status, "n is about the search again"


@pytest.mark.slow
async def test_after_moving_on_by_hand_the_next_find_is_the_next_from_there(tmp_path):
    async with finding_in(tmp_path) as browser:
        await browser.press("enter", "end", "N")
        assert any("needlé here" in line for line in lit(browser))
        await browser.press("home", "n")
        assert lit(browser) == ["a NEEDLE deep down"]


@pytest.mark.slow
async def test_what_is_written_meanwhile_is_looked_through_too(tmp_path):
    async with finding_in(tmp_path) as browser:
        path = browser.screen.store.path
        await browser.press("enter")
        add_message(path, "s", "a new needle", NOW)
        browser.screen.loader.read_new()
        await browser.settle()
        assert "1 new" in browser.status, "news of the conversation are not talked over"
        await browser.press("end", "N")
        assert lit(browser) == ["a new needle"]


@pytest.mark.slow
async def test_the_box_says_what_it_takes(tmp_path):
    """In the cells there are."""
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "backslash")
        assert browser.text("#find-box").strip() == "exact text"


@pytest.mark.slow
async def test_escape_in_the_box_goes_back_to_where_it_was_opened(tmp_path):
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home", "pagedown")
        before = browser.text("#transcript")
        await find(browser, "needle")
        assert browser.text("#transcript") != before
        await browser.press("escape")
        assert browser.text("#transcript") == before
        assert browser.screen.transcript.has_focus


@pytest.mark.slow
async def test_escape_ends_the_find_and_its_sentence(tmp_path):
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab")
        await find(browser, "needle")
        await browser.press("enter", "n")
        assert "n N step · Esc ends" in browser.status
        await browser.press("escape")
        assert not browser.screen.transcript.is_finding and "step" not in browser.status


async def test_what_is_not_there_is_said_and_signs_are_letters(tmp_path):
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "backslash", "slash", "q", "n")
        assert browser.app.is_running
        assert "not in this conversation" in browser.text("#ask-answer")
        await browser.press(*["backspace"] * 3, *["space"] * 3)
        assert not browser.screen.transcript.is_finding, "blanks are nothing to look for"


@pytest.mark.slow
async def test_the_screen_reads_nothing_while_it_finds(tmp_path, monkeypatch):
    threads = set()
    original = Reader.rows

    def rows(self, sql, parameters=()):
        threads.add(threading.current_thread().name)
        return original(self, sql, parameters)

    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home")
        monkeypatch.setattr(Reader, "rows", rows)
        await find(browser, "needle")
        await browser.press("enter", "n", "n", "n", "n")
        await browser.wait_until(lambda: any(name.startswith("read") for name in threads))
    assert threading.main_thread().name not in threads


async def test_go_to_a_message_by_its_id_and_back(tmp_path):
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home", "pagedown")
        before = browser.text("#transcript")
        await browser.press("number_sign", *"250", "enter")
        current = browser.screen.transcript.current
        assert current.id == 250
        await browser.press("apostrophe")
        assert browser.text("#transcript") == before
        await browser.press("number_sign", *"99999", "enter")
        assert "not part of this conversation" in " ".join(browser.status.split())
        box = browser.screen.go_to_box
        assert box.has_focus and box.value == "99999", "what was typed can be changed"


@pytest.mark.parametrize("word, line", [("here", "needlé here"), ("deep", "a NEEDLE deep down")])
async def test_a_hit_of_the_search_is_on_the_page(tmp_path, word, line):
    """Also one that is folded away, as a result is below its call, or deep in a long message."""
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.search(word)
        await browser.press("enter", "down")
        assert any(line in each for each in lit(browser))


@pytest.mark.slow
async def test_at_another_width_the_same_find_stands_out(tmp_path):
    """Lines above it are wrapped anew; what was gone to is what is lit."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    builder.message(
        "s",
        "user",
        "words and words " * 12 + "\n\nneedle one\n\n" + "more words " * 12 + "\n\nneedle two",
    )
    async with on_store(builder.write()) as browser:
        await browser.press("tab")
        await find(browser, "needle")
        await browser.press("enter", "n")
        assert lit(browser) == ["needle two"]
        await browser.press("z")
        assert lit(browser) == ["needle two"]
        assert not_dim(browser, "needle")


@pytest.mark.slow
async def test_a_find_in_dim_output_is_not_dim(tmp_path):
    async with finding_in(tmp_path, "needlé here") as browser:
        assert not_dim(browser, "needlé here")


@pytest.mark.slow
async def test_letters_typed_while_a_place_is_being_read_are_found(tmp_path, monkeypatch):
    """The messages around a find of fewer letters may come late; they are no longer wanted then."""
    asked, may_answer = threading.Event(), threading.Event()

    messages = OpenStore.messages

    def read_late(store, ids):
        asked.set()
        assert may_answer.wait(PATIENCE)
        return messages(store, ids)

    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home", "backslash")
        monkeypatch.setattr(OpenStore, "messages", read_late)
        await browser.send("d")
        await browser.wait_until(asked.is_set)
        await browser.send(*"own")
        may_answer.set()
        await browser.settle()
        assert lit(browser) == ["a NEEDLE deep down"]


@pytest.mark.slow
async def test_the_box_counts_also_when_a_message_arrives_while_it_finds(tmp_path, monkeypatch):
    """What is read in the old version of the conversation is gone to in the new one."""
    may_answer = threading.Event()
    messages = OpenStore.messages

    def read_late(store, ids):
        if 1 in ids:
            assert may_answer.wait(PATIENCE)
        return messages(store, ids)

    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.press("tab", "home", "backslash")
        monkeypatch.setattr(OpenStore, "messages", read_late)
        await browser.send("w")
        add_message(browser.screen.store.path, "s", "a new needle", NOW)
        browser.screen.loader.read_new()
        await browser.wait_until(lambda: LONG_COUNT + 1 in browser.screen.transcript.page.model.ids)
        may_answer.set()
        await browser.settle()
        assert "1 of 3 messages" in browser.text("#ask-answer")
        assert lit(browser) == ["a NEEDLE deep down"]


@pytest.mark.slow
async def test_a_hit_of_the_search_ends_finding(tmp_path):
    """What is lit and what n walks are always about the same words."""
    async with on_store(long_store(tmp_path / "state.db")) as browser:
        await browser.search("deep")
        await browser.press("enter")
        await find(browser, "haystack")
        await browser.press("enter")
        assert browser.screen.transcript.is_finding and lit(browser) == [
            "haystackneedles inside a word"
        ]
        await browser.press("left", "home", "down")
        assert not browser.screen.transcript.is_finding
        assert lit(browser) == ["a NEEDLE deep down"]


@pytest.mark.slow
async def test_a_find_among_calls_that_are_left_out_names_the_key(tmp_path):
    """Of very many calls of a message the first hundred are laid out; the pager has the others."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s", title="Many")
    calls = [
        tool_call("terminal", {"command": f"ls n{number}z"}, id=f"c{number}")
        for number in range(1_000)
    ]
    builder.message("s", "user", "list them")
    builder.message("s", "assistant", None, tool_calls=calls)
    async with on_store(builder.write()) as browser:
        await browser.press("tab", "home")
        await find(browser, "n40z")
        assert "1 of 1 message" in browser.text("#ask-answer") and " O " not in browser.text(
            "#ask-answer"
        )
        await browser.press("escape")
        await find(browser, "n940z")
        assert "O opens all of it" in browser.text("#ask-answer")
        await browser.press("enter")
        assert "O opens all of it" in browser.status
