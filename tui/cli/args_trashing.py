"""The arguments of `delete` and `trash`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

DELETE = "Move whole conversations to the trash: all segments and their subagents; branches stay."
TRASH = "What has been deleted: list it, put it back, drop it for good."

Reads = Callable[[str], str]


def add_delete(parser: argparse.ArgumentParser, text: Reads) -> None:
    """Add the arguments of `delete`.

    Args:
        parser: Of the command.
        text: Reads words of the user.
    """
    parser.add_argument("ids", metavar="ID", nargs="+", type=text)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def add_trash(
    parser: argparse.ArgumentParser, text: Reads, add_store_options: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Add the actions of `trash`, each with its arguments.

    Args:
        parser: Of the command.
        text: Reads words of the user.
        add_store_options: Adds the options that name a store, which are taken behind the action too.
    """
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for name, said in (
        ("list", "The bundles in the trash, newest first."),
        ("restore", "Put bundles back into the store."),
        ("drop", "Remove bundles for good."),
    ):
        action = actions.add_parser(name, help=said, description=said)
        action.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON document on standard output"
        )
        add_store_options(action)
        if name != "list":
            action.add_argument("bundles", metavar="BUNDLE", nargs="+", type=text, help="a name, or how it begins")
        if name == "drop":
            action.add_argument("--yes", action="store_true", help="do not ask")
        if name == "restore":
            action.add_argument("--yes", action="store_true", help="also into another store than it is from")
