"""Command lines and everything they print: the files of `recorded/`.

The first word of a file is the name of its home. `$` begins a command line, `$80` one on a terminal
of 80 columns; behind `<` stands what is typed there, its lines apart by `⏎`, behind `|` what is
picked of a document. Behind `&` is a statement of SQL, which changes the store of the root first,
behind `%` a line for the shell, which finds the stores in tests/data as `$DATA`, the program in a
process of its own as `$H`, and a `hermes` only in the folder `bin`.

Behind `>` is the output, behind `!` are notes, behind `=` is an exit code but 0.
`HERMES_BROWSE_TESTS=record` writes the files anew: read the difference.
"""

import io
import json
import os
import re
import shlex
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import homes
import pytest
from commandline import PROGRAM, path_with
from paths import DATA
from platforms import posix_only
from trashing import run

from hermes_browse.tui.cli import command, main

FOLDER = Path(__file__).parent / "recorded"
_MASKS = {
    r"\b20\d{6}-\d{6}-[0-9a-f]{8}\b": "BUNDLE",
    r"\b\d+ ms\b": "N ms",
    r"\b[\d.]+ [KMG]?B\b": "SIZE",
    r"\x1b\[[\d;]*m": "",
    r"\x1b": "␛",
    r'("elapsed_ms"): [\d.]+': r"\1: N",
    r"hermes-browse \d[\w.]*": "hermes-browse VERSION",
    r"\(choose from .*\)": "(choose from …)",
    r"(?m)^> (open in|terminal|clipboard|new windows): .*": r"> \1: …",
}
"""What differs from run to run, between machines, or between versions of SQLite and Python."""


class _Stream(io.TextIOWrapper):
    """Standard output or error."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8", newline="")
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def _lines(stream):
    stream.seek(0)
    return stream.read().splitlines()


def _picked(text, path):
    """Return the named fields of what a document has at a path, a line for each."""
    where, *names = path.split()
    found = json.loads(text)
    for step in filter(None, where.split(".")):
        found = found[step]
    for row in found if isinstance(found, list) else [found]:
        yield json.dumps({name: row[name] for name in names} or row, ensure_ascii=False)


def _printed(line, monkeypatch):
    """Run a command line of a file, and yield what it prints as lines of that."""
    prompt, _space, rest = line.partition(" ")
    columns = prompt[1:]
    rest, _pipe, path = rest.partition(" | ")
    words, _arrow, typed = rest.partition(" < ")
    monkeypatch.setenv("COLUMNS", columns or "80")
    monkeypatch.setattr(command, "on_a_terminal", lambda: bool(columns))
    monkeypatch.setattr("sys.stdin", io.StringIO(typed.replace("⏎", "\n") + "\n"))
    out, err = _Stream(is_terminal=bool(columns)), _Stream(is_terminal=False)
    with redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(words))
    lines = _lines(out)
    yield from (f"> {each}" for each in (_picked(lines[0], path) if path else lines))
    yield from (f"! {each}" for each in _lines(err))
    if code:
        yield f"= {code}"


def _run(line):
    """Run a line for the shell, and yield what it prints as lines of a file."""
    ended = subprocess.run(
        ["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    yield from (f"> {each}" for each in ended.stdout.splitlines())
    yield from (f"! {each}" for each in ended.stderr.splitlines())
    if ended.returncode:
        yield f"= {ended.returncode}"


_SLOW = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full"),
]
_FILES = [
    pytest.param(path, id=path.stem, marks=_SLOW if path.stem == "streams" else ())
    for path in sorted(FOLDER.glob("*.txt"))
]


@posix_only
@pytest.mark.parametrize("path", _FILES)
def test_recorded(path, tmp_path, monkeypatch):
    """Nothing is printed but what the file says."""
    text = path.read_text(encoding="utf-8")
    root = tmp_path / "root"
    root.mkdir()
    now = getattr(homes, text.split(maxsplit=1)[0])(root)
    monkeypatch.setenv("HERMES_HOME", str(root))
    monkeypatch.setenv("PATH", path_with(tmp_path / "bin"))
    monkeypatch.setenv("DATA", str(DATA))
    monkeypatch.setenv("H", " ".join(PROGRAM))
    monkeypatch.chdir(tmp_path)
    home, found = os.environ["HOME"], []
    for line in text.removesuffix("\n").split("\n"):
        if line[:1] in (">", "!", "="):
            continue
        found.append(line)
        printed = []
        if line.startswith("&"):
            run(root / "state.db", line[1:])
        elif line.startswith("%"):
            printed = _run(line[1:])
        elif line.startswith("$"):
            now += 1
            monkeypatch.setattr("time.time", lambda now=now: now)
            printed = _printed(line.replace("ROOT", str(root)), monkeypatch)
        found += [each.replace(str(tmp_path), "").replace(home, "~").rstrip() for each in printed]
    played = "\n".join(found) + "\n"
    for pattern, name in _MASKS.items():
        played = re.sub(pattern, name, played)
    if os.environ.get("HERMES_BROWSE_TESTS") == "record":
        path.write_text(played, encoding="utf-8")
    assert played == text
