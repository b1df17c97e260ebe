"""The sample store, read only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import SAMPLED, demo_store


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store; read it only."""
    path = tmp_path_factory.mktemp("sample") / "state.db"
    demo_store(path, now=SAMPLED)
    return path


@pytest.fixture
def store(sample: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the sample store that leaves no files beside it."""
    connection = sqlite3.connect(f"file:{sample}?immutable=1", uri=True)
    yield connection
    connection.close()
