"""The browser seen from outside, on a pseudo-terminal: start, keys, memory, and handles on the
store."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte
from figures import Bench, Figure, copied, in_turns, timed
from ptys import Program, environment

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.first_page import read_first_page

_BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("bare and ready")

Bare().run()
"""
_DOWN = b"\x1b[B"
_CURSOR = "▌"
_STRIPPED = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
)
_WORD = "qzx"
"""Stands on no screen before it is typed."""
_KEYS = 30
_TYPED = ("docker", "the", "deploy", "qz", "error")
_IDLE = 5.0
"""Seconds."""


def _seen(text: str) -> Callable[[bytes], bool]:
    """A quick test for a text among what was written; a colour may change within it."""
    return lambda written: text.encode() in _STRIPPED.sub(b"", written)


def _on_screen(text: str) -> Callable[[pyte.Screen], bool]:
    return lambda screen: any(text in line for line in screen.display)


def _cursor_row(screen: pyte.Screen) -> int:
    """The line of the list's cursor; -1 without one."""
    return next((row for row, line in enumerate(screen.display) if line.startswith(_CURSOR)), -1)


def _first_row(path: Path) -> str:
    """How the first row of the list begins."""
    with Store(path).reader() as reader:
        first = with_details(reader, read_first_page(reader, time.time()).select()[:1])[0]
    title = first.title or first.preview or ""
    return title[:10].strip()


class _FirstKeys:
    """Milliseconds from exec until the first keys were answered, for each start."""

    def __init__(self) -> None:
        self.moved: list[float] = []
        """One that moves the cursor: by what paints the first rows ahead."""
        self.typed: list[float] = []
        """Those behind it that open the search box and stand in it: by Textual."""


class _Starts:
    """Starts programs and times what they show."""

    def __init__(self, bench: Bench) -> None:
        self.folder = bench.folder
        self.bare_file = bench.folder / "bare.py"
        self.bare_file.write_text(_BARE, encoding="utf-8")
        self.env = environment(bench.folder)

    def bare(self) -> Program:
        """The smallest Textual app there is."""
        return Program([sys.executable, str(self.bare_file)], self.env)

    def probe(self, kind: str) -> Program:
        """One of the small apps to compare with."""
        return Program([sys.executable, str(Path(__file__).with_name("probes.py")), kind], self.env)

    def browser(self, path: Path) -> Program:
        """The browser on a store."""
        return Program([sys.executable, "-m", "hermes_browse.tui", "--db", str(path)], self.env)

    def time_bare(self) -> float:
        """Milliseconds from exec to the text of the bare app."""
        with self.bare() as program:
            return _moment(program, "bare and ready")

    def time_browser(self, path: Path, row: str, keys: _FirstKeys | None = None) -> float:
        """Milliseconds from exec to the first row of the list.

        Args:
            path: The store.
            row: How the first row begins.
            keys: Takes the times at which keys pressed on sight of that row were answered.
        """
        with self.browser(path) as program:
            shown = _moment(program, row)
            if keys is not None:
                program.send(_DOWN + f"/{_WORD}".encode())
                # Textual is being loaded meanwhile, which may take a second.
                program.read_until_quiet(2.0)
                keys.moved.append(_answered(program))
                keys.typed.append(_typed(program))
            return shown

    def time_hermes(self, home: Path) -> float:
        """Milliseconds from exec to the first row of Hermes' own list."""
        hermes = str(Path(sys.executable).with_name("hermes"))
        env = environment(self.folder, HERMES_HOME=str(home))
        with Program([hermes, "sessions", "browse"], env) as program:
            return _moment(program, "→ ")


def _moment(program: Program, text: str) -> float:
    if not program.read_until(_seen(text)):
        raise RuntimeError(f"never saw {text!r}; the end of what came: {program.chunks[-1:]!r}")
    moment = program.when(_on_screen(text))
    return (moment if moment is not None else program.now()) * 1000


def _answered(program: Program) -> float:
    """Milliseconds from exec until the cursor stood on the second row."""
    first: list[int] = []

    def moved(screen: pyte.Screen) -> bool:
        row = _cursor_row(screen)
        if row >= 0 and not first:
            first.append(row)
        return bool(first) and row == first[0] + 1

    moment = program.when(moved)
    if moment is None:
        raise RuntimeError("the cursor of the list never moved to the second row")
    return moment * 1000


def _typed(program: Program) -> float:
    """Milliseconds from exec until the word stood in the search box."""
    moment = program.when(_on_screen(_WORD))
    if moment is None:
        raise RuntimeError("what was typed never came to the search box")
    return moment * 1000


