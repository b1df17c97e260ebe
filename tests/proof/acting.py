"""What a process does while its system calls fail: every command and screen action that writes, by
name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "helpers"))

from hermes_browse.store.cleanup import bulk
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import delete, flags, restore  # loaded before a fork
from hermes_browse.store.edit.flags import Change, RowChange
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.cli import edit, export, prune, trash  # noqa: F401  (loaded before a fork)
from hermes_browse.tui.cli.entry import run
from hermes_browse.tui.settings.start import LastState, write_memory

NOW = 1784538000.0


def trash_of(folder: Path) -> Path:
    """Where the trash of a case is."""
    return folder / "data" / "hermes-browse" / "trash"


def _command(*words: str) -> Callable[[Path], int]:
    return lambda folder: run(["--home", str(folder), *words])


def _of_bundles(*words: str) -> Callable[[Path], int]:
    def work(folder: Path) -> int:
        names = [each.name for each in list_bundles(trash_of(folder))]
        return run(["--home", str(folder), *words, *names])

    return work


def _undo(folder: Path) -> int:
    """What `u` does after a conversation was archived: see `prepare`."""
    row = RowChange("other", {"archived": 0}, {"archived": 1})
    print(flags.undo(Store(folder / "state.db"), Change("archived", (row,))).sentence)
    return 0


def _rescue(folder: Path) -> int:
    """What the retention screen does where there are no pins."""
    store = Store(folder / "state.db")
    print(delete.copy_to_trash(store, "tip", trash_of(folder), None).name)
    return 0


def _remember(folder: Path) -> int:
    return 0 if write_memory(folder / "state.json", LastState()) else 1


ACTIONS: dict[str, Callable[[Path], int]] = {
    "delete": _command("delete", "--yes", "tip"),
    "prune": _command("prune", "--older-than", "30d", "--stale-open", "--delete", "--yes"),
    "restore": _of_bundles("trash", "restore"),
    "drop": _of_bundles("trash", "drop", "--yes"),
    "archive": _command("archive", "tip"),
    "unarchive": _command("unarchive", "other"),
    "pin": _command("pin", "tip"),
    "rename": _command("rename", "other", "Pier"),
    "undo": _undo,
    "rescue": _rescue,
    "export": lambda folder: run(
        ["--home", str(folder), "export", "tip", "--output", str(folder / "out.md")]
    ),
    "remember": _remember,
}


def act(name: str, folder: str) -> int:
    """Do it; the exit code."""
    try:
        return ACTIONS[name](Path(folder))
    except BrowseError as error:  # as a screen says it
        print(error)
        return error.exit_code


__all__ = ["ACTIONS", "act", "bulk", "delete", "flags", "restore", "trash_of"]
