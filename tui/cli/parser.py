"""Argparse translated and wrapped by terminal cells; options and argument types shared by several
commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NoReturn

from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import as_text
from hermes_browse.store.wording import N_, _, ngettext

from .output import cells, note

OWN_WORDS = (
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("show this help message and exit"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("the following arguments are required: %s"),
    N_("one of the arguments %s is required"),
    N_("unrecognized arguments: %s"),
    N_("not allowed with argument %s"),
    N_("ignored explicit argument %r"),
    N_("expected one argument"),
    N_("expected at most one argument"),
    N_("expected at least one argument"),
    N_("ambiguous option: %(option)s could match %(matches)s"),
    N_("invalid %(type)s value: %(value)r"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)"),
)
"""Texts of argparse (Python 3.11 to 3.14) that the program shows, listed here for translation."""

_NOT_FIRST, _NOT_LAST = "，。；：、？！）》”…", "（《“"
"""Characters that may not begin a line, and characters that may not end one."""
_MAX_INT = 2**53 - 1
"""The largest integer that all JSON readers, and SQLite, represent exactly."""


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
    pieces: list[str] = []
    for word in text.split():
        starts_word = True
        for letter in word:
            previous = "" if starts_word else pieces[-1][-1]
            sticks = (
                letter in _NOT_FIRST
                or previous in _NOT_LAST
                or (cells(letter) < 2 and cells(previous) < 2)
            )
            if starts_word:
                pieces.append(f" {letter}" if pieces else letter)
            elif sticks:
                pieces[-1] += letter
            else:
                pieces.append(letter)
            starts_word = False
    lines = [""]
    for piece in pieces:
        if lines[-1] and cells(lines[-1]) + cells(piece) > width:
            lines.append(piece.lstrip())
        else:
            lines[-1] += piece
    return lines


def _is_wide(text: str) -> bool:
    return cells(text) != len(text)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help formatter that measures in cells; argparse counts characters, some of which take two
    cells."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width) if _is_wide(text) else super()._split_lines(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if not _is_wide(text):
            return super()._fill_text(text, width, indent)
        room = max(width, 11) - len(indent)
        lines = [
            part
            for line in text.splitlines()
            for part in (wrapped(line, room) if cells(line) > room else [line])
        ]
        return "\n".join(f"{indent}{line}" for line in lines)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        label = _("usage: ") if prefix is None else prefix
        placeholder = "x" * cells(label)  # argparse indents the following lines by its length
        usage_text = super()._format_usage(
            usage, actions, groups, placeholder if _is_wide(label) else label
        )
        return usage_text.replace(placeholder, label, 1) if _is_wide(label) else usage_text


class Parser(argparse.ArgumentParser):
    """Reports errors in one sentence, and takes no abbreviations, which new options would break."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Formatter, **settings})

    def error(self, message: str) -> NoReturn:
        note(_("{prog}: {message}. See `{prog} --help`.").format(prog=self.prog, message=message))
        raise SystemExit(2)


def count_arg(text: str) -> int:
    """Parse a non-negative integer."""
    value = int(text) if text.isdecimal() and len(text) < 20 else -1
    if not 0 <= value <= _MAX_INT:
        raise argparse.ArgumentTypeError(
            _("wants a whole number, 0 or more, not {text!r}").format(text=text)
        )
    return value


def name_arg(text: str) -> str:
    """Accept a non-empty name: an unset variable in a script must not mean the user's own store."""
    if not text:
        raise argparse.ArgumentTypeError(_("wants a name, not an empty text"))
    return text


def text_arg(given: str) -> str:
    """Decode an argument; bytes that the locale could not decode are read as UTF-8, or become
    U+FFFD."""
    return as_text(os.fsencode(given)) or ""


def without(
    words: Sequence[str], valued: Collection[str], flags: Collection[str] = ()
) -> list[str]:
    """Return the words of a valid command line without some of its options; those of `valued` have
    a value."""
    kept: list[str] = []
    ahead = iter(words)
    for word in ahead:
        name, equals, _value = word.partition("=")
        if word == "--":
            return [*kept, word, *ahead]
        if name in valued:
            if not equals:
                next(ahead, None)
        elif word not in flags:
            kept.append(word)
    return kept


def with_options(words: Sequence[str], *options: str) -> list[str]:
    """Return the words of a command line with more options, ahead of the `--` that ends them."""
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], *options, *words[at:]]


def add_store_options(
    parser: argparse.ArgumentParser, *, top: bool = False, hosts: bool = True
) -> None:
    """Add the options that name a store; they are accepted before a command, after it, and after
    its actions.

    Args:
        parser: The parser of the program, a command or an action.
        top: Whether it is the parser of the program. Below it, omitted options do not override
            those given before.
        hosts: Whether it can run on a host.
    """
    default, flag_default = (None, False) if top else (argparse.SUPPRESS, argparse.SUPPRESS)
    group = parser.add_argument_group(_("which store"))
    exclusive = group.add_mutually_exclusive_group()
    home_help = _("a Hermes root (default $HERMES_HOME)")
    group.add_argument("--home", metavar="DIR", type=name_arg, default=default, help=home_help)
    group.add_argument(
        "--profile", metavar="NAME", type=name_arg, default=default, help=_("one of its profiles")
    )
    exclusive.add_argument(
        "--db", metavar="FILE", type=name_arg, default=default, help=_("any store file")
    )
    exclusive.add_argument(
        "--demo", action="store_true", default=flag_default, help=_("a built-in sample store")
    )
    if hosts:
        host_help = _("the store of a configured host, through ssh")
        group.add_argument("--host", metavar="HOST", type=name_arg, default=default, help=host_help)
    old_help = _("the old transcripts beside the store: files without a session in it")
    group.add_argument("--old", action="store_true", default=flag_default, help=old_help)
    debug_help = _(
        "write down in the log what is done: statements and failures, no text of any conversation"
    )
    parser.add_argument("--debug", action="store_true", default=flag_default, help=debug_help)
    if top:  # for `make run`, which should also show something without Hermes
        group.add_argument("--or-demo", action="store_true", help=argparse.SUPPRESS)


def add_all_hosts(parser: argparse.ArgumentParser) -> None:
    """Add `--all-hosts`."""
    hosts_help = _("of this machine and of all configured hosts")
    parser.add_argument("--all-hosts", action="store_true", help=hosts_help)


def add_view_options(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add `--view`, with a default (None for everything), and `--source`; they narrow what is
    listed or searched."""
    default_help = _("default {view}").format(view=default) if default else _("default everything")
    parser.add_argument(
        "--view", choices=[view.value for view in View], default=default, help=default_help
    )
    parser.add_argument(
        "--source",
        action="append",
        type=text_arg,
        default=[],
        metavar="S",
        help=_("only this source; repeatable"),
    )
