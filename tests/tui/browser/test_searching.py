"""Searching on screen: coverage, folding, what Enter opens."""

import pytest
from browsing import NOW
from searching import search
from textual.events import Paste
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search.coverage import read_coverage
from hermes_browse.store.search.query import parse
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow
from hermes_browse.tui.browser.search.search_jobs import PAGE
from hermes_browse.tui.work.jobs import Reads


@pytest.mark.parametrize(
    "script, said",
    [
        ("INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_stale', '1')", "stale"),
        (
            "INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_rebuild_high_water', '10'), "
            "('fts_rebuild_progress', '4'); DELETE FROM messages_fts WHERE rowid BETWEEN 5 AND 10",
            "rebuilding the index",
        ),
        ("DROP TABLE messages_fts", "no search index"),
    ],
)
def test_what_the_index_lacks_is_named_with_the_remedy(script, said, fixture_store):
    path = fixture_store("state-v22")
    run(path, *script.split("; "))
    with Store(path).reader() as reader:
        reason = read_coverage(reader).reason
    assert said in reason and "scanned" in reason


async def test_a_letter_begins_its_search_at_once_and_ends_the_one_before(browser, monkeypatch):
    """Also where the coroutine that would have waited for that has not begun."""
    submit, begun = Reads.submit, []

    def noted(reads, work):
        begun.append(submit(reads, work))
        return begun[-1]

    await browser.press("slash")
    monkeypatch.setattr(Reads, "submit", noted)
    for typed in ("r", "ru"):
        browser.screen.box.value = typed
    before, last = begun
    assert before.cancelled() and not last.cancelled()
    await browser.settle()
    assert browser.screen.results.answer.hits


@pytest.mark.slow
async def test_n_and_big_n_unfold_on_their_way(browser):
    await browser.search("run")
    await browser.press("enter")
    with Store(browser.app.store.path).reader() as reader:
        every = [
            hit.message_id for hit in search(reader, parse("run"), limit=0, prefix_last=True).hits
        ]
    assert PAGE < len(every) < 100
    browser.screen.rows.cursor = 0
    await browser.settle()
    seen, numbers = list[str](), list[str]()
    for _ in range(2 * len(every)):
        await browser.press("n")
        if "no further hit" in browser.status:
            break
        assert isinstance(browser.row, HitRow)
        seen.append(browser.row.key)
        numbers.append(browser.status.split()[1])
    assert numbers[-1] == f"{len(every)}/{len(every)}"
    found = browser.screen.results
    assert [hit.message_id for hit in found.hits] == every, "n reads on past a page"
    assert len(set(seen)) == len(seen) > PAGE
    await browser.press("N")
    assert browser.row.key == seen[-2]


@pytest.mark.slow
async def test_enter_on_a_conversation_that_was_found_opens_its_best_hit(browser):
    """Not a resume, which R is; the line of keys says both."""
    await browser.search("rotation OR refresh")
    head = browser.row
    assert isinstance(head, ConversationRow) and head.hits > 1
    await browser.press("enter")
    assert browser.screen.transcript.has_focus and browser.app.return_value is None
    current = browser.screen.transcript.current
    segments = {each.id for each in head.conversation.segments}
    found = browser.screen.results
    hits = [hit for hit in found.hits if hit.session_id in segments]
    both = [
        hit.message_id
        for hit in hits
        if len({hit.snippet[a:b].casefold() for a, b in hit.match}) == 2
    ]
    assert current.id in both
    await browser.press("escape", "escape", "escape")
    assert "Enter read" in browser.text("#keys") and "R resume" in browser.text("#keys")


@pytest.mark.slow
async def test_of_a_long_paste_what_fits_is_inserted(browser):
    await browser.press("slash", "a", "b", "left")
    for _ in range(2):
        browser.app.post_message(Paste("x" * 5000))
        await browser.settle()
        assert browser.screen.box.value == f"a{'x' * 2046}b"


@pytest.mark.slow
async def test_hits_in_a_conversation_that_the_list_lacks_yet_are_kept(browser):
    """They were written since the list was read; what the list had and has no more is dropped."""
    path = browser.app.store.path
    run(
        path,
        "INSERT INTO sessions (id, source, started_at, message_count) "
        f"VALUES ('late', 'cli', {NOW}, 1)",
        "INSERT INTO messages (session_id, role, content, timestamp) "
        f"VALUES ('late', 'user', 'a zeppelin', {NOW})",
    )
    await browser.search("zeppelin")
    assert [hit.session_id for hit in browser.screen.results.hits] == ["late"]
    await browser.wait_until(lambda: "late" in browser.screen.catalog.sessions)
    assert [hit.session_id for hit in browser.screen.results.hits] == ["late"]
    run(path, "DELETE FROM messages WHERE session_id = 'late'")
    run(path, "DELETE FROM sessions WHERE id = 'late'")
    await browser.wait_until(lambda: "late" not in browser.screen.catalog.sessions)
    assert browser.screen.results.hits == ()
