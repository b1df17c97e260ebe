"""A sample store for newcomers, pictures and tests: the shape of Hermes 0.22, a year and a half of one person's work.

Noor, who writes software for a small ferry line, and everything she asks of Hermes: code, storms, bread, Italian.
Every feature of a store occurs at least once. Nothing in it is real; all of it is relative to the moment given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from .chat import TEXTS
from .player import SCENES, Player
from .writer import write_store

__all__ = ["build", "build_home"]


def build(path: Path, *, now: float) -> None:
    """Write the sample store: one file, readable by its owner alone, without -wal or -shm beside it.

    Args:
        path: A path that is free, in a folder that exists.
        now: Unix seconds. The same moment gives the same rows, whatever the clock and time zone say.

    Raises:
        FileExistsError: Something is at the path already; it is left alone.
    """
    _write(path, Player(now), sorted(SCENES.glob("*.txt")))


def build_home(home: Path, *, now: float) -> Path:
    """Write a sample Hermes root: the sample store, a second profile, names of jobs, how long Hermes keeps what.

    Args:
        home: A folder that exists, with nothing of Hermes' in it.
        now: Unix seconds.

    Returns:
        The path of the sample store.

    Raises:
        FileExistsError: There is a store already; it is left alone.
    """
    path = home / "state.db"
    player = Player(now)
    _write(path, player, sorted(SCENES.glob("*.txt")))
    (home / "config.yaml").write_text(TEXTS["config"], encoding="utf-8")
    (home / "cron").mkdir(mode=0o700)
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": player.jobs}, indent=2), encoding="utf-8")
    for scene in sorted((SCENES / "profiles").glob("*.txt")):
        folder = home / "profiles" / scene.stem
        folder.mkdir(mode=0o700, parents=True)
        _write(folder / "state.db", Player(now, scene.stem), [scene])
    return path


def _write(path: Path, player: Player, scenes: Iterable[Path]) -> None:
    for scene in scenes:
        player.play(scene.read_text(encoding="utf-8"))
    write_store(path, player.rows(), generation=player.generation)
