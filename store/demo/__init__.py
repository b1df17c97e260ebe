"""A sample store for newcomers, pictures and tests: the shape of Hermes 0.19, five months of one person's work.

Noor, who writes software for a small ferry line, and everything she asks of Hermes: code, storms, bread, Italian.
Every feature of a store occurs at least once. Nothing in it is real; all of it is relative to the moment given.
"""

from __future__ import annotations

from pathlib import Path

from . import (
    scenes_auth,
    scenes_auto,
    scenes_code,
    scenes_family,
    scenes_gateway,
    scenes_mail,
    scenes_ops,
    scenes_rounds,
    scenes_tests,
    scenes_today,
    scenes_world,
)
from .script import DAY, Script
from .writer import write_store

_SCENES = (
    scenes_auth,
    scenes_code,
    scenes_ops,
    scenes_tests,
    scenes_rounds,
    scenes_today,
    scenes_mail,
    scenes_family,
    scenes_world,
    scenes_gateway,
    scenes_auto,
)


def build(path: Path, *, now: float) -> None:
    """Write the sample store: one file, readable by its owner alone, without -wal or -shm beside it.

    Args:
        path: A path that is free, in a folder that exists.
        now: Unix seconds. The same moment gives the same rows, whatever the clock and time zone say.

    Raises:
        FileExistsError: Something is at the path already; it is left alone.
    """
    script = Script(now)
    for scene in _SCENES:
        scene.play(script)
    script.add("state_meta", key="last_auto_prune", value=str(now - DAY))
    script.add("state_meta", key="ghost_session_prune_v1", value="1")
    script.add("state_meta", key="orphaned_compression_finalize_v1", value="1")
    write_store(path, script.rows())
