"""Profiles in the browser: switched with one key, listed and searched all at once, each row in its
own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browsing import Browser, browsing, demo_app, open_app
from builders import make_store
from rich.cells import cell_len
from store_builder import T0

from hermes_browse.store.hermes.homes import Location, locate_file
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.tui.list.conversation_rows import ConversationRow
from hermes_browse.tui.list.list_rows import ListRow, NoteRow
from hermes_browse.tui.profiles.everywhere import EverywhereScreen
from hermes_browse.tui.profiles.profile_rows import FoundRow, snippet_spans
from hermes_browse.tui.profiles.profiles_card import ProfilesCard
from hermes_browse.tui.resume.preflight import PreflightCard
from hermes_browse.tui.screens.main import MainScreen
from hermes_browse.tui.store_paths import trash_folder


def fill(path: Path, title: str, said: str, age: float) -> None:
    """A store with one conversation; ids are alike in all of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    make_store(
        path,
        sessions=[{"id": "same", "title": title, "started_at": T0 - age, "message_count": 7}],
        messages=[{"session_id": "same", "content": said, "timestamp": T0 - age}],
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
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


async def until(browser: Browser, kind: type[object]) -> None:
    """Wait for a screen to be on top and at rest."""
    await browser.wait_until(lambda: isinstance(browser.app.screen, kind))
    await browser.settle()


def rows_of(screen: object) -> list[ListRow]:
    """What the list of all profiles shows."""
    assert isinstance(screen, EverywhereScreen)
    return [screen.found.source.row(index) for index in range(len(screen.found))]


async def test_one_key_and_enter_switch_and_the_store_that_is_left_is_let_go_of(root: Path) -> None:
    """The card names every profile, a broken one with the reason; there and back again."""
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        first = browser.screen
        for name in ("coder", "default", "coder"):
            await browser.press("0")
            await until(browser, ProfilesCard)
            shown = browser.text("#profiles")
            assert all(each in shown for each in ("default", "coder", "broken", "unused"))
            assert shown.count("cannot be read") == 2
            assert len([line for line in shown.splitlines() if line.strip()]) == 5, (
                "a line each, and one for all"
            )
            await browser.press("home", *(["down", "down"] if name == "coder" else []), "enter")
            await until(browser, MainScreen)
            for _ in range(300):
                await browser.settle()
                if browser.screen.context.location.profile == name:
                    break
            assert browser.screen.context.location == Location(
                browser.screen.context.store.path, root, name
            )
            row = browser.row
            assert isinstance(row, ConversationRow)
            assert row.conversation.title == ("Coder chat" if name == "coder" else "Root chat")
            assert name in browser.text("#header")
        assert not first.context.reads.holds_store


async def test_a_broken_profile_leaves_everything_as_it_is(root: Path) -> None:
    """It says why in a line."""
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        await browser.press("home", "down", "enter")
        await until(browser, MainScreen)
        for _ in range(300):
            await browser.settle()
            if "not a session store" in browser.text("#status"):
                break
        assert "not a session store" in browser.text("#status")
        assert browser.screen.context.location.profile == "default"


async def test_all_profiles_are_one_list_and_one_search(root: Path) -> None:
    """Newest first whatever the profile, ids that are alike kept apart; a hit opens in its own
    profile."""
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        await browser.press("a")
        await until(browser, EverywhereScreen)
        rows = rows_of(browser.app.screen)
        assert [row.text.split(" cannot")[0] for row in rows if isinstance(row, NoteRow)] == [
            "broken"
        ]
        found = [row.found for row in rows if isinstance(row, FoundRow)]
        assert [(each.profile, each.conversation.title) for each in found] == [
            ("coder", "Coder chat"),
            ("default", "Root chat"),
        ]
        assert len({row.key for row in rows}) == 3
        await browser.press("slash")
        await browser.type("lighthouse")
        for _ in range(300):
            await browser.settle()
            if "hits" in browser.text("#status"):
                break
        hits = [row.found for row in rows_of(browser.app.screen) if isinstance(row, FoundRow)]
        assert [each.profile for each in hits] == ["coder", "default"]
        assert all(each.hit is not None for each in hits)
        assert "2 hits in 2 profiles" in browser.text("#status")
        await browser.press("enter", "enter")
        for _ in range(300):
            await browser.settle()
            if (
                browser.screen.context.location.profile == "coder"
                and browser.screen.transcript.has_focus
            ):
                break
        assert browser.screen.context.location.profile == "coder"
        assert "lighthouse of the coder" in browser.text("#transcript")


async def test_what_the_cursor_is_on_is_shown_beside_the_list(root: Path) -> None:
    """The recap of a conversation, the messages around a hit, a store that is gone; not on a narrow
    terminal."""
    async with browsing(open_app(locate_file(root / "state.db")), (120, 30)) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        await browser.press("a")
        await until(browser, EverywhereScreen)
        shown = browser.text("#preview")
        assert (
            "Coder chat" in shown and "coder · " in shown and "the lighthouse of the coder" in shown
        )
        await browser.press("down")
        assert "the lighthouse of the root" in browser.text("#preview")
        await browser.press("slash")
        await browser.type("lighthouse")
        await browser.wait_until(lambda: "hits" in browser.text("#status"))
        await browser.settle()
        lit = [segment.text for strip in browser.app.screen.query_one("#preview").render_lines(
            browser.app.screen.query_one("#preview").size.region) for segment in strip
            if segment.style is not None and segment.style.reverse]  # fmt: skip
        assert "lighthouse" in "".join(lit)
        await browser.press("enter")
        (root / "state.db").unlink()
        await browser.press("down")
        assert "Root chat" in browser.text("#preview") and "not been used yet" in browser.text(
            "#preview"
        )
        await browser.pilot.resize_terminal(80, 30)
        await browser.settle()
        assert not browser.app.screen.query_one("#side").display


async def test_a_row_resumes_in_its_own_profile(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hermes -p coder`, from the screen of the default profile."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "hermes").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "hermes").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    app = open_app(locate_file(root / "state.db"))
    async with browsing(app) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        await browser.press("a")
        await until(browser, EverywhereScreen)
        await browser.pilot.press("enter")
        for _ in range(12_000):
            await browser.pilot.pause(0.01)
            if app.return_value is not None or isinstance(app.screen, PreflightCard):
                break
    plan = app.return_value
    assert plan is not None
    assert plan.argv == ("hermes", "-p", "coder", "--resume=same")
    assert plan.env == {"HERMES_HOME": str(root)}


async def test_a_store_without_a_root_has_no_profiles(tmp_path: Path) -> None:
    """A copy of a store says so."""
    fill(tmp_path / "copy.db", "Copied chat", "the lighthouse of the copy", 100)
    async with browsing(open_app(locate_file(tmp_path / "copy.db"))) as browser:
        await browser.press("0")
        assert "no profiles" in browser.text("#status")


@pytest.mark.slow
async def test_the_profiles_of_the_sample_store_are_samples_too(tmp_path: Path) -> None:
    """They are listed and opened like any; nothing of them is resumed, and their trash is in the
    sample's folder."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        assert all(name in browser.text("#profiles") for name in ("default", "harbour"))
        await browser.press("a")
        await until(browser, EverywhereScreen)
        assert isinstance(browser.app.screen, EverywhereScreen)
        rows = rows_of(browser.app.screen)
        at = next(
            at
            for at, row in enumerate(rows)
            if isinstance(row, FoundRow) and row.found.profile == "harbour"
        )
        await browser.press(*["down"] * at, "enter")
        await until(browser, PreflightCard)
        assert (
            "there is nothing to resume" in browser.card()
            and "hermes -p harbour --resume=" in browser.card()
        )
        await browser.press("escape", "o")
        await until(browser, MainScreen)
        location = browser.screen.context.location
        assert location.name == "demo · harbour" and "who is on duty" in browser.text("#title")
        assert trash_folder(location).is_relative_to(tmp_path)


async def test_messages_are_counted_as_in_the_list_of_one_profile(root: Path) -> None:
    """By rows, not by Hermes' own counters, which say 7 here."""
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        listed = browser.text("#list").splitlines()[0].split()[-1]
        await browser.press("0", "a")
        await until(browser, EverywhereScreen)
        await browser.wait_until(lambda: "Root chat" in browser.text("#found"))
        (line,) = (line for line in browser.text("#found").splitlines() if "Root chat" in line)
        assert line.split()[-1] == listed == "1"


async def test_rows_far_below_are_named_when_they_come_into_sight(root: Path) -> None:
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
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        await browser.press("0")
        await until(browser, ProfilesCard)
        await browser.press("a")
        await until(browser, EverywhereScreen)
        await browser.press("end")
        for _ in range(300):
            await browser.settle()
            if "words of m299" in browser.text("#found"):
                break
        assert "words of m299" in browser.text("#found")
        assert "no text" not in browser.text("#found")


@pytest.mark.parametrize("width", [9, 14, 22, 40, 90])
@pytest.mark.parametrize(
    "text", ["…a long text before the *ferry* that goes on", "ferry", "…部署了之后的 ferry"]
)
def test_a_hit_shows_what_was_looked_for(text: str, width: int) -> None:
    """Whole, in exactly the room there is, however much stands before it."""
    start = text.index("ferry")
    hit = Hit(1, "s", "user", None, text, ((start, start + 5),))
    spans = snippet_spans(hit, width)
    assert sum(cell_len(part) for part, _look in spans) == width
    assert ("ferry", "hit") in spans and "……" not in "".join(part for part, _look in spans)
