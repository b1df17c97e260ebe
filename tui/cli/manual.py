"""`man`: the manual page, made from the very tables the arguments are read with, so that it is never stale."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..config.folders import config_path, memory_path
from ..logfile import log_path

_ABOUT = """\
Without a command the browser opens: a list of conversations, the transcript of the one under the cursor, and a search
that looks through everything as you type. The key ? lists all keys. With a command nothing is drawn; what is found goes
to standard output, as one JSON document with --json.
"""


def _text(text: str) -> str:
    """Words for roff: no sign of them is an instruction of its."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("%%", "%")
    named = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in plain)
    return f"\\&{named}" if named.startswith(".") else named


def _option(action: argparse.Action) -> str:
    """An option, or an argument, with what it takes."""
    taken = "" if action.nargs == 0 else action.metavar or ""
    if not taken and action.choices is not None:
        taken = "{" + ",".join(map(str, action.choices)) + "}"
    taken = str(taken) or ("" if action.nargs == 0 else action.dest.upper())
    if not action.option_strings:
        return f"\\fI{_text(taken)}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return f"{names} \\fI{_text(taken)}\\fR" if taken else names


def _options(parser: argparse.ArgumentParser, known: frozenset[str]) -> Iterator[str]:
    """Each option and argument of a place that is not known from above, with its help."""
    for action in parser._actions:  # argparse has no other way to ask
        is_below = isinstance(action, argparse._SubParsersAction)
        if is_below or action.help == argparse.SUPPRESS or known.intersection(action.option_strings):
            continue
        yield f".TP\n{_option(action)}\n{_text(action.help or 'as its name says')}"


def _commands(parser: argparse.ArgumentParser, name: str, known: frozenset[str]) -> Iterator[str]:
    """Every command below a place, with its own options."""
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
        "configuration, which `config init` writes a sample of": config_path(),
        "what is remembered from one start to the next": memory_path(),
        "what went wrong, and with --debug what was done": log_path(),
    }
    codes, _, ids = (parser.epilog or "").partition("\n\n")
    parts = [
        f'.TH HERMES\\-BROWSE 1 "" "hermes\\-browse {_text(version)}" "User Commands"\n.ad l',
        ".SH NAME\nhermes\\-browse \\- browse the session store of Hermes Agent",
        ".SH SYNOPSIS\n\\fBhermes\\-browse\\fR [\\fIoptions\\fR]\n.br\n"
        "\\fBhermes\\-browse\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
        f".SH DESCRIPTION\n{_text(parser.description or '')}\n.PP\n{_text(_ABOUT.strip())}\n.PP\n{_text(ids.strip())}",
        ".SH OPTIONS\nThose that name a store are taken before and after a command.",
        *_options(parser, frozenset()),
        ".SH COMMANDS",
        *_commands(parser, "", known),
        ".SH FILES",
        *(f".TP\n\\fI{_text(str(path))}\\fR\n{_text(said)}" for said, path in places.items()),
        f".SH EXIT STATUS\n.nf\n{_text(codes.removeprefix('exit codes:').strip())}\n.fi",
    ]
    return "\n".join(parts)
