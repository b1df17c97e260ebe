"""What is not deleted though it was asked for: protected, changed since, or not to be named."""

import pytest
from trashing import NOW, as_before, family, remove, run

from hermes_browse.store.errors import RefusedError


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


def test_ids_that_are_no_text_are_refused(tmp_path):
    """They could not be named in a statement again."""
    path = family(tmp_path / "state.db", "22")
    run(path, "INSERT INTO sessions (id, source, started_at) VALUES (x'61', 'cli', 1.0)")
    with pytest.raises(RefusedError, match="no proper text"):
        remove(path, "a")
