"""Old transcripts in the browser: counted beside the views, read and searched in one of their own,
never changed."""

import json
import os
import re
import shutil
import threading
import time

import pytest
from browsing import browsing, listed, open_app
from textual.widgets import Input
from trashing import execute

from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.other_stores import OldScreen


def write(folder, number):
    """A transcript; larger numbers are newer."""
    at = 1.7e9 + 1000 * number
    said = [
        {"role": "user", "content": f"Question {number} on boats", "timestamp": at},
        {"role": "assistant", "content": f"Answer {number}.", "timestamp": at + 5},
    ]
    path = folder / f"old_{number:03}.jsonl"
    path.write_text("\n".join(map(json.dumps, said)) + "\n", encoding="utf-8")
    os.utime(path, (at, at))


def home_of(root, count):
    """A folder of old transcripts beside the store of a root."""
    folder = root / "sessions"
    folder.mkdir()
    for number in range(count):
        write(folder, number)
    return folder


def browser_of(home):
    """The browser on the store of a home."""
    return browsing(open_app(locate_file(home / "state.db")))


async def arrive(browser):
    """Open the view, and wait until all of it has been read."""
    await browser.press("5")
    await browser.wait_until(lambda: isinstance(browser.screen, OldScreen))
    await browser.wait_until(lambda: browser.screen.catalog.counts()[View.ALL])
    done = re.compile(r"[\d,]+ old transcripts? in")
    await browser.wait_until(lambda: done.match(browser.status.strip()))
    await browser.settle()
    return browser.screen


@pytest.mark.slow
async def test_they_are_counted_and_have_a_view_where_there_are_some(hermes_home):
    """In the line of what is hidden and among the views; neither where there are none."""
    async with browser_of(hermes_home) as browser:
        assert "Old" not in browser.text("#views")
        await browser.press("5")
        assert type(browser.screen) is MainScreen
    home_of(hermes_home, 3)
    async with browser_of(hermes_home) as browser:
        assert "5 Old 3" in browser.text("#views")
        assert "3 old transcripts" in browser.text("#header")


@pytest.mark.slow
async def test_the_views_of_the_store_follow_it(hermes_home):
    home_of(hermes_home, 1)
    async with browser_of(hermes_home) as browser:
        beside = browser.screen
        await arrive(browser)
        all_of = beside.catalog.counts()[View.ALL]
        execute(
            beside.store.path,
            "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 9)",
        )
        beside.listing.read()
        await browser.settle()
        assert f"All {all_of + 1}" in browser.text("#views")


@pytest.mark.slow
async def test_f5_reads_the_folder_anew(hermes_home):
    """On the main screen it counts the files; over them it opens them anew, with what was searched
    for."""
    folder = home_of(hermes_home, 2)
    async with browser_of(hermes_home) as browser:
        write(folder, 2)
        await browser.press("f5")
        assert "5 Old 3" in browser.text("#views")
        await arrive(browser)
        await browser.search("boats")
        await browser.press("enter")
        for number in range(3, 5):
            write(folder, number)
        (folder / "old_000.jsonl").unlink()
        before = browser.screen
        await browser.press("f5")
        await browser.wait_until(lambda: browser.screen.is_current and browser.screen is not before)
        await browser.wait_until(lambda: len(listed(browser)) == 4)
        assert isinstance(browser.screen, OldScreen) and browser.screen.box.value == "boats"
        await browser.press("escape", "escape", "escape", "escape")
        assert type(browser.screen) is MainScreen and "5 Old 4" in browser.text("#views")
        shutil.rmtree(folder)
        await browser.press("f5")
        assert "Old" not in browser.text("#views")


@pytest.mark.slow
async def test_a_second_key_while_they_are_looked_for(hermes_home):
    """It does not say that there are none."""
    home_of(hermes_home, 3)
    async with browser_of(hermes_home) as browser:
        for _key in range(2):
            browser.screen.switching.show_old()
        assert browser.status.strip().startswith("looking for old transcripts …")
        await browser.wait_until(lambda: isinstance(browser.screen, OldScreen))
        await browser.settle()


@pytest.mark.slow
async def test_they_are_read_searched_and_exported_like_any_conversation(hermes_home, tmp_path):
    """Newest first, more than a portion of them; Enter reads; a search says that it scans, newest
    hits first."""
    folder = home_of(hermes_home, 230)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    async with browser_of(hermes_home) as browser:
        screen = await arrive(browser)
        await browser.wait_until(lambda: len(screen.rows) == 230)
        assert browser.row.conversation.preview == "Question 229 on boats"
        await browser.press("enter")
        assert screen.transcript.has_focus
        assert "Answer 229." in browser.text("#transcript")
        await browser.search("boats")
        assert "scan" in browser.status
        assert browser.row.conversation.id == "old_229.jsonl"
        told = "files have no search index: all of them are scanned"
        await browser.wait_until(lambda: told in browser.status)  # it comes behind the hits
        await browser.press("escape", "escape", "home", "e")
        box = browser.app.screen.query_one("#path", Input)
        target = tmp_path / "exported.md"
        box.value = str(target)
        await browser.press("enter")
        await browser.wait_until(target.exists)
        assert "Answer 229." in target.read_text(encoding="utf-8")
        place = screen.store.path.parent
        await browser.press("escape", "escape", "escape", "escape")
        assert type(browser.screen) is MainScreen
    assert not place.exists()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
async def test_a_read_that_still_runs_leaves_no_folder_behind(hermes_home):
    """It would make SQLite's files anew while the folder is removed, which is after it has ended."""
    home_of(hermes_home, 2)
    found = []
    async with browser_of(hermes_home) as browser:
        screen = await arrive(browser)
        place, begun, left = screen.store.path.parent, threading.Event(), threading.Event()

        def read(store):
            begun.set()
            left.wait(10)
            time.sleep(0.1)  # for a folder that is not kept to be removed
            found.append(place.exists())

        screen.start("slow", screen.read, read)
        await browser.wait_until(begun.is_set)
        screen.leave()
        left.set()
        await browser.settle()
    assert found == [True]
    assert not place.exists()


@pytest.mark.slow
async def test_what_needs_a_session_is_refused_in_a_sentence(hermes_home):
    """Nothing is archived, deleted or resumed, and nothing fails silently; other views are those of
    the store."""
    home_of(hermes_home, 2)
    async with browser_of(hermes_home) as browser:
        await arrive(browser)
        for key in ("a", "D", "R", "P", "X", "f", "u", "w", "Y"):
            await browser.press("j", key)
            assert "these are files" in browser.status, key
        assert len(browser.app.screen_stack) == 2
        await browser.press("3")
        assert type(browser.screen) is MainScreen
        assert browser.screen.view is View.ARCHIVED


async def test_files_that_go_meanwhile_leave_a_sentence(hermes_home):
    """The folder was there when they were counted."""
    folder = home_of(hermes_home, 2)
    async with browser_of(hermes_home) as browser:
        shutil.rmtree(folder)
        await browser.press("5")
        await browser.wait_until(lambda: "no old transcripts" in browser.status)
        assert type(browser.screen) is MainScreen


@pytest.mark.slow
async def test_help_leaves_out_what_is_refused(hermes_home):
    """Files cannot be resumed, archived or deleted."""
    home_of(hermes_home, 2)
    async with browser_of(hermes_home) as browser:
        await arrive(browser)
        await browser.press("question_mark")
        told = " ".join(browser.card().split())
        assert (
            "Save as Markdown" in told
            and "Move to the trash" not in told
            and "Resume this" not in told
        )
