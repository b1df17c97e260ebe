"""Argparse in the language of the program, wrapped by cells; and the options and values that several commands take."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any, NoReturn

from hermes_browse.store.models import View
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
"""Texts of argparse itself (Python 3.11 to 3.14) that the program shows, listed here to be translated."""

_NEVER_FIRST, _NEVER_LAST = "，。；：、？！）》”…", "（《“"
"""Signs that may not begin a line, and signs that may not end one."""
_MOST = 2**53 - 1
"""The largest whole number that every reader of JSON, and SQLite, can hold."""


def _form(one: str, many: str, count: int) -> str:
    """The only text of argparse that has a plural, as a text that our catalogs translate."""
    if many == "expected %s arguments":
        return ngettext("expected %s argument", "expected %s arguments", count)
    return one if count == 1 else many


def speak_argparse() -> None:
    """Let argparse translate its texts with the program's catalogs; by itself it asks GNU gettext for its own."""
    vars(argparse).update({"_": _, "ngettext": _form})


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text by cells, at spaces and between wide characters, which are written without spaces.

    Args:
        text: Without line ends.
        width: Cells.
    """
    pieces: list[str] = []
    for word in text.split():
        fresh = True
        for letter in word:
            before = "" if fresh else pieces[-1][-1]
            is_kept = letter in _NEVER_FIRST or before in _NEVER_LAST or (cells(letter) < 2 and cells(before) < 2)
            if fresh:
                pieces.append(f" {letter}" if pieces else letter)
            elif is_kept:
                pieces[-1] += letter
            else:
                pieces.append(letter)
            fresh = False
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
    """Help in columns of cells; argparse counts letters, which is wrong where a letter takes two cells."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width) if _is_wide(text) else super()._split_lines(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if not _is_wide(text):
            return super()._fill_text(text, width, indent)
        room = max(width, 11) - len(indent)
        lines = [part for line in text.splitlines() for part in (wrapped(line, room) if cells(line) > room else [line])]
        return "\n".join(f"{indent}{line}" for line in lines)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        said = _("usage: ") if prefix is None else prefix
        as_wide = "x" * cells(said)  # the lines below are indented by its letters
        made = super()._format_usage(usage, actions, groups, as_wide if _is_wide(said) else said)
        return made.replace(as_wide, said, 1) if _is_wide(said) else made


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and takes no abbreviations: a new option would break them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Formatter, **settings})

    def error(self, message: str) -> NoReturn:
        note(_("{prog}: {message}. See `{prog} --help`.").format(prog=self.prog, message=message))
        raise SystemExit(2)


def count(text: str) -> int:
    """Read a whole number, 0 or more."""
    value = int(text) if text.isdecimal() and len(text) < 20 else -1
    if not 0 <= value <= _MOST:
        raise argparse.ArgumentTypeError(_("wants a whole number, 0 or more, not {text!r}").format(text=text))
    return value


def named(text: str) -> str:
    """Read a name. An empty one is refused: an unset variable in a script must not mean this user's own store."""
    if not text:
        raise argparse.ArgumentTypeError(_("wants a name, not an empty text"))
    return text


def text(given: str) -> str:
    """Read words of the user; bytes that the locale could not decode are UTF-8, or become U+FFFD."""
    return as_text(os.fsencode(given)) or ""


def add_store_options(parser: argparse.ArgumentParser, *, top: bool = False) -> None:
    """Add the options that name a store. They are taken before a command, behind it, and behind its actions.

    Args:
        parser: Of the place.
        top: Whether it stands before the command; behind it an option that is not given changes nothing.
    """
    default, flag = (None, False) if top else (argparse.SUPPRESS, argparse.SUPPRESS)
    group = parser.add_argument_group(_("which store"))
    which = group.add_mutually_exclusive_group()
    home = _("a Hermes root (default $HERMES_HOME)")
    group.add_argument("--home", metavar="DIR", type=named, default=default, help=home)
    group.add_argument("--profile", metavar="NAME", type=named, default=default, help=_("one of its profiles"))
    which.add_argument("--db", metavar="FILE", type=named, default=default, help=_("any store file"))
    which.add_argument("--demo", action="store_true", default=flag, help=_("a built-in sample store"))
    old = _("the old transcripts beside the store: files without a session in it")
    group.add_argument("--old", action="store_true", default=flag, help=old)
    debug = _("write down in the log what is done: statements and failures, no text of any conversation")
    parser.add_argument("--debug", action="store_true", default=flag, help=debug)
    if top:  # for `make run`: someone without Hermes should see something
        group.add_argument("--or-demo", action="store_true", help=argparse.SUPPRESS)


def add_view_options(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add `--view` and `--source`, which narrow what is listed or searched.

    Args:
        parser: Of the command.
        default: The view that holds when none is named; None for everything.
    """
    told = _("default {view}").format(view=default) if default else _("default everything")
    parser.add_argument("--view", choices=[view.value for view in View], default=default, help=told)
    parser.add_argument(
        "--source", action="append", type=text, default=[], metavar="S", help=_("only this source; repeatable")
    )
