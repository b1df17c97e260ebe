"""Reading and changing a store on a host while the connection, its machine or its disk fails, with the
real ssh client."""

import os
import time

import pytest
from asking import remote
from trashing import add_message, rows, session_ids

from hermes_browse.store.api import open_store
from hermes_browse.store.errors import BrowseError, WriteInDoubtError
from hermes_browse.store.hosts import connection
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.hosts.remote import HostConnection


@pytest.fixture
def path(hermes_home):
    """The store there."""
    return hermes_home / "state.db"


@pytest.fixture
def store(one):
    """That store, as this machine sees it."""
    return remote(one)


@pytest.fixture
def session(path):
    """The first that goes alone."""
    ((found,),) = rows(
        path,
        "SELECT id FROM sessions s WHERE parent_session_id IS NULL AND ended_at IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id) ORDER BY started_at LIMIT 1",
    )
    return found


@pytest.mark.slow
def test_the_connection_is_lost_after_a_delete(store, session, path, server):
    """The store there shows that it is done; it is not sent again, and its bundle can be
    restored."""
    server.cut_at = b'"answer": ['
    deleted = open_store(store).delete([session])
    assert session not in session_ids(path)
    assert session in deleted.bundle.sessions and deleted.bundle.name
    assert server.proxy.connections == 2
    open_store(store).restore(deleted.bundle.name)
    assert session in session_ids(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["host-down", "host-refused", "host-login", "host-noise"])
def test_whatever_the_connection_ends_with(store, session, path, server, monkeypatch, kind):
    """Words of ssh, of a shell or of whoever killed the program say nothing of what was done."""
    server.cut_at = b'"answer": ['
    monkeypatch.setattr(
        connection, "explain", lambda *_said: HostError(server.host, kind, said="Killed")
    )
    deleted = open_store(store).delete([session])
    assert session in deleted.bundle.sessions
    assert session not in session_ids(path)


@pytest.mark.slow
def test_the_connection_is_lost_before_a_delete(store, session, path, server, monkeypatch):
    """It is not done, and not done later; nobody says that it was. The end of the connection may be
    known before anything is sent."""
    ask = HostConnection.ask

    def cut(connection, name, values):
        if name == "delete":
            server.cut()
            return ask(connection, "state", {})
        return ask(connection, name, values)

    monkeypatch.setattr(HostConnection, "ask", cut)
    with pytest.raises((WriteInDoubtError, HostError), match=r"nobody knows|was lost"):
        open_store(store).delete([session])
    assert session in session_ids(path)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["archive", "delete"])
def test_the_connection_is_lost_after_a_change(store, session, server, call):
    """Nobody can say what was done, and that is what is said, of a delete if the machine is gone; but
    then the connection is there again, so that the list shows it."""
    server.cut_at = b'"answer": ['
    server.refuses = call == "delete"
    with open_store(store) as there:
        with pytest.raises(WriteInDoubtError, match="nobody knows"):
            getattr(there, call)([session])
        if call == "archive":
            assert store.link.error is None and server.proxy.connections == 2
            assert there.catalog(time.time()).sessions[session].archived


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kilobytes", "what", "bundles"),
    [(64, "The trash at .* free disk space", 0), (1000, "The last step of writing .* failed", 1)],
)
def test_the_disk_there_is_full_while_deleting(
    running, session, path, server, kilobytes, what, bundles
):
    """The reason is passed on, and nothing is gone. A limit for the size of files stands for the
    disk.

    The smaller one meets the bundle in the trash, the larger one the database at its commit. A
    bundle stays then, because a commit that failed may still appear.
    """
    for _ in range(3):
        text = os.urandom(100_000).hex()
        add_message(path, session, text, time.time() - 9999)
    server.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python would leave half a file there
    store = remote(running(f"ulimit -f {2 * kilobytes}; hermes-browse"))
    with pytest.raises(BrowseError, match=f"^vps: .*{what}"):
        open_store(store).delete([session])
    assert session in session_ids(path)
    trash = server.folder / "home" / ".local/share/hermes-browse/trash"
    assert len(list(trash.glob("*.sha256"))) == bundles
