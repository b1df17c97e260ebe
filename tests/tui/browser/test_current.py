"""One conversation is current: whatever keys are pressed, list, transcript, lineage and keys are
about the same one.

`HERMES_BROWSE_KEYS=5000` presses so many random keys instead of a few, `HERMES_BROWSE_SEEDS=1,2,3`
with these seeds.
"""

import os
import random
from contextlib import suppress

import pytest
from browsing import (
    NOW,
    drawn_row,
    of_row,
    on_demo,
    sessions_of_tree,
)
from effort import slow_but

from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.text import one_line
from hermes_browse.tui.browser.list.rows import ConversationRow, JobRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.exporting import ExportCard
from hermes_browse.tui.settings.keys.main_commands import MAIN
from hermes_browse.tui.text import formats
from hermes_browse.tui.text.family import SessionEntry
from hermes_browse.tui.work.application import Arrival

COUNT = int(os.environ.get("HERMES_BROWSE_KEYS", "35"))
SEEDS = [int(each) for each in os.environ.get("HERMES_BROWSE_SEEDS", "2,4,5").split(",")]

MOVES = [
    "down",
    "down",
    "down",
    "up",
    "j",
    "k",
    "pagedown",
    "pageup",
    "G",
    "g",
    "home",
    "end",
    "ctrl+d",
    "ctrl+u",
]
PANES = ["tab", "shift+tab", "left", "right", "l", "l", "enter", "escape", "escape", "z"]
LOOKS = [
    "1",
    "2",
    "3",
    "4",
    "s",
    "S",
    "v",
    "p",
    "t",
    "J",
    "K",
    "right_curly_bracket",
    "left_curly_bracket",
    "f5",
]
SEARCH = ["n", "n", "N", "o", "plus", "minus"]
MARKS = ["space", "asterisk", "V"]
SCREENS = ["W", "I", "P", "X", "i", "F", "B"]
WORDS = ["parcels", "lisbon", "cookie", "auth", "is:archived", "zzzz", "ferry"]
INSIDE = ["down", "down", "up", "enter", "enter", "7", "tab", "escape"]
"""Keys on the screens over the main one; they change nothing."""


CALLS = {command.id: command.call for command in MAIN}


def _roots(conversations):
    return {each.root_id for each in conversations}


class Meant:
    """What keys would act on: whoever does something is replaced by a note of what it was asked
    for."""

    def __init__(self, browser, monkeypatch):
        self.browser = browser
        screen = browser.screen
        self.notes = []
        self.resumed = []
        monkeypatch.setattr(screen, "start", self._start(screen.start))
        monkeypatch.setattr(screen, "start_write", self._start(screen.start_write))
        monkeypatch.setattr(browser.app, "push_screen", self._screen(browser.app.push_screen))
        self._is_asking = False

    def _start(self, start):
        def started(*given):
            group = given[:1] if isinstance(given[0], str) else ()
            work, *meant = given[len(group) :]
            match work.__name__:
                case "delete" | "archive":
                    self.notes.append(_roots(self.browser.screen.edits.targets))
                case "_flag":
                    self.notes.append(_roots(meant[0]))
                case "_rename":
                    self.notes.append({meant[0].root_id})
                case "copy_and_say":
                    self.notes.append(self._root(meant[0]))
                case "_resume":
                    self.resumed.append(meant[0])
                case "show_details" if self._is_asking:
                    current = self.browser.screen.current
                    self.notes.append({current.root_id} if current is not None else set())
                case _:
                    return start(*given)
            return None

        return started

    def _root(self, session_id):
        found = self.browser.screen.catalog.of_session(session_id)
        return {found.root_id} if found is not None else set()

    def _screen(self, push):
        def pushed(screen, *given):
            if isinstance(screen, ExportCard):
                self.notes.append(_roots(tuple(screen._conversations)))
                return None
            return push(screen, *given)

        return pushed

    def _press(self, action):
        """Do what a key does, up to its first pause."""
        doing = self.browser.screen.action_do(CALLS[action])
        with suppress(StopIteration):
            doing.send(None)
        doing.close()

    def by(self, action):
        """The roots a key would be about; none where it says that there is nothing."""
        self.notes.clear()
        self._is_asking = True
        self._press(action)
        self._is_asking = False
        return self.notes[0] if self.notes else set()

    def by_resume(self):
        """The root that R would resume."""
        self.resumed.clear()
        self._press("resume")
        resumed = [self._root(session_id) for session_id in self.resumed]
        self.resumed.clear()
        return resumed[0] if resumed else set()


