"""`completions`: scripts for bash, zsh and fish, filled in from the tables that the arguments are read with.

The fixed part of each script is a file beside this one. All three work alike: they find the place in the tree of
commands (`/trash/list`), then offer what can stand there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.wording import ENGLISH, speak

from .context import Command

_KINDS = {"DIR": "DIR", "FILE": "FILE", "PATH": "FILE"}
"""What the shell can complete, by the name of the value in the help."""


class CompletionsCommand(Command):
    """The script for a shell, the same wherever it is made: shells keep it."""

    takes_common_options = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"))

    def start(self, arguments: SimpleNamespace) -> int:
        """Print it; needs no store."""
        from .registry import make_parser  # the registry loads this module by name

        speak(ENGLISH)
        print(completions(arguments.shell, make_parser()))
        return 0


class Place(NamedTuple):
    """A place in the tree of commands, and what can stand there."""

    path: str
    """Empty at the top, `/trash/list` below."""
    words: tuple[tuple[str, str], ...]
    """Commands, choices and options, each with what it does."""
    takes: dict[str, str]
    """Options that take the next word: its values with blanks between them, `DIR`, `FILE`, or nothing where only the
    user knows."""


def _said(text: str | None) -> str:
    """A help text as one line without signs that mean something to a shell."""
    kept = "".join(letter if letter not in "'\"`\\$[]:" else " " for letter in text or "")
    return " ".join(kept.replace("%%", "%").split()).rstrip(".")


def places(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Place]:
    """Every place of a command line, the top first.

    Args:
        parser: Of the place.
        path: Where it is.
    """
    words: list[tuple[str, str]] = []
    takes: dict[str, str] = {}
    below: list[Place] = []
    for action in parser._actions:  # argparse has no other way to ask
        if action.help == argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            said = {each.dest: _said(each.help) for each in action._choices_actions}
            for name, child in action.choices.items():
                words.append((name, said.get(name, "")))
                below += places(child, f"{path}/{name}")
        elif not action.option_strings:
            words += [(str(each), "") for each in action.choices or ()]
        else:
            words += [(name, _said(action.help)) for name in action.option_strings]
            if action.nargs != 0:
                kind = _KINDS.get(str(action.metavar), "") if action.choices is None else " ".join(action.choices)
                takes |= dict.fromkeys(action.option_strings, kind)
    yield Place(path, tuple(words), takes)
    yield from below


def _values(found: list[Place], one: str, folders: str, files: str) -> list[str]:
    """The branches of a `case` over the place and the option before the cursor, for bash and zsh.

    Args:
        found: All places.
        one: Offers some values, which are filled in.
        folders: Offers folders.
        files: Offers files.
    """
    offers = {"DIR": folders, "FILE": files, "": "return"}
    taken = [(place.path, name, kind) for place in found for name, kind in place.takes.items()]
    lines = [f"    '{path} {name}') {one.format(kind)} ;;" for path, name, kind in taken if kind not in offers]
    for wanted, offer in offers.items():
        patterns = "|".join(f"*' {name}'" for name in sorted({name for _path, name, kind in taken if kind == wanted}))
        lines.append(f"    {patterns}) {offer} ;;")
    return lines


def _in_bash(place: Place) -> str:
    return f"    '{place.path}') words='{' '.join(name for name, _said in place.words)}' ;;"


def _in_zsh(place: Place) -> str:
    words = " ".join(f"'{name}:{said}'" if said else f"'{name}'" for name, said in place.words)
    return f"    '{place.path}') found=({words}) ;;"


def _in_fish(place: Place) -> str:
    offers = {"DIR": " -x -a '(__fish_complete_directories)'", "FILE": " -r -F", "": " -x"}
    lines = []
    for name, said in place.words:
        line = f"complete -c hermes-browse -n '__hermes_browse_at \"{place.path}\"'"
        if not name.startswith("-"):
            line += f" -a '{name}'"
        else:
            line += f" {'-l' if name.startswith('--') else '-s'} {name.lstrip('-')}"
        if name in place.takes:
            line += offers.get(place.takes[name], f" -x -a '{place.takes[name]}'")
        lines.append(f"{line} -d '{said}'" if said else line)
    return "\n".join(lines)


def completions(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for a shell.

    Args:
        shell: `bash`, `zsh` or `fish`.
        parser: Of the whole command line.
    """
    found = list(places(parser))
    skipped = sorted({name for place in found for name in place.takes})
    steps = [place.path for place in found if place.path]
    values: list[str] = []
    if shell == "bash":
        compgen = 'COMPREPLY=($(compgen {} -- "$cur")); return'
        names = f"compopt -o filenames 2>/dev/null; {compgen}"
        values = _values(found, compgen.format("-W '{}'"), names.format("-d"), names.format("-f"))
    elif shell == "zsh":
        values = _values(found, "compadd -- {}; return", "_files -/; return", "_files; return")  # not shown
    between = " " if shell == "fish" else "|"
    fields = {
        "skipped": between.join(skipped),
        "steps": between.join(steps),
        "values": "\n".join(values),
        "places": "\n".join(map({"bash": _in_bash, "zsh": _in_zsh, "fish": _in_fish}[shell], found)),
    }
    script = Path(__file__).with_name(f"completions.{shell}").read_text(encoding="utf-8").rstrip("\n")
    for name, text in fields.items():
        script = script.replace(f"@{name}@", text)
    return script
