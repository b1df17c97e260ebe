"""Profiles in the browser: switched with one key, listed and searched all at once, each row in its
own."""

import os
import threading
from contextlib import asynccontextmanager

import pytest
from browsing import browsing, go_to, open_app, rows_of
from builders import make_store
from platforms import forbid, script
from resting import PATIENCE
from store_builder import T0

from hermes_browse.store.hermes.homes import Location, locate_file, trash_folder
from hermes_browse.store.places import place_of
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.other_stores import AwayRow, PlacesScreen
from hermes_browse.tui.browser.preflight import PreflightCard
from hermes_browse.tui.browser.switching import ProfilesCard, Switching


def fill(path, title, said, age):
    """A store with one conversation; ids are alike in all of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    make_store(
        path,
        sessions=[{"id": "same", "title": title, "started_at": T0 - age, "message_count": 7}],
        messages=[{"session_id": "same", "content": said, "timestamp": T0 - age}],
    )


@pytest.fixture
def root(tmp_path):
    """A root with two profiles that can be read, one that cannot, and one that has never been
    used."""
    made = tmp_path / "hermes"
    fill(made / "state.db", "Root chat", "the lighthouse of the root", 300)
    fill(made / "profiles" / "coder" / "state.db", "Coder chat", "the lighthouse of the coder", 100)
    broken = made / "profiles" / "broken"
    broken.mkdir()
    (broken / "state.db").write_bytes(b"no database at all" * 100)
    (made / "profiles" / "unused").mkdir()
    return made


async def until(browser, kind):
    """Wait for a screen to be on top and at rest."""
    await browser.wait_until(lambda: isinstance(browser.app.screen, kind))
    await browser.settle()


async def open_card(browser):
    """Open the card of profiles."""
    await browser.press("0")
    await until(browser, ProfilesCard)


async def everything(browser):
    """Open the list of all profiles by two keys right behind each other, and wait until they are
    read."""
    await browser.send("0", "a")
    await until(browser, PlacesScreen)
    await browser.wait_until(lambda: browser.screen.catalog.exact)
    await browser.settle()


def browser_of(root):
    """The browser on the store of the root."""
    return browsing(open_app(locate_file(root / "state.db")))


@asynccontextmanager
async def everything_of(root):
    """The browser on the list of all profiles."""
    async with browser_of(root) as browser:
        await everything(browser)
        yield browser


@pytest.mark.slow
async def test_one_key_and_enter_switch_and_the_store_that_is_left_is_let_go_of(root):
    """The card names every profile, a broken one with the reason; there and back again."""
    async with browser_of(root) as browser:
        first = browser.screen
        for name in ("coder", "default", "coder"):
            await open_card(browser)
            shown = browser.text("#profiles")
            assert all(each in shown for each in ("default", "coder", "broken", "unused"))
            assert shown.count("cannot be read") == 2
            assert len([line for line in shown.splitlines() if line.strip()]) == 5, (
                "a line each, and one for all"
            )
            await browser.press("home", *(["down", "down"] if name == "coder" else []), "enter")
            await until(browser, MainScreen)
            await browser.wait_until(lambda name=name: browser.screen.location.profile == name)
            assert browser.screen.location == Location(browser.screen.store.path, root, name)
            assert browser.row.conversation.title == (
                "Coder chat" if name == "coder" else "Root chat"
            )
            assert name in browser.text("#header")
        assert not first.reads.holds_store


@pytest.mark.slow
async def test_what_was_done_is_undone_after_another_store_was_shown(root):
    async with browser_of(root) as browser:
        await browser.press("a")
        for keys in (("down", "down"), ()):
            await open_card(browser)
            before = browser.screen
            await browser.press("home", *keys, "enter")
            await browser.wait_until(lambda before=before: browser.screen is not before)
            await until(browser, MainScreen)
        assert browser.screen.location.profile == "default"
        await browser.press("u")
        assert "undone" in browser.status and "Root chat" in str(browser.row.conversation.title)


@pytest.mark.slow
async def test_a_broken_profile_leaves_everything_as_it_is(root):
    """It says why in a line."""
    async with browser_of(root) as browser:
        await open_card(browser)
        await browser.press("home", "down", "enter")
        await until(browser, MainScreen)
        await browser.wait_until(lambda: "not a session store" in browser.status)
        assert browser.screen.location.profile == "default"


@pytest.mark.slow
async def test_profiles_that_may_not_be_listed(root, monkeypatch):
    """The card and the list name their folder, with the reason."""
    forbid(monkeypatch, root / "profiles")
    async with browser_of(root) as browser:
        await open_card(browser)
        assert "profiles/" in browser.text("#profiles")
        assert "Permission denied" in browser.text("#profiles")
        await browser.press("a")
        await until(browser, PlacesScreen)
        await browser.wait_until(lambda: browser.screen.catalog.exact)
        await browser.settle()
        away, *found = rows_of(browser)
        assert away.place.name == "profiles/" and "Permission denied" in away.reason
        assert [each.conversation.title for each in found] == ["Root chat"]


@pytest.mark.slow
async def test_all_profiles_are_one_list_and_one_search(root):
    """Newest first whatever the profile, ids that are alike kept apart; a hit is read here, and
    opens in its own profile."""
    async with browsing(open_app(locate_file(root / "state.db")), (120, 30)) as browser:
        await everything(browser)
        rows = rows_of(browser)
        assert [row.place.name for row in rows if isinstance(row, AwayRow)] == ["broken"]
        found = [row.conversation for row in rows if isinstance(row, ConversationRow)]
        assert [(each.id, each.title) for each in found] == [
            ("same coder", "Coder chat"),
            ("same default", "Root chat"),
        ]
        assert "all profiles" in browser.text("#header")
        assert "coder" in browser.text("#list") and "the lighthouse of the coder" in browser.text(
            "#transcript"
        )
        await browser.search("lighthouse")
        await browser.wait_until(lambda: "2 hits" in browser.status)
        hits = [row for row in rows_of(browser) if isinstance(row, HitRow)]
        assert [place_of(row.hit.session_id) for row in hits] == ["coder", "default"]
        assert "2 hits in 2 conversations" in browser.status
        await browser.press("enter")
        assert "the lighthouse of the coder" in browser.text("#transcript")
        await browser.press("o")
        await browser.wait_until(lambda: browser.screen.location.profile == "coder")
        await browser.wait_until(lambda: browser.screen.transcript.has_focus)
        assert "the lighthouse of the coder" in browser.text("#transcript")


@pytest.mark.slow
async def test_esc_leads_back_to_the_store_and_0_to_another(root):
    async with everything_of(root) as browser:
        await browser.press("escape")
        assert not isinstance(browser.app.screen, PlacesScreen)
        await everything(browser)
        await open_card(browser)
        await browser.press("home", "down", "down", "enter")
        await browser.wait_until(lambda: browser.screen.location.profile == "coder")
        assert len(browser.app.screen_stack) == 1


@pytest.mark.slow
async def test_the_id_that_is_copied_is_that_of_its_own_store(root):
    async with everything_of(root) as browser:
        await browser.press("y")
        assert browser.app.clipboard == "same"


@pytest.mark.slow
async def test_a_row_resumes_in_its_own_profile(root, tmp_path, monkeypatch):
    """`hermes -p coder`, from the screen of the default profile."""
    programs = tmp_path / "programs"
    script(programs / "hermes")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    app = open_app(locate_file(root / "state.db"))
    async with browsing(app) as browser:
        await everything(browser)
        await browser.pilot.press("R")
        for _ in range(12_000):
            await browser.pilot.pause(0.01)
            if app.return_value is not None or isinstance(app.screen, PreflightCard):
                break
    plan = app.return_value
    assert plan.argv == ("hermes", "-p", "coder", "--resume=same")
    assert plan.env == {"HERMES_HOME": str(root)}


async def test_a_store_without_a_root_has_no_profiles(tmp_path):
    """A copy of a store says so."""
    fill(tmp_path / "copy.db", "Copied chat", "the lighthouse of the copy", 100)
    async with browsing(open_app(locate_file(tmp_path / "copy.db"))) as browser:
        await browser.press("0")
        assert "no profiles" in browser.status


@pytest.mark.slow
async def test_the_profiles_of_the_sample_store_are_samples_too(browser, tmp_path):
    """They are listed and opened like any; nothing of them is resumed, and their trash is in the
    sample's folder."""
    await open_card(browser)
    assert all(name in browser.text("#profiles") for name in ("default", "harbour"))
    await browser.press("escape")
    await everything(browser)
    places = [place_of(row.key) for row in rows_of(browser)]
    await browser.press(*["down"] * places.index("harbour"), "R")
    await until(browser, PreflightCard)
    assert (
        "there is nothing to resume" in browser.card()
        and "hermes -p harbour --resume=" in browser.card()
    )
    await browser.press("escape", "o")
    await browser.wait_until(lambda: not isinstance(browser.app.screen, PlacesScreen))
    location = browser.screen.location
    assert location.name == "demo · harbour" and "who is on duty" in browser.text("#title")
    assert trash_folder(location).is_relative_to(tmp_path)


