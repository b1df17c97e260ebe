"""Profiles and hosts as one list: own rows at once, others when they come, nothing waits for a host
that is away."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from browsing import NOW, Browser, browsing, open_app
from builders import make_store
from fake_hosts import FakeLink, FakeLinks, conversation, hit
from store_builder import T0
from textual.widgets import Input

from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Links
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.list.list_rows import ListRow, NoteRow
from hermes_browse.tui.profiles.hosts_screen import HostsCard, HostsScreen
from hermes_browse.tui.profiles.profile_rows import AwayRow, FoundRow

VPS, NAS = Host("vps", "me@vps"), Host("nas", "me@nas")


@pytest.fixture
def vps() -> FakeLink:
    """A host with three conversations, one older and two newer than all here."""
    rows = [
        conversation("v1", T0 + 50),
        conversation("v2", T0 + 40),
        conversation("v3", T0 - 5_000),
    ]
    return FakeLink(VPS, rows, [hit(7, "v3", T0 - 5_000), hit(9, "far", T0 + 45)])


@pytest.fixture
def nas() -> FakeLink:
    """A host with one conversation between those here."""
    return FakeLink(NAS, [conversation("n1", T0 - 150)], [hit(7, "n1", T0 - 150)])


@pytest.fixture
def app(tmp_path: Path, vps: FakeLink, nas: FakeLink) -> BrowseApp:
    """The browser on a root with forty conversations, ten seconds apart, and with two hosts."""
    (tmp_path / "hermes").mkdir()
    ids = [f"s{number:02}" for number in range(40)]
    make_store(
        tmp_path / "hermes" / "state.db",
        sessions=[
            {"id": each, "title": f"Own {each}", "started_at": T0 - 10 * at}
            for at, each in enumerate(ids)
        ],
        messages=[
            {
                "session_id": each,
                "content": "the lighthouse here" if at < 2 else "fog",
                "timestamp": T0 - 10 * at,
            }
            for at, each in enumerate(ids)
        ],
    )
    made = open_app(locate_file(tmp_path / "hermes" / "state.db"))
    with_hosts(made, vps, nas)
    return made


def with_hosts(app: BrowseApp, *links: FakeLink) -> None:
    """Configure hosts, and the connections to them."""
    options = app.start.options._replace(hosts=tuple(each.host for each in links))
    app.start = app.start._replace(options=options)
    app.__dict__["links"] = FakeLinks(*links)


@asynccontextmanager
async def everything(app: BrowseApp, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Browser]:
    """The browser with the list of all profiles and hosts, as far as it has come."""
    async with browsing(app, size) as browser:
        await browser.send("0")
        await browser.wait_until(lambda: isinstance(app.screen, HostsCard))
        await browser.send("a")
        await browser.wait_until(
            lambda: isinstance(app.screen, HostsScreen) and len(names(browser)) >= 40
        )
        yield browser


def rows_of(browser: Browser) -> list[ListRow]:
    """What the list shows."""
    screen = browser.app.screen
    assert isinstance(screen, HostsScreen)
    return [screen.found.source.row(index) for index in range(len(screen.found))]


def names(browser: Browser) -> list[str]:
    """The names of the conversations in the list."""
    return [row.found.conversation.title or row.found.conversation.preview for row in rows_of(browser)
            if isinstance(row, FoundRow)]  # fmt: skip


def lines(browser: Browser) -> list[str]:
    """The sentences in the list."""
    return [
        f"@{row.host.name}: {row.reason}" if isinstance(row, AwayRow) else row.text
        for row in rows_of(browser)
        if isinstance(row, AwayRow | NoteRow)
    ]


async def test_the_card_shows_profiles_at_once_and_hosts_when_they_answer(
    app: BrowseApp, vps: FakeLink, nas: FakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line each: asking, figures, or why it is away and since when; a host is chosen like a
    profile."""
    chosen: list[Host] = []
    monkeypatch.setattr(
        "hermes_browse.tui.profiles.switching.Switching.to_host",
        lambda self, host: chosen.append(host),
    )
    vps.gate.clear()
    vps.total = 20_113
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
        assert (
            "@nas" in second
            and "away since 20:26: it cannot be reached (Connection refused)." in second
        )
        assert last.split("·")[0].strip() == "everything as one list" and "40 sessions" in last
        vps.gate.set()
        await browser.wait_until(lambda: "20,113 sessions" in browser.text("#profiles"))
        last = [line for line in browser.text("#profiles").splitlines() if line.strip()][-1]
        assert "20,153 sessions" in last
        await browser.press("enter")
        assert chosen == [VPS], "the cursor begins on the first that is not on screen"


