"""What a program does whose terminal is gone: what the kernel would have told it by SIGHUP.

The kernel tells only the leader of a session. Others, as a program started by `su -c`, read an end
of input or EIO.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading


def hang_up() -> None:
    """Send SIGHUP to this process, from any thread: it ends as if its window had been closed."""
    os.kill(os.getpid(), signal.SIGHUP)


def watch_terminal() -> None:
    """Hang up when standard input, a terminal, is gone, whatever the main thread does.

    Nothing is read: this is for those who do not read all the time.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        return
    terminal = select.poll()
    terminal.register(sys.stdin.fileno(), select.POLLHUP)
    threading.Thread(target=_hang_up_with, args=(terminal,), name="terminal", daemon=True).start()


def _hang_up_with(terminal: select.poll) -> None:
    for _descriptor, happened in terminal.poll():
        if happened & select.POLLHUP:
            hang_up()
