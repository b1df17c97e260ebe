"""Find in the transcript: what is lit however a line is broken, and answers that come late."""

import threading

import pytest
from browsing import NOW, lit_lines, on_store
from effort import slow_but
from homes import NEEDLES, needles
from resting import PATIENCE
from store_builder import StoreBuilder
from transcripts import drawn
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
                assert lit_lines(browser), "each stop is on the page"
                await browser.press("n")
            assert page.hit_number == stops - 1
            await browser.press("escape")


@pytest.fixture
async def browser(tmp_path):
    """The browser at the beginning of a long conversation."""
    needles(tmp_path)
    async with on_store(tmp_path / "state.db") as browser:
        await browser.press("tab", "home")
        yield browser


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


@pytest.mark.slow
async def test_the_screen_reads_nothing_while_it_finds(browser, monkeypatch):
    threads = set()
    original = Reader.rows

    def rows(self, sql, parameters=()):
        threads.add(threading.current_thread().name)
        return original(self, sql, parameters)

    monkeypatch.setattr(Reader, "rows", rows)
    await find(browser, "needle")
    await browser.press("enter", "n", "n", "n", "n")
    await browser.wait_until(lambda: any(name.startswith("read") for name in threads))
    assert threading.main_thread().name not in threads


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
        assert lit_lines(browser) == ["needle two"]
        await browser.press("z")
        assert lit_lines(browser) == ["needle two"]
        assert not_dim(browser, "needle")


@pytest.mark.slow
async def test_a_find_in_dim_output_is_not_dim(browser):
    await find(browser, "needlé here")
    assert not_dim(browser, "needlé here")


@pytest.mark.slow
async def test_letters_typed_while_a_place_is_being_read_are_found(browser, monkeypatch):
    """The messages around a find of fewer letters may come late; they are no longer wanted then."""
    asked, may_answer = threading.Event(), threading.Event()

    messages = OpenStore.messages

    def read_late(store, ids):
        asked.set()
        assert may_answer.wait(PATIENCE)
        return messages(store, ids)

    await browser.press("backslash")
    monkeypatch.setattr(OpenStore, "messages", read_late)
    await browser.send("d")
    await browser.wait_until(asked.is_set)
    await browser.send(*"own")
    may_answer.set()
    await browser.settle()
    assert lit_lines(browser) == ["a NEEDLE deep down"]


@pytest.mark.slow
async def test_the_box_counts_also_when_a_message_arrives_while_it_finds(browser, monkeypatch):
    """What is read in the old version of the conversation is gone to in the new one."""
    may_answer = threading.Event()
    messages = OpenStore.messages

    def read_late(store, ids):
        if 1 in ids:
            assert may_answer.wait(PATIENCE)
        return messages(store, ids)

    await browser.press("backslash")
    monkeypatch.setattr(OpenStore, "messages", read_late)
    await browser.send("w")
    add_message(browser.screen.store.path, "s", "a new needle", NOW)
    browser.screen.loader.read_new()
    await browser.wait_until(lambda: NEEDLES + 1 in browser.screen.transcript.page.model.ids)
    may_answer.set()
    await browser.settle()
    assert "1 of 3 messages" in browser.text("#ask-answer")
    assert lit_lines(browser) == ["a NEEDLE deep down"]
