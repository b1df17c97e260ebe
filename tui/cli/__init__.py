"""The command line: the features of the browser for scripts and agents, without importing
Textual."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from .. import version

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hermes-browse`.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        The exit code: 0 done, 1 unexpected, 2 usage, 3 no store, 4 not found, 5 refused, 6 some
            host or profile did not answer, 130 interrupted.
    """
    arguments = [*(sys.argv[1:] if argv is None else argv)]
    try:
        if arguments == ["--version"] and sys.stdout is not None:
            with suppress(OSError):  # run() below reports it
                print(f"hermes-browse {version()}", flush=True)
                return 0
        if "_ARGCOMPLETE" in os.environ:
            from .completions import complete  # start time: only at a Tab

            complete()
        from .entry import run  # start time: `--version` imports next to nothing

        return run(arguments)
    except KeyboardInterrupt:  # during imports
        return 130
