"""The table of commands, and the parser built from it. To add a command, write its module and list
it here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.wording import N_, _

from .command import Subcommand
from .parser import JSON, Flag, Parser, add_all, add_store_options, speak_argparse


class CommandEntry(NamedTuple):
    """A command."""

    class_path: str
    """Its module and class."""
    help: str
    """In English."""


COMMANDS = {
    "list": CommandEntry("list.ListCommand", "Conversations, newest activity first."),
    "search": CommandEntry(
        "search.SearchCommand", "Chat messages that contain what you ask for, newest first."
    ),
    "show": CommandEntry("show.ShowCommand", "A whole conversation."),
    "lineage": CommandEntry("lineage.LineageCommand", "The family tree around a session."),
    "compactions": CommandEntry(
        "compression.CompactionsCommand",
        "Each time Hermes compressed a conversation: what was replaced, kept and lost.",
    ),
    "context": CommandEntry(
        "compression.ContextCommand", "Show what the model was given when a message was written."
    ),
    "changes": CommandEntry(
        "changes.ChangesCommand",
        "The files that a conversation changed, its subagents included, and a diff of each.",
    ),
    "blame": CommandEntry(
        "changes.BlameCommand", "Which message wrote each line of a file, and why."
    ),
    "run": CommandEntry(
        "lineage.RunCommand",
        "How a conversation went: turns, subagents, cost, and what stands out.",
    ),
    "since": CommandEntry(
        "since.SinceCommand",
        "What waits for you, went wrong, is new or is running since you looked.",
    ),
    "resume": CommandEntry("resume.ResumeCommand", "Resume a conversation in Hermes."),
    "rename": CommandEntry(
        "edit.RenameCommand", "Rename a conversation; an empty title clears it."
    ),
    "archive": CommandEntry(
        "edit.FlagCommand",
        "Archive conversations: they are hidden from lists, and nothing is lost.",
    ),
    "unarchive": CommandEntry("edit.FlagCommand", "Unarchive conversations."),
    "pin": CommandEntry(
        "edit.FlagCommand", "Protect conversations from Hermes' automatic deletion."
    ),
    "unpin": CommandEntry("edit.FlagCommand", "Unpin conversations."),
    "tag": CommandEntry(
        "edit.TagCommand", "Give a conversation tags, which no store of Hermes keeps."
    ),
    "untag": CommandEntry("edit.TagCommand", "Remove tags of a conversation."),
    "tags": CommandEntry(
        "edit.TagsCommand", "All tags with their conversations; rename or remove one."
    ),
    "prune": CommandEntry(
        "prune.PruneCommand",
        "Clean up the conversations that match all filters; without --archive or --delete it only reports.",
    ),
    "delete": CommandEntry(
        "trash.DeleteCommand",
        "Move whole conversations to the trash: all parts and their subagents; branches stay.",
    ),
    "trash": CommandEntry(
        "trash.TrashCommand", "Deleted conversations: list, restore or remove them for good."
    ),
    "export": CommandEntry(
        "export.ExportCommand",
        "Conversations as Markdown, JSON lines or HTML; secrets are redacted.",
    ),
    "stats": CommandEntry(
        "stats.StatsCommand", "Sums of sessions, messages, tokens, cost and bytes."
    ),
    "hosts": CommandEntry(
        "hosts.HostsCommand",
        "The configured hosts: whether they answer, and what is missing there.",
    ),
    "profiles": CommandEntry("profiles.ProfilesCommand", "The profiles of the Hermes root."),
    "doctor": CommandEntry(
        "doctor.DoctorCommand", "Check the store, its search index, Hermes and the terminal."
    ),
    "serve": CommandEntry(
        "serve.ServeCommand",
        "Answer the browser of another machine: lines of JSON on standard input and output, read over ssh.",
    ),
    "config": CommandEntry(
        "config.ConfigCommand",
        "The configuration: where it is, what it sets, and a sample of it.",
    ),
    "completions": CommandEntry(
        "completions.CompletionsCommand", "A script that completes this command line in a shell."
    ),
    "shell-init": CommandEntry(
        "completions.CompletionsCommand",
        "Lines for a shell: `hermes sessions browse` opens this browser, Ctrl+G and Tab work.",
    ),
}
"""In the order of the help.

