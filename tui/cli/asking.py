"""A question on a terminal before something is deleted; without a terminal nobody is asked, and nothing is done."""

from __future__ import annotations

import sys

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.wording import _


def on_a_terminal() -> bool:
    """Whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(question: str, wanted: str) -> None:
    """Go on only after the right answer.

    Args:
        question: Ends where the answer is typed.
        wanted: The answer; commas in numbers and the case of letters are nothing.

    Raises:
        RefusedError: It was another one.
    """
    print(question, end="", file=sys.stderr)
    sys.stderr.flush()
    if sys.stdin.readline().strip().replace(",", "").lower() != wanted:
        raise RefusedError(_("Nothing was changed."))
