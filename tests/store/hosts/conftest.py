"""Connections that are closed at the end, and a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from server import ThrowAwayServer

import hermes_browse.store.api  # noqa: F401 -- its calls are those that can be asked for
from hermes_browse.store.hosts.connection import Link, Links


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


@pytest.fixture
def running(links: Links, server: ThrowAwayServer) -> Callable[[str], Link]:
    """Returns the connection to the machine where the program is another command."""
    return lambda command: links.of(server.host._replace(command=command))


@pytest.fixture
def one(links: Links, server: ThrowAwayServer) -> Link:
    """The connection to the machine; nothing is sent yet."""
    return links.of(server.host)
