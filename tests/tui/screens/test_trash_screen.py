"""The trash on screen: bundles are listed, opened, put back whole or in part, and thrown away."""

from pathlib import Path

import pytest
from browsing import go_to, on_store, rows_of
from pruning import NOW
from trashing import differences, dump, is_sound, session_ids

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.sessions.models import View
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.screens.bundles import BundleScreen, DropCard
from hermes_browse.tui.screens.trash import TrashScreen


@pytest.mark.slow
async def test_the_trash(path):
    """Listed, checked, put back, its undo; dropped only after its number was typed."""
    before = dump(path)
    async with on_store(path, NOW) as browser:
        await browser.press("X")
        assert isinstance(browser.app.screen, TrashScreen) and "The trash is empty" in browser.text(
            "#bundles"
        )
        await browser.press("r", "D", "c", "escape")
        for root in ("old", "boss"):
            await go_to(browser, root)
            await browser.press("D", "y")
        await browser.press("X")
        assert "2 deletions" in browser.text("#header")
        assert "Old plans" in [row.bundle.title for row in rows_of(browser)]
        assert len(rows_of(browser)) == 2
        await browser.press("c")
        assert "the checksum matches" in browser.status
        await browser.press("space", "space", "r")
        assert {"old", "boss", "helper"} <= session_ids(
            path
        ) and "restored 4 sessions" in browser.status
        await browser.press("r")
        assert "in the store already" in browser.status, "a second time restores nothing"
        assert (
            not differences(before, dump(path)) and browser.text("#bundles").count("restored") == 2
        )
        await browser.press("u")
        assert not session_ids(path) & {"old", "boss"}
        await browser.press("u", "u", "escape", "X", "D")
        assert isinstance(browser.app.screen, DropCard)
        await browser.press("y", "enter")
        assert "not 1" in browser.card()
        await browser.press("escape")
        bundles = list(trash_folder(browser.screen.location).glob("*-*.db"))
        await browser.press("D", "1", "enter")
        assert len(list(trash_folder(browser.screen.location).glob("*-*.db"))) == len(bundles) - 1
    assert is_sound(path)


@pytest.mark.slow
async def test_one_conversation_of_a_bundle_is_read_and_put_back(path):
    """A bundle lists its conversations by name; Enter looks into it, R puts one back, u takes that
    away again."""
    async with on_store(path, NOW, (120, 36)) as browser:
        trash = trash_folder(browser.screen.location)
        delete(Store(path), ["old", "boss"], trash, now=NOW)
        await browser.press("f5")
        assert not session_ids(path) & {"old", "boss", "helper"}
        await browser.press("X")
        assert isinstance(browser.app.screen, TrashScreen)
        told = browser.text("#contents")
        assert "◆ Old plans" in told and "◆ hello there" in told
        assert "Enter open" in browser.text("#keys")
        assert "conversation" in browser.text("#bundles-head")
        assert "· 2 · Old plans" in browser.text("#bundles")
        await browser.press("enter")
        await browser.wait_until(lambda: isinstance(browser.screen, BundleScreen))
        await browser.settle()
        inside = browser.screen
        assert inside.catalog.counts()[View.ALL] == 4 and "trash: 2 · Old plans" in browser.text(
            "#header"
        )
        keys = browser.text("#keys")
        assert "r restore" in keys and "X trash" not in keys and "0 profiles" not in keys
        await go_to(browser, "old")
        model = inside.transcript.model
        assert model.conversation.id == "old" and len(model)
        await browser.press("D")
        assert "this is in the trash" in browser.status and not session_ids(path) & {
            "old",
            "boss",
        }
        await browser.press("R")
        assert "restored with r" in browser.status and "old" not in session_ids(path)
        await browser.press("space", "tab", "r")
        await browser.wait_until(lambda: "restored 1 session" in browser.status)
        await browser.settle()
        (back,) = (row for row in browser.text("#list").splitlines() if "back in the store" in row)
        assert "Old plans" in back and not inside.marks
        assert "old" in session_ids(path) and not session_ids(path) & {"boss", "helper"}
        place = inside.location.path
        await browser.press("escape", "escape")
        assert isinstance(browser.app.screen, TrashScreen) and "1 of 2 back" in browser.text(
            "#bundles"
        )
        assert "✓ Old plans" in browser.text("#contents")
        assert place.exists(), "the bundle stays as it is"
        await browser.press("u")
        assert "old" not in session_ids(path)
    assert is_sound(path)


@pytest.mark.slow
async def test_what_was_back_already_does_not_go_with_an_undo(path):
    """A restore that is done again puts nothing back, so that there is nothing to take away."""
    async with on_store(path, NOW) as browser:
        await go_to(browser, "old")
        await browser.press("D", "y")
        (bundle,) = list_bundles(trash_folder(browser.screen.location))
        restore(Store(path), trash_folder(browser.screen.location), bundle.name)
        await browser.press("X", "r")
        assert "1 session is in the store already" in browser.status
        await browser.press("u")
        assert "old" in session_ids(path)


@pytest.mark.slow
@pytest.mark.parametrize("is_refused", [False, True])
async def test_several_are_dropped_while_another_program_drops_one(path, monkeypatch, is_refused):
    """What is gone is not shown, even if the rest cannot be dropped."""
    async with on_store(path, NOW) as browser:
        trash = trash_folder(browser.screen.location)
        for name in [row.conversation.id for row in rows_of(browser)][:3]:
            delete(Store(path), [name], trash, now=NOW)
        await browser.press("X", "space", "space", "space", "D")
        first, second, third = sorted(trash.glob("*-*.db"))
        if is_refused:
            unlink = Path.unlink

            def refuse(file, **named):
                if file.name.startswith(second.stem):
                    raise PermissionError(1, "no")
                return unlink(file, **named)

            monkeypatch.setattr(Path, "unlink", refuse)
        else:
            second.unlink()
        await browser.press("3", "enter")
        assert second.exists() == is_refused and sum(each.exists() for each in (first, third)) < 2
        left = len(list(trash.glob("*-*.db")))
        assert len(browser.app.screen.rows.source) == max(left, 1)
        assert is_refused or "deleted 3 deletions for good" in browser.status


@pytest.mark.slow
async def test_a_damaged_bundle_is_named(path):
    """It is shown, with what is wrong, and not restored."""
    async with on_store(path, NOW) as browser:
        trash = trash_folder(browser.screen.location)
        delete(Store(path), ["old"], trash, now=NOW)
        (bundle,) = trash.glob("*-*.db")
        bundle.write_bytes(bundle.read_bytes()[:-20])
        await browser.press("X", "r")
        assert "damaged" in browser.status.lower() and "old" not in session_ids(path)
