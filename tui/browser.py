"""An address in the browser of the system: handed over quietly, or in the terminal where that is all there is."""

from __future__ import annotations

import subprocess
import sys
import webbrowser

_PATIENCE = 8.0
"""Seconds the browser's starter is waited for; what takes longer goes on without us."""
_QUIETLY = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"  # not shown
_IN_TERMINAL = ("GenericBrowser", "Elinks")
"""Classes of `webbrowser` (Python 3.11 to 3.14) for programs that run in the foreground and take the terminal."""


def takes_the_terminal() -> bool | None:
    """Whether the browser of this system is one of text, which needs the terminal; None when there is none.

    Asks the system, which may start a program: not for the screen's thread.
    """
    try:
        return type(webbrowser.get()).__name__ in _IN_TERMINAL
    except webbrowser.Error:
        return None


def open_quietly(address: str) -> bool:
    """Hand an address to a browser that has a window, and say whether a program took it.

    In a process of its own whose words go nowhere: starters such as xdg-open talk to the terminal. Isolated (`-I`), so
    that nothing in the working directory is taken for a module.

    Args:
        address: Checked before: of the web, or of a mail.
    """
    silent = subprocess.DEVNULL
    command = [sys.executable, "-I", "-c", _QUIETLY, address]
    try:
        started = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)
        return started.wait(_PATIENCE) == 0
    except subprocess.TimeoutExpired:
        return True  # it is still at it
    except OSError:
        return False


def open_here(address: str) -> bool:
    """Show an address in a browser of text and wait for it; the terminal must be free.

    Args:
        address: Checked before.
    """
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
