"""The command line: every screen feature for scripts and agents, without importing Textual."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hermes-browse`.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        The exit code: 0 done, 1 unexpected, 2 usage, 3 no store, 4 not found, 5 refused, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments == ["--version"] and sys.stdout is not None:  # worth a way of its own: it imports next to nothing
            from .version import version

            with suppress(OSError):  # told, and hushed, by the way of all commands
                print(f"hermes-browse {version()}", flush=True)
                return 0
        from .run import run

        return run(arguments)
    except KeyboardInterrupt:  # while Python still imports
        return 130
