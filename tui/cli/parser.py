"""Argparse translated and wrapped by terminal cells; options and argument types shared by several
commands."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import as_text
from hermes_browse.store.wording import N_, _, ngettext

from ..text.glyphs import cells
from .output import note

_PIECE = re.compile(
    r"(\s*)([（《“]*(?:[^\s\u2e80-\uffff（《“]+|[\u2e80-\uffff])[，。；：、？！）》”…]*|\S)"
)
"""What stays on a line: a word, or a wide letter, with the brackets and marks that stick to it."""
_MOST_DIGITS = 15
"""Most digits of a number: JSON readers and SQLite represent it exactly."""


def _plural_form(one: str, many: str, count: int) -> str:
    """Translate the only text of argparse with a plural through our catalogs."""
    if many == "expected %s arguments":
        return ngettext("expected %s argument", "expected %s arguments", count)
    return one if count == 1 else many


def speak_argparse() -> None:
    """Make argparse translate with the program's catalogs rather than GNU gettext's."""
    vars(argparse).update({"_": _, "ngettext": _plural_form})


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text without line breaks to `width` cells, at spaces and between wide characters."""
    lines = [""]
    for space, piece in _PIECE.findall(text):
        before = " " if space and lines[-1] else ""
        if lines[-1] and cells(lines[-1] + before + piece) > width:
            lines.append(piece)
        else:
            lines[-1] += before + piece
    return lines


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help formatter that measures in cells; argparse counts characters, some of which take two
    cells."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        label = _("usage: ") if prefix is None else prefix
        placeholder = "x" * cells(label)  # argparse indents the following lines by its length
        text = super()._format_usage(usage, actions, groups, placeholder)
        return text.replace(placeholder, label, 1)


class Parser(argparse.ArgumentParser):
    """Reports errors in one sentence with what may have been meant, and takes no abbreviations,
    which new options would break."""

    def __init__(self, **settings: Any) -> None:
        formatter = partial(_Formatter, max_help_position=28)
        super().__init__(**{"allow_abbrev": False, "formatter_class": formatter, **settings})
        self.commands: dict[str, Parser] = {}
        """The parsers of its commands."""

    def error(self, message: str) -> NoReturn:
        note(_("{prog}: {message}. See `{prog} --help`.", prog=self.prog, message=message))
        raise SystemExit(2)

    def parse(self, argv: Sequence[str]) -> SimpleNamespace:
        """Parse a command line; SystemExit after an error."""
        # Argparse would take the value of an unknown option for the command.
        for word in takewhile(lambda word: word not in (*self.commands, "--"), argv):
            if word.startswith("--") and _name_of(word) not in self._option_string_actions:
                self._refuse([word], self._option_string_actions)
        arguments, unknown = self.parse_known_args(argv, SimpleNamespace())
        if unknown:
            command = self.commands.get(arguments.command, self)
            known = [*command._option_string_actions, *self._option_string_actions]
            command._refuse(unknown, known)
        return arguments

    def _refuse(self, unknown: Sequence[str], known: Iterable[str]) -> NoReturn:
        """Report unknown words of a command line, and which known option the first may mean."""
        suggestion = _suggestion(_name_of(unknown[0]), list(known))
        self.error(_("unrecognized arguments: %s") % " ".join(unknown) + suggestion)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the choice that may have been meant, as Python 3.14 does; of the many commands only
        that."""
        choices = list(map(str, action.choices or ()))
        if action.dest == "command" and value not in choices:
            guess = _suggestion(value, choices)
            self.error(_("unknown command: {word}", word=value) + guess)
        close = _closest(str(value), choices)
        if close is not None:
            message = _(
                "invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)"
            )
            values = {"value": value, "closest": close, "choices": ", ".join(map(repr, choices))}
            raise argparse.ArgumentError(action, message % values)
        super()._check_value(action, value)


def _name_of(word: str) -> str:
    """Return the option in a word that may have its value too."""
    return word.partition("=")[0]


def _suggestion(word: str, known: Sequence[str]) -> str:
    """Return the end of a sentence that names what an unknown word may mean; may be empty."""
    close = _closest(word, known)
    return _(" (did you mean {word}?)", word=close) if close is not None else ""


def _closest(word: str, words: Sequence[str]) -> str | None:
    """Return what was probably meant by an unknown word: what begins with it, or is spelled like
    it; None if nothing was, or it is known."""
    if word in words:
        return None
    longer = [each for each in words if each.startswith(word)]
    return next(iter(longer or get_close_matches(word, words, 1, 0.7)), None)


def count_arg(text: str) -> int:
    """Parse a non-negative integer."""
    problem = _("wants a number of at most {digits} digits, not {text!r}")
    if not text.isdecimal():
        problem = _("wants a whole number, 0 or more, not {text!r}")
    elif len(text) <= _MOST_DIGITS:
        return int(text)
    raise argparse.ArgumentTypeError(problem.format(digits=_MOST_DIGITS, text=text))


def name_arg(text: str) -> str:
    """Accept a non-empty name: an unset variable in a script must not mean the user's own store."""
    if not text:
        raise argparse.ArgumentTypeError(_("wants a name, not an empty text"))
    return text


