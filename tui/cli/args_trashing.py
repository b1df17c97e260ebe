"""The arguments of `delete` and `trash`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hermes_browse.store.wording import N_, _

DELETE = N_("Move whole conversations to the trash: all segments and their subagents; branches stay.")
TRASH = N_("What has been deleted: list it, put it back, drop it for good.")

Reads = Callable[[str], str]


def add_delete(parser: argparse.ArgumentParser, text: Reads) -> None:
    """Add the arguments of `delete`.

    Args:
        parser: Of the command.
        text: Reads words of the user.
    """
    parser.add_argument("ids", metavar="ID", nargs="+", type=text)
    parser.add_argument("--yes", action="store_true", help=_("do not ask"))


def add_trash(
    parser: argparse.ArgumentParser, text: Reads, add_store_options: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Add the actions of `trash`, each with its arguments.

    Args:
        parser: Of the command.
        text: Reads words of the user.
        add_store_options: Adds the options that name a store, which are taken behind the action too.
    """
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=_("actions"), required=True)
    for name, said in (
        ("list", _("The bundles in the trash, newest first.")),
        ("restore", _("Put bundles back into the store.")),
        ("drop", _("Remove bundles for good.")),
    ):
        action = actions.add_parser(name, help=said, description=said)
        action.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help=_("one JSON document on standard output")
        )
        add_store_options(action)
        if name != "list":
            action.add_argument("bundles", metavar="BUNDLE", nargs="+", type=text, help=_("a name, or how it begins"))
        if name == "drop":
            action.add_argument("--yes", action="store_true", help=_("do not ask"))
        if name == "restore":
            action.add_argument("--yes", action="store_true", help=_("also into another store than it is from"))
