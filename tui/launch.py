"""Running the browser on a store, and taking what was chosen in it."""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import TYPE_CHECKING

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location

from .config.start import keep, read_start, set_rows
from .list_model import read_first
from .prepaint import painted, terminal_size
from .shared.glyphs import are_plain

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume import ResumePlan


def choose(location: Location, *, is_printed: bool = False) -> tuple[int, ResumePlan | None]:
    """Run the browser on a store until it ends.

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
    first, shown = read_first(store, now, lines)
    is_wanted = start.is_plain and not are_plain(start.options.glyphs, getattr(sys.__stderr__, "encoding", None))
    with painted(
        first,
        shown,
        location,
        now,
        theme=start.theme,
        is_wanted=is_wanted,
        pane_sizes=start.pane_sizes,
        are_keys_usual=start.are_keys_usual,
    ) as taken:
        os.environ.setdefault("TEXTUAL_FPS", "240")  # results from threads wait for the next frame
        from .app import BrowseApp
        from .textual_private import driver_of

        app = BrowseApp(location, store, first, shown, is_screen_taken=taken.is_taken, start=start)
        app.is_choice_printed = is_printed
        app.put_terminal_back = taken.put_back
        app.early_keys = taken.keys
        app.is_told_to_end = lambda: bool(taken.told)
        taken.is_handed_over = True
        try:
            plan = app.run(mouse=start.options.mouse)
        finally:
            # Textual 8 leaves its thread of keys waiting where the terminal went away while it was being given back,
            # and Python waits for that thread.
            if (driver := driver_of(app)) is not None and (told := getattr(driver, "exit_event", None)) is not None:
                told.set()
    left = app.as_left()
    if left is not None:
        keep(start, *left, app.pane_sizes)
    return app.return_code or 0, plan
