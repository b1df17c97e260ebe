"""The arguments of `export`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hermes_browse.store.wording import N_, _

HELP = N_("Conversations as Markdown, JSON lines or HTML; secrets are redacted.")


def add(parser: argparse.ArgumentParser, text: Callable[[str], str], named: Callable[[str], str]) -> None:
    """Add the arguments of the command.

    Args:
        parser: Of the command.
        text: Reads words of the user.
        named: Reads what may not be empty.
    """
    parser.add_argument("ids", metavar="ID", nargs="+", type=text)
    parser.add_argument(
        "--format",
        choices=["markdown", "jsonl", "html"],
        default=None,
        help=_("default: what the name after --output ends in, else markdown; jsonl is what Hermes imports"),
    )
    parser.add_argument(
        "--everything",
        action="store_true",
        help=_(
            "rewound and hidden messages too. Without it JSONL holds only live messages, with it compacted ones too: "
            "Hermes 0.22 and later import those as they were, earlier versions as live messages"
        ),
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        type=named,
        default=None,
        help=_("a file, a folder, or - for standard output (default: a file here, named after the title)"),
    )
    parser.add_argument("--no-redact", action="store_true", help=_("keep keys, tokens and passwords as they are"))
    parser.add_argument("--force", action="store_true", help=_("replace files that are there"))
