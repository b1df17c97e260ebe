"""While the list of a large store is rebuilt, the thread of the screen gets its turn."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.sessions.session import Session

SESSIONS = 100_000
LONGEST = 0.05
"""Seconds of processor time that another thread may have to wait for Python's lock."""


def _sessions() -> list[Session]:
    """Chains, branches and subagents, as a gateway and cron jobs make them."""
    chance = random.Random(1)
    sessions: list[Session] = []
    for number in range(SESSIONS):
        parent = f"s{chance.randrange(number)}" if number and chance.random() < 0.25 else None
        end = chance.choice((None, "compression", "cli_close"))
        sessions.append(
            Session(
                f"s{number}",
                chance.choice(("cli", "cron", "telegram", "subagent")),
                parent,
                title=f"title {number}" if number % 2 else None,
                started_at=1e9 + number,
                ended_at=1e9 + number + 50 if end else None,
                end_reason=end,
                last_active=1e9 + number * 2,
                delegate_from=parent if chance.random() < 0.7 else None,
                cost_usd=0.1,
            )
        )
    return sessions


@contextmanager
def _pauses() -> Iterator[list[float]]:
    """Processor seconds of this process between two turns of another thread."""
    pauses: list[float] = []
    is_done = threading.Event()

    def count() -> None:
        last = time.process_time()
        while not is_done.wait(0.001):
            now = time.process_time()
            pauses.append(now - last)
            last = now

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield pauses
    finally:
        is_done.set()
        thread.join()


@pytest.mark.slow
def test_no_key_waits_for_a_rebuilt_forest() -> None:
    """As in `tui/list/listing.py`: without the garbage collector, which would find nothing."""
    sessions = {each.id: each for each in _sessions()}
    gc.collect()
    gc.disable()
    try:
        with _pauses() as pauses:
            for _round in range(2):
                forest = Forest(dict(sessions).values(), 2e9)
                forest.counts()
                catalog = Catalog(forest)
                catalog.order(View.ALL, sort=Sort.TITLE)
                catalog.order(View.CHATS, sort=Sort.COST)
                assert list(catalog.named(["title", "999"]))
                del forest, catalog
    finally:
        gc.enable()
    assert len(pauses) > 50
    assert max(pauses) < LONGEST
