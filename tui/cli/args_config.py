"""Arguments of the commands that need no store: `config`, `completions` and `man`."""

from __future__ import annotations

import argparse

from hermes_browse.store.wording import N_, _

CONFIG = N_("The configuration: where it is, what it sets, and a sample of it.")
COMPLETIONS = N_("A script that completes this command line in a shell.")
MAN = N_("The manual page, for `man`: roff on standard output.")
SHELLS = ("bash", "zsh", "fish")


def add_config(parser: argparse.ArgumentParser) -> None:
    """What `config` takes.

    Args:
        parser: Of the command; it has `--json` already.
    """
    parser.add_argument(
        "what",
        nargs="?",
        choices=["show", "path", "init"],
        default="show",
        help=_("show what holds (default), its path, or write a commented sample; an existing file stays as it is"),
    )


def add_completions(parser: argparse.ArgumentParser) -> None:
    """What `completions` takes."""
    parser.add_argument("shell", choices=SHELLS)
