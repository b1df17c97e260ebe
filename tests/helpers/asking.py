"""What tests of connections to hosts share."""

from __future__ import annotations

import pytest

from hermes_browse.store.hosts.codec import PROTOCOL
from hermes_browse.store.hosts.connection import Link
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.hosts.remote import HostConnection, RemoteStore, locate_there
from hermes_browse.store.sessions.session_rows import StoreState

HELLO = (
    """printf '{"hello": {"version": "9.9", "path": "/s", "profile": "", """
    f'"protocol": {PROTOCOL}' + """}, "more": 1}\\n'; """
)
SILENT = HELLO + "cat > /dev/null #"
"""A program that says hello and answers nothing."""
ASKING = """
import sys
from hermes_browse.store.api import OpenStore  # fills the list of calls
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.connection import Links
from hermes_browse.store.hosts.remote import HostConnection
links = Links()
one = links.of(Host(*sys.argv[1:]))
def peak():
    lines = open("/proc/self/status")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000
"""
"""The beginning of a program with a connection; its arguments are the fields of the host. `peak` is
its memory in megabytes, at most, without that of the process that started it."""


def asked(one: Link) -> StoreState:
    """The answer to a question."""
    state = HostConnection(one).call("state", {})
    assert isinstance(state, StoreState)
    return state


def failure(one: Link) -> HostError:
    """Why a question fails."""
    with pytest.raises(HostError) as caught:
        asked(one)
    return caught.value


def remote(one: Link) -> RemoteStore:
    """The store behind a connection."""
    return RemoteStore(one, locate_there(one).path)
