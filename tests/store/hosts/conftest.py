"""Connections that are closed at the end, and a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from server import ThrowAwayServer

import hermes_browse.store.api  # noqa: F401 -- its calls are those that can be asked for
from hermes_browse.store.hosts.connection import Links


@pytest.fixture
def links() -> Iterator[Links]:
    """Connections, closed at the end."""
    several = Links()
    yield several
    several.close()


@pytest.fixture
def server(ssh_server: Callable[..., ThrowAwayServer], hermes_home: Path) -> ThrowAwayServer:
    """A machine with a store of Hermes 0.19."""
    return ssh_server(hermes_home)
