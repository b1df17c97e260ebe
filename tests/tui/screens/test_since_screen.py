"""What happened since the user looked: signs in the list, the screen, and what counts as read."""

import pytest
from browsing import NOW, browsing, open_app, rows_of
from builders import make_store
from planting import planted_app
from store_builder import T0
from textual.content import Content
from trashing import add_message

from hermes_browse.store.api import OpenStore
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.places.merged import MergedStore
from hermes_browse.store.since.since import Since
from hermes_browse.tui.screens.since import SinceRow, SinceScreen
from hermes_browse.tui.text.styled import line_text

ASKING, BOAT, PAPER = "Fix auth bug #3", "Boating licence", "Board paper"


@pytest.fixture
def app(tmp_path):
    return planted_app(tmp_path)


@pytest.fixture
async def browser(browser):
    """The browser on the morning after."""
    await browser.wait_until(lambda: bool(browser.screen.attention.unread))
    await browser.settle()
    return browser


def signs(browser):
    """The sign and the end of each row that has something new or waits, by how its title begins."""
    found = {}
    for row in rows_of(browser):
        text = line_text(row.spans(80, NOW))
        if "+" in text[40:] or text[1] == "?":
            found[text[3:].split()[0]] = (text[1], "+2" in text)
    return found


def lanes(browser):
    """The rows of the screen: lane and how the title begins."""
    assert isinstance(browser.app.screen, SinceScreen)
    rows = rows_of(browser)
    return [(row.item.lane, row.item.title[:5]) for row in rows if isinstance(row, SinceRow)]


@pytest.mark.slow
async def test_signs(browser):
    """In the rows, in the head, as filters, in the sentence about a row."""
    assert signs(browser) == {"Fix": ("?", True), "Board": ("·", True), "Boating": ("?", True)}
    assert "A 2 wait · 1 job failed · 3 new" in browser.text("#header")
    assert "waits for you" in browser.screen.about and "2 new messages" in browser.screen.about
    await browser.search("is:waiting")
    assert len(browser.screen.rows) == 2
    await browser.press("ctrl+u", *"is:new")
    await browser.settle()
    assert len(browser.screen.rows) == 3


@pytest.mark.slow
async def test_the_screen(browser):
    """Lanes in order, with what is inferred behind its sign; Enter reads at the first new message,
    Esc comes back, and what was read is gone from it."""
    await browser.press("A")
    await browser.wait_until(lambda: bool(lanes(browser)))
    assert [lane for lane, _title in lanes(browser)] == [
        *("waiting", "waiting", "wrong", "wrong", "new", "new", "new"),
    ]
    screen = browser.app.screen
    row = screen.rows.current
    assert isinstance(row, SinceRow) and not row.item.certain and "(inferred)" in browser.status
    screen.rows.cursor = [getattr(each, "item", ("",))[0] for each in rows_of(browser)].index("new")
    while screen.rows.current.item.title != ASKING:
        await browser.press("down")
    await browser.press("enter")
    assert browser.screen.current.title == ASKING
    assert browser.screen.transcript.has_focus and "new from here" in _text(browser)
    assert "Esc goes back to where you were" in browser.status
    await browser.press("escape")
    assert "Esc goes back" not in browser.status
    await browser.wait_until(lambda: len(lanes(browser)) == 6)
    assert ("waiting", "Fix a") in lanes(browser) and ("new", "Fix a") not in lanes(browser)


def _text(browser):
    return "\n".join(
        "".join(part for part, _look in line)
        for _entry, line in browser.screen.transcript.page.frame()
    )


@pytest.mark.slow
async def test_the_job_without_a_session(browser, tmp_path):
    """Of a script Hermes keeps the output: Enter shows it, and says so if it is gone."""
    await browser.press("A")
    await browser.wait_until(lambda: ("wrong", "backu") in lanes(browser))
    screen = browser.app.screen
    screen.rows.cursor = ["backup" in str(row) for row in rows_of(browser)].index(True)
    await browser.press("enter")
    assert "tar: no space left on device" in str(browser.app.screen._copied)
    await browser.press("escape")
    next(tmp_path.rglob("*.md")).unlink()
    await browser.press("enter")
    assert "kept no output" in browser.status and browser.app.screen is screen


@pytest.mark.slow
async def test_all_read_and_back(browser):
    """a marks everything, u takes it back."""
    await browser.press("A", "a")
    await browser.wait_until(lambda: not browser.screen.attention.unread)
    assert "u undoes" in browser.status
    await browser.press("escape")
    assert "A 2 wait" in browser.text("#header") and "3 new" not in browser.text("#header")
    await browser.press("u")
    await browser.wait_until(lambda: len(browser.screen.attention.unread) == 3)


@pytest.mark.slow
async def test_the_reason_goes_with_its_row(browser):
    """The line at the bottom says nothing of what is no longer there."""
    await browser.press("A")
    await browser.wait_until(lambda: "(inferred)" in browser.status)
    browser.app.screen._show(Since(NOW, ()))
    await browser.settle()
    assert not lanes(browser) and browser.status.strip() == "Hermes is writing"


@pytest.mark.slow
async def test_in_the_rows_of_hits(browser):
    """The sign of what is new goes from the results of a search too."""
    await browser.search("tokens ")
    assert signs(browser)["Fix"] == ("?", True)
    browser.screen.rows.focus()
    await browser.press("A", "a", "escape")
    await browser.wait_until(lambda: signs(browser)["Fix"] == ("?", False))


