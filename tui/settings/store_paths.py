"""Paths of files that belong to a store: trash, session files, `.env` files, Hermes'
configuration."""

from __future__ import annotations

import os
from pathlib import Path

from hermes_browse.store.hermes.homes import Location, default_root
from hermes_browse.store.hermes.homes import sessions_folder as sessions_folder
from hermes_browse.store.hermes.homes import trash_folder as trash_folder


def env_files(location: Location) -> list[Path]:
    """The `.env` files whose values may occur in a store: of its folder, its root and the user's
    homes."""
    if location.demo:
        return []
    folders = [location.path.parent, location.root, default_root()]
    if home := os.environ.get("HERMES_HOME", "").strip():
        folders.append(Path(home))
    return list(dict.fromkeys(folder / ".env" for folder in folders if folder is not None))


def store_files(path: Path) -> list[Path]:
    """The file of a store, and SQLite's files beside it."""
    return [path, *(Path(f"{path}{suffix}") for suffix in ("-wal", "-shm", "-journal"))]
