"""The arguments of every command, and their help."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

from hermes_browse.store.models import Sort, View
from hermes_browse.store.text import as_text

from . import args_changing, args_config, args_exporting, args_pruning, args_trashing
from .columns import note

_EPILOG = """\
exit codes: 0 done · 1 unexpected failure · 2 usage · 3 no store, or unreadable · 4 not found or ambiguous
            5 refused: unsafe, protected or not confirmed · 130 interrupted

ID is a full session id, a unique prefix, or a title; any segment stands for its conversation.
Ids may begin with a dash: `--` ends the options.
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and takes no abbreviations: a new option would break them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Formatter, **settings})

    def error(self, message: str) -> NoReturn:
        note(f"{self.prog}: {message}. See `{self.prog} --help`.")
        raise SystemExit(2)


OLD_COMMANDS = ("list", "search", "show", "export", "stats")
"""What can be done with old transcripts: everything that only reads."""

_MOST = 2**53 - 1  # what every reader of JSON can hold, and SQLite too


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"wants a whole number, 0 or more, not {text!r}")
    return value


def _named(text: str) -> str:
    # An unset variable in a script must not mean "the store of this user".
    if not text:
        raise argparse.ArgumentTypeError("wants a name, not an empty text")
    return text


def _text(text: str) -> str:
    """Words of the user: bytes that the locale could not decode are UTF-8, or U+FFFD."""
    return as_text(os.fsencode(text)) or ""


def _add_store_options(parser: argparse.ArgumentParser, *, top: bool) -> None:
    """The options that name a store; taken before and after the command."""
    default: object = None if top else argparse.SUPPRESS
    group = parser.add_argument_group("which store")
    which = group.add_mutually_exclusive_group()
    home = "a Hermes root (default $HERMES_HOME)"
    group.add_argument("--home", metavar="DIR", type=_named, default=default, help=home)
    group.add_argument("--profile", metavar="NAME", type=_named, default=default, help="one of its profiles")
    which.add_argument("--db", metavar="FILE", type=_named, default=default, help="any store file")
    which.add_argument(
        "--demo", action="store_true", default=False if top else argparse.SUPPRESS, help="a built-in sample store"
    )
    group.add_argument(
        "--old",
        action="store_true",
        default=False if top else argparse.SUPPRESS,
        help="the old transcripts beside the store: files without a session in it",
    )
    debug = "write down in the log what is done: statements and failures, no text of any conversation"
    parser.add_argument("--debug", action="store_true", default=False if top else argparse.SUPPRESS, help=debug)
    if top:  # for `make run`: someone without Hermes should see something
        group.add_argument("--or-demo", action="store_true", help=argparse.SUPPRESS)


def _add_behind(parser: argparse.ArgumentParser) -> None:
    _add_store_options(parser, top=False)


def _command(commands: argparse._SubParsersAction[_Parser], name: str, text: str) -> _Parser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    _add_store_options(parser, top=False)
    return parser


def _add_view(parser: argparse.ArgumentParser, default: str | None) -> None:
    views = [view.value for view in View]
    parser.add_argument("--view", choices=views, default=default, help=f"default {default or 'everything'}")
    parser.add_argument(
        "--source", action="append", type=_text, default=[], metavar="S", help="only this source; repeatable"
    )