def text_arg(argument: str) -> str:
    """Decode an argument; bytes that the locale could not decode are read as UTF-8, or become
    U+FFFD."""
    return as_text(os.fsencode(argument)) or ""


class Argument:
    """An argument of a command.

    Args:
        name: Its name, or the option.
        help: In English. Empty for none.
        metavar: What stands for its value in the help; None for what has none.
        settings: As of `ArgumentParser.add_argument`.
    """

    def __init__(
        self,
        name: str,
        help: str = "",
        metavar: str | tuple[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.name, self.help = name, help
        self.settings = settings | ({"metavar": metavar} if metavar else {})
        self.dest = name.removeprefix("--").replace("-", "_")


class OneOf(NamedTuple):
    """Arguments that exclude each other."""

    arguments: tuple[Argument, ...]
    is_required: bool = False


class ArgumentGroup(NamedTuple):
    """Arguments under a title of their own."""

    title: str
    """In English."""
    arguments: Iterable[Argument | OneOf]


Flag = partial(Argument, action="store_true")
"""An option without a value."""
Valued = partial(Argument, type=text_arg)
"""An argument whose value is any text."""
Several = partial(Valued, action="append", default=[])
"""An option that may be given several times."""
Count = partial(Argument, metavar="N", type=count_arg)
"""An option with a number."""
ID = Valued("id", metavar="ID")
IDS = Valued("ids", metavar="ID", nargs="+")
SOURCE = Several("--source", "only this source; repeatable", "S")
ALL_HOSTS = Flag("--all-hosts", "of this machine and of all configured hosts")
JSON = Flag("--json", "one JSON document on standard output")
VIEWS = [view.value for view in View]
_STORES = (
    Valued("--home", "a Hermes root (default $HERMES_HOME)", "DIR", type=name_arg),
    Valued("--profile", "one of its profiles", "NAME", type=name_arg),
    OneOf(
        (
            Valued("--db", "any store file", "FILE", type=name_arg),
            Flag("--demo", "a built-in sample store"),
        )
    ),
)
_HOST = Valued("--host", "the store of a configured host, through ssh", "HOST", type=name_arg)
_OLD = Flag(
    "--old", "with list, search, show, export, stats: old transcripts, files beside the store"
)
_DEBUG = Flag(
    "--debug",
    "write down in the log what is done: statements and failures, no text of any conversation",
)


def add_all(
    to: argparse._ActionsContainer,
    arguments: Iterable[Argument | OneOf | ArgumentGroup],
    **settings: Any,
) -> None:
    """Add arguments to a parser or a group, all of them with some more settings."""
    for each in arguments:
        if isinstance(each, OneOf):
            group = to.add_mutually_exclusive_group(required=each.is_required)
            add_all(group, each.arguments, **settings)
        elif isinstance(each, ArgumentGroup):
            add_all(to.add_argument_group(_(each.title)), each.arguments, **settings)
        else:
            to.add_argument(each.name, help=_(each.help), **each.settings, **settings)


def for_host(words: Sequence[str]) -> list[str]:
    """Return the words of a valid command line as a host gets them: without the options that name
    it, and that of the log here."""
    kept: list[str] = []
    ahead = iter(words)
    for word in ahead:
        name, equals, _value = word.partition("=")
        if word == "--":
            return [*kept, word, *ahead]
        if name in ("--host", "--profile"):
            if not equals:
                next(ahead, None)
        elif word != "--debug":
            kept.append(word)
    return kept


def add_store_options(parser: Parser, *, top: bool = False, hosts: bool = True) -> None:
    """Add the options that name a store; they are accepted before a command, after it, and after
    its actions.

    Args:
        parser: The parser of the program, a command or an action.
        top: Whether it is the parser of the program. Below it, omitted options do not override
            those given before.
        hosts: Whether it can run on a host.
    """
    settings = {} if top else {"default": argparse.SUPPRESS}
    stores: list[Argument | OneOf] = [*_STORES, _HOST, _OLD] if hosts else [*_STORES, _OLD]
    add_all(parser, [ArgumentGroup(N_("which store"), stores), _DEBUG], **settings)
    if top:  # for `make run`, which should also show something without Hermes
        parser.add_argument("--or-demo", action="store_true", help=argparse.SUPPRESS)
