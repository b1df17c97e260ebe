"""While the list of a large store is rebuilt, the thread of the screen gets its turn."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from figures import Bench, Figure, Line

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.sessions.session import Session

SESSIONS = 100_000


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
    """Processor milliseconds of this process between two turns of another thread."""
    pauses: list[float] = []
    is_done = threading.Event()

    def count() -> None:
        last = time.process_time()
        while not is_done.wait(0.001):
            now = time.process_time()
            pauses.append((now - last) * 1000)
            last = now

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield pauses
    finally:
        is_done.set()
        thread.join()


def _rebuild(sessions: dict[str, Session]) -> None:
    catalog = Catalog(dict(sessions).values(), 2e9)
    catalog.counts()
    catalog.order(View.ALL, sort=Sort.TITLE)
    catalog.order(View.CHATS, sort=Sort.COST)
    list(catalog.named(["title", "999"]))


def measure(bench: Bench) -> list[Line]:
    """As in `tui/list/listing.py`: without the garbage collector, which would find nothing."""
    sessions = {each.id: each for each in _sessions()}
    longest, whole = [], []
    gc.collect()
    gc.disable()
    try:
        for _round in range(bench.rounds):
            with _pauses() as pauses:
                _rebuild(sessions)
            longest.append(max(pauses))
            whole.append(sum(pauses))
    finally:
        gc.enable()
    name = f"rebuild the list of {SESSIONS:,} sessions: longest wait of another thread / all of it"
    return [Figure("15", name, longest, whole, 0.03)]
