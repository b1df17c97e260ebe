"""What lists know of a conversation beyond its sessions is kept by its root."""

import pytest

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session, Sort
from hermes_browse.tui.browser.list.list_model import RowDetails


def _conversation(last_active):
    return Catalog([Session("a", "cli", last_active=last_active)]).conversation("a")


def test_a_row_has_what_was_read_and_measured():
    details, conversation = RowDetails(), _conversation(1.0)
    assert details.complete(conversation) == conversation
    assert not details.is_fresh(conversation)
    details.add([conversation._replace(preview="hello", shown_count=2)])
    known = details.complete(conversation)
    assert details.is_fresh(conversation)
    assert (known.preview, known.shown_count, known.size) == ("hello", 2, None)
    details.amounts[Sort.SIZE]["a"] = 7
    assert details.complete(conversation) == known._replace(size=7)


def test_what_was_known_is_shown_until_it_is_read_again():
    """And a count that was measured since is the newer one."""
    details = RowDetails()
    details.add([_conversation(1.0)._replace(preview="hello", shown_count=2)])
    later = details.complete(_conversation(2.0))
    assert (later.preview, later.shown_count) == ("hello", 2)
    assert not details.is_fresh(later)
    details.amounts[Sort.MESSAGES]["a"] = 3
    assert details.complete(later).shown_count == 3


def test_an_empty_preview_is_read_once():
    """A conversation without messages has no name, and none to read again."""
    details, conversation = RowDetails(), _conversation(1.0)
    assert details.nameless([conversation]) == [conversation]
    details.add([conversation._replace(preview="", shown_count=0)])
    assert details.nameless([conversation]) == []


@pytest.mark.slow
async def test_an_old_count_is_not_taken_for_a_new_one(browser, monkeypatch):
    """Opening a conversation counts it, whatever was known of it before."""
    monkeypatch.setattr(browser.screen.listing, "complete", lambda first, last: None)
    row = browser.screen.rows.source.row(1)
    conversation, details = row.conversation, browser.screen.details
    known = details.complete(conversation).shown_count
    earlier = [part._replace(last_active=1.0) for part in conversation.segments]
    old = Catalog(earlier).conversation(conversation.root_id)
    details.add([old._replace(preview="hello", shown_count=1000)])
    assert details.complete(conversation).shown_count == 1000
    await browser.press("down")
    assert details.complete(conversation).shown_count == known
