"""The browser as a person uses it, by keyboard alone, on the demo store and on stores of the real
Hermes."""

import pytest
from browsing import NOW, browsing, demo_app, on_demo, on_store, open_app
from effort import slow_but
from trashing import add_message, execute, opened

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.details import read_details
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.preflight import (
    PreflightCard,
    max_uncached_cost,
    place_and_cost,
)


@pytest.mark.parametrize("name", slow_but((), ["state-v11", "state-v14", "state-v22", "state-v31"]))
async def test_every_fixture_opens_and_every_row_can_be_looked_at(name, fixture_store):
    """Each conversation of each fixture shows as many messages as the list says, and nothing
    fails."""
    path = fixture_store(name)
    before = path.read_bytes()
    async with on_store(path) as browser:
        await browser.press("4")
        rows = browser.screen.rows
        for index in range(len(rows)):
            rows.cursor = index
            await browser.settle()
            row = rows.current
            model = browser.screen.transcript.model
            if isinstance(row, ConversationRow):
                assert model.conversation.root_id == row.conversation.root_id
                assert len(model.outline.rows) == row.conversation.message_count
    assert path.read_bytes() == before


@pytest.mark.slow
async def test_enter_is_offered_where_a_message_folds(browser):
    transcript, offered = browser.screen.transcript, set()
    await browser.press("tab", "home")
    for _step in range(12):
        is_offered = "Enter fold" in browser.text("#keys")
        assert is_offered == transcript.page.model.is_foldable(transcript.page.current)
        offered.add(is_offered)
        await browser.press("right_curly_bracket")
    assert offered == {True, False}


@pytest.mark.slow
async def test_the_first_hint_keeps_keys_and_titles_together(tmp_path):
    app = demo_app(tmp_path)
    app.is_hint_wanted = True
    async with browsing(app, (80, 24)) as browser:
        lines = [line.strip() for line in browser.text("FirstHint").splitlines()]
        assert lines[1].endswith("u undo") and lines[2] == "P clean up"


async def test_progress_that_comes_while_the_browser_is_left(browser):
    """The lines are gone then, and a job on its thread still says how far it is."""
    with browser.app.batch_update():  # a frame drawn now would find parts without styles
        await browser.screen.query("*").remove()
    browser.screen.show_progress("too late")


@pytest.mark.slow
async def test_what_a_writer_kept_us_from_reading_is_read_when_it_lets_go(tmp_path):
    """In DELETE mode a writer locks readers out: the conversation is not left unread once the list
    is read again."""
    app = demo_app(tmp_path)
    with opened(app.store.path) as writer:
        writer.execute("PRAGMA journal_mode=DELETE")
        app.store.busy_seconds = 0.05
        async with browsing(app) as browser:
            writer.execute("BEGIN EXCLUSIVE")
            await browser.press("down")
            row = browser.row
            assert isinstance(row, ConversationRow)
            assert "is locked by another process" in " ".join(browser.status.split())
            title = (row.conversation.title or "")[:16]
            assert browser.screen.transcript.model is None and title in browser.text(
                "#title"
            )  # not another one's text
            writer.execute("ROLLBACK")
            await browser.press("f5")
            model = browser.screen.transcript.model
            assert model.conversation.root_id == row.conversation.root_id
            assert "locked" not in browser.status
            writer.execute("BEGIN EXCLUSIVE")
            await browser.search("auth")
            assert "is locked by another process" in " ".join(browser.status.split())
            writer.execute("ROLLBACK")
            await browser.press("f5")
            assert isinstance(browser.row, ConversationRow) and browser.row.best


@pytest.mark.slow
async def test_a_risky_resume_wants_another_key(hermes_home, monkeypatch):
    """A gateway chat brings up the card with the recap; Enter does nothing there, y resumes."""
    monkeypatch.setattr(
        "hermes_browse.store.hermes.resume_command.find_hermes", lambda: "/usr/bin/hermes"
    )
    app = open_app(Location(hermes_home / "state.db", hermes_home, "default"))
    async with browsing(app) as browser:
        await browser.search("salut")
        await browser.press("enter", "R")
        assert isinstance(app.screen, PreflightCard)
        card = "\n".join(str(widget.render()) for widget in app.screen.query("Static"))
        assert "the next prompt sends about " in card and " tokens again" in card
        assert "was reset" in card and "--resume=20260108_090000_eee001" in card and "salut" in card
        await browser.pilot.press("enter")
        await browser.pilot.pause(0.2)
        assert isinstance(app.screen, PreflightCard)
        await browser.pilot.press("c")
        await browser.settle()
        assert "--resume=20260108_090000_eee001" in app.clipboard
        assert "OSC 52" in str(app.screen.query_one("#answer").render())
        await browser.pilot.press("y")
        await browser.pilot.pause(0.3)
    assert app.return_value is not None


