"""Search indexes of stores without triggers: a delete and a restore keep them true all the same, or
say that not."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapes
from trashing import dump, family, health, matches, opened, put_back, remove

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import check_index

_INDEXES = ("messages_fts", "messages_fts_trigram")
_WORDS = ("lantern", "gangway", "rope", "terminal")


def found(path: Path) -> dict[tuple[str, str], list[int]]:
    """What each index of a store finds for some words."""
    with opened(path, "ro") as connection:
        there = {
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"
            )
        }
    return {
        (index, word): matches(path, word, index)
        for index in _INDEXES
        if index in there
        for word in _WORDS
    }


def without_triggers(path: Path, events: tuple[str, ...]) -> Path:
    """Drop the triggers that keep the indexes at some events."""
    with opened(path) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%fts%'"
        ).fetchall()
        for (name,) in names:
            if name.endswith(events):
                connection.execute(f"DROP TRIGGER {name}")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "events", [("insert", "delete", "update"), ("insert",), ("delete",)], ids=" ".join
)
@pytest.mark.parametrize("shape", shapes.NAMES)
def test_deleted_and_put_back_without_triggers(
    tmp_path: Path, shape: str, events: tuple[str, ...]
) -> None:
    """Inline, over a table, over a view, words and trigrams: sound after each, and the same is
    found as before."""
    path = without_triggers(family(tmp_path / "state.db", shape), events)
    before, rows = found(path), dump(path)
    assert any(before.values()) and set(health(path).values()) == {"ok"}
    done = remove(path, "tip")
    assert done.notes == () and set(health(path).values()) == {"ok"}
    with opened(path, "ro") as connection:
        left = {row[0] for row in connection.execute("SELECT id FROM messages")}
    assert found(path) == {
        key: [each for each in ids if each in left] for key, ids in before.items()
    }
    back = put_back(path, done.bundle.name)
    assert back.verified and back.notes == () and dump(path) == rows
    assert found(path) == before and set(health(path).values()) == {"ok"}


@pytest.mark.parametrize("shape", ["22", "31"])
def test_messages_that_were_never_indexed(tmp_path: Path, shape: str) -> None:
    """They came while the insert trigger was gone: who deletes them must not count them off."""
    path = without_triggers(family(tmp_path / "state.db", shape), ("insert",))
    with opened(path) as connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('tip', 'user', 'capstan', 1.0)"
        )
    assert matches(path, "capstan") == []
    name = remove(path, "tip").bundle.name
    assert set(health(path).values()) == {"ok"}
    back = put_back(path, name)
    assert (
        back.verified
        and set(health(path).values()) == {"ok"}
        and len(matches(path, "capstan")) == 1
    )


def test_an_index_that_does_not_agree_is_not_called_verified(tmp_path: Path) -> None:
    """Broken before: the rows come back, and the answer says that the index is not right."""
    path = family(tmp_path / "state.db", "31")
    name = remove(path, "tip").bundle.name
    with opened(path) as connection:
        connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('delete-all')")
    back = put_back(path, name)
    assert not back.verified and any(
        "does not agree with the messages" in each for each in back.notes
    )


def test_an_index_that_hermes_has_detached(tmp_path: Path) -> None:
    """It is left for Hermes to make anew, and the answer is not called verified."""
    path = without_triggers(family(tmp_path / "state.db", "31"), ("insert", "delete", "update"))
    with opened(path) as connection:
        connection.execute("INSERT INTO state_meta VALUES ('fts_stale', '1')")
    back = put_back(path, remove(path, "tip").bundle.name)
    assert not back.verified and any("out of date" in each for each in back.notes)
    with_trigger = family(tmp_path / "sound.db", "31")

    assert check_index(Store(with_trigger)) == () and check_index(Store(path)) != ()
