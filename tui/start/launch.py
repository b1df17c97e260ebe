"""Run the browser on a store, and return what was chosen in it."""

from __future__ import annotations

import gc
import os
import sys
import time
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location, notes_file

from ..browser.list.list_model import read_first
from ..settings.folders import memory_path
from ..settings.start import read_start, write_memory
from .prepaint import painted

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume_command import ResumePlan
    from hermes_browse.store.hosts.link import Links


def choose(
    location: Location,
    *,
    is_printed: bool = False,
    store: Store | None = None,
    links: Links | None = None,
) -> tuple[int, ResumePlan | None]:
    """Run the browser on a store until it ends.

    Args:
        is_printed: The chosen command will be printed, not run, so it may be one that cannot run
            here.
        store: The store at the location, if it is on a host.
        links: The connections to hosts, if one is open already.

    Returns:
        The exit code, and the plan of what to resume.

    Raises:
        StoreError: The store cannot be read at all; raised before anything is painted.
    """
    # The longest the screen waits for a thread that computes. Python's default of 5 ms is a third
    # of a frame, several times in each.
    sys.setswitchinterval(0.001)
    gc.disable()  # nothing is garbage yet, and searching for it takes a tenth of the start
    store = store or Store(location.path, notes=notes_file(location))
    now = time.time()
    start = read_start()
    first, shown = read_first(store, now, get_terminal_size().lines)
    with painted(first, shown, location, now, start) as handover:
        os.environ.setdefault("TEXTUAL_FPS", "240")  # results from threads wait for the next frame
        from ..app import BrowseApp  # imported after the first rows are painted

        app = BrowseApp(location, store, first, shown, handover=handover, start=start, links=links)
        app.is_choice_printed = is_printed
        handover.is_done = True
        try:
            plan = app.run(mouse=start.options.mouse)
        finally:
            app.stop_input()
    memory = app.new_memory()
    if memory != start.memory or start.is_first:
        write_memory(memory_path(), memory)
    return app.return_code or 0, plan
