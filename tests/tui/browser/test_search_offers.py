"""What a search that finds nothing offers: each measured, each taken with Enter."""

import shutil

import pytest
from browsing import NOW, browsing, on_store, open_app, rows_of
from builders import demo_store, make_store
from searching import count

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.search import suggestions
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.suggestions import Suggestion
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.list.rows import SuggestionRow
from hermes_browse.tui.widgets.list_rows import NoteRow


def _offers(browser):
    """Text → how many, and whether conversations are counted."""
    return {
        row.text: (row.found.hits, row.found.counts_conversations)
        for row in rows_of(browser)
        if isinstance(row, SuggestionRow)
    }


def _notes(browser):
    return [row.text for row in rows_of(browser) if isinstance(row, NoteRow)]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Counting what is offered ends after a second, which a loaded machine may need."""
    monkeypatch.setattr(suggestions, "_SECONDS", 60.0)


def _root(folder):
    """A Hermes root with a store, and profiles with and without one, one of them no store at
    all."""
    root = folder / "root"
    for name in ("work", "unused", "broken"):
        (root / "profiles" / name).mkdir(parents=True)
    make_store(
        root / "state.db", "22", [{"id": "a"}], [{"session_id": "a", "content": "ferry at nine"}]
    )
    demo_store(root / "profiles" / "work" / "state.db", now=NOW)
    (root / "profiles" / "broken" / "state.db").write_bytes(b"no database" * 200)
    return root


@pytest.mark.slow
async def test_other_profiles_are_asked(tmp_path):
    """Found in another profile: said with the number; one that cannot be read is said too."""
    root = _root(tmp_path)
    location = locate_file(root / "state.db")
    with Store(root / "profiles" / "work" / "state.db").reader() as reader:
        cookie = count(reader, parse("cookie"), cap=0).count
        cron = sum(each.source == "cron" for each in read_catalog(reader, NOW).select(View.ALL))
    async with browsing(open_app(location)) as browser:
        await browser.search("cookie ")
        assert _offers(browser) == {"in profile work": (cookie, False)}
        assert any("profile broken could not be searched" in note for note in _notes(browser))
        assert isinstance(browser.row, SuggestionRow)
        browser.screen.box.value = "source:cron "
        await browser.settle()
        assert _offers(browser) == {"in profile work": (cron, True)}


@pytest.mark.slow
async def test_enter_on_another_profile_goes_there_and_searches(tmp_path):
    """The browser switches to the profile, with the query in its box and as many hits as were
    offered."""
    root = _root(tmp_path)
    with Store(root / "profiles" / "work" / "state.db").reader() as reader:
        cookie = count(reader, parse("cookie"), prefix_last=True, cap=0).count
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        before = browser.screen
        await browser.search("cookie")
        await browser.press("enter")
        for _ in range(100):
            await browser.settle()
            if browser.screen is not before and browser.screen.searched:
                break
        assert browser.screen.location.profile == "work"
        assert browser.screen.box.value == "cookie"
        await browser.settle()
        assert browser.status.startswith(f"{cookie:,} hits")
        assert browser.app.focused is browser.screen.rows


@pytest.mark.slow
async def test_a_profile_that_has_gone_is_said(tmp_path):
    root = _root(tmp_path)
    async with browsing(open_app(locate_file(root / "state.db"))) as browser:
        found = Suggestion("", "cookie", 1, at_least=False)
        browser.screen.enter_row(SuggestionRow(found, "in profile old", View.ALL, "old"))
        await browser.settle()
        assert "there is no profile old any more" in browser.status
        assert browser.screen.location.profile == "default"


@pytest.mark.slow
async def test_a_loose_store_has_no_profiles_beside_it(tmp_path):
    root = _root(tmp_path)
    shutil.move(root / "state.db", tmp_path / "loose.db")
    async with on_store(tmp_path / "loose.db") as browser:
        await browser.search("cookie ")
        assert not _offers(browser)
        assert _notes(browser) == ["Nothing contains this."]
