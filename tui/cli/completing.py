"""`completions`: scripts for bash, zsh and fish, made from the very tables the arguments are read with.

All three work alike: find the place in the tree of commands (`/trash/list`), then offer what can stand there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

_FOLDERS, _FILES = ("DIR",), ("FILE", "PATH")
_FUNCTION = "_hermes_browse"


class Place(NamedTuple):
    """A place in the tree of commands, and what can stand there."""

    path: str
    """Empty at the top, `/trash/list` below."""
    words: tuple[tuple[str, str], ...]
    """Commands, choices and options, each with what it does."""
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    """Options with the values they take."""
    folders: tuple[str, ...]
    """Options that take a folder."""
    files: tuple[str, ...]
    """Options that take a file."""
    others: tuple[str, ...]
    """Options with a value that nobody but the user knows."""

    @property
    def with_value(self) -> tuple[str, ...]:
        """Options that take the next word."""
        return (*(name for name, _ in self.choices), *self.folders, *self.files, *self.others)


def _said(text: str | None) -> str:
    """A help text as one line without marks that a shell would take for its own."""
    kept = "".join(letter if letter not in "'\"`\\$[]:" else " " for letter in text or "")
    return " ".join(kept.replace("%%", "%").split()).rstrip(".")


def places(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Place]:
    """Every place of a command line, the top first.

    Args:
        parser: Of the place.
        path: Where it is.
    """
    words: list[tuple[str, str]] = []
    choices: list[tuple[str, tuple[str, ...]]] = []
    folders: list[str] = []
    files: list[str] = []
    others: list[str] = []
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
            names = [name for name in action.option_strings if action.nargs != 0]
            if action.choices is not None:
                choices += [(name, tuple(map(str, action.choices))) for name in names]
            else:
                kind = folders if action.metavar in _FOLDERS else files if action.metavar in _FILES else others
                kind += names
    yield Place(path, tuple(words), tuple(choices), tuple(folders), tuple(files), tuple(others))
    yield from below


def _steps(found: list[Place]) -> str:
    """Patterns of the words that lead from a place to another, `/trash/list|…`."""
    return "|".join(place.path for place in found if place.path)


def _skipping(found: list[Place]) -> str:
    """Patterns of the options that take the next word."""
    return "|".join(sorted({name for place in found for name in place.with_value}))


def _values(found: list[Place], one: str, folders: str, files: str, nothing: str) -> list[str]:
    """The branches of a `case` over place and option before the cursor."""
    lines = []
    for place in found:
        for name, values in place.choices:
            lines.append(f"    '{place.path} {name}') {one.format(' '.join(values))} ;;")
    for names, what in (
        ({name for place in found for name in place.folders}, folders),
        ({name for place in found for name in place.files}, files),
        ({name for place in found for name in place.others}, nothing),
    ):
        patterns = "|".join(f"*' {name}'" for name in sorted(names))
        lines.append(f"    {patterns}) {what} ;;")
    return lines


def _bash(found: list[Place]) -> str:
    lines = [
        "# bash completion of hermes-browse",  # not shown
        f"{_FUNCTION}() {{",
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} place='' words='' i",  # not shown
        "  COMPREPLY=()",
        "  # bash parts --view=chats into three words",  # not shown
        '  if [[ $cur == "=" ]]; then cur=;'  # not shown
        ' elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi',
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    case "${COMP_WORDS[i]}" in',
        f"    {_skipping(found)}) [[ ${{COMP_WORDS[i+1]}} == '=' ]] && ((i++)); ((i++)); continue ;;",
        "    esac",
        '    case "$place/${COMP_WORDS[i]}" in',
        f'    {_steps(found)}) place="$place/${{COMP_WORDS[i]}}" ;;',
        "    esac",
        "  done",
        '  case "$place $prev" in',
        *_values(
            found,
            "COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return",
            'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")); return',  # not shown
            'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return',  # not shown
            "return",
        ),
        "  esac",
        '  case "$place" in',
        *(f"    '{place.path}') words='{' '.join(name for name, _ in place.words)}' ;;" for place in found),
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        f"complete -F {_FUNCTION} hermes-browse",
    ]
    return "\n".join(lines)


def _zsh(found: list[Place]) -> str:
    lines = [
        "#compdef hermes-browse",  # not shown
        f"{_FUNCTION}() {{",
        "  local place='' i",  # not shown
        "  local -a found",
        "  for ((i = 2; i < CURRENT; i++)); do",
        '    case "${words[i]}" in',
        f"    {_skipping(found)}) ((i++)); continue ;;",
        "    esac",
        '    case "$place/${words[i]}" in',
        f'    {_steps(found)}) place="$place/${{words[i]}}" ;;',
        "    esac",
        "  done",
        '  case "$place ${words[CURRENT-1]}" in',
        *_values(found, "compadd -- {}; return", "_files -/; return", "_files; return", "return"),  # not shown
        "  esac",
        '  case "$place" in',
    ]
    for place in found:
        words = " ".join(f"'{name}:{said}'" if said else f"'{name}'" for name, said in place.words)
        lines.append(f"    '{place.path}') found=({words}) ;;")
    lines += [
        "  esac",
        "  _describe 'hermes-browse' found",
        "}",
        f'if [[ "${{funcstack[1]}}" == {_FUNCTION} ]]; then {_FUNCTION} "$@"; '  # not shown
        f"else compdef {_FUNCTION} hermes-browse; fi",
    ]
    return "\n".join(lines)


def _fish(found: list[Place]) -> str:
    options = " ".join(sorted({name for place in found for name in place.with_value}))
    lines = [
        "# fish completion of hermes-browse",  # not shown
        "function __hermes_browse_at",
        "  set -l place ''",
        "  set -l skip 0",
        "  for word in (commandline -opc)[2..-1]",  # not shown
        "    if test $skip = 1",  # not shown
        "      set skip 0",  # not shown
        "      continue",
        "    end",
        f"    if contains -- $word {options}",  # not shown
        "      set skip 1",  # not shown
        "      continue",
        "    end",
        "    switch $place/$word",
        f"      case {' '.join(place.path for place in found if place.path)}",
        "        set place $place/$word",  # not shown
        "    end",
        "  end",
        '  test "$place" = "$argv[1]"',
        "end",
        "complete -c hermes-browse -f",
    ]
    for place in found:
        at = f"complete -c hermes-browse -n '__hermes_browse_at \"{place.path}\"'"
        values = dict(place.choices)
        for name, said in place.words:
            told = f" -d '{said}'" if said else ""
            if not name.startswith("-"):
                lines.append(f"{at} -a '{name}'{told}")
                continue
            kind = "-l" if name.startswith("--") else "-s"
            takes = ""
            if name in values:
                takes = f" -x -a '{' '.join(values[name])}'"
            elif name in place.folders:
                takes = " -x -a '(__fish_complete_directories)'"
            elif name in place.files:
                takes = " -r -F"
            elif name in place.others:
                takes = " -x"
            lines.append(f"{at} {kind} {name.lstrip('-')}{takes}{told}")
    return "\n".join(lines)


def completions(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for a shell.

    Args:
        shell: `bash`, `zsh` or `fish`.
        parser: Of the whole command line.
    """
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(places(parser)))
