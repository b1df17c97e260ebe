"""What Hermes deletes by itself, and when, on its screen."""

import shutil

import pytest
from browsing import browsing, go_to, list_of, on_store, open_app, rows_of
from pruning import NOW
from trashing import run, session_ids

from hermes_browse.store.hermes.homes import Location, trash_folder
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.cleanup.retention_screen import ForecastRow, RetentionScreen


@pytest.fixture
def home(tmp_path, path):
    """The store as that of a home whose Hermes deletes after ten days."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(path, folder / "state.db")
    (folder / "config.yaml").write_text("sessions:\n  retention_days: 10\n", encoding="utf-8")
    return Location(folder / "state.db", root=folder, profile="default")


@pytest.mark.slow
async def test_what_hermes_deletes(home):
    """Soonest first, with the reason; a pin takes it off the list, a copy goes into the trash."""
    async with browsing(open_app(home, NOW)) as browser:
        await browser.press("W")
        assert isinstance(browser.app.screen, RetentionScreen)
        forecasts = list_of(browser)
        rows = [row for row in rows_of(browser) if isinstance(row, ForecastRow)]
        days = [row.days for row in rows]
        assert days == sorted(days) and {"old", "new"} <= {row.conversation.id for row in rows}
        assert "pinned" not in {row.conversation.id for row in rows}
        assert "at its next clean-up" in browser.text("#rule") and "a pin protects" in browser.text(
            "#rule"
        )
        await go_to(browser, "old", "f")
        await browser.press("f")
        assert forecasts.source.index_of("fold") is None, "what is pinned is on the list no more"
        await browser.press("u")
        await go_to(browser, "old", "f")
        await browser.press("b")
        (bundle,) = trash_folder(home).glob("*-*.db")
        assert bundle.stem in browser.status and "old" in session_ids(home.path)
        await browser.press("escape", "X")
        assert "1 copy · " in browser.text("#header") and "deletion" not in browser.text("#header")
        assert "copied " in browser.text("#contents") and "  copy " in browser.text("#bundles")
        run(home.path, "DELETE FROM messages WHERE session_id = 'old'")
        run(home.path, "DELETE FROM sessions WHERE id = 'old'")
        await browser.press("r")
        assert "old" in session_ids(home.path), "the copy brings back what Hermes has deleted"


@pytest.mark.slow
async def test_the_line_on_the_axis_follows_the_cursor(home):
    """What goes when is not added up again for each key."""
    async with browsing(open_app(home, NOW)) as browser:
        await browser.press("W")
        axis = browser.app.screen.axis
        drawn, before = axis.axis, axis.cut
        await browser.press("G")
        assert axis.axis is drawn and axis.cut > before


@pytest.mark.slow
async def test_where_hermes_deletes_nothing(path):
    """The reason stands there, not an empty list."""
    copy = path.rename(path.with_name("copy.db"))
    async with on_store(copy, NOW, (80, 24)) as browser:
        await browser.press("W")
        rule = browser.app.screen.query_one("#rule")
        assert "No conversation of this store would go." in browser.text("#forecasts")
        assert "Hermes does not open this file" in browser.text(
            "#rule"
        ) and "…" not in browser.text("#rule")
        assert rule.size.height == len(browser.text("#rule").splitlines())
        await browser.press("f", "b", "enter", "q")
        assert isinstance(browser.app.screen, MainScreen)
