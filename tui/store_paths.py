"""Paths of what belongs to a store but is not in it: trash, files of sessions, Hermes' configuration, `.env` files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_browse.store.hermes.homes import Location, default_root

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.retention import Radar
    from hermes_browse.store.connection.connect import Reader


def trash_folder(location: Location) -> Path:
    """The folder of deleted conversations, in the user's data folder; that of the sample store lies beside it."""
    if location.demo:
        return location.path.parent / "trash"
    from platformdirs import user_data_path  # most of what runs needs no folder of its own

    return user_data_path("hermes-browse", appauthor=False) / "trash"


def sessions_folder(location: Location) -> Path | None:
    """Where Hermes keeps files of the sessions of a store; None for a file that is no home's own."""
    return location.path.parent / "sessions" if location.root is not None else None


def env_files(location: Location) -> list[Path]:
    """The `.env` files whose values may turn up in a store: beside it, its root's, and the user's own."""
    if location.demo:
        return []
    folders = [location.path.parent, location.root, default_root()]
    if named := os.environ.get("HERMES_HOME", "").strip():
        folders.append(Path(named))
    return list(dict.fromkeys(folder / ".env" for folder in folders if folder is not None))


def store_files(path: Path) -> list[Path]:
    """The file of a store and those SQLite keeps beside it."""
    return [path, *(Path(f"{path}{suffix}") for suffix in ("-wal", "-shm", "-journal"))]


def read_radar_at(location: Location, reader: Reader, now: float) -> Radar:
    """Read the radar of a store, with the `config.yaml` of its home.

    Args:
        location: The store.
        reader: An open reader of it.
        now: Unix seconds.
    """
    from hermes_browse.store.cleanup.hermes_settings import managed_config
    from hermes_browse.store.cleanup.retention import read_radar

    config = location.path.parent / "config.yaml" if location.root is not None else None
    managed = None if location.demo else managed_config()  # the sample is the same on every machine
    return read_radar(reader, config, now, managed=managed)
