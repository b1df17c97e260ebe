"""The browser seen from outside, on a pseudo-terminal: start, keys, memory, and handles on the
store."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte
from figures import Bench, Figure, copied, in_turns, timed
from ptys import Program, environment
from writing import handles

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.list_page import with_details

_BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("bare and ready")

Bare().run()
"""
_READY = "bare and ready"
_DOWN = b"\x1b[B"
_CURSOR = "▌"
_STRIPPED = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
)
_WORD = "qzx"
"""Stands on no screen before it is typed."""
_KEYS = 30
_TYPED = ("docker", "the", "deploy", "qz", "error")
_EMPTY_BOX = "\x15"
_IDLE = 5.0
"""Seconds."""


def _seen(text: str) -> Callable[[bytes], bool]:
    """A quick test for a text among what was written; a colour may change within it."""
    return lambda written: text.encode() in _STRIPPED.sub(b"", written)


def _on_screen(text: str) -> Callable[[pyte.Screen], bool]:
    return lambda screen: any(text in line for line in screen.display)


def _first_row(path: Path) -> str:
    """How the first row of the list begins."""
    with Store(path).reader() as reader:
        first = with_details(reader, read_first_page(reader, time.time()).select()[:1])[0]
    title = first.title or first.preview or ""
    return title[:10].strip()


def _program(bench: Bench, *arguments: str, **more: str) -> Program:
    """A program of Python."""
    return Program([sys.executable, *arguments], environment(bench.folder, **more))


def _bare(bench: Bench) -> Program:
    """The smallest Textual app there is."""
    return _program(bench, "-c", _BARE)


def _probe(bench: Bench, kind: str) -> Program:
    """One of the small apps to compare with."""
    return _program(bench, str(Path(__file__).with_name("probes.py")), kind)


def _browser(bench: Bench, path: Path) -> Program:
    """The browser on a store."""
    return _program(bench, "-m", "hermes_browse.tui", "--db", str(path))


def _shown(program: Program, text: str) -> float:
    """Milliseconds from exec until a text was on the screen; it is waited for."""
    if not program.read_until(_seen(text)):
        raise RuntimeError(f"never saw {text!r}; the end of what came: {program.chunks[-1:]!r}")
    moment = program.when(_on_screen(text))
    return (moment if moment is not None else program.now()) * 1000


def _time(program: Program, text: str) -> float:
    """Milliseconds from exec until a program shows a text; it is ended then."""
    with program:
        return _shown(program, text)


def _answered(program: Program, test: Callable[[pyte.Screen], bool], what: str) -> float:
    """Milliseconds from exec until the screen satisfied a test."""
    moment = program.when(test)
    if moment is None:
        raise RuntimeError(f"{what}: it never came")
    return moment * 1000


def _is_moved() -> Callable[[pyte.Screen], bool]:
    """A test for the cursor of the list on its second row."""
    rows: list[int] = []

    def test(screen: pyte.Screen) -> bool:
        lines = enumerate(screen.display)
        rows.extend([row for row, line in lines if line.startswith(_CURSOR)][:1])
        return bool(rows) and rows[-1] == rows[0] + 1

    return test


