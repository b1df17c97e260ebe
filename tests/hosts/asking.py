"""What tests of connections to hosts share."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.link import Link
from hermes_browse.store.hosts.remote import RemoteStore, locate_there

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
HELLO = """printf '{"hello": {"version": "9.9", "path": "/s", "profile": ""}, "more": 1}\\n'; """
ASKING = """
import sys
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Links
links = Links()
one = links.of(Host(*sys.argv[1:]))
"""
"""The beginning of a program with a connection; its arguments are the fields of the host."""


def failure(one: Link) -> HostError:
    """Why a question fails."""
    with pytest.raises(HostError) as caught:
        one.ask({"sql": "SELECT 1"})
    return caught.value


def until(condition: Callable[[], object]) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def remote(one: Link) -> RemoteStore:
    """The store behind a connection."""
    return RemoteStore(one, locate_there(one).path)
