"""Reading a store in this process: the list, search as one types, cancelling, opening a
conversation."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sqlite3
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from figures import Bench, Figure, in_turns, percentile, timed
from searching import count, search

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.messages.chat_message import HitOrder, Reading
from hermes_browse.store.messages.decode import with_names
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.models import View
from hermes_browse.store.since.since import read_attention, read_since
from hermes_browse.tui.browser.search.search_jobs import Scan, SearchRequest, find_words
from hermes_browse.tui.browser.transcript.page import Page, lay_out

SCRIPT = (
    "docker deploy",
    "harbour ferry",
    "refund ticket",
    "traceback timeout",
    "rollback the schema",
    "needle",
    "zanzibarquartz",
    "connection refused",
    "state.db",
    '"of the" index',
    '"merge review"',
    "a b c",
    "café résumé",
    "部署 docker",
    "日本語",
    "qzmost do",
    "token -fog",
    "the thedocker",
)
"""Queries typed letter by letter: common, rare and absent words, phrases, short prefixes, accents,
CJK."""

_HERMES_PAGE, _LIST_PAGE = 20, 36
_FRAME = 16.0
"""Milliseconds."""


def keystrokes() -> list[str]:
    """What the search box holds after each key of the script."""
    return [
        query[:length]
        for query in SCRIPT
        for length in range(1, len(query) + 1)
        if query[length - 1] != " "
    ]


@contextmanager
def _hermes(path: Path) -> Iterator[Any]:
    """Hermes' own SessionDB on a store, reading only.

    Opened so it does not ask whether the store has search indexes, and finds nothing at once
    (0.19). It is told that they are there, so that `search_messages` runs the statements it runs
    for Hermes itself.
    """
    database = importlib.import_module("hermes_state").SessionDB(db_path=path, read_only=True)
    database._fts_enabled = database._trigram_available = True
    try:
        yield database
    finally:
        database.close()


def _some(found: list[Any]) -> list[Any]:
    """The same rows, of which there must be some: nothing is quick to find, and no comparison."""
    if not found:
        raise RuntimeError("Hermes found nothing, so there is nothing to compare with")
    return found


def _first_page(reader: Reader) -> None:
    first = read_first_page(reader, time.time(), limit=_LIST_PAGE)
    with_names(reader, [first.conversation(root) for root in first.order()[:_LIST_PAGE]])


def _type(store: OpenStore, catalog: Catalog, typed: str) -> None:
    """Search as the screen does at a key: for titles, and the first page of hits."""
    request = SearchRequest(parse(typed), catalog, View.ALL, HitOrder.NEWEST, time.time())
    find_words(store, request, Scan())


def common_word(reader: Reader) -> str:
    """The word of four letters or more that most of the newest messages contain."""
    rows = reader.rows(
        "SELECT content FROM messages WHERE typeof(content) = 'text' ORDER BY id DESC LIMIT 1000"
    )
    words: Counter[str] = Counter()
    for (text,) in rows:
        words.update(set(re.findall(r"\b[a-z]{4,}\b", str(text))))
    return words.most_common(1)[0][0]


def _lists(rounds: int, small: Reader, large: Reader, hermes: Any) -> list[Figure]:
    page, exact = "first page, large / Hermes' list", "exact list, large / Hermes' list"
    first = [timed(lambda: _first_page(small)), timed(lambda: _first_page(large))]
    times = in_turns(rounds * 3, *first)
    lines: list[Figure] = [Figure("3", "first page, large / small store", times[1], times[0], 1.5)]
    ours, whole, theirs = in_turns(
        rounds,
        first[1],
        timed(lambda: read_catalog(large, time.time())),
        timed(
            lambda: _some(
                hermes.list_sessions_rich(limit=50, order_by_last_active=True, compact_rows=True)
            )
        ),
    )
    lines.append(Figure("3", page, ours, theirs, 1 / 50))
    lines.append(Figure("4", exact, whole, theirs))
    return lines


def _search_page(rounds: int, large: Reader, hermes: Any) -> list[Figure]:
    word = common_word(large)
    names = (f"search page “{word}” / Hermes' newest", f"search page “{word}” / Hermes' ranked")
    ours, newest, ranked = in_turns(
        rounds,
        timed(lambda: search(large, parse(word), limit=_HERMES_PAGE)),
        timed(lambda: _some(hermes.search_messages(word, limit=_HERMES_PAGE, sort="newest"))),
        timed(lambda: _some(hermes.search_messages(word, limit=_HERMES_PAGE))),
    )
    return [
        Figure("5", names[0], ours, newest, 1 / 500),
        Figure("5", names[1], ours, ranked, 1 / 20),
    ]


def _agrees(reader: Reader, raw: sqlite3.Connection, typed: str) -> bool:
    """Whether the first hits are those of FTS5's own prefix query."""
    query = parse(typed)
    words = typed.split()
    match = " AND ".join([*(f'"{word}"' for word in words[:-1]), f'"{words[-1]}"*'])
    rows = raw.execute(
        "SELECT f.rowid FROM messages_fts f JOIN messages m ON m.id = f.rowid WHERE messages_fts MATCH ? "
        "AND m.role <> 'session_meta' ORDER BY f.rowid DESC LIMIT ?",
        [match, _HERMES_PAGE],
    ).fetchall()
    hits = search(reader, query, limit=_HERMES_PAGE, prefix_last=True).hits
    return [hit.message_id for hit in hits] == [row[0] for row in rows]


