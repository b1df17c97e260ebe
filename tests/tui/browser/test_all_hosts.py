"""Profiles and hosts as one list: own rows at once, others when they come, nothing waits for a host
that is away."""

import os
import sys
import threading
from contextlib import asynccontextmanager

import pytest
from browsing import NOW, browsing, open_app, rows_of
from builders import make_store
from fake_hosts import FakeConnection, FakeLink, FakeLinks, configured
from store_builder import T0

from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hosts.connection import Links
from hermes_browse.store.hosts.host import Host
from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.browser.other_stores import AwayRow, PlacesScreen
from hermes_browse.tui.browser.switching import ProfilesCard

VPS, NAS = Host("vps", "me@vps"), Host("nas", "me@nas")


def fill(path, ages, said):
    """A store of conversations by id, each with one message; ages are in seconds before `T0`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return make_store(
        path,
        sessions=[
            {"id": each, "title": f"Chat {each}", "started_at": T0 - age}
            for each, age in ages.items()
        ],
        messages=[
            {"session_id": each, "content": f"{said} of {each}", "timestamp": T0 - age}
            for each, age in ages.items()
        ],
    )


@pytest.fixture
def vps(tmp_path):
    """A host with three conversations, one older and two newer than all here."""
    ages = {"v1": -50.0, "v2": -40.0, "v3": 5_000.0}
    return FakeLink(VPS, fill(tmp_path / "vps" / "state.db", ages, "the lighthouse there"))


@pytest.fixture
def nas(tmp_path):
    """A host with one conversation between those here, whose id is also one here."""
    return FakeLink(NAS, fill(tmp_path / "nas" / "state.db", {"s15": 151.0}, "a lighthouse far"))


@pytest.fixture
def app(tmp_path, vps, nas, monkeypatch):
    """The browser on a root with forty conversations, ten seconds apart, and with two hosts."""
    ages = {f"s{number:02}": 10.0 * number for number in range(40)}
    fill(tmp_path / "hermes" / "state.db", ages, "fog")
    made = open_app(locate_file(tmp_path / "hermes" / "state.db"))
    monkeypatch.setattr(
        "hermes_browse.store.hosts.remote.RemoteStore.remote_calls",
        lambda store: FakeConnection(store.link),
    )
    with_hosts(made, vps, nas)
    return made


def with_hosts(app, *links):
    """Configure hosts, and the connections to them."""
    configured(app, tuple(each.host for each in links))
    app.__dict__["links"] = FakeLinks(*links)


@asynccontextmanager
async def everything(app, size=(120, 36)):
    """The browser with the list of all profiles and hosts, as far as it has come."""
    async with browsing(app, size) as browser:
        await browser.send("0")
        await browser.wait_until(lambda: isinstance(app.screen, ProfilesCard))
        await browser.send("a")
        await browser.wait_until(lambda: isinstance(app.screen, PlacesScreen))
        await browser.wait_until(lambda: len(names(browser)) >= 40)
        yield browser


def names(browser):
    """The names of the conversations in the list, those of others than the profile with it."""
    rows = (row for row in rows_of(browser) if isinstance(row, ConversationRow))
    return [
        f"{each.title}{place if place != 'default' else ''}"
        for each, place in ((row.conversation, row.conversation.id.split()[1]) for row in rows)
    ]


async def until_listed(browser, *wanted):
    """Wait until these conversations are in the list."""
    await browser.wait_until(lambda: set(wanted) <= set(names(browser)))


async def until_read(browser, text):
    """Wait until a text is in the transcript."""
    await browser.wait_until(lambda: text in browser.text("#transcript"))


async def until_header(browser, told):
    """Wait until the header says something."""
    await browser.wait_until(lambda: told in browser.text("#header"))


async def until_alone(browser, *wanted):
    """Wait until these conversations, and no others, are in the list."""
    await browser.wait_until(lambda: names(browser) == list(wanted))


def lines(browser):
    """The lines of places that are away."""
    return [
        f"{row.place.name}: {row.reason}" for row in rows_of(browser) if isinstance(row, AwayRow)
    ]


@pytest.mark.slow
async def test_the_card_shows_profiles_at_once_and_hosts_when_they_answer(
    app, vps, nas, monkeypatch
):
    """A line each: asking, figures, or why it is away and since when; a host is chosen like a
    profile."""
    chosen = []
    monkeypatch.setattr(
        "hermes_browse.tui.browser.switching.Switching.to_place",
        lambda self, place, arrival: chosen.append(place.host),
    )
    vps.gate.clear()
    nas.fail(since=NOW)
    async with browsing(app) as browser:
        await browser.send("0")
        await browser.wait_until(
            lambda: bool(app.screen.query("#profiles")) and "away" in browser.text("#profiles")
        )
        own, first, second, last = (
            line for line in browser.text("#profiles").splitlines() if line.strip()
        )
        assert own.split()[:4] == ["●", "default", "40", "sessions"]
        assert first.split() == ["@vps", "asking", "…"]
        reason = "away since 20:26: it cannot be reached (Connection refused)."
        assert "@nas" in second and reason in second
        assert last.split("·")[0].strip() == "everything as one list" and "40 sessions" in last
        vps.gate.set()
        await browser.wait_until(lambda: "43 sessions" in browser.text("#profiles"))
        await browser.press("enter")
        assert chosen == [VPS], "the cursor begins on the first that is not on screen"


@pytest.mark.slow
async def test_own_rows_come_at_once_and_those_of_hosts_without_moving_the_cursor(app, vps, nas):
    """Merged by the last activity, with the place of each; ids that are alike are kept apart."""
    vps.gate.clear()
    nas.gate.clear()
    async with everything(app) as browser:
        rows = browser.screen.rows

        def under_cursor():
            return rows.current.key, rows.cursor - rows.scroll_offset.y

        assert names(browser) == [f"Chat s{number:02}" for number in range(40)]
        await until_header(browser, "asking @vps, @nas …")
        await browser.send("end", "up", "up", "up")
        before = under_cursor()
        assert before[0] == "cs36 default"
        vps.gate.set()
        await until_listed(browser, "Chat v2@vps")
        assert under_cursor() == before
        await until_header(browser, "asking @nas …")
        nas.gate.set()
        await until_listed(browser, "Chat s15@nas")
        assert under_cursor() == before
        told = names(browser)
        assert told[:3] == ["Chat v1@vps", "Chat v2@vps", "Chat s00"]
        assert (
            told[-1] == "Chat v3@vps" and told.index("Chat s15@nas") == told.index("Chat s15") + 1
        )
        await browser.wait_until(lambda: "asking" not in browser.text("#header"))
        assert "44 of 44 shown" in browser.text("#header")
        await browser.press("home")
        first = browser.text("#list").splitlines()[0]
        assert "Chat v1" in first and "@vps" in first and "where" in browser.text("#head")


@pytest.mark.slow
async def test_a_host_that_is_away_is_one_line_and_comes_back_by_itself(app, vps, nas):
    """With the reason, since when, and what to do; one that goes away later loses its rows until it
    is back."""
    nas.fail("host-login", since=NOW)
    async with everything(app) as browser:
        await browser.wait_until(lambda: "Chat v1@vps" in names(browser) and bool(lines(browser)))
        told = "@nas: away since 20:26: it wants a password or another key."
        assert lines(browser) == [told] and "Chat s15@nas" not in names(browser)
        await until_header(browser, "without @nas")
        await browser.press("home")
        assert "Enter asks it again" in browser.status
        assert "`hermes-browse hosts check nas` says more" in browser.status
        await browser.press("down")
        assert "Enter reads it" in browser.status
        nas.come_back()
        await until_listed(browser, "Chat s15@nas")
        assert lines(browser) == []
        vps.fail("host-lost", since=NOW + 60)
        await browser.wait_until(
            lambda: lines(browser) == ["@vps: away since 20:27: the connection was lost."]
        )
        assert "Chat v1@vps" not in names(browser) and "Chat s15@nas" in names(browser)


@pytest.mark.slow
async def test_a_host_that_goes_away_while_a_transcript_of_it_is_read(app, vps, nas):
    """That is said, and the keys go to the list: another conversation is shown then."""
    async with everything(app) as browser:
        await until_listed(browser, "Chat v3@vps")
        await browser.settle()
        vps.gate.clear()
        rows = browser.screen.rows
        rows.cursor = names(browser).index("Chat v3@vps")
        await browser.send("tab")
        await browser.wait_until(lambda: browser.screen.transcript.model is None)
        vps.fail("host-lost", since=NOW + 60)
        vps.gate.set()
        await browser.wait_until(lambda: bool(lines(browser)))
        await browser.settle()
        assert "@vps: away since 20:27: the connection was lost" in browser.status
        assert rows.has_focus


@pytest.mark.slow
async def test_enter_asks_a_host_again_that_is_away(app, vps, nas):
    """Without waiting for the next time."""
    nas.fail(since=NOW)
    async with everything(app) as browser:
        await browser.wait_until(lambda: bool(lines(browser)))
        await browser.press("home")
        nas.come_back()
        await browser.press("enter")
        await until_listed(browser, "Chat s15@nas")
        assert lines(browser) == []


@pytest.mark.slow
async def test_a_search_goes_to_all_at_once_and_shows_hits_as_they_come(app, vps, nas):
    """Newest first; a place that is away is named in the status."""
    async with everything(app) as browser:
        await browser.wait_until(lambda: len(names(browser)) == 44)
        vps.gate.clear()
        await browser.send("slash", *"lighthouse")
        await until_alone(browser, "Chat s15@nas")
        vps.gate.set()
        await until_alone(browser, "Chat v1@vps", "Chat v2@vps", "Chat s15@nas", "Chat v3@vps")
        await browser.wait_until(lambda: "4 hits" in browser.status)
        await browser.press("enter")
        assert "a lighthouse far of s15" in browser.text("#transcript"), "the cursor stays"
        nas.fail(since=NOW)
        await browser.send("slash", "backspace")
        await browser.wait_until(lambda: "nas: it cannot be reached" in browser.status)
        await browser.wait_until(lambda: "Chat s15@nas" not in names(browser))


@pytest.mark.slow
async def test_a_newer_search_drops_the_answers_to_older_ones(app, vps, nas):
    """Those that are still asked are given up."""
    async with everything(app) as browser:
        await browser.wait_until(lambda: len(names(browser)) == 44)
        first = vps.gate = threading.Event()
        await browser.send("slash", *"fog")
        await browser.wait_until(lambda: vps.asked[-1] == "search")
        vps.gate = threading.Event()
        vps.gate.set()
        browser.screen.box.value = "there"
        await browser.wait_until(lambda: bool(vps.interrupted))
        there = ["Chat v1@vps", "Chat v2@vps", "Chat v3@vps"]
        await until_alone(browser, *there)
        first.set()
        await browser.settle()
        assert names(browser) == there


@pytest.mark.slow
async def test_what_is_about_one_store_says_how_to_get_there(app):
    """Nothing is changed from here."""
    async with everything(app) as browser:
        for key in ("a", "D", "f", "f2", "P", "X", "W", "I", "H", "u"):
            await browser.press(key)
            assert isinstance(app.screen, PlacesScreen), key
            assert "o opens the one of this conversation" in browser.status, key


@pytest.mark.slow
async def test_a_store_without_a_root_has_hosts_all_the_same(app, tmp_path, vps):
    """The card shows them, and the list their conversations."""
    copy = make_store(tmp_path / "copy.db", sessions=[{"id": "a", "started_at": T0}])
    own = open_app(locate_file(copy))
    with_hosts(own, vps)
    async with browsing(own) as browser:
        await browser.press("0", "a")
        await browser.wait_until(lambda: isinstance(own.screen, PlacesScreen))
        await until_alone(browser, "Chat v1@vps", "Chat v2@vps", "Chat v3@vps")


SSH = """#!/bin/sh
for each in "$@"; do line="$each"; done
exec sh -c "$line"
"""


@pytest.fixture
def far(tmp_path, monkeypatch):
    """A host that a stand-in for ssh reaches: a chat, and a long run of a job that has no title."""
    programs, home = tmp_path / "programs", tmp_path / "far home"
    programs.mkdir()
    home.mkdir()
    (programs / "ssh").write_text(SSH, encoding="utf-8")
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    job = {"source": "cron", "started_at": T0 + 70}
    make_store(
        home / "state.db",
        sessions=[
            {"id": "chat", "title": "Far chat", "started_at": T0 + 90},
            {**job, "id": "cron_a", "ended_at": T0 + 71, "end_reason": "compression"},
            {**job, "id": "cron_b", "started_at": T0 + 71, "parent_session_id": "cron_a"},
        ],
        messages=[
            {"session_id": "chat", "content": "a boat far away", "timestamp": T0 + 90},
            {"session_id": "cron_a", "content": "what the job was told", "timestamp": T0 + 70},
            {"session_id": "cron_b", "content": "it saw a lighthouse", "timestamp": T0 + 80},
        ],
    )
    return Host("far", "me@far", command=f"{sys.executable} -m hermes_browse.tui", home=str(home))


@pytest.mark.slow
async def test_conversations_of_a_host_are_read_named_and_found(app, far, monkeypatch):
    """Through the program there, as typed calls."""
    monkeypatch.undo()
    monkeypatch.setenv(
        "PATH", f"{far.home.rpartition('/')[0]}/programs{os.pathsep}{os.environ['PATH']}"
    )
    configured(app, (far,))
    app.__dict__["links"] = Links()
    async with everything(app) as browser:
        await browser.wait_until(lambda: names(browser)[0] == "Far chat@far")
        await browser.press("home")
        await until_read(browser, "a boat far away")
        await browser.search("lighthouse")
        await browser.wait_until(lambda: "what the job was told" in browser.text("#list"))
        (row,) = (row for row in rows_of(browser) if isinstance(row, ConversationRow))
        ids = [each.id for each in row.conversation.segments]
        assert ids == ["cron_a @far", "cron_b @far"]
        await browser.press("enter")
        await until_read(browser, "it saw a lighthouse")
        await browser.press("o")
        await browser.wait_until(lambda: browser.screen.location.host == far)
        await until_read(browser, "it saw a lighthouse")


@pytest.mark.slow
async def test_the_end_of_the_browser_ends_the_connections(app, vps):
    """Also while one is asked; nothing waits for it."""
    vps.gate.clear()
    links = app.links
    async with everything(app):
        assert not links.is_closed
    assert links.is_closed