def _starting(bench: Bench, starts: _Starts) -> list[Figure]:
    row = _first_row(bench.large)
    keys = _FirstKeys()
    bare, ours = in_turns(
        bench.rounds, starts.time_bare, lambda: starts.time_browser(bench.large, row, keys)
    )
    original = bench.large if bench.large_is_ours else bench.small
    home = bench.folder / "hermes-home"
    home.mkdir(exist_ok=True)
    store = copied(original, home / "state.db")
    row = _first_row(store)
    own, hermes = in_turns(
        bench.rounds, lambda: starts.time_browser(store, row), lambda: starts.time_hermes(home)
    )
    of_hermes = "exec → first row / `hermes sessions browse`"
    of_hermes += "" if bench.large_is_ours else ", small store"
    first, typed = "exec → first key answered", "exec → letters in the search box"
    return [
        Figure("1", "exec → first row / bare Textual app", ours, bare, 0.35),
        Figure("1", of_hermes, own, hermes, 0.5),
        Figure("2", f"{first} / bare app's first frame", keys.moved[1:], bare, 1.25),
        Figure("2", f"{typed} / bare app's first frame", keys.typed[1:], bare, 1.3),
    ]


def _key_times(program: Program) -> list[float]:
    """Milliseconds from each of many downs to the first bytes of its answer."""
    times = []
    for _ in range(_KEYS):
        pressed = program.now()
        program.send(_DOWN)
        if not program.read(2.0):
            raise RuntimeError("a key was not answered")
        times.append((program.chunks[-1][0] - pressed) * 1000)
        program.read_until_quiet(0.15, 2.0)
    return times


def _typing_times(program: Program, words: Sequence[str]) -> list[float]:
    """Milliseconds from each letter typed until the rows below the box change; one that changes
    none is left out."""
    sent: list[float] = []
    for word in words:
        for letter in word:
            program.read_until_quiet(0.15, 2.0)
            sent.append(program.now())
            program.send(letter.encode())
            program.read_until_quiet(0.3, 3.0)
        program.send(b"\x15")  # the box is empty again
    return program.changes(sent, slice(4, 12))


def _keys(bench: Bench, starts: _Starts) -> list[Figure]:
    def with_program(
        started: Program, row: str, work: Callable[[Program], list[float]]
    ) -> list[float]:
        with started as program:
            _moment(program, row)
            program.read_until_quiet()
            return work(program)

    def typing(program: Program) -> list[float]:
        program.send(b"/")
        return _typing_times(program, _TYPED)

    row = _first_row(bench.large)
    ours = with_program(starts.browser(bench.large), row, _key_times)
    probe = with_program(starts.probe("line"), "row", _key_times)
    typed = with_program(starts.browser(bench.large), row, typing)
    changed = with_program(
        starts.probe("changed"), "row", lambda program: _typing_times(program, _TYPED)
    )
    return [
        Figure("9", "key down → bytes / a list by the Line API", ours, probe, 1.5),
        Figure("9", "letter typed → rows / a list by `Input.Changed`", typed, changed, 0.5),
    ]


def _idle(bench: Bench, starts: _Starts) -> list[Figure]:
    """Handles, memory and processor of the browser once nobody types."""
    released, ours, bare, busy = [], [], [], []
    for _ in range(max(bench.rounds // 3, 2)):
        with starts.bare() as program:
            _moment(program, "bare and ready")
            program.read_until_quiet(1.0)
            bare.append(program.memory())
        with starts.browser(bench.large) as program:
            _moment(program, _first_row(bench.large))
            program.send(_DOWN)
            pressed, held = program.now(), 0.0
            while program.now() - pressed < _IDLE:
                if program.holds(bench.large):
                    held = program.now() - pressed
                program.read(0.02)
            released.append(held)
            before, begun = program.processor_seconds(), program.now()
            while program.now() - begun < _IDLE:
                program.read(0.2)
            busy.append((program.processor_seconds() - before) / (program.now() - begun) * 100)
            ours.append(program.memory())
    return [
        Figure(
            "8",
            "last key → no handle on the store",
            released,
            (),
            3.0,
            given=max(released),
            unit="s",
        ),
        Figure("11", "memory of the browser / of the bare app", ours, bare, 2.2, unit="MiB"),
        Figure(
            "11",
            "processor of the idle browser",
            busy,
            (),
            1.0,
            given=statistics.median(busy),
            unit="%",
        ),
    ]


def _version(bench: Bench) -> Figure:
    script = Path(sys.executable).with_name("hermes-browse")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "hermes_browse.tui"]
    env = environment(bench.folder)

    def run(arguments: list[str]) -> Callable[[], float]:
        return timed(
            lambda: subprocess.run(arguments, env=env, check=True, stdout=subprocess.DEVNULL)
        )

    rounds = bench.rounds * 2
    ours, nothing = in_turns(
        rounds, run([*command, "--version"]), run([sys.executable, "-c", "pass"])
    )
    return Figure("12", "`--version` / `python -c pass`", ours, nothing, 3.0)


def measure(bench: Bench) -> list[Figure]:
    """All figures of the screen.

    Args:
        bench: The stores; nothing is written to them.
    """
    starts = _Starts(bench)
    lines = [*_starting(bench, starts), *_keys(bench, starts), *_idle(bench, starts)]
    return [*lines, _version(bench)]
