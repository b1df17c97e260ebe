"""The arguments of every command, and their help."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from types import SimpleNamespace

from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.text import as_text
from hermes_browse.store.wording import N_, _

from . import args_changing, args_config, args_exporting, args_pruning, args_trashing
from .parsing import Parser, speak_argparse

EXIT_CODES = N_("""\
0 done · 1 unexpected failure · 2 usage · 3 no store, or unreadable · 4 not found or ambiguous
            5 refused: unsafe, protected or not confirmed · 130 interrupted""")
"""The second line is indented as far as the first one is by what stands before it in the help."""
IDS = N_("""\
ID is a full session id, a unique prefix, or a title; any segment stands for its conversation.
Ids may begin with a dash: `--` ends the options.
""")


OLD_COMMANDS = ("list", "search", "show", "export", "stats")
"""What can be done with old transcripts: everything that only reads."""

_MOST = 2**53 - 1  # what every reader of JSON can hold, and SQLite too


def _count(text: str) -> int:
    value = int(text) if text.isdecimal() and len(text) < 20 else -1
    if not 0 <= value <= _MOST:
        raise argparse.ArgumentTypeError(_("wants a whole number, 0 or more, not {text!r}").format(text=text))
    return value


def _named(text: str) -> str:
    # An unset variable in a script must not mean "the store of this user".
    if not text:
        raise argparse.ArgumentTypeError(_("wants a name, not an empty text"))
    return text


def _text(text: str) -> str:
    """Words of the user: bytes that the locale could not decode are UTF-8, or U+FFFD."""
    return as_text(os.fsencode(text)) or ""


def _add_store_options(parser: argparse.ArgumentParser, *, top: bool) -> None:
    """The options that name a store; taken before and after the command."""
    default: object = None if top else argparse.SUPPRESS
    group = parser.add_argument_group(_("which store"))
    which = group.add_mutually_exclusive_group()
    home = _("a Hermes root (default $HERMES_HOME)")
    group.add_argument("--home", metavar="DIR", type=_named, default=default, help=home)
    group.add_argument("--profile", metavar="NAME", type=_named, default=default, help=_("one of its profiles"))
    which.add_argument("--db", metavar="FILE", type=_named, default=default, help=_("any store file"))
    which.add_argument(
        "--demo", action="store_true", default=False if top else argparse.SUPPRESS, help=_("a built-in sample store")
    )
    group.add_argument(
        "--old",
        action="store_true",
        default=False if top else argparse.SUPPRESS,
        help=_("the old transcripts beside the store: files without a session in it"),
    )
    debug = _("write down in the log what is done: statements and failures, no text of any conversation")
    parser.add_argument("--debug", action="store_true", default=False if top else argparse.SUPPRESS, help=debug)
    if top:  # for `make run`: someone without Hermes should see something
        group.add_argument("--or-demo", action="store_true", help=argparse.SUPPRESS)


def _add_behind(parser: argparse.ArgumentParser) -> None:
    _add_store_options(parser, top=False)


def _command(commands: argparse._SubParsersAction[Parser], name: str, text: str) -> Parser:
    said = _(text)
    parser = commands.add_parser(name, help=said, description=said)
    parser.add_argument("--json", action="store_true", help=_("one JSON document on standard output"))
    _add_store_options(parser, top=False)
    return parser


def _add_view(parser: argparse.ArgumentParser, default: str | None) -> None:
    views = [view.value for view in View]
    told = _("default {view}").format(view=default) if default else _("default everything")
    parser.add_argument("--view", choices=views, default=default, help=told)
    parser.add_argument(
        "--source", action="append", type=_text, default=[], metavar="S", help=_("only this source; repeatable")
    )


def make_parser() -> Parser:
    """The parser of the whole command line."""
    speak_argparse()
    parser = Parser(
        prog="hermes-browse",
        description=_("Browse the session store of Hermes Agent. Without a command: the browser."),
        epilog=" ".join((_("exit codes:"), _(EXIT_CODES))) + "\n\n" + _(IDS),
    )
    parser.add_argument("--version", action="store_true", help=_("say the version and end"))
    _add_store_options(parser, top=True)
    parser.add_argument(
        "--print-command",
        action="store_true",
        help=_("the browser prints the command of what is chosen, and runs nothing"),
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help=_("a dialogue of lines, for screen readers and braille: nothing is drawn"),
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=_("commands"))

    listing = _command(commands, "list", N_("Conversations, newest activity first."))
    _add_view(listing, View.CHATS.value)
    listing.add_argument("--sort", choices=[sort.value for sort in Sort], default=Sort.ACTIVITY.value)
    listing.add_argument("--reverse", action="store_true", help=_("the other way round"))
    listing.add_argument("--limit", type=_count, default=50, metavar="N", help=_("most rows, 0 for all (default 50)"))
    listing.add_argument("--all-profiles", action="store_true", help=_("of all profiles, as one list by activity"))
    listing.add_argument("--offset", type=_count, default=0, metavar="N", help=_("rows to leave out first"))

    search = _command(commands, "search", N_("Chat messages that contain what you ask for, newest first."))
    search.add_argument(
        "query",
        metavar="QUERY",
        nargs="+",
        type=_text,
        help=_(
            'words, "a phrase", OR, -word, prefix*, *part*, source:cli …; -is:rewound leaves out messages '
            "that were taken back"
        ),
    )
    search.add_argument("--sort", choices=["newest", "relevance", "oldest"], default="newest")
    search.add_argument("--limit", type=_count, default=50, metavar="N", help=_("most hits, 0 for all (default 50)"))
    search.add_argument("--context", type=_count, default=0, metavar="N", help=_("messages before and after each hit"))
    _add_view(search, None)
    search.add_argument("--all-profiles", action="store_true", help=_("in all profiles; newest hits first"))
    search.add_argument(
        "--role", action="append", type=_text, default=[], metavar="R", help=_("only this role; repeatable")
    )

    show = _command(commands, "show", N_("A whole conversation."))
    show.add_argument("id", metavar="ID", type=_text)
    reading = show.add_mutually_exclusive_group()
    for name, text in (
        ("said", _("what was said: live and compacted messages (default)")),
        ("live", _("what the model still sees")),
        ("everything", _("rewound and hidden messages too")),
    ):
        reading.add_argument(f"--{name}", dest="reading", action="store_const", const=name, default="said", help=text)
    show.add_argument("--segment", action="store_true", help=_("that one session alone"))
    show.add_argument("--markdown", action="store_true", help=_("as Markdown"))

    lineage = _command(commands, "lineage", N_("The family tree around a session."))
    lineage.add_argument("id", metavar="ID", type=_text)

    resume = _command(commands, "resume", N_("Go on with a conversation in Hermes."))
    which = resume.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", nargs="?", type=_text)
    which.add_argument("--last", action="store_true", help=_("the newest conversation, as `hermes -c`"))
    resume.add_argument(
        "--source", metavar="S", type=_text, default=None, help=_("with --last: of this source (default cli)")
    )
    resume.add_argument("--print", action="store_true", dest="print_only", help=_("print the command, run nothing"))
    resume.add_argument("--yes", action="store_true", help=_("resume in spite of warnings"))

    args_changing.add_rename(_command(commands, "rename", args_changing.RENAME), _text)
    for name, said in args_changing.MARKS.items():
        args_changing.add_mark(_command(commands, name, said), _text)
    args_pruning.add_prune(_command(commands, "prune", args_pruning.PRUNE), _text, _named, _count)
    args_trashing.add_delete(_command(commands, "delete", args_trashing.DELETE), _text)
    args_trashing.add_trash(_command(commands, "trash", args_trashing.TRASH), _text, _add_behind)
    args_exporting.add(_command(commands, "export", args_exporting.HELP), _text, _named)
    args_pruning.add_stats(_command(commands, "stats", args_pruning.STATS))
    _command(commands, "profiles", N_("The profiles of the Hermes root."))
    _command(commands, "doctor", N_("What the store, its search index, Hermes and the terminal are like."))
    args_config.add_config(_command(commands, "config", args_config.CONFIG))
    said = _(args_config.COMPLETIONS)
    args_config.add_completions(commands.add_parser("completions", help=said, description=said))
    said = _(args_config.MAN)
    commands.add_parser("man", help=said, description=said)
    return parser


def _check_all_profiles(parser: Parser, arguments: SimpleNamespace) -> None:
    """What goes with `--all-profiles` and what does not."""
    if arguments.db is not None or arguments.demo or arguments.profile is not None or arguments.old:
        parser.error(_("--all-profiles goes with --home alone: it means every profile of that root"))
    if arguments.command == "list" and (arguments.sort != Sort.ACTIVITY.value or arguments.reverse):
        parser.error(_("--all-profiles lists by activity, newest first"))
    narrowing = arguments.command == "search" and (arguments.view or arguments.source or arguments.role)
    if narrowing or (arguments.command == "search" and (arguments.sort != "newest" or arguments.context)):
        parser.error(_("--all-profiles searches everything, newest first; say source: and role: in the query"))


def _check_query(parser: Parser, text: str) -> None:
    """A filter that wants a number or a date and has none means nothing, and without it everything would be found."""
    from hermes_browse.store.search import parse as parse_query

    for problem in parse_query(text).problems:
        if problem.is_value:
            parser.error(problem.text)


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
        parser.error(_("one store at a time: --home and --profile, or --db, or --demo"))
    if arguments.plain and (arguments.command is not None or arguments.print_command):
        parser.error(_("--plain is a way to browse: it goes with no command"))
    if arguments.old and arguments.command not in OLD_COMMANDS:
        parser.error(
            _("--old goes with {commands}; the browser has them under the key 5").format(
                commands=", ".join(OLD_COMMANDS)
            )
        )
    if arguments.old and arguments.demo:
        parser.error(_("--old is about files beside a store of your own, and --demo has none"))
    if getattr(arguments, "all_profiles", False):
        _check_all_profiles(parser, arguments)
    if arguments.print_command and arguments.command is not None:
        parser.error(_("--print-command goes with the browser; a command has `resume ID --print`"))
    if arguments.command == "prune" and (told := args_pruning.contradiction(arguments)):
        parser.error(told)
    if arguments.command == "search":
        _check_query(parser, " ".join(arguments.query))
    if arguments.command == "resume":
        if arguments.source is not None and not arguments.last:
            parser.error(_("--source goes with --last"))
        if arguments.json and not arguments.print_only:
            parser.error(_("--json goes with --print: what is not printed is run"))
    return arguments
