"""What `hermes --resume` opens: our prediction against what Hermes said, for families its fixtures
lack."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from paths import fixture

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.lineage import predict_resume, read_lineage
from hermes_browse.store.sessions.models import Relation

T0 = 1_767_258_000.0

Row = tuple[str, str | None, str | None, str | None, dict[str, str], bool]
"""Id, parent, how it ended, its key, its markers, and whether it has a message."""

PAIRS = {
    "open": (None, "chat", {}),
    "closed": ("cli_close", "chat", {}),
    "new": ("new_session", "chat", {}),
    "reset": ("session_reset", "chat", {}),
    "daily": ("daily", "chat", {}),
    "other-key": ("daily", "other", {}),
    "marked": ("cli_close", None, {"_reset_from": "marked-parent"}),
    "inherited": ("cli_close", None, {"_reset_from": "elsewhere"}),
    "compressed": ("compression", "chat", {}),
    "compressed-reset": ("compression", "chat", {"_reset_from": "compressed-reset-parent"}),
    "compressed-agent": ("compression", "chat", {"_delegate_from": "elsewhere"}),
}
"""By name: how a parent with the key `chat` ended, the key of its only child, and the child's
markers."""

STAYS = {
    22: {"compressed-agent"},
    31: {"reset", "daily", "marked", "inherited", "compressed-reset", "compressed-agent"},
}
"""Where Hermes 0.19 and 0.22.2 opened the parent (run on these very rows); of all others they
opened the child."""


def family(version, rows, path):
    """A copy of a store that Hermes wrote, with these sessions in it as well, each begun a minute
    after the last."""
    shutil.copy(fixture(version), path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for number, (session, parent, reason, key, markers, spoken) in enumerate(rows):
            start = T0 + 60 * number
            connection.execute(
                "INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason, session_key, "
                "model_config) VALUES (?, 'telegram', ?, ?, ?, ?, ?, ?)",
                [
                    session,
                    parent,
                    start,
                    start + 30 if reason else None,
                    reason,
                    key,
                    json.dumps(markers) if markers else None,
                ],
            )
            if spoken:
                connection.execute(
                    "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'hello', ?)",
                    [session, start + 1],
                )
    return path


def pairs():
    """The rows of all pairs."""
    rows = []
    for name, (reason, key, markers) in PAIRS.items():
        rows.append((f"{name}-parent", None, reason, "chat", {}, True))
        rows.append((f"{name}-child", f"{name}-parent", None, key, markers, True))
    return rows


@pytest.mark.parametrize("version", [22, 31])
def test_a_chat_after_a_reset_is_one_of_its_own_only_where_hermes_says_so(version, tmp_path):
    """A key alone makes no reset: the parent must have ended by one (0.22), and 0.19 knows of
    none."""
    path = family(version, pairs(), tmp_path / "state.db")
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, T0)
        opened = {
            name: predict_resume(catalog, f"{name}-parent", reader.schema.version) for name in PAIRS
        }
        assert read_lineage(reader, "open-parent", T0).predicted == "open-child"
    expected = {name: f"{name}-{'parent' if name in STAYS[version] else 'child'}" for name in PAIRS}
    assert opened == expected


def test_a_store_of_unknown_schema_follows_the_newest_rules(tmp_path):
    """As 0.22 does."""
    path = family(31, pairs(), tmp_path / "state.db")
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, T0)
        assert predict_resume(catalog, "reset-parent", None) == "reset-parent"
        relations = {name: catalog.conversation(f"{name}-child").relation for name in PAIRS}
    resets = {name for name, relation in relations.items() if relation is Relation.RESET}
    assert resets == {"reset", "daily", "marked", "inherited", "compressed-reset"}
