"""The lineage tree: folding, keys, mouse, many nodes, and what is in its lines."""

import time

import pytest
from browsing import (
    on_demo,
    on_store,
    sessions_of_tree,
    tree_of,
)
from builders import T0, make_store
from rich.cells import cell_len
from textual.screen import Screen
from trashing import gone_by_hand

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Lineage
from hermes_browse.tui.browser import context
from hermes_browse.tui.browser.header import lineage_title
from hermes_browse.tui.text.family import NO_FAMILY, SessionEntry

NOW = T0 + 86_400


def _many(path, count):
    """A store with one conversation that sent many subagents."""
    child = {
        "source": "subagent",
        "parent_session_id": "top",
        "model_config": '{"_delegate_from": "top"}',
    }
    sessions = [{"id": "top", "title": "Top", "started_at": T0}]
    sessions += [{"id": f"s{at:04}", "started_at": T0 + at, **child} for at in range(1, count + 1)]
    return make_store(path, "22", sessions, [{"session_id": each["id"]} for each in sessions])


def _lines(browser):
    return browser.text("#lineage").splitlines()


@pytest.mark.slow
async def test_folds_and_the_cursor_stay_when_the_tree_is_read_again(tmp_path):
    async with on_demo(tmp_path, (160, 40)) as browser:
        await browser.press("l", "home", "space", "down", "down")
        before, entry = _lines(browser), browser.screen.lineage.entry
        assert isinstance(entry, SessionEntry)
        browser.screen.family_loader.list_read(Catalog(()))  # as if all of it were new
        await browser.settle()
        assert browser.screen.lineage.entry == entry and _lines(browser) == before


@pytest.mark.slow
async def test_a_conversation_that_was_deleted_has_no_tree(browser):
    """That is no error: it would take the place of what the delete answered."""
    screen = browser.screen
    gone_by_hand(browser.app.store.path, *screen.current.session_ids)
    screen.say("1 conversation moved to the trash")
    screen.family_loader.list_read(Catalog(()))  # as if all of it were new
    await browser.wait_until(lambda: screen.family is NO_FAMILY)
    assert screen.status.text == "1 conversation moved to the trash"


async def test_moving_on_without_a_tree_lays_nothing_out(browser, monkeypatch):
    """The tree is hidden with the first key; a change of its width alone asks for no layout."""
    layouts = []
    monkeypatch.setattr(context, "PATIENCE", 60.0)  # a pane that is emptied loses its scrollbar
    assert "-family" in browser.screen.lineage.classes
    await browser.press("j")
    monkeypatch.setattr(
        Screen, "_refresh_layout", lambda screen, **scrolled: layouts.append(scrolled)
    )
    await browser.press("j", "j")
    assert not layouts and "-family" not in browser.screen.lineage.classes


@pytest.mark.slow
async def test_the_mouse_moves_folds_and_selects(tmp_path):
    """A click moves the cursor, one on the arrow folds too, two read."""
    async with on_demo(tmp_path, (160, 40)) as browser:
        tree = browser.screen.lineage
        await browser.press("l")
        await browser.pilot.click(tree, offset=(30, 3))
        await browser.settle()
        assert tree.cursor == 3 and tree.has_focus
        count = len(tree_of(browser))
        await browser.pilot.click(tree, offset=(1, 0))
        await browser.settle()
        assert tree.cursor == 0 and len(tree_of(browser)) == count - 1
        await browser.pilot.click(tree, offset=(30, 2), times=2)
        await browser.settle()
        assert browser.screen.transcript.has_focus


@pytest.mark.slow
async def test_many_children_are_unfolded_when_they_are_asked_for(tmp_path):
    """Thousands neither block nor hide what is current."""
    count = 2_999
    path = _many(tmp_path / "state.db", count)
    async with on_store(path, NOW, (120, 40)) as browser:
        tree, family = browser.screen.lineage, browser.screen.family
        assert len(family.lineage.nodes) == count + 1
        begin = time.perf_counter()
        tree.show_family(family, stays=False)
        assert time.perf_counter() - begin < 0.1
        await browser.press("l")
        assert len(tree_of(browser)) == 1
        await browser.press("right")
        assert len(tree_of(browser)) == count + 1
        await browser.press("end")
        assert tree.entry.session_id == f"s{count:04}"
        last = browser.screen.catalog.of_session("s2000")
        browser.screen.open(last)
        await browser.settle()
        assert isinstance(tree.entry, SessionEntry) and tree.entry.session_id == "s2000"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_lines_fill_the_pane_and_hostile_titles_are_only_shown(tmp_path, size):
    """However deep; escapes and markup are letters."""
    sessions = [
        {
            "id": f"s{at}",
            "title": f"[red]\x1b]0;owned\x07{at}",
            "started_at": T0 + at,
            **({"parent_session_id": f"s{at - 1}"} if at else {}),
        }
        for at in range(40)
    ]
    path = make_store(
        tmp_path / "state.db", "22", sessions, [{"session_id": each["id"]} for each in sessions]
    )
    async with on_store(path, NOW, size) as browser:
        await browser.press("4", "end", "l", "home")
        tree = browser.screen.lineage
        assert len(sessions_of_tree(browser)) == 40
        for line in range(tree.size.height):
            strip = tree.render_line(line)
            assert strip.cell_length == tree.scrollable_content_region.width
            assert cell_len(strip.text) == strip.cell_length
            assert "\x1b" not in strip.text and "[r" in strip.text


def test_the_warning_of_the_title_comes_before_the_count():
    """A narrow pane cuts the end."""
    target = "20260721_202640_cba06b"
    lineage = Lineage(target, target, "", "20260721_203640_aaaaaa", ())
    title = lineage_title(lineage, 0).plain
    assert title.startswith("  Hermes would open 20260721_203640_aaaaaa instead · Lineage")
