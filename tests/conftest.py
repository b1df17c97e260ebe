"""What every test stands on: a fixed zone, no colours from outside, a home of its own."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import effort
import pytest
from paths import DATA, fixture
from pytest_textual_snapshot import SVGImageExtension

from hermes_browse.store.wording import speak

if TYPE_CHECKING:
    from server import ThrowAwayServer


# The snapshot plug-in names its files *.raw with the present syrupy; a picture is wanted in review.
SVGImageExtension.file_extension = "svg"

# Whoever runs the tests in the background may have Ctrl+c ignored, and every program a test starts
# would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["TEXTUAL_ANIMATIONS"] = "none"  # read when Textual is imported
effort.load_profile()


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what stays until the end, and run seldom: it took a
    fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Homes of the tests, by number: `mktemp` would look at all that are there for each new one."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


_FROM_OUTSIDE = """
    COLUMNS FORCE_COLOR HERMES_HOME HERMES_LAZY_INSTALL_TARGET KITTY_LISTEN_ON KITTY_WINDOW_ID LANGUAGE
    LC_ALL LC_MESSAGES LINES LOCALAPPDATA NO_COLOR SHELL SSH_CONNECTION TEXTUAL_THEME TMUX TMUX_PANE
    WEZTERM_PANE WT_SESSION ZELLIJ
"""
"""Variables that change what a program does, or how it looks."""


@pytest.fixture(autouse=True)
def _private_world(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's homes, colours, zone or terminal."""
    home = next(_homes)
    home.mkdir()
    speak("en")  # a command that was called in this process may have left another language
    for name in _FROM_OUTSIDE.split():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    for name, value in {
        "TZ": "UTC",
        "COLORTERM": "truecolor",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        # A real Hermes that a test starts would otherwise fetch its optional parts into this
        # environment (Hermes 0.19, tools/lazy_deps.py), and the next run would not be of what is
        # pinned.
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    monkeypatch.setattr(
        "sys.argv", [str(home / "hermes-browse"), *sys.argv[1:]]
    )  # a `hermes` is looked for beside it


@pytest.fixture
def fixture_store(tmp_path: Path) -> Callable[[str], Path]:
    """Gives a copy of a store in tests/data, by the beginning of its name (`state-v22`)."""

    def copy(name: str) -> Path:
        source = next(DATA.glob(f"{name}*.db"))
        target = tmp_path / source.name
        shutil.copy(source, target)
        return target

    return copy


@pytest.fixture
def hermes_home(tmp_path: Path) -> Path:
    """A Hermes root whose store the real Hermes 0.19 wrote."""
    root = tmp_path / "hermes"
    root.mkdir()
    shutil.copy(fixture(22), root / "state.db")
    return root


@pytest.fixture
def ssh_server(tmp_path: Path) -> Iterator[Callable[..., ThrowAwayServer]]:
    """Starts SSH servers (tests/helpers/server.py), as `ssh_server(home, "vps")`, and stops them."""
    if shutil.which("ssh") is None:
        pytest.skip("needs the ssh client of OpenSSH")
    from server import ThrowAwayServer  # a third of a second that other tests need not spend

    with contextlib.ExitStack() as stack:
        yield lambda home, name="vps": stack.enter_context(
            ThrowAwayServer(tmp_path / f"ssh-{name}", home, name)
        )