@pytest.mark.slow
async def test_messages_are_counted_as_in_the_list_of_one_profile(root):
    """By rows, not by Hermes' own counters, which say 7 here."""
    async with browser_of(root) as browser:
        assert (
            isinstance(browser.row, ConversationRow) and browser.row.conversation.shown_count == 1
        )
        await everything(browser)
        rows = (row for row in rows_of(browser) if isinstance(row, ConversationRow))
        assert [row.conversation.shown_count for row in rows] == [1, 1]


@pytest.mark.slow
async def test_rows_far_below_are_named_when_they_come_into_sight(root):
    """Those without a title by what was said first, however many there are."""
    many = root / "profiles" / "many" / "state.db"
    many.parent.mkdir()
    ids = [f"m{number:03}" for number in range(300)]
    make_store(
        many,
        sessions=[
            {"id": each, "started_at": T0 - 9000 - number} for number, each in enumerate(ids)
        ],
        messages=[
            {"session_id": each, "content": f"words of {each}", "timestamp": T0 - 9000 - number}
            for number, each in enumerate(ids)
        ],
    )
    async with everything_of(root) as browser:
        await browser.press("end")
        await browser.wait_until(lambda: "words of m299" in browser.text("#list"))
        assert "no text" not in browser.text("#list")


async def reread(browser, count):
    """Read the list, and wait until it has so many sessions."""
    browser.screen.listing.read()
    await browser.wait_until(lambda: len(browser.screen.catalog.sessions) == count)
    await browser.settle()