@pytest.mark.slow
async def test_reading_marks_what_is_in_sight(browser):
    """The cursor of the list alone reads nothing; in the transcript what is in sight is read."""
    await browser.press("down", "up")
    assert "3 new" in browser.text("#header")
    await browser.press("tab")
    await browser.wait_until(lambda: len(browser.screen.attention.unread) == 2)
    assert "new from here" in _text(browser)
    await browser.press("escape", "f5")
    await browser.wait_until(lambda: "2 new" in browser.text("#header"))


@pytest.mark.slow
async def test_only_what_is_in_sight(tmp_path):
    """Of a long conversation only the messages that were on the page are read."""
    path = tmp_path / "state.db"
    make_store(path, "22", [{"id": "s", "title": "Long", "started_at": T0}], [])
    app = open_app(locate_file(path))
    async with browsing(app, (80, 24)) as browser:
        await browser.wait_until(lambda: not browser.screen.reads.is_busy)
        for number in range(40):
            add_message(path, "s", f"line {number}\n" * 4, T0 + number)
        await browser.press("f5")
        await browser.wait_until(lambda: bool(browser.screen.attention.unread))
        await browser.press("A", "enter")
        await browser.wait_until(lambda: 0 < _new(browser) < 40)
        await browser.press("G")
        await browser.wait_until(lambda: not _new(browser))


def _new(browser):
    unread = browser.screen.attention.unread
    return sum(new.amount for new in unread.values())


@pytest.fixture
def two_profiles(tmp_path):
    """The store of a home with two profiles, in each of which somebody asks."""
    root = tmp_path / "hermes"
    for folder, title in ((root, "Root chat"), (root / "profiles" / "work", "Work chat")):
        folder.mkdir(parents=True)
        asks = '[{"id": "c", "function": {"name": "clarify", "arguments": "{}"}}]'
        make_store(
            folder / "state.db",
            sessions=[{"id": "same", "title": title, "started_at": T0}],
            messages=[
                {"session_id": "same", "content": "go", "timestamp": T0},
                {"session_id": "same", "role": "assistant", "tool_calls": asks, "timestamp": T0},
            ],
        )
    return root / "state.db"


@pytest.mark.slow
async def test_a_fault_of_ours_elsewhere_is_a_sentence(two_profiles, monkeypatch):
    """What the other profiles make of a question does not end the browser."""
    since = OpenStore.since

    def broken(store, *given):
        if isinstance(store.source, MergedStore):
            raise RuntimeError("secret words")
        return since(store, *given)

    monkeypatch.setattr(OpenStore, "since", broken)
    async with browsing(open_app(locate_file(two_profiles))) as browser:
        await browser.press("A")
        await browser.wait_until(lambda: "RuntimeError" in browser.status)
        assert "secret" not in browser.status and lanes(browser)


@pytest.mark.slow
async def test_another_profile(two_profiles):
    """All profiles are on the screen; Enter switches to the one of the row, at its message."""
    async with browsing(open_app(locate_file(two_profiles))) as browser:
        await browser.press("A")
        await browser.wait_until(lambda: len(lanes(browser)) == 2)
        places = [row.spans(140, NOW)[3][0].split()[0] for row in rows_of(browser)[1:3]]
        assert set(places) == {"default", "work"}
        browser.app.screen.rows.cursor = 1 + places.index("work")
        await browser.press("enter")
        await browser.wait_until(lambda: browser.app.location.profile == "work")
        await browser.settle()
        assert browser.screen.current.title == "Work chat" and browser.screen.transcript.has_focus


@pytest.mark.slow
async def test_reading_among_all_profiles(tmp_path):
    """In the list of all profiles a mark is set in the store of the conversation."""
    root = tmp_path / "hermes"
    paths = [root / "state.db", root / "profiles" / "work" / "state.db"]
    for path in paths:
        path.parent.mkdir(parents=True)
        make_store(path, sessions=[{"id": "same", "title": path.parent.name, "started_at": T0}])
    app = open_app(locate_file(paths[0]))
    async with browsing(app) as browser:
        await browser.press("0", "a")
        await browser.wait_until(lambda: browser.screen.store.is_several)
        await browser.wait_until(lambda: len(browser.screen.rows) == 2)
        await browser.wait_until(lambda: not browser.screen.reads.is_busy)
        await browser.settle()
        for path in paths:
            add_message(path, "same", "hello", T0)
        await browser.press("f5")
        await browser.wait_until(lambda: _new(browser) == 2)
        await browser.press("tab")
        await browser.wait_until(lambda: _new(browser) == 1)


def test_nothing_of_a_title_reaches_the_terminal(tmp_path):
    """A row passes what it shows through the same filter as every other list."""
    from hermes_browse.store.since import SinceItem

    item = SinceItem("new", "s", "c\x1b]0;d", 1, NOW, True, "a\x1b[31mb", "c\x07li")
    line = SinceRow(item).spans(100, NOW)
    assert Content("".join(part for part, _look in line)).plain.isprintable()


@pytest.mark.slow
async def test_what_arrives_in_sight_is_read(browser):
    """Without a key: the end of a transcript that is followed is what one looks at."""
    await browser.press("enter", "G")
    screen = browser.screen
    conversation = screen.current
    await browser.wait_until(lambda: conversation.root_id not in screen.attention.unread)
    add_message(screen.location.path, conversation.id, "one more thing", NOW, "assistant")
    screen.reread([])
    await browser.wait_until(lambda: "one more thing" in _text(browser))
    screen.listing.read()
    await browser.wait_until(lambda: not screen.reads.is_busy)
    await browser.settle()
    assert conversation.root_id not in screen.attention.unread