def compare(browser, meant, *, is_late):
    """All that shows or names a conversation agrees.

    Args:
        browser: On the main screen.
        meant: What keys would be about.
        is_late: Answers are being held back: panes may show what was shown before, but never a
            mixture.
    """
    screen = browser.screen
    details_of = meant.by("details")
    named = {
        name: meant.by(name) for name in ("delete", "archive", "pin", "export", "rename", "copy-id")
    }
    named["resume"] = meant.by_resume()
    row = drawn_row(browser)
    if screen.marks:
        marked = _roots(screen.marks.values())
        assert all(named.pop(name) == marked for name in ("delete", "archive", "pin", "export"))
    if isinstance(row, JobRow) and not (screen.transcript.has_focus or screen.lineage.has_focus):
        every = of_row(browser, row)
        assert details_of <= every, (details_of, every)
        for name in ("delete", "archive", "pin", "export"):
            assert named.pop(name, every) == every
        if len(every) > 1:
            named.pop("rename")  # of one conversation at a time
    for name, roots in named.items():
        assert roots == details_of, f"{name} is about {roots}, i about {details_of}"
    if row is not None:
        assert details_of <= of_row(browser, row), (
            f"the list marks {row.key}, i is about {details_of}"
        )
        assert bool(details_of) == bool(of_row(browser, row))
    model = screen.transcript.model
    if model is not None and screen.line("title").size.width:
        name = one_line(formats.name(screen.details.complete(model.conversation)), 300)
        title = browser.text("#title").strip()
        assert title.startswith(name[:8]), f"the title {title!r} stands over {name!r}"
    if is_late:
        return
    shown = {model.conversation.root_id} if model is not None else set()
    assert shown == details_of, f"the transcript is {shown}, i is about {details_of}"
    if model is None:
        assert not browser.text("#title").strip(), "a title stands over nothing"
    family = sessions_of_tree(browser)
    segments = {each.id for each in model.conversation.segments} if model is not None else set()
    assert bool(family) == (model is not None)
    if model is not None:
        assert segments & {each.node.session.id for each in family}, "the tree is another family's"
        assert segments & {each.node.session.id for each in family if each.is_target}, (
            "another one's target is marked"
        )
        at = screen.lineage.entry
        if screen.lineage.has_focus:
            assert isinstance(at, SessionEntry) and at.node.session.id in segments, (
                "the tree is on another session"
            )


def burst(chance, browser):
    """Some keys, pressed without a pause."""
    if not isinstance(browser.app.screen, MainScreen):
        return [chance.choice(INSIDE)]
    if browser.screen.box.has_focus:
        return [chance.choice(("enter", "escape", "down", "up"))]
    kind = chance.random()
    if kind < 0.12:
        return ["slash", *("colon" if letter == ":" else letter for letter in chance.choice(WORDS))]
    if kind < 0.2:
        return [chance.choice(SCREENS)]
    keys = chance.choice((MOVES, MOVES, PANES, PANES, LOOKS, SEARCH, SEARCH, MARKS))
    return [chance.choice(keys) for _ in range(chance.choice((1, 1, 1, 2, 3)))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", slow_but(SEEDS[:1], SEEDS))
async def test_random_keys_never_part_what_is_shown_from_what_is_meant(
    seed, tmp_path, answers, monkeypatch
):
    """Random keys, searches and screens among them; after each, with answers held back and with all
    given."""
    chance = random.Random(seed)
    pressed = []
    sizes = [(120, 36), (80, 24), (200, 60)]
    async with on_demo(tmp_path, sizes[seed % 3]) as browser:
        meant = Meant(browser, monkeypatch)
        for _ in range(COUNT):
            keys = burst(chance, browser)
            pressed.append(" ".join(keys))
            is_holding = chance.random() < 0.3
            if is_holding:
                answers.hold()
            await browser.send(*keys)
            try:
                assert not meant.resumed, "Enter reads"
                if is_holding and isinstance(browser.app.screen, MainScreen):
                    compare(browser, meant, is_late=True)
                answers.release()
                await browser.settle()
                if isinstance(browser.app.screen, MainScreen):
                    compare(browser, meant, is_late=False)
            except AssertionError as error:
                raise AssertionError(
                    f"seed {seed}, after {' · '.join(pressed[-12:])} ({len(pressed)}): {error}"
                ) from error


@pytest.mark.slow
async def test_a_member_that_the_list_has_not_read_is_looked_for(tmp_path, answers, monkeypatch):
    """As right after the start: until it is found keys are about nothing, and the tree stays as it
    is."""
    async with on_demo(tmp_path, (120, 40)) as browser:
        screen = browser.screen
        meant = Meant(browser, monkeypatch)
        await browser.press("l", "home")
        row = screen.rows.current
        assert isinstance(row, ConversationRow)
        other = next(each for each in screen.catalog.order() if each != row.conversation.root_id)
        with screen.store.reader() as reader:
            screen.catalog = read_neighbourhood(reader, [other], screen.clock())
        count = len(sessions_of_tree(browser))
        answers.hold()
        await browser.pilot.press("down")
        assert screen.current is None and meant.by("delete") == meant.by("rename") == set()
        assert len(sessions_of_tree(browser)) == count > 1 and screen.transcript.model is None
        await browser.wait_until(lambda: bool(answers.count))
        answers.release()
        await browser.settle()
        node, model = screen.lineage.entry, screen.transcript.model
        assert isinstance(node, SessionEntry) and model is not None
        assert node.node.session.id in {each.id for each in model.conversation.segments}


@pytest.mark.slow
async def test_the_status_line_ages_with_the_row(browser):
    """It told of 2 hours under a row of 3, until the cursor moved."""
    await browser.press("down")
    assert "last used 2h ago" in browser.status
    browser.screen.clock = lambda: NOW + 3600
    browser.app._refresh_ages()
    await browser.settle()
    assert "last used 3h ago" in browser.status


async def test_ages_grow_while_the_screen_of_another_store_is_being_made(browser):
    """Its list was asked for its row before it had a screen."""
    app = browser.app
    app.switch_to(app.location, app.store, app._first, Arrival())
    app._refresh_ages()
    await browser.settle()
    assert browser.screen.is_mounted