def _starting(bench: Bench) -> list[Figure]:
    row = _first_row(bench.large)
    moved: list[float] = []
    typed: list[float] = []

    def browse() -> float:
        """Keys are pressed on sight of the first row, and answered by what paints the first rows
        ahead."""
        with _browser(bench, bench.large) as program:
            shown = _shown(program, row)
            program.send(_DOWN + f"/{_WORD}".encode())
            # Textual is being loaded meanwhile, which may take a second.
            program.read_until_quiet(2.0)
            moved.append(_answered(program, _is_moved(), "the cursor on the second row"))
            typed.append(_answered(program, _on_screen(_WORD), "letters in the search box"))
            return shown

    bare, ours = in_turns(bench.rounds, lambda: _time(_bare(bench), _READY), browse)
    original = bench.large if bench.large_is_ours else bench.small
    home = bench.folder / "hermes-home"
    home.mkdir(exist_ok=True)
    store = copied(original, home / "state.db")
    own_row = _first_row(store)
    script = str(Path(sys.executable).with_name("hermes"))
    own, hermes = in_turns(
        bench.rounds,
        lambda: _time(_browser(bench, store), own_row),
        lambda: _time(_program(bench, script, "sessions", "browse", HERMES_HOME=str(home)), "→ "),
    )
    of_hermes = "exec → first row / `hermes sessions browse`"
    of_hermes += "" if bench.large_is_ours else ", small store"
    first, letters = "exec → first key answered", "exec → letters in the search box"
    return [
        Figure("1", "exec → first row / bare Textual app", ours, bare, 0.35),
        Figure("1", of_hermes, own, hermes, 0.5),
        Figure("2", f"{first} / bare app's first frame", moved[1:], bare, 1.25),
        Figure("2", f"{letters} / bare app's first frame", typed[1:], bare, 1.3),
    ]


def _key_times(*programs: Program) -> list[list[float]]:
    """Milliseconds from each of many downs, pressed in all programs in turn, to the first bytes of
    its answer."""
    times: list[list[float]] = [[] for _program in programs]
    for _ in range(_KEYS):
        for program, found in zip(programs, times, strict=True):
            program.read_until_quiet(0.15, 2.0)
            pressed = program.now()
            program.send(_DOWN)
            if not program.read(2.0):
                raise RuntimeError("a key was not answered")
            found.append((program.chunks[-1][0] - pressed) * 1000)
    return times


def _typing_times(*programs: Program) -> list[list[float]]:
    """Milliseconds from each letter typed until the rows below the box change, of each program;
    one that changes none is left out. Each letter is typed in all of them in turn."""
    keys = [key for word in _TYPED * 2 for key in (*word, _EMPTY_BOX)]
    sent: list[list[float]] = [[] for _program in programs]
    for key in keys:
        for program, moments in zip(programs, sent, strict=True):
            program.read_until_quiet(0.15, 2.0)
            moments.append(program.now())
            program.send(key.encode())
            program.read_until_quiet(0.3, 3.0)
    return [
        [
            time
            for key, time in zip(keys, program.changes(moments, slice(4, 12)), strict=True)
            if key != _EMPTY_BOX and time is not None
        ]
        for program, moments in zip(programs, sent, strict=True)
    ]


@contextmanager
def _beside(bench: Bench, kind: str) -> Iterator[tuple[Program, Program]]:
    """The browser, and one of the small apps, both at rest."""
    with _browser(bench, bench.large) as browser, _probe(bench, kind) as probe:
        for program, shown in ((browser, _first_row(bench.large)), (probe, "row")):
            _shown(program, shown)
            program.read_until_quiet()
        yield browser, probe


def _keys(bench: Bench) -> list[Figure]:
    with _beside(bench, "line") as (browser, probe):
        ours, others = _key_times(browser, probe)
    with _beside(bench, "changed") as (browser, probe):
        browser.send(b"/")
        typed, changed = _typing_times(browser, probe)
    return [
        Figure("9", "key down → bytes / a list by the Line API", ours, others, 1.5),
        Figure("9", "letter typed → rows / a list by `Input.Changed`", typed, changed, 0.5),
    ]


def _idle(bench: Bench) -> list[Figure]:
    """Handles, memory and processor of the browser once nobody types."""
    released, ours, bare, busy = [], [], [], []
    for _ in range(max(bench.rounds // 3, 2)):
        with _bare(bench) as program:
            _shown(program, _READY)
            program.read_until_quiet(1.0)
            bare.append(program.memory())
        with _browser(bench, bench.large) as program:
            _shown(program, _first_row(bench.large))
            program.send(_DOWN)
            pressed, held = program.now(), 0.0
            while program.now() - pressed < _IDLE:
                if handles(bench.large, program.pid):
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
    return [*_starting(bench), *_keys(bench), *_idle(bench), _version(bench)]
