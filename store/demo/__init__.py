"""The sample store of `--demo`, also used by screenshots and tests, in the schema of Hermes 0.22.

It holds a year and a half of the fictional Noor, who writes software for a small ferry line: code,
storms, bread, Italian. Every feature of a store occurs at least once. All times are relative to the
given moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from .chat import TEXTS
from .player import SCENES, Player
from .store_writer import write_store


def build_home(home: Path, *, now: float) -> Path:
    """Write a sample Hermes home: the sample store, other profiles, `cron/jobs.json` and
    `config.yaml`.

    Args:
        home: An existing folder without files of Hermes.
        now: Unix seconds. The same value gives the same rows, independent of clock and time zone.

    Returns:
        The path of the sample store.

    Raises:
        FileExistsError: There is a store already; it is not changed.
    """
    path = home / "state.db"
    player = Player(now)
    _write(path, player, sorted(SCENES.glob("*.txt")))
    (home / "config.yaml").write_text(TEXTS["config"], encoding="utf-8")
    (home / "cron").mkdir(mode=0o700)
    (home / "cron" / "jobs.json").write_text(
        json.dumps({"jobs": player.jobs}, indent=2), encoding="utf-8"
    )
    for scene in sorted((SCENES / "profiles").glob("*.txt")):
        folder = home / "profiles" / scene.stem
        folder.mkdir(mode=0o700, parents=True)
        _write(folder / "state.db", Player(now, scene.stem), [scene])
    return path


def _write(path: Path, player: Player, scenes: Iterable[Path]) -> None:
    for scene in scenes:
        player.play(scene.read_text(encoding="utf-8"))
    write_store(path, player.rows(), generation=player.generation)
