"""From a location to a running browser, and on to Hermes when a conversation was chosen."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Store
from hermes_browse.store.homes import Location
from hermes_browse.store.preview import with_names
from hermes_browse.store.sessions.catalog import read_first_page

from .config.rows import set_rows
from .config.start import keep, read_start
from .glyphs import are_plain
from .prepaint import painted, terminal_size

if TYPE_CHECKING:
    from hermes_browse.store.resume import ResumePlan


def launch(location: Location) -> int:
    """Run the browser on a store.

    Args:
        location: Which store.

    Returns:
        The exit code; does not return when Hermes takes over.

    Raises:
        StoreError: The store cannot be read at all; said before the screen is taken.
    """
    code, plan = choose(location)
    if plan is None:
        return code
    from .cli.resuming import run_plan

    return run_plan(plan)


@contextmanager
def _no_encryption() -> Iterator[None]:
    """While asyncio is imported: it goes without `ssl` where there is none (Python 3.11 to 3.14, base_events.py).

    The browser speaks to no network. That module and its library are 4 MiB and a fortieth of the start.
    """
    is_there = "ssl" in sys.modules
    if not is_there:
        sys.modules["ssl"] = None  # type: ignore[assignment]  # how the import of a module is said to be impossible
    try:
        yield
    finally:
        if not is_there:
            del sys.modules["ssl"]


def choose(location: Location, *, is_printed: bool = False) -> tuple[int, ResumePlan | None]:
    """Run the browser on a store, and nothing after it.

    Args:
        location: Which store.
        is_printed: What is chosen will be printed rather than run: it need not be possible here.

    Returns:
        The exit code, and what was chosen to be resumed.

    Raises:
        StoreError: The store cannot be read at all; said before the screen is taken.
    """
    # The screen waits this long at most for a thread that computes; Python's own five milliseconds are a third of a
    # frame, several times in each.
    sys.setswitchinterval(0.001)
    gc.disable()  # nothing of what starts up is garbage; looking for some costs a tenth of the start
    store = Store(location.path)
    now = time.time()
    start = read_start()
    set_rows(start.options)  # also for what is painted ahead
    lines = terminal_size()[1]
    with store.reader() as reader:
        first = read_first_page(reader, now, limit=lines)
        shown = with_names(reader, [first.conversation(root) for root in first.order()[:lines]])
    is_wanted = start.is_plain and not are_plain(start.options.glyphs, getattr(sys.__stderr__, "encoding", None))
    with painted(
        first,
        shown,
        location,
        now,
        theme=start.theme,
        is_wanted=is_wanted,
        shares=start.shares,
        are_keys_usual=start.are_keys_usual,
    ) as taken:
        os.environ.setdefault("TEXTUAL_FPS", "240")  # results from threads wait for the next frame
        with _no_encryption():
            import asyncio  # noqa: F401  # before Textual does, which takes it as it finds it
        from .app import BrowseApp

        app = BrowseApp(location, store, first, shown, is_screen_taken=taken.is_taken, start=start)
        app.is_choice_printed = is_printed
        app.put_terminal_back = taken.put_back
        app.early_keys = taken.keys
        app.is_told_to_end = lambda: bool(taken.told)
        taken.is_handed_over = True
        plan = app.run(mouse=start.options.mouse)
    left = app.as_left()
    if left is not None:
        keep(start, *left, app.shares)
    return app.return_code or 0, plan
