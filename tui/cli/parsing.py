"""The parser that commands are read with: argparse in the language of the program, wrapped by cells."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NoReturn

from hermes_browse.store.wording import N_, _, ngettext

from .columns import cells, note

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
"""What argparse says of its own (Python 3.11 to 3.14), where we do not say it for it."""

_NEVER_FIRST, _NEVER_LAST = "，。；：、？！）》”…", "（《“"
"""Signs that do not begin a line, and that do not end one."""


def _form(one: str, many: str, count: int) -> str:
    """The one text of argparse that goes by number, as a text of ours."""
    if many == "expected %s arguments":
        return ngettext("expected %s argument", "expected %s arguments", count)
    return one if count == 1 else many


def speak_argparse() -> None:
    """Have argparse, which looks its words up in GNU gettext when it says them, look in the program's."""
    vars(argparse).update({"_": _, "ngettext": _form})


def wrapped(text: str, width: int) -> list[str]:
    """A text as lines, by cells; a line also ends between two wide characters, which have no spaces between them.

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
    """Help in columns; argparse counts letters, which is right where each takes one cell."""

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
