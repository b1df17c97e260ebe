"""From a location to a running browser, and on to Hermes when a conversation was chosen."""

from __future__ import annotations

import gc
import os
import time

from hermes_browse.store.catalog import read_first_page
from hermes_browse.store.connect import Store
from hermes_browse.store.homes import Location
from hermes_browse.store.preview import with_details


def launch(location: Location) -> int:
    """Run the browser on a store.

    Args:
        location: Which store.

    Returns:
        The exit code; does not return when Hermes takes over.

    Raises:
        StoreError: The store cannot be read at all; said before the screen is taken.
    """
    gc.disable()  # nothing of what starts up is garbage; looking for some costs a tenth of the start
    store = Store(location.path)
    now = time.time()
    with store.reader() as reader:
        first = read_first_page(reader, now)
        shown = with_details(reader, first.select()[:60])
    os.environ.setdefault("TEXTUAL_FPS", "120")  # results from threads wait for the next frame
    from .app import BrowseApp

    app = BrowseApp(location, store, first, shown)
    plan = app.run()
    if plan is not None:
        from .cli.resuming import run_plan

        return run_plan(plan)
    return app.return_code or 0
