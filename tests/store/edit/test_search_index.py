"""Search indexes follow a delete and a restore by Hermes' triggers; a store without them is not
written to."""

import pytest
import shapes
from trashing import dump, family, health, in_trash, put_back, remove, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import check_index
from hermes_browse.store.errors import StoreRefusedError


def without_triggers(path, events):
    """Drop the triggers that keep the indexes at some events."""
    names = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%fts%'"
    run(path, *(f"DROP TRIGGER {name}" for (name,) in rows(path, names) if name.endswith(events)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "events", [("insert", "delete", "update"), ("insert",), ("delete",)], ids=" ".join
)
@pytest.mark.parametrize("shape", shapes.NAMES)
def test_a_store_without_triggers_is_left_alone(tmp_path, shape, events):
    """Neither is anything deleted from it nor restored; Hermes makes them again."""
    path = family(tmp_path / "state.db", shape)
    name = remove(path, "other").bundle.name
    before = dump(without_triggers(path, events))
    for act in (lambda: remove(path, "tip"), lambda: put_back(path, name)):
        with pytest.raises(StoreRefusedError, match="messages_fts has no trigger") as caught:
            act()
        assert "Start a chat in Hermes once" in caught.value.remedy
    assert dump(path) == before and in_trash(tmp_path) == [f"{name}.db", f"{name}.sha256"]


def test_an_index_that_hermes_has_detached(tmp_path):
    """It is left for Hermes to make anew, and the answer is not called verified."""
    path = without_triggers(family(tmp_path / "state.db", "31"), ("insert", "delete", "update"))
    run(path, "INSERT INTO state_meta VALUES ('fts_stale', '1')")
    back = put_back(path, remove(path, "tip").bundle.name)
    assert not back.verified and any("out of date" in each for each in back.notes)
    assert set(health(path)) and dump(path)
    assert check_index(Store(path)) != ()
