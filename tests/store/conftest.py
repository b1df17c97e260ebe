"""What the tests of the store share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from builders import make_store
from search_stores import write_store
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


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Makes a store, called `state.db`, of a shape and rows (`builders.make_store`)."""
    return partial(make_store, tmp_path / "state.db")


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes one for a search, called `state.db`, of messages (`search_stores.write_store`)."""
    return partial(write_store, tmp_path / "state.db")