async def test_own_rows_come_at_once_and_those_of_hosts_without_moving_the_cursor(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Merged by the last activity; the row under the cursor stays where it is on the screen."""
    vps.gate.clear()
    nas.gate.clear()
    async with everything(app) as browser:
        screen = app.screen
        assert isinstance(screen, HostsScreen)

        def under_cursor() -> tuple[str, int]:
            row = screen.found.current
            assert isinstance(row, FoundRow)
            return row.found.conversation.id, screen.found.cursor - screen.found.scroll_offset.y

        assert names(browser) == [f"Own s{number:02}" for number in range(40)]
        assert "asking @vps, @nas …" in browser.text("#header")
        await browser.send("end", "up", "up", "up")
        before = under_cursor()
        assert before[0] == "s36"
        vps.gate.set()
        await browser.wait_until(lambda: "Chat v2" in names(browser))
        assert under_cursor() == before
        assert "asking @nas …" in browser.text("#header")
        nas.gate.set()
        await browser.settle()
        assert under_cursor() == before
        told = names(browser)
        assert told[:3] == ["Chat v1", "Chat v2", "Own s00"] and told[-1] == "Chat v3"
        assert told.index("Chat n1") in (told.index("Own s15") - 1, told.index("Own s15") + 1)
        assert "44 chats · 44 conversations in 1 profile and 2 hosts" in browser.text("#header")
        await browser.press("4", "home")
        assert vps.asked[-1] == ("list", {"view": "all", "limit": 200})
        assert browser.text("#found").splitlines()[0].split()[1:4] == ["@vps", "Chat", "v1"]
        assert browser.text("#found-head").split()[0] == "where"


async def test_newer_rows_above_the_view_are_announced(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Until they have been on screen; the cursor stays on its row."""
    vps.gate.clear()
    async with everything(app) as browser:
        screen = app.screen
        assert isinstance(screen, HostsScreen)
        await browser.wait_until(lambda: "Chat n1" in names(browser))
        assert "newer" not in browser.text("#status"), (
            "what came below the first row is on screen, or older"
        )
        await browser.send("end")
        row = screen.found.current
        vps.gate.set()
        await browser.wait_until(lambda: "Chat v2" in names(browser))
        await browser.wait_until(lambda: browser.text("#status").strip() == "2 newer above · g")
        assert (
            screen.found.current is not None
            and row is not None
            and screen.found.current.key == row.key
        )
        await browser.press("up", "down")
        assert "2 newer above · g" in browser.text("#status")
        await browser.press("g")
        assert names(browser)[0] == "Chat v1" and "newer" not in browser.text("#status")


async def test_a_host_that_is_away_is_one_line_and_comes_back_by_itself(
    app: BrowseApp, vps: FakeLink, nas: FakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason, since when, and what to do; one that goes away later loses its rows until it
    is back."""
    monkeypatch.setattr("hermes_browse.tui.profiles.hosts_screen.AGAIN_SECONDS", 0.02)
    nas.fail("host-login", since=NOW)
    async with everything(app) as browser:
        screen = app.screen
        assert isinstance(screen, HostsScreen)
        await browser.wait_until(lambda: "Chat v1" in names(browser) and bool(lines(browser)))
        told = "@nas: away since 20:26: it wants a password or another key."
        assert lines(browser) == [told] and "Chat n1" not in names(browser)
        assert "without @nas" in browser.text("#header")
        await browser.send("home")
        await browser.wait_until(lambda: "ssh-add" in browser.text("#preview"))
        assert "`ssh-copy-id me@nas`" in browser.text("#preview")
        for place in ("#preview", "#status"):
            assert "`hermes-browse hosts check nas` says more" in browser.text(place)
        await browser.send("down")
        await browser.wait_until(lambda: "Enter resumes" in browser.text("#status"))
        row = screen.found.current
        assert isinstance(row, FoundRow)
        nas.come_back()
        await browser.wait_until(lambda: "Chat n1" in names(browser))
        assert lines(browser) == []
        assert screen.found.current is not None and screen.found.current.key == row.key
        vps.fail("host-lost", since=NOW + 60)
        await browser.wait_until(
            lambda: lines(browser) == ["@vps: away since 20:27: the connection was lost."]
        )
        assert "Chat v1" not in names(browser) and "Chat n1" in names(browser)
        vps.come_back()
        await browser.wait_until(lambda: "Chat v1" in names(browser))
        nas.fail(since=NOW - 86_400)
        await browser.wait_until(
            lambda: any("away since 2026-05-27 20:26: it" in line for line in lines(browser))
        )


async def test_enter_asks_a_host_again_that_is_away(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Without waiting for the next time."""
    nas.fail(since=NOW)
    async with everything(app) as browser:
        await browser.settle()
        nas.come_back()
        await browser.press("home", "enter")
        assert "Chat n1" in names(browser) and lines(browser) == []


async def test_a_search_goes_to_all_at_once_and_says_who_has_answered(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Newest first as answers come; a conversation that is not known is named by its id at
    first."""
    async with everything(app) as browser:
        await browser.settle()
        vps.gate.clear()
        await browser.send("slash", *"lighthouse")
        await browser.wait_until(
            lambda: vps.asked[-1][1].get("query") == ["lighthouse"]
        )  # typing may have paused on a slow machine
        await browser.wait_until(
            lambda: "3 hits · 1 of 2 hosts have answered" in browser.text("#status")
        )
        assert names(browser) == ["Own s00", "Own s01", "Chat n1"]
        screen = app.screen
        assert isinstance(screen, HostsScreen) and screen.found.cursor == 0
        vps.gate.set()
        await browser.wait_until(
            lambda: "5 hits · 2 of 2 hosts have answered" in browser.text("#status")
        )
        assert names(browser) == ["far", "Own s00", "Own s01", "Chat n1", "Chat v3"]
        assert vps.asked[-1] == ("search", {"query": ["lighthouse"], "limit": 200})
        assert screen.found.cursor == 0, "the newest, while something is typed"
        nas.fail(since=NOW)
        await browser.send("s")
        await browser.wait_until(lambda: "without @nas" in browser.text("#status"))
        assert "1 of 2 hosts have answered" in browser.text("#status")
        assert len(lines(browser)) == 1 and lines(browser)[0].startswith("@nas: away since")
        await browser.press("escape")
        assert len(names(browser)) == 44, "the list is still known"


async def test_a_newer_search_drops_the_answers_to_older_ones(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Those that are still asked are cancelled; what comes all the same is not shown."""
    async with everything(app) as browser:
        await browser.settle()
        first = vps.gate = threading.Event()
        await browser.send("slash", *"lig")
        await browser.wait_until(lambda: vps.asked[-1][1].get("query") == ["lig"])
        number, vps.gate = len(vps.asked), threading.Event()
        vps.gate.set()
        vps.hits = [hit(50, "v1", T0 + 50, "the lighthouse, newly")]
        browser.app.screen.query_one(
            Input
        ).value = "lighthouse"  # at once: no search lies between the two
        await browser.wait_until(lambda: vps.asked[-1][1].get("query") == ["lighthouse"])
        await browser.wait_until(lambda: "2 of 2 hosts have answered" in browser.text("#status"))
        assert number in vps.cancelled
        vps.hits = [hit(51, "v2", T0 + 60, "the lighthouse, of old")]
        first.set()
        await browser.settle()
        assert names(browser)[0] == "Chat v1" and "Chat v2" not in names(browser)


@pytest.mark.slow
async def test_what_is_no_answer_is_one_line_and_nothing_reaches_the_terminal(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """Noise, wrong types and a refusal; control characters in titles are shown as what they are."""
    vps.answer = lambda _name, _values: "\x1b]0;owned\x07 welcome to vps"
    nas.conversations[0] |= {"title": "evil \x1b[2J\u202e", "source": "\x1b[31m", "id": "n1"}
    async with everything(app) as browser:
        await browser.settle()
        (line,) = lines(browser)
        assert line.startswith("@vps: no answer: what came back is not an answer of hermes-browse")
        assert "evil ␛[2J�" in browser.text("#found")
        await browser.press("home")
        shown = "".join(browser.text(each) for each in ("#found", "#preview", "#status", "#header"))
        assert "\x1b" not in shown and "\u202e" not in shown


@pytest.mark.slow
async def test_a_host_with_more_conversations_than_were_sent_says_so(
    app: BrowseApp, vps: FakeLink
) -> None:
    """In the header."""
    vps.conversations = [conversation(f"w{number}", T0 - number) for number in range(300)]
    vps.total = 20_113
    async with everything(app, (160, 36)) as browser:
        await browser.settle()
        assert "200 of 20,113 of @vps" in browser.text("#header")
        assert len(names(browser)) == 40 + 200 + 1


@pytest.mark.slow
async def test_a_store_without_a_root_has_hosts_all_the_same(tmp_path: Path, vps: FakeLink) -> None:
    """The card shows them, and the list their conversations."""
    copy = make_store(tmp_path / "copy.db", sessions=[{"id": "a", "started_at": T0}])
    app = open_app(locate_file(copy))
    with_hosts(app, vps)
    async with browsing(app) as browser:
        await browser.press("0", "a")
        await browser.wait_until(lambda: isinstance(app.screen, HostsScreen))
        await browser.settle()
        assert names(browser) == ["Chat v1", "Chat v2", "Chat v3"]


@pytest.mark.slow
async def test_a_preview_that_takes_long_holds_up_nothing(
    app: BrowseApp, vps: FakeLink, nas: FakeLink
) -> None:
    """While it is read it says so; when it comes the cursor is elsewhere, and it is dropped."""
    vps.reading.clear()
    async with everything(app) as browser:
        await browser.wait_until(lambda: "Chat v1" in names(browser))
        await browser.send("home")
        await browser.wait_until(lambda: "asking @vps …" in browser.text("#preview"))
        assert "Chat v1" in browser.text("#preview")
        await browser.send("down", "down")
        await browser.wait_until(lambda: "the lighthouse here" in browser.text("#preview"))
        assert vps.reads
        vps.reading.set()
        await browser.settle()
        assert "the lighthouse here" in browser.text("#preview") and "Own s00" in browser.text(
            "#preview"
        )


SSH = """#!/bin/sh
for each in "$@"; do line="$each"; done
exec sh -c "$line"
"""


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A host that a stand-in for ssh reaches: a chat, and a long run of a job that has no title."""
    programs, home = tmp_path / "programs", tmp_path / "far home"
    programs.mkdir()
    home.mkdir()
    (programs / "ssh").write_text(SSH, encoding="utf-8")
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    make_store(
        home / "state.db",
        sessions=[
            {"id": "chat", "title": "Far chat", "started_at": T0 + 90},
            {
                "id": "cron_a",
                "source": "cron",
                "started_at": T0 + 70,
                "ended_at": T0 + 71,
                "end_reason": "compression",
            },
            {
                "id": "cron_b",
                "source": "cron",
                "started_at": T0 + 71,
                "parent_session_id": "cron_a",
            },
        ],
        messages=[
            {"session_id": "chat", "content": "a boat far away", "timestamp": T0 + 90},
            {"session_id": "cron_a", "content": "what the job was told", "timestamp": T0 + 70},
            {"session_id": "cron_b", "content": "it saw a lighthouse", "timestamp": T0 + 80},
        ],
    )
    return Host("far", "me@far", command=f"{sys.executable} -m hermes_browse.tui", home=str(home))


async def test_conversations_of_a_host_are_previewed_named_and_opened(
    app: BrowseApp, far: Host
) -> None:
    """The recap of one, the messages around a hit; what the list did not send is read when it comes
    into sight."""
    app.start = app.start._replace(options=app.start.options._replace(hosts=(far,)))
    app.__dict__["links"] = Links()
    async with everything(app) as browser:
        await browser.settle()
        assert names(browser)[0] == "Far chat"
        await browser.press("home")
        await browser.wait_until(lambda: "a boat far away" in browser.text("#preview"))
        assert "@far · " in browser.text("#preview")
        await browser.press("slash")
        await browser.type("lighthouse")
        await browser.wait_until(lambda: "what the job was told" in names(browser))
        (row,) = (
            row for row in rows_of(browser) if isinstance(row, FoundRow) and row.found.location.host
        )
        assert [each.id for each in row.found.conversation.segments] == ["cron_a", "cron_b"]
        await browser.press("enter", "home")
        assert "it saw a lighthouse" in browser.text("#preview")
        await browser.press("enter")
        await browser.wait_until(lambda: browser.screen.context.location.host == far)
        await browser.wait_until(lambda: "it saw a lighthouse" in browser.text("#transcript"))


async def test_the_end_of_the_browser_ends_the_connections(app: BrowseApp, vps: FakeLink) -> None:
    """Also while one is asked; nothing waits for it."""
    vps.gate.clear()
    links = app.links
    assert isinstance(links, FakeLinks)
    async with everything(app):
        assert not links.is_closed
    assert links.is_closed