A module is imported to run its command or to print the help of that command."""

_APART = {
    "db": ("demo", "home", "profile"),
    "demo": ("home", "profile"),
    "host": ("home", "db", "demo", "all_hosts", "plain", "print_command"),
    "old": ("all_hosts", "demo"),
    "plain": ("print_command",),
    "all_profiles": ("db", "demo", "profile", "old"),
}
"""Options that cannot be used with others, by the names of their values."""
_READ_OLD = ("list", "search", "show", "export", "stats")
"""What `--old` goes with."""
_EXIT_CODES = N_("""\
0 done · 1 unexpected failure · 2 usage · 3 no store, or unreadable · 4 not found or ambiguous
            5 refused: unsafe, protected or not confirmed · 6 some host or profile did not answer
            130 interrupted""")
"""Further lines are indented to align with the first, which follows "exit codes: " in the help."""
_IDS = N_("""\
ID is a full session id, a unique prefix, or a title; any part stands for its conversation.
Ids may begin with a dash: `--` ends the options.
""")


def load(name: str) -> Subcommand:
    """Import the module of a command and create the command."""
    module, _dot, class_name = COMMANDS[name].class_path.partition(".")
    command = getattr(import_module(f".{module}", __package__), class_name)()
    assert isinstance(command, Subcommand)
    return command


def make_parser(loaded: Collection[str] = COMMANDS) -> Parser:
    """Build the parser of the whole command line, with the arguments of the commands to load."""
    speak_argparse()
    parser = Parser(
        prog="hermes-browse",
        description=_("Browse the session store of Hermes Agent. Without a command: the browser."),
        epilog=" ".join((_("exit codes:"), _(_EXIT_CODES))) + "\n\n" + _(_IDS),
    )
    add_all(parser, [Flag("--version", "print the version and exit")])
    add_store_options(parser, top=True)
    browser = (
        Flag(
            "--print-command", "the browser prints the command of what is chosen, and runs nothing"
        ),
        Flag("--plain", "a dialogue of lines, for screen readers and braille: nothing is drawn"),
    )
    add_all(parser, browser)
    parser.set_defaults(all_profiles=False, all_hosts=False, json=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=_("commands"))
    for name, (_target, summary) in COMMANDS.items():
        child = commands.add_parser(name, help=_(summary), description=_(summary))
        parser.commands[name] = child
        if name in loaded:
            command = load(name)
            if command.takes_common_options:
                add_all(child, [JSON])
                add_store_options(child, hosts=command.takes_host)
            command.add_arguments(child)
    return parser


def parse(argv: Sequence[str]) -> tuple[SimpleNamespace, Subcommand | None]:
    """Parse a command line without the program's name; return its arguments and command, None for
    the browser.

    Raises:
        SystemExit: With 0 after printing help, with 2 after reporting an error.
    """
    # A word that equals a command may be an id or a value; importing one module too many does no
    # harm.
    parser = make_parser({word for word in argv if word in COMMANDS})
    arguments = parser.parse(argv)
    command = None
    if arguments.command is not None:
        command = load(arguments.command)
        command.given = arguments
    for message in _contradictions(arguments, command):
        parser.commands.get(arguments.command, parser).error(message)
    return arguments, command


def _contradictions(arguments: SimpleNamespace, command: Subcommand | None) -> Iterator[str]:
    """Yield the errors for options that argparse does not compare, as one may stand before the
    command and another behind it; and that of the command."""
    for one, others in _APART.items():
        for other in others:
            if getattr(arguments, one) and getattr(arguments, other):
                yield _("{one} cannot be used with {other}", one=_option(one), other=_option(other))
    if arguments.old and arguments.command not in _READ_OLD:
        yield _(
            "--old goes with {commands}; the browser has them under the key 5",
            commands=", ".join(_READ_OLD),
        )
    if command is None:
        return
    for name in ("plain", "print_command"):
        if getattr(arguments, name):
            yield _("{option} cannot be used with a command", option=_option(name))
    if arguments.host is not None and not command.takes_host:
        yield _("--host goes with a command that reads or writes a store")
    yield from (text for text, is_so in command.contradictions().items() if is_so)


def _option(name: str) -> str:
    """Return an option as it is typed, of the name that its value has."""
    return f"--{name.replace('_', '-')}"
