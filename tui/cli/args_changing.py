"""The arguments of `rename`, `archive`, `unarchive`, `pin` and `unpin`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hermes_browse.store.wording import N_, _

RENAME = N_("Give a conversation another title; an empty one clears it.")
MARKS = {
    "archive": N_("Put conversations away: hidden from lists, nothing lost."),
    "unarchive": N_("Bring archived conversations back."),
    "pin": N_("Keep conversations from what Hermes deletes by itself."),
    "unpin": N_("Let go of pins."),
}

Reads = Callable[[str], str]


def add_rename(parser: argparse.ArgumentParser, text: Reads) -> None:
    """Add the arguments of `rename`.

    Args:
        parser: Of the command.
        text: Reads words of the user.
    """
    parser.add_argument("id", metavar="ID", type=text)
    parser.add_argument("title", metavar="TITLE", nargs="+", type=text, help=_("its words"))


def add_mark(parser: argparse.ArgumentParser, text: Reads) -> None:
    """Add the arguments of a mark.

    Args:
        parser: Of the command.
        text: Reads words of the user.
    """
    parser.add_argument("ids", metavar="ID", nargs="+", type=text)