@pytest.mark.slow
@pytest.mark.parametrize("size", slow_but([(60, 15)], [(120, 36), (80, 24), (60, 15)]))
async def test_the_sample_store_shows_the_card_and_resumes_nothing(size, tmp_path):
    """It says why, and what R would run; the keys below are in sight however much the card has
    to say."""
    async with on_demo(tmp_path, size) as browser:
        row = browser.row
        assert isinstance(row, ConversationRow)
        await browser.press("R")
        assert isinstance(browser.app.screen, PreflightCard)
        command = f"hermes -p default --resume={row.conversation.id}"
        introduced = (
            "This is the sample store: there is nothing to resume. With your own store, R runs:"
        )
        assert f"{introduced}\n{command}\n" in browser.card()
        assert "does not exist" not in browser.card() and "not there" not in browser.card(), (
            "its directories are made up"
        )
        answer = browser.app.screen.query_one("#answer")
        assert str(answer.render()) == "Esc back" and answer.region.bottom <= size[1]
        assert browser.app.screen.query_one("#card").region.contains_region(answer.region)
        await browser.press("c", "y")
        assert browser.app.clipboard == "", "the command would open an empty chat"
        assert str(answer.render()).startswith("The sample store has nothing to resume")
        await browser.press("escape", "Y")
        assert isinstance(browser.app.screen, MainScreen)
        assert browser.app.clipboard == "" and "sample store" in browser.status
        assert browser.app.return_value is None


def test_the_card_tells_where_it_goes_on_and_with_what(fixture_store, tmp_path):
    """Directory and whether it is there, branch, model, provider, context."""
    store = Store(fixture_store("state-v22"))
    with store.reader() as reader:
        found = read_catalog(reader, NOW).select(View.ALL)
        known = next(each for each in found if each.model)
        details = read_details(reader, known)
    details = details._replace(
        facts={"billing_provider": "open\x1brouter"}, live_bytes=4000, prompt_bytes=8000
    )
    for place, word in ((str(tmp_path), ""), (f"{tmp_path}/gone", " (not there)")):
        tip = known.tip._replace(cwd=place, git_branch="main")
        lines = list(place_and_cost(known._replace(segments=(*known.segments[:-1], tip)), details))
        assert lines[0] == f"in {place}{word} · branch main"
        assert str(known.model) in lines[1] and "router" in lines[1] and "\x1b" not in lines[1]
        assert "sends about 3k tokens again" in lines[1] and "at most" not in lines[1], (
            "no cost is recorded"
        )
    used = {
        "input_tokens": 1000,
        "output_tokens": 500,
        "cache_write_tokens": 500,
        "cache_read_tokens": 20_000,
    }
    tip = known.tip._replace(cost_usd=2.0, **used)
    paid = known._replace(segments=(tip,))
    assert max_uncached_cost(paid, 1000) == pytest.approx(0.5), (
        "2 dollars for the weight of 4,000 tokens"
    )
    assert list(place_and_cost(paid, details))[-1].endswith(
        " · for $1.50 at most, less if the provider has them cached"
    )
    bare = known._replace(segments=(known.tip._replace(cwd=None, git_branch=None, model=None),))
    nothing = details._replace(facts={}, live_bytes=0, prompt_bytes=0)
    assert list(place_and_cost(bare, nothing)) == []


@pytest.mark.slow
async def test_new_sessions_appear_by_themselves(browser, tmp_path):
    """What another process writes shows up without moving the cursor."""

    await browser.press("down", "down")
    key = browser.row.key if browser.row else ""
    path, fresh = tmp_path / "state.db", "20260528_202640_fresh1"
    execute(
        path, f"INSERT INTO sessions (id, source, started_at) VALUES ('{fresh}', 'cli', ?)", NOW
    )
    add_message(path, fresh, "a brand new question", NOW)
    await browser.wait_until(
        lambda: browser.screen.rows.source.index_of("c20260528_202640_fresh1") is not None
    )
    assert browser.screen.rows.source.index_of("c20260528_202640_fresh1") == 0
    assert browser.row.key == key
    await browser.settle()
    assert "a brand new question" in browser.text("#list")
