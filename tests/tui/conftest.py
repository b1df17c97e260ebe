"""What every test of the screen needs."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests never fill the clipboard of whoever runs them: only the terminal's own route is left."""
    monkeypatch.setattr("hermes_browse.tui.clipboard.tools", lambda *given: [])
