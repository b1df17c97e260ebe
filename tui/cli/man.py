"""`man`: the manual page, generated from the argument parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.wording import N_, _

from ..config.folders import config_path, log_path, memory_path
from ..version import version
from .command_context import Subcommand
from .registry import make_parser

_ABOUT = N_("""\
Without a command the browser opens: a list of conversations, the transcript of the one under the cursor, and a search
that looks through everything as you type. The key ? lists all keys. With a command nothing is drawn; what is found goes
to standard output, as one JSON document with --json.
""")


class ManCommand(Subcommand):
    """Print the manual page."""

    takes_common_options = False

    def start(self, arguments: SimpleNamespace) -> int:
        """Print the page; needs no store."""
        print(manual(make_parser(), version()))
        return 0


def _roff(text: str) -> str:
    """Escape a text for roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("%%", "%")
    ascii_only = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in escaped)
    return f"\\&{ascii_only}" if ascii_only.startswith(".") else ascii_only


def _section(head: str, text: str = "") -> str:
    """Format a section of the page."""
    return f".SH {_roff(head)}\n{text}".rstrip("\n")


def _placeholder(text: str) -> str:
    """Format a placeholder for a value, in italics."""
    return f"\\fI{_roff(text)}\\fR"


def _option(action: argparse.Action) -> str:
    """Format an option or argument with its value."""
    value = "" if action.nargs == 0 else action.metavar or ""
    if not value and action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    value = str(value) or ("" if action.nargs == 0 else action.dest.upper())
    if not action.option_strings:
        return _placeholder(value)
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in action.option_strings)
    return f"{names} {_placeholder(value)}" if value else names


def _path(path: Path) -> str:
    """Return a path that may be broken behind each slash (groff(7), \\:)."""
    return _placeholder(str(path)).replace("/", "/\\:")


def _options(parser: argparse.ArgumentParser, excluded: frozenset[str]) -> Iterator[str]:
    """Yield the options and arguments of a parser with their help, except the `excluded` options."""
    for action in parser._actions:  # argparse has no public accessor
        is_command = isinstance(action, argparse._SubParsersAction)
        if is_command or action.help == argparse.SUPPRESS or excluded.intersection(action.option_strings):
            continue
        help_text = action.help or _("as its name says")
        yield f".TP\n{_option(action)}\n{_roff(help_text)}"


def _commands(parser: argparse.ArgumentParser, name: str, excluded: frozenset[str]) -> Iterator[str]:
    """Yield all commands and actions below a parser, each with its own options."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for word, child in action.choices.items():
            full = f"{name} {word}".strip()
            yield f'.SS "{_roff(full)}"\n{_roff(" ".join((child.description or "").split()))}'
            yield from _options(child, excluded)
            yield from _commands(child, full, excluded)


def manual(parser: argparse.ArgumentParser, version: str) -> str:
    """Generate the page as roff (man(7)) from the parser of the whole command line, without a final newline."""
    common = frozenset(name for action in parser._actions for name in action.option_strings)
    files = {
        _("configuration, which `config init` writes a sample of"): config_path(),
        _("what is remembered from one start to the next"): memory_path(),
        _("what went wrong, and with --debug what was done"): log_path(),
    }
    codes, _blank, ids = (parser.epilog or "").partition("\n\n")
    name, options = "\\fBhermes\\-browse\\fR", _placeholder(_("options"))
    command, arguments = _placeholder(_("command")), _placeholder(_("arguments"))
    title = ["HERMES\\-BROWSE", "1", '""', f'"hermes\\-browse {_roff(version)}"', f'"{_roff(_("User Commands"))}"']
    sections = [
        f".TH {' '.join(title)}\n.ad l",
        _section(_("NAME"), "hermes\\-browse \\- " + _roff(_("browse the session store of Hermes Agent"))),
        _section(_("SYNOPSIS"), f"{name} [{options}]\n.br\n{name} [{options}] {command} [{arguments}]"),
        _section(_("DESCRIPTION"), _roff(parser.description or "")),
        f".PP\n{_roff(_(_ABOUT).strip())}",
        f".PP\n{_roff(ids.strip())}",
        _section(_("OPTIONS"), _roff(_("Those that name a store are taken before and after a command."))),
        *_options(parser, frozenset()),
        _section(_("COMMANDS")),
        *_commands(parser, "", common),
        _section(_("FILES")),
        *(f".TP\n{_path(path)}\n{_roff(purpose)}" for purpose, path in files.items()),
        _section(_("EXIT STATUS"), ".nf\n" + _roff(codes.removeprefix(_("exit codes:")).strip()) + "\n.fi"),
    ]
    return "\n".join(sections)
