"""The proofs: what a sceptic may run. Long parts run by `make proof` alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builders import big_store
from counts import SESSIONS, Counts, Tell

_HERE = Path(__file__).parent

_COUNTS = Counts()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The short parts belong to `make check`, the long ones to `make proof` alone, and what is
    quick to `make test`."""
    for item in items:
        if _HERE in item.path.parents and not any(map(item.get_closest_marker, ("long", "quick"))):
            item.add_marker("slow")


def pytest_sessionfinish() -> None:
    """Write down what was counted."""
    if report := os.environ.get("HERMES_BROWSE_PROOF_REPORT"):
        _COUNTS.write(Path(report))


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Counts for the idea that a module of proofs names in `IDEA`."""
    return Tell(_COUNTS, request.module.IDEA)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of some size that Hermes itself has been in: alone in its folder."""
    folder = tmp_path / "root"
    folder.mkdir()
    return big_store(folder / "state.db", SESSIONS, 4000)


@pytest.fixture(autouse=True)
def _no_clipboard_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing lands on the clipboard of whoever runs this: a program on a pty finds no display to
    copy to."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
