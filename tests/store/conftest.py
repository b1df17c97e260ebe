"""What the tests of the store share."""

from __future__ import annotations

from pathlib import Path

import pytest
from trashing import family


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one conversation of everything, called `state.db`."""
    return family(tmp_path / "state.db")
