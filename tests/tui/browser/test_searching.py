"""Searching on screen: coverage, folding, what Enter opens."""

import pytest
from browsing import on_store, rows_of
from searching import search
from store_builder import StoreBuilder
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search.coverage import read_coverage
from hermes_browse.store.search.query import parse
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow, MoreRow
from hermes_browse.tui.browser.search.run import PAGE


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
        coverage = read_coverage(reader)
    assert said in str(coverage) and coverage.indexed < coverage.messages
    assert "scanned" in str(coverage)


async def test_hits_of_a_conversation_fold(browser):
    """Some are shown; Enter, + and - show all, or the best; n and N walk them all."""
    await browser.search("the")
    await browser.press("enter")
    if not browser.screen.rows.has_focus:
        await browser.press("escape")
    rows = rows_of(browser)
    place = next(index for index, row in enumerate(rows) if isinstance(row, MoreRow))
    more = rows[place]
    assert isinstance(more, MoreRow)
    above = [row for row in rows[place - 3 : place] if isinstance(row, HitRow)]
    head = rows[place - 4]
    assert len(above) == 3 and isinstance(head, ConversationRow) and head.hits == more.hidden + 3
    browser.screen.rows.cursor = place
    await browser.press("enter")
    unfolded = rows_of(browser)
    assert [row.key for row in unfolded[place - 3 : place]] == [row.key for row in above]
    assert all(isinstance(row, HitRow) for row in unfolded[place : place + more.hidden])
    assert browser.screen.rows.cursor == place
    await browser.press("minus")
    assert [row.key for row in rows_of(browser)] == [row.key for row in rows]
    assert browser.row.key == head.key
    await browser.press("minus")
    assert rows_of(browser)[place - 2] == more._replace(hidden=more.hidden + 2)
    await browser.press("n", "n", "n")  # the best one is shown already
    walked = browser.row
    assert isinstance(walked, HitRow) and walked.key == unfolded[place].key
    browser.screen.rows.cursor = place - 4 + head.hits + 2
    await browser.press("N")
    assert browser.row.key == unfolded[place - 4 + head.hits].key


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
    assert found is not None and current is not None
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
async def test_a_conversation_found_by_its_title_says_so(browser):
    """Titles are a group of their own, above the messages; the cursor passes over the heads."""
    await browser.search("ferry")
    rows = browser.text("#list").splitlines()
    assert rows[0].strip() == "1 title or id" and "Slow ferry search" in rows[1]
    assert rows[2].startswith(" 7 hits in ") and "2 hits" in rows[3]
    assert browser.screen.rows.cursor == 1
    await browser.press("down")
    assert browser.screen.rows.cursor == 3
    await browser.press("up", "up")
    assert browser.screen.rows.cursor == 1


@pytest.mark.slow
async def test_more_titles_than_are_listed(tmp_path):
    """Their number is a least one."""
    builder = StoreBuilder(tmp_path / "state.db")
    for number in range(10):
        builder.session(f"s{number}", title=f"Ferry {number}")
        builder.message(f"s{number}", "user", "hello")
    async with on_store(builder.write()) as browser:
        await browser.search("ferry")
        assert browser.text("#list").splitlines()[0].strip() == "8+ titles or ids"
        assert browser.status.startswith("8+ titles or ids · 0 hits")


@pytest.mark.slow
async def test_a_search_for_conversations_is_in_the_order_of_the_list(browser):
    await browser.search("has:subagent")
    assert "conversations" in browser.status and "↓ activity" in browser.text("#views")
    await browser.type(" the")
    assert "hits newest" in browser.text("#views")
