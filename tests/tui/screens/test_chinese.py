"""The browser in Chinese: every screen is translated, nothing is pushed out of its place, and
English comes back."""

import re

import pytest
from browsing import NOW, Browser, browsing, demo_app, on_demo
from effort import slow_but
from looks import LOOKS
from rich.cells import cell_len
from words import translations

from hermes_browse.store.since import SinceItem
from hermes_browse.store.wording import language, speak
from hermes_browse.tui.screens.since import SinceRow
from hermes_browse.tui.text.styled import line_text

_CHINESE = re.compile("[\u4e00-\u9fff]")
_WORDS = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")

SCREENS = LOOKS | {"transcript": ("tab",), "trash": ("X",), "doctor": ("H",)}


@pytest.fixture(autouse=True)
def _chinese():
    speak("zh_CN")
    assert language() == "zh_CN"
    yield
    speak("en")


def _english():
    """Sentences of the program as they are in English, without what is filled in."""
    found = []
    for message in translations("zh_CN"):
        for text in message.id if isinstance(message.id, list | tuple) else [message.id]:
            if text and "{" not in text and _WORDS.search(text):
                found.append(text)
    return found


def _lines(browser):
    return [
        "".join(segment.text for segment in strip)
        for strip in browser.app.screen._compositor.render_strips()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("screen", slow_but(("main", "search", "delete", "cleanup"), SCREENS))
async def test_a_screen(screen, tmp_path):
    """At 80 columns: every line as wide as the screen, and none of our sentences in English."""
    app = demo_app(tmp_path)
    async with browsing(app, (80, 24)) as browser:
        await browser.press(*SCREENS[screen])
        lines = _lines(browser)
        assert {cell_len(line) for line in lines} == {80}
        text = " ".join("\n".join(lines).split())
        assert [each for each in _english() if each in text] == []
        keys = browser.text("#keys") if browser.app.screen.query("#keys") else text
        assert _CHINESE.search(keys)


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_the_columns_of_the_list_stand_below_each_other(tmp_path, width):
    """Words of two cells a letter push nothing aside."""
    async with on_demo(tmp_path, (width, 30)) as browser:
        rows = browser.screen.rows
        drawn = [rows.render_line(y).text for y in range(rows.size.height)]
        assert len({cell_len(line) for line in drawn}) == 1
        sources = {cell_len(line[: line.rindex(" cli ")]) for line in drawn if " cli " in line}
        assert len(sources) == 1 and _CHINESE.search("".join(drawn))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_looks(size, tmp_path, snap_compare):
    """For a reviewer who reads it."""

    async def run(pilot):
        browser = Browser(pilot.app, pilot)
        await browser.settle()
        await browser.measure()
        browser.screen.line("status").update("")  # it tells milliseconds

    assert snap_compare(demo_app(tmp_path), terminal_size=size, run_before=run)


async def test_english_again(tmp_path):
    """The language is asked for when something is shown, not when the program is loaded."""
    speak("en")
    async with on_demo(tmp_path, (80, 24)) as browser:
        assert not _CHINESE.search(browser.text("#keys")) and "help" in browser.text("#keys")


def test_a_row_of_what_happened_ends_with_its_age():
    """Its columns were counted in characters, so that the last one was cut."""
    item = SinceItem("running", "s", "", 1, NOW - 180, False, "Fix auth bug", "cli")
    line = line_text(SinceRow(item).spans(80, NOW))
    assert cell_len(line) == 80 and line.endswith("3分钟 ")
