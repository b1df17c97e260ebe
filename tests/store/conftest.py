"""What the tests of the store share."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_builder import StoreBuilder
from trashing import family


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one conversation of everything, called `state.db`."""
    return family(tmp_path / "state.db")


@pytest.fixture
def builder(tmp_path: Path) -> StoreBuilder:
    """Collects the rows of a store, called `state.db`."""
    return StoreBuilder(tmp_path / "state.db")
