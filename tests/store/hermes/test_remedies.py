"""Every problem of a store has a remedy."""

import pytest
from builders import make_store
from trashing import run

from hermes_browse.store.api import open_store


@pytest.mark.parametrize(
    "statement", ["DELETE FROM schema_version", "UPDATE schema_version SET version = 99"]
)
def test_every_warning_has_a_remedy(tmp_path, statement):
    """Newer, without a number, without an index."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], fts=False)
    nameless = "INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 1)"
    run(path, statement, nameless)
    with open_store(path) as store:
        found = store.summary().warnings
    assert {"store", "no-index"} <= {each.code for each in found}
    assert all(each.remedy for each in found)
