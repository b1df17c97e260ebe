"""The browser under a configuration."""

from __future__ import annotations

from pathlib import Path

from browsing import NOW, loose
from builders import demo_store
from user_config import write_config

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.browser.list.list_model import FirstPage, RowDetails
from hermes_browse.tui.settings.start import (
    read_start,
)


def configured(folder: Path, text: str = "") -> BrowseApp:
    """The browser on the demo store as `start.run_browser` begins it, its first page shorter than the
    store."""
    if text:
        write_config(text)
    path = folder / "state.db"
    if not path.exists():
        demo_store(path, now=NOW)
    store = Store(path)
    with store.reader() as reader:
        first = read_first_page(reader, NOW, limit=5)
    page = FirstPage(first, RowDetails())
    app = BrowseApp(loose(path), store, page, startup=read_start())
    app.clock = lambda: NOW
    return app
