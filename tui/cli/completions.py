"""`completions`: scripts for bash, zsh and fish, generated from the argument parser.

The fixed part of each script is a file beside this one. All three find the place in the tree of commands
(`/trash/list`), then offer the words that are valid there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.wording import ENGLISH, speak

from .command_context import Subcommand
from .registry import make_parser

_KINDS = {"DIR": "DIR", "FILE": "FILE", "PATH": "FILE", "HOST": "HOST"}
"""Kinds of values the shell can complete, by metavar."""
_HOSTS = "hermes-browse hosts --names 2>/dev/null"
"""Prints the names of the configured hosts."""


class CompletionsCommand(Subcommand):
    """Print the script for a shell, in English everywhere, as shells cache it."""

    takes_common_options = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"))

    def start(self, arguments: SimpleNamespace) -> int:
        """Print the script; needs no store."""
        speak(ENGLISH)
        print(completions(arguments.shell, make_parser()))
        return 0


class Place(NamedTuple):
    """A place in the tree of commands, and the words valid there."""

    path: str
    """Empty at the top, `/trash/list` below."""
    words: tuple[tuple[str, str], ...]
    """Commands, choices and options, each with its help."""
    takes: dict[str, str]
    """Options with a value, and its kind: the choices separated by blanks, `DIR`, `FILE`, `HOST`, or empty for free
    text."""
    before_host: tuple[str, ...] = ()
    """Words after which the name of a host stands, such as `check`."""


def _plain_help(text: str | None) -> str:
    """Reduce a help text to one line without characters special to a shell."""
    plain = "".join(letter if letter not in "'\"`\\$[]:" else " " for letter in text or "")
    return " ".join(plain.replace("%%", "%").split()).rstrip(".")


def places(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Place]:
    """Yield a place of the command line, and then all below it."""
    words: list[tuple[str, str]] = []
    takes: dict[str, str] = {}
    below: list[Place] = []
    before_host: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    for action in parser._actions:  # argparse has no public accessor
        if action.help == argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: _plain_help(each.help) for each in action._choices_actions}
            for name, child in action.choices.items():
                words.append((name, helps.get(name, "")))
                below += places(child, f"{path}/{name}")
        elif not action.option_strings:
            before_host += last if action.metavar == "HOST" else ()
            last = tuple(str(each) for each in action.choices or ())
            words += [(each, "") for each in last]
        else:
            words += [(name, _plain_help(action.help)) for name in action.option_strings]
            if action.nargs != 0:
                kind = _KINDS.get(str(action.metavar), "") if action.choices is None else " ".join(action.choices)
                takes |= dict.fromkeys(action.option_strings, kind)
    yield Place(path, tuple(words), takes, before_host)
    yield from below


def _case_branches(tree: list[Place], choices: str, folders: str, files: str, hosts: str) -> list[str]:
    """Build the branches of a `case` over the place and the option before the cursor, for bash and zsh.

    `choices` is shell code that offers values, with a field for them; the others offer folders, files and hosts.
    """
    offers = {"DIR": folders, "FILE": files, "HOST": hosts, "": "return"}
    options = [(place.path, name, kind) for place in tree for name, kind in place.takes.items()]
    lines = [f"    '{place.path} {word}') {hosts} ;;" for place in tree for word in place.before_host]
    lines += [f"    '{path} {name}') {choices.format(kind)} ;;" for path, name, kind in options if kind not in offers]
    for value, offer in offers.items():
        patterns = "|".join(f"*' {name}'" for name in sorted({name for _path, name, kind in options if kind == value}))
        lines.append(f"    {patterns}) {offer} ;;")
    return lines


def _in_bash(place: Place) -> str:
    return f"    '{place.path}') words='{' '.join(name for name, _help in place.words)}' ;;"


def _in_zsh(place: Place) -> str:
    words = " ".join(f"'{name}:{summary}'" if summary else f"'{name}'" for name, summary in place.words)
    return f"    '{place.path}') found=({words}) ;;"


def _in_fish(place: Place) -> str:
    offers = {"DIR": " -x -a '(__fish_complete_directories)'", "FILE": " -r -F", "": " -x"}
    offers["HOST"] = f" -x -a '({_HOSTS})'"
    lines = []
    for name, summary in place.words:
        line = f"complete -c hermes-browse -n '__hermes_browse_at \"{place.path}\"'"
        if not name.startswith("-"):
            line += f" -a '{name}'"
        else:
            line += f" {'-l' if name.startswith('--') else '-s'} {name.lstrip('-')}"
        if name in place.takes:
            line += offers.get(place.takes[name], f" -x -a '{place.takes[name]}'")
        lines.append(f"{line} -d '{summary}'" if summary else line)
    for word in place.before_host:
        at = f'__hermes_browse_at "{place.path}"; and string match -q -- {word} (commandline -opc)[-1]'
        lines.append(f"complete -c hermes-browse -n '{at}' -a '({_HOSTS})'")
    return "\n".join(lines)


def completions(shell: str, parser: argparse.ArgumentParser) -> str:
    """Generate the script for `bash`, `zsh` or `fish` from the parser of the whole command line."""
    tree = list(places(parser))
    with_value = sorted({name for place in tree for name in place.takes})
    paths = [place.path for place in tree if place.path]
    values: list[str] = []
    if shell == "bash":
        compgen = 'COMPREPLY=($(compgen {} -- "$cur")); return'
        names = f"compopt -o filenames 2>/dev/null; {compgen}"
        hosts = compgen.format(f'-W "$({_HOSTS})"')
        values = _case_branches(tree, compgen.format("-W '{}'"), names.format("-d"), names.format("-f"), hosts)
    elif shell == "zsh":
        hosts = f'compadd -- ${{(f)"$({_HOSTS})"}}; return'
        choices, folders = "compadd -- {}; return", "_files -/; return"
        values = _case_branches(tree, choices, folders, "_files; return", hosts)
    separator = " " if shell == "fish" else "|"
    fields = {
        "skipped": separator.join(with_value),
        "steps": separator.join(paths),
        "values": "\n".join(values),
        "places": "\n".join(map({"bash": _in_bash, "zsh": _in_zsh, "fish": _in_fish}[shell], tree)),
    }
    script = Path(__file__).with_name(f"completions.{shell}").read_text(encoding="utf-8").rstrip("\n")
    for name, text in fields.items():
        script = script.replace(f"@{name}@", text)
    return script
