"""What is not deleted though it was asked for: protected, changed since, or not to be named."""

import pytest
from builders import T0
from trashing import FAMILY, NOW, as_before, family, opened, put_back, remove, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.trash.shelf import list_bundles


@pytest.mark.parametrize(
    "statement, reason",
    [
        ("UPDATE sessions SET pinned = 1 WHERE id = 'root'", "pinned"),
        ("UPDATE sessions SET pinned = 1 WHERE id = 'nested'", "pinned"),
        (
            f"UPDATE messages SET timestamp = {NOW - 9} WHERE session_id = 'tip'",
            "live|written|in use",
        ),
        (
            f"UPDATE messages SET timestamp = {NOW - 9} WHERE session_id = 'helper'",
            "live|written|in use",
        ),
        ("UPDATE session_turn_leases SET expires_at = 9e12", "turn|busy|live|lease"),
        ("UPDATE compression_locks SET expires_at = 9e12", "compress|busy|live|lock"),
    ],
)
def test_what_is_protected_stays(path, tmp_path, statement, reason):
    """Any segment or subagent of it protects the whole; the reason is said, nothing is written."""
    run(path, statement)
    with as_before(path):
        with pytest.raises(RefusedError, match=f"stays: .*({reason})"):
            remove(path, "tip")
        assert not (tmp_path / "trash").exists()


def test_an_old_catalog_knows_no_pin(path, tmp_path, monkeypatch):
    """What a clean-up planned minutes ago is looked at anew."""
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, NOW)
    monkeypatch.setattr(deleting, "read_catalog", lambda *_: catalog)
    run(path, "UPDATE sessions SET pinned = 1 WHERE id = 'tip'")
    with pytest.raises(RefusedError, match="pinned"):
        remove(path, "root")
    with opened(path) as connection:
        connection.execute("UPDATE sessions SET pinned = 0")
        connection.execute(
            "INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('late', 'cli', 'tip', ?)",
            [T0],
        )
    with pytest.raises(RefusedError, match="another child"):
        remove(path, "root")
    assert list_bundles(tmp_path / "trash") == []
    monkeypatch.undo()
    assert "late" in remove(path, "root").reparented


def test_ids_that_are_no_text_are_refused(tmp_path):
    """They could not be named in a statement again."""
    path = family(tmp_path / "state.db", "22")
    run(path, "INSERT INTO sessions (id, source, started_at) VALUES (x'61', 'cli', 1.0)")
    with pytest.raises(RefusedError, match="no proper text"):
        remove(path, "a")


def test_an_old_catalog_knows_what_has_gone_since(path, monkeypatch):
    """A clean-up takes a branch, or what would have gone along, before its parent; all of it can
    come back."""
    with as_before(path):
        with Store(path).reader() as reader:
            catalog = read_catalog(reader, NOW)
        monkeypatch.setattr(deleting, "read_catalog", lambda *_: catalog)
        names = [remove(path, each).bundle.name for each in ("branch", "stale", "nested")]
        last = remove(path, "tip")
        assert set(last.bundle.sessions) == FAMILY - {"stale", "nested"} and last.reparented == ()
        for name in (last.bundle.name, *reversed(names)):
            put_back(path, name)
    with pytest.raises(RefusedError, match="gone"):
        remove(path, "tip")
        remove(path, "tip")