@asynccontextmanager
async def without_coder(browser, root):
    """A profile that cannot be read for a while; the list has been read then, and after that."""
    path = root / "profiles" / "coder" / "state.db"
    with browser.screen.reads.released():
        path.rename(path.with_name("whole"))
        path.write_bytes(b"no database at all" * 100)
    await reread(browser, 1)
    yield
    path.with_name("whole").replace(path)
    await reread(browser, 2)


@pytest.mark.slow
async def test_what_cannot_be_read_any_more_is_not_called_deleted(root):
    async with everything_of(root) as browser:
        await go_to(browser, "same coder")
        await browser.press("tab")
        async with without_coder(browser, root):
            assert browser.screen.rows.has_focus
            await browser.wait_until(lambda: "coder: it cannot be read: " in browser.status)


@pytest.mark.slow
async def test_hits_of_a_profile_that_can_be_read_again_come_back(root):
    async with everything_of(root) as browser:
        await browser.search("lighthouse")
        async with without_coder(browser, root):
            assert len(browser.screen.results.hits) == 1
            assert "without broken, coder" in browser.text("#header")
        assert len(browser.screen.results.hits) == 2


@pytest.mark.slow
async def test_what_is_opened_there_is_what_is_shown(root, monkeypatch):
    """At its hit; and not at that of the list when the tree has led to another conversation."""
    asked = []
    monkeypatch.setattr(Switching, "to_place", lambda self, place, there: asked.append(there))
    async with everything_of(root) as browser:
        await browser.search("lighthouse coder")
        rows = enumerate(rows_of(browser))
        browser.screen.rows.cursor = next(at for at, row in rows if isinstance(row, HitRow))
        browser.screen.set_focus(browser.screen.rows)
        row = browser.row
        assert isinstance(row, HitRow) and row.conversation is not None
        await browser.press("o")
        roots = browser.screen.catalog.order()
        other = next(root for root in roots if root != row.conversation.root_id)
        browser.screen.open(browser.screen.catalog.conversation(other))
        await browser.press("o")
    hit, another = asked
    assert hit.conversation.title == row.conversation.title and hit.message_id is not None
    assert another.conversation.title != row.conversation.title and another.message_id is None


@pytest.mark.slow
async def test_marks_of_a_profile_that_can_be_read_again_come_back(root):
    async with everything_of(root) as browser:
        marks = browser.screen.marks
        await browser.press("asterisk")
        assert len(marks) == 2
        async with without_coder(browser, root):
            assert len(marks) == 1 and "1 marked" in browser.text("#views")
        assert [each.title for each in marks.values()] == ["Root chat", "Coder chat"]
        async with without_coder(browser, root):
            await browser.press("asterisk")
        assert not marks


@pytest.mark.slow
async def test_a_profile_that_was_replaced_answers_at_once(root):
    def title(store):
        return store.conversations_of(["same coder"], T0)[0].title

    async with everything_of(root) as browser:
        reads = browser.screen.reads
        assert await reads.submit(title) == "Coder chat"
        fill(root / "other.db", "Another chat", "a lantern", 100)
        (root / "other.db").replace(root / "profiles" / "coder" / "state.db")
        assert await reads.submit(title) == "Another chat"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["slash", "f2", "B"])
async def test_another_store_that_is_late_takes_no_key(key, root, monkeypatch):
    """What is typed meanwhile must not act there."""
    may_come, first_page = threading.Event(), MainScreen.first_page

    def late(screen, *given):
        assert may_come.wait(PATIENCE)
        return first_page(screen, *given)

    monkeypatch.setattr(MainScreen, "first_page", late)
    async with browsing(open_app(Location(root / "state.db", root, "default"))) as browser:
        await open_card(browser)
        await browser.send("enter", key)
        screens = [*browser.app.screen_stack]
        may_come.set()
        await browser.settle()
        assert browser.app.screen_stack == screens
        assert "coder was not opened: you have gone on here" in browser.screen.status.text
