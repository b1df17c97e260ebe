"""The arguments of `prune` and `stats`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from types import SimpleNamespace

from hermes_browse.store.wording import N_, _

PRUNE = N_("What could be cleaned up by rules, all of which must hold; without --archive or --delete it only tells.")
STATS = N_("Sums of sessions, messages, tokens, cost and bytes.")

Reads = Callable[[str], str]


def _age(text: str) -> float:
    from hermes_browse.store.cleanup.rules import parse_age  # other commands do without the rules

    try:
        return parse_age(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _bytes(text: str) -> int:
    from hermes_browse.store.cleanup.rules import parse_bytes

    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _money(text: str) -> float:
    from hermes_browse.store.cleanup.rules import parse_money

    try:
        return parse_money(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def contradiction(arguments: SimpleNamespace) -> str:
    """What in the arguments of `prune` no conversation can be, in a sentence; empty where there is no such thing."""
    for name in ("messages", "size"):
        least, most = getattr(arguments, f"min_{name}"), getattr(arguments, f"max_{name}")
        if least is not None and most is not None and least > most:
            told = _("--min-{name} {least:,} is above --max-{name} {most:,}")
            return told.format(name=name, least=least, most=most)
    return ""


def add_prune(parser: argparse.ArgumentParser, text: Reads, named: Reads, count: Callable[[str], int]) -> None:
    """Add the arguments of `prune`.

    Args:
        parser: Of the command.
        text: Reads words of the user.
        named: Reads what may not be empty.
        count: Reads a whole number.
    """

    def words(value: str) -> str:
        return text(named(value))

    def folder(value: str) -> str:
        return text(os.path.abspath(os.path.expanduser(named(value))))

    rules = parser.add_argument_group(_("rules"))
    rules.add_argument(
        "--older-than", metavar="AGE", type=_age, help=_("idle for so long: 90d, 12h, 1w 2d (by activity)")
    )
    rules.add_argument(
        "--source", metavar="S", type=words, action="append", default=[], help=_("of this source; repeatable")
    )
    rules.add_argument("--title", metavar="T", type=words, help=_("its title contains this"))
    rules.add_argument("--cwd", metavar="DIR", type=folder, help=_("its working directory is this or below it"))
    rules.add_argument("--model", metavar="M", type=words, help=_("the name of its model contains this"))
    rules.add_argument("--empty", action="store_true", help=_("without a message"))
    rules.add_argument("--automation", action="store_true", help=_("cron jobs, webhooks and the like"))
    rules.add_argument("--min-messages", metavar="N", type=count)
    rules.add_argument("--max-messages", metavar="N", type=count)
    rules.add_argument("--min-size", metavar="BYTES", type=_bytes, help=_("search index included: 10M, 1.5G"))
    rules.add_argument("--max-size", metavar="BYTES", type=_bytes)
    rules.add_argument("--max-cost", metavar="USD", type=_money)
    rules.add_argument(
        "--stale-open",
        action="store_true",
        help=_("open ones too that have been idle for that long (7 days where --older-than is not given)"),
    )
    rules.add_argument("--include-archived", action="store_true", help=_("archived ones too"))
    actions = parser.add_argument_group(_("what to do")).add_mutually_exclusive_group()
    actions.add_argument("--archive", action="store_true", help=_("archive what the rules mean"))
    actions.add_argument("--delete", action="store_true", help=_("delete it, to the trash"))
    parser.add_argument("--dry-run", action="store_true", help=_("change nothing, only tell"))
    parser.add_argument("--yes", action="store_true", help=_("do not ask"))


def add_stats(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stats`."""
    groupings = ["model", "source", "day", "week", "month", "hour", "project", "conversation", "tool"]
    hour = _("default source; hour is that of the week, 0-14 Monday from 14:00; project is repository or directory")
    parser.add_argument("--by", choices=groupings, default="source", help=hour)
    back = _("what began, was said or called since then (default all, with bytes by model, source, day and tool)")
    parser.add_argument("--period", choices=["7d", "30d", "90d", "1y", "all"], default="all", help=back)
