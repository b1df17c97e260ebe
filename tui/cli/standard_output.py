"""Standard output that takes nothing more: a full disk, a reader that has gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.wording import _


def discard_output() -> None:
    """Discard buffered output, which Python would otherwise fail to flush at exit and report."""
    try:
        output = sys.stdout.fileno()
    except OSError:  # not a real file, so nothing is reported
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, output)
    os.close(null)


@contextmanager
def printing() -> Iterator[None]:
    """Within the block, what standard output does not take, on a full disk for example, is a
    BrowseError; a pipe that its reader has closed stays BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:  # no other: those of the store are BrowseErrors
        discard_output()
        reason = error.strerror or error
        raise BrowseError(
            _("Standard output could not be written: {reason}.", reason=reason)
        ) from error