def _typing_times(path: Path) -> list[float]:
    """Milliseconds of each keystroke of the script."""
    times: list[float] = []
    with open_store(Store(path)) as store:
        catalog = store.catalog(time.time())
        store.prepare_search()
        script = keystrokes()
        for typed in script[:10]:
            _type(store, catalog, typed)
        for typed in script:
            begun = time.perf_counter()
            _type(store, catalog, typed)
            times.append((time.perf_counter() - begun) * 1000)
    slowest = sorted(zip(times, script, strict=True), reverse=True)
    for took, typed in slowest[:5]:
        print(f"  slow keystroke: {took:6.1f} ms  {typed!r}", file=sys.stderr)
    return times


def _typing(bench: Bench, large: Reader) -> list[Figure]:
    script = keystrokes()
    of_small, found = _typing_times(bench.small), _typing_times(bench.large)
    over = sum(each > _FRAME for each in found) / len(found) * 100
    plain = [typed for typed in script if re.fullmatch(r"[a-z]+( [a-z]+)*", typed)]
    raw = sqlite3.connect(f"{large.path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        agreed = [100.0 * _agrees(large, raw, typed) for typed in plain]
    finally:
        raw.close()
    return [
        Figure(
            "6",
            f"typing, {len(script)} keystrokes: median, large / small",
            found,
            of_small,
            2.0,
        ),
        Figure(
            "6", "typing, large: 95th percentile", found, (), _FRAME, given=percentile(found, 0.95)
        ),
        Figure(
            "6",
            "typing, large: keystrokes over 16 ms",
            found,
            (),
            3.0,
            given=over,
            unit="%",
            runs_in="ms",
        ),
        Figure(
            "6",
            f"same first 20 as FTS5's prefix query, {len(plain)} keystrokes",
            agreed,
            (),
            100.0,
            given=statistics.mean(agreed),
            unit="%",
            at_least=True,
        ),
    ]


def _stopped_after(reader: Reader, work: Callable[[], object], delay: float) -> float | None:
    """Milliseconds from an interrupt to the end of the work; None when it had ended before."""
    ended: list[tuple[float, bool]] = []

    def run() -> None:
        try:
            work()
        except QueryInterruptedError:
            ended.append((time.perf_counter(), True))
        else:
            ended.append((time.perf_counter(), False))

    reader.begin()
    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(delay)
    asked = time.perf_counter()
    reader.interrupt()
    thread.join()
    reader.begin()
    moment, was_stopped = ended[0]
    return (moment - asked) * 1000 if was_stopped and moment > asked else None


def _cancelling(reader: Reader) -> list[Figure]:
    word = common_word(reader)
    works: list[Callable[[], object]] = [
        lambda: search(reader, parse(word), order="relevance"),
        lambda: count(reader, parse(f"{word[:1]}*"), cap=0),
        lambda: search(reader, parse("鱷魚")),
        lambda: reader.rows("SELECT count(*) FROM messages WHERE content LIKE '%never%such%'"),
    ]
    times = []
    for work in works:
        for step in range(1, 10):
            took = _stopped_after(reader, work, step * 0.004)
            if took is not None:
                times.append(took)
    if not times:
        raise RuntimeError("no query of this store ran long enough to be interrupted")
    return [
        Figure("7", f"interrupt → query gone, {len(times)} times: median", times, (), 16.0),
        Figure("7", "interrupt → query gone: slowest", times, (), 100.0, given=max(times)),
    ]


def _since(rounds: int, large: Reader) -> list[Figure]:
    """What is new, and what waits: for the head of the list, and for its screen."""
    now = time.time()
    catalog = read_catalog(large, now)
    catalog.counts()
    whole, head, screen = in_turns(
        rounds,
        timed(lambda: read_catalog(large, now)),
        timed(lambda: read_attention(large, catalog, now)),
        timed(lambda: read_since(large, catalog, now)),
    )
    return [
        Figure("14", "what is new and waits, for the head / exact list", head, whole, 1 / 10),
        Figure("14", "since you looked / exact list", screen, whole, 1.0),
    ]


def _message(length: int, seed: int) -> str:
    """Text as an assistant writes it: paragraphs, a list, some code."""
    part = f"## Part {seed}\n\nThe ferry left the **harbour** with `{seed}` on board, and nobody asked why.\n\n"
    part += "- rope\n- lantern, ticket and quay\n\n```python\nfor tide in tides:\n    print(tide)\n```\n\n"
    return (part * (length // len(part) + 1))[:length]


def _open(store: OpenStore, root: str) -> None:
    from hermes_browse.tui.browser.transcript.loader import Opening

    conversation = store.catalog(time.time()).conversation(root)
    page = Page()
    page.resize(70, 30)
    page.open(Opening(conversation).read(store, Reading.SAID, page)[0])
    page.settle()
    page.show_laid_out(lay_out(page.deferred))
    page.settle()


def _opening(bench: Bench) -> Figure:
    from builders import make_store

    texts = {
        "one": [_message(200_000, 0)],
        "fifty": [_message(2_000, number) for number in range(50)],
    }
    path = make_store(
        bench.folder / "messages.db",
        sessions=[{"id": name} for name in texts],
        messages=[
            {"session_id": name, "role": "assistant", "content": text}
            for name, each in texts.items()
            for text in each
        ],
    )
    with open_store(Store(path)) as store:
        one, fifty = in_turns(
            bench.rounds * 2,
            timed(lambda: _open(store, "one")),
            timed(lambda: _open(store, "fifty")),
        )
    return Figure("10", "open one message of 200 KB / fifty of 2 KB", one, fifty, 2.0)


def measure(bench: Bench) -> list[Figure]:
    """All figures of reading.

    Args:
        bench: The stores; nothing is written to them.
    """
    lines: list[Figure] = []
    with Store(bench.small).reader() as small, Store(bench.large).reader() as large:
        with _hermes(bench.large) as hermes:
            lines += _lists(bench.rounds, small, large, hermes)
            lines += _search_page(bench.rounds, large, hermes)
        lines += _typing(bench, large)
        lines += _cancelling(large)
        lines += _since(bench.rounds, large)
    return [*lines, _opening(bench)]