def make_parser() -> _Parser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="hermes-browse",
        description="Browse the session store of Hermes Agent. Without a command: the browser.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="store_true", help="say the version and end")
    _add_store_options(parser, top=True)
    parser.add_argument(
        "--print-command",
        action="store_true",
        help="the browser prints the command of what is chosen, and runs nothing",
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="a dialogue of lines, for screen readers and braille: nothing is drawn",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    listing = _command(commands, "list", "Conversations, newest activity first.")
    _add_view(listing, View.CHATS.value)
    listing.add_argument("--sort", choices=[sort.value for sort in Sort], default=Sort.ACTIVITY.value)
    listing.add_argument("--reverse", action="store_true", help="the other way round")
    listing.add_argument("--limit", type=_count, default=50, metavar="N", help="most rows, 0 for all (default 50)")
    listing.add_argument("--all-profiles", action="store_true", help="of all profiles, as one list by activity")
    listing.add_argument("--offset", type=_count, default=0, metavar="N", help="rows to leave out first")

    search = _command(commands, "search", "Chat messages that contain what you ask for, newest first.")
    search.add_argument(
        "query", metavar="QUERY", nargs="+", type=_text, help='words, "a phrase", OR, -word, prefix*, source:cli …'
    )
    search.add_argument("--sort", choices=["newest", "relevance", "oldest"], default="newest")
    search.add_argument("--limit", type=_count, default=50, metavar="N", help="most hits, 0 for all (default 50)")
    search.add_argument("--context", type=_count, default=0, metavar="N", help="messages before and after each hit")
    _add_view(search, None)
    search.add_argument("--all-profiles", action="store_true", help="in all profiles; newest hits first")
    search.add_argument(
        "--role", action="append", type=_text, default=[], metavar="R", help="only this role; repeatable"
    )

    show = _command(commands, "show", "A whole conversation.")
    show.add_argument("id", metavar="ID", type=_text)
    reading = show.add_mutually_exclusive_group()
    for name, text in (
        ("said", "what was said: live and compacted messages (default)"),
        ("live", "what the model still sees"),
        ("everything", "rewound and hidden messages too"),
    ):
        reading.add_argument(f"--{name}", dest="reading", action="store_const", const=name, default="said", help=text)
    show.add_argument("--segment", action="store_true", help="that one session alone")
    show.add_argument("--markdown", action="store_true", help="as Markdown")

    lineage = _command(commands, "lineage", "The family tree around a session.")
    lineage.add_argument("id", metavar="ID", type=_text)

    resume = _command(commands, "resume", "Go on with a conversation in Hermes.")
    which = resume.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", nargs="?", type=_text)
    which.add_argument("--last", action="store_true", help="the newest conversation, as `hermes -c`")
    resume.add_argument(
        "--source", metavar="S", type=_text, default=None, help="with --last: of this source (default cli)"
    )
    resume.add_argument("--print", action="store_true", dest="print_only", help="print the command, run nothing")
    resume.add_argument("--yes", action="store_true", help="resume in spite of warnings")

    args_changing.add_rename(_command(commands, "rename", args_changing.RENAME), _text)
    for name, said in args_changing.MARKS.items():
        args_changing.add_mark(_command(commands, name, said), _text)
    args_pruning.add_prune(_command(commands, "prune", args_pruning.PRUNE), _text, _named, _count)
    args_trashing.add_delete(_command(commands, "delete", args_trashing.DELETE), _text)
    args_trashing.add_trash(_command(commands, "trash", args_trashing.TRASH), _text, _add_behind)
    args_exporting.add(_command(commands, "export", args_exporting.HELP), _text, _named)
    args_pruning.add_stats(_command(commands, "stats", args_pruning.STATS))
    _command(commands, "profiles", "The profiles of the Hermes root.")
    _command(commands, "doctor", "What the store, its search index, Hermes and the terminal are like.")
    args_config.add_config(_command(commands, "config", args_config.CONFIG))
    args_config.add_completions(
        commands.add_parser("completions", help=args_config.COMPLETIONS, description=args_config.COMPLETIONS)
    )
    commands.add_parser("man", help=args_config.MAN, description=args_config.MAN)
    return parser


def _check_all_profiles(parser: _Parser, arguments: SimpleNamespace) -> None:
    """What goes with `--all-profiles` and what does not."""
    if arguments.db is not None or arguments.demo or arguments.profile is not None or arguments.old:
        parser.error("--all-profiles goes with --home alone: it means every profile of that root")
    if arguments.command == "list" and (arguments.sort != Sort.ACTIVITY.value or arguments.reverse):
        parser.error("--all-profiles lists by activity, newest first")
    narrowing = arguments.command == "search" and (arguments.view or arguments.source or arguments.role)
    if narrowing or (arguments.command == "search" and (arguments.sort != "newest" or arguments.context)):
        parser.error("--all-profiles searches everything, newest first; say source: and role: in the query")


def parse(argv: Sequence[str]) -> SimpleNamespace:
    """The arguments of a command line.

    Args:
        argv: Without the program's name.

    Raises:
        SystemExit: With 0 after help, with 2 when something is wrong; it has been said.
    """
    parser = make_parser()
    arguments = parser.parse_args(argv, namespace=SimpleNamespace())
    # Options before and after a command are not known to exclude each other, so it is looked at here.
    stores = [arguments.db is not None, arguments.demo, arguments.home is not None or arguments.profile is not None]
    if sum(stores) > 1:
        parser.error("one store at a time: --home and --profile, or --db, or --demo")
    if arguments.plain and (arguments.command is not None or arguments.print_command):
        parser.error("--plain is a way to browse: it goes with no command")
    if arguments.old and arguments.command not in OLD_COMMANDS:
        parser.error(f"--old goes with {', '.join(OLD_COMMANDS)}; the browser has them under the key 5")
    if arguments.old and arguments.demo:
        parser.error("--old is about files beside a store of your own, and --demo has none")
    if getattr(arguments, "all_profiles", False):
        _check_all_profiles(parser, arguments)
    if arguments.print_command and arguments.command is not None:
        parser.error("--print-command goes with the browser; a command has `resume ID --print`")
    if arguments.command == "resume":
        if arguments.source is not None and not arguments.last:
            parser.error("--source goes with --last")
        if arguments.json and not arguments.print_only:
            parser.error("--json goes with --print: what is not printed is run")
    return arguments
