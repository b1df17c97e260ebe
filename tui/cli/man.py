"""`man`: the manual page, made from the tables that the arguments are read with, so that it is never stale."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from types import SimpleNamespace

from hermes_browse.store.wording import N_, _

from ..config.folders import config_path, log_path, memory_path
from ..version import version
from .context import Command

_ABOUT = N_("""\
Without a command the browser opens: a list of conversations, the transcript of the one under the cursor, and a search
that looks through everything as you type. The key ? lists all keys. With a command nothing is drawn; what is found goes
to standard output, as one JSON document with --json.
""")


class ManCommand(Command):
    """The manual page."""

    takes_common_options = False

    def start(self, arguments: SimpleNamespace) -> int:
        """Print it; needs no store."""
        from .registry import make_parser  # the registry loads this module by name

        print(manual(make_parser(), version()))
        return 0


def _text(text: str) -> str:
    """Words for roff, in which no sign is an instruction."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("%%", "%")
    named = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in plain)
    return f"\\&{named}" if named.startswith(".") else named


def _part(head: str, text: str = "") -> str:
    """A section of the page."""
    return f".SH {_text(head)}\n{text}".rstrip("\n")


def _taken(text: str) -> str:
    """A word that stands for a value, in italics."""
    return f"\\fI{_text(text)}\\fR"


def _option(action: argparse.Action) -> str:
    """An option, or an argument, with what it takes."""
    taken = "" if action.nargs == 0 else action.metavar or ""
    if not taken and action.choices is not None:
        taken = "{" + ",".join(map(str, action.choices)) + "}"
    taken = str(taken) or ("" if action.nargs == 0 else action.dest.upper())
    if not action.option_strings:
        return _taken(taken)
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return f"{names} {_taken(taken)}" if taken else names


def _options(parser: argparse.ArgumentParser, known: frozenset[str]) -> Iterator[str]:
    """The options and arguments of a command with their help, without those that every command takes."""
    for action in parser._actions:  # argparse has no other way to ask
        is_below = isinstance(action, argparse._SubParsersAction)
        if is_below or action.help == argparse.SUPPRESS or known.intersection(action.option_strings):
            continue
        said = action.help or _("as its name says")
        yield f".TP\n{_option(action)}\n{_text(said)}"


def _commands(parser: argparse.ArgumentParser, name: str, known: frozenset[str]) -> Iterator[str]:
    """Every command and action below a parser, with its own options."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for word, child in action.choices.items():
            full = f"{name} {word}".strip()
            yield f'.SS "{_text(full)}"\n{_text(" ".join((child.description or "").split()))}'
            yield from _options(child, known)
            yield from _commands(child, full, known)


def manual(parser: argparse.ArgumentParser, version: str) -> str:
    """The page as roff (man(7)), without a newline at its end.

    Args:
        parser: Of the whole command line.
        version: Of the program.
    """
    known = frozenset(name for action in parser._actions for name in action.option_strings)
    places = {
        _("configuration, which `config init` writes a sample of"): config_path(),
        _("what is remembered from one start to the next"): memory_path(),
        _("what went wrong, and with --debug what was done"): log_path(),
    }
    codes, _blank, ids = (parser.epilog or "").partition("\n\n")
    name, options = "\\fBhermes\\-browse\\fR", _taken(_("options"))
    command, arguments = _taken(_("command")), _taken(_("arguments"))
    title = ["HERMES\\-BROWSE", "1", '""', f'"hermes\\-browse {_text(version)}"', f'"{_text(_("User Commands"))}"']
    parts = [
        f".TH {' '.join(title)}\n.ad l",
        _part(_("NAME"), "hermes\\-browse \\- " + _text(_("browse the session store of Hermes Agent"))),
        _part(_("SYNOPSIS"), f"{name} [{options}]\n.br\n{name} [{options}] {command} [{arguments}]"),
        _part(_("DESCRIPTION"), _text(parser.description or "")),
        f".PP\n{_text(_(_ABOUT).strip())}",
        f".PP\n{_text(ids.strip())}",
        _part(_("OPTIONS"), _text(_("Those that name a store are taken before and after a command."))),
        *_options(parser, frozenset()),
        _part(_("COMMANDS")),
        *_commands(parser, "", known),
        _part(_("FILES")),
        *(f".TP\n{_taken(str(path))}\n{_text(said)}" for said, path in places.items()),
        _part(_("EXIT STATUS"), ".nf\n" + _text(codes.removeprefix(_("exit codes:")).strip()) + "\n.fi"),
    ]
    return "\n".join(parts)
