"""`--print-command`: the browser on the terminal, the command of what was chosen on standard output.

For `eval "$(hermes-browse --print-command)"` and for shell key bindings: the shell has standard output then, so the
screen goes to the terminal itself, whatever standard streams are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hermes_browse.store.homes import Location
from hermes_browse.store.wording import _

from .columns import note, print_text


@contextmanager
def _on_the_terminal(terminal: int) -> Iterator[None]:
    """Standard streams that are no terminal are the terminal as long as the block; afterwards they are what they were.

    Args:
        terminal: An open descriptor of it.
    """
    elsewhere = [(number, os.dup(number)) for number in (0, 1, 2) if not os.isatty(number)]
    try:
        for number, _kept in elsewhere:
            os.dup2(terminal, number)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, kept in elsewhere:
            os.dup2(kept, number)
            os.close(kept)


def choose_and_print(location: Location) -> int:
    """Run the browser, and print the command of what was chosen; nothing when it was left.

    Args:
        location: Which store.

    Returns:
        The exit code: 2 where there is no terminal.
    """
    location.refuse_without_home("resume")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        told = _("--print-command needs a terminal for its screen; try `hermes-browse resume ID --print`.")
        note(f"hermes-browse: {told}")
        return 2
    from hermes_browse.tui.launch import choose

    try:
        with _on_the_terminal(terminal):
            code, plan = choose(location, is_printed=True)
    finally:
        os.close(terminal)
    if plan is not None:
        print_text(plan.shell())
    return code
