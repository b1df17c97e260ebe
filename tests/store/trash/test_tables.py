"""What belongs to a session is found in the store: by foreign keys, and by the names of columns."""

import pytest
import shapes
from trashing import FAMILY, as_before, family, put_back, remove, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import RefusedError, StoreError
from hermes_browse.store.trash.tables import find_layout


def layout_of(path, *statements):
    """The layout of a store after some statements."""
    run(path, *statements)
    with Store(path).reader() as reader:
        return find_layout(reader.rows)


def rows_of(path, *ids):
    """How many rows of each table belong to sessions."""
    chosen = f"WITH chosen(id) AS (VALUES {','.join(['(?)'] * len(ids))})"
    with Store(path).reader() as reader:
        counted = {
            owned.name: len(
                reader.rows(f"{chosen} SELECT 1 FROM {owned.main} WHERE {owned.own}", ids)
            )
            for owned in find_layout(reader.rows).owned
        }
    return {table: count for table, count in counted.items() if count}


def test_all_tables_of_hermes_are_found(path):
    """One row in each, and what is another session's is not among them."""
    found = rows_of(path, *sorted(FAMILY))
    assert found == {
        "system_prompts": 2, "sessions": 6, "messages": 24, "session_model_usage": 1, "state_meta": 1,
    }  # fmt: skip
    taken = {owned.name for owned in layout_of(path).taken}
    assert taken == {"sessions", "messages", "session_model_usage", "state_meta"}


@pytest.mark.parametrize("shape", shapes.NAMES)
def test_no_search_table_is_taken_for_one_of_rows(tmp_path, shape):
    """Nor are their shadows; triggers keep them."""
    layout = layout_of(family(tmp_path / "state.db", shape))
    tables = [owned.name for owned in layout.owned]
    assert not [name for name in tables if name.startswith("messages_fts")]
    assert tables.index("sessions") < tables.index("messages")


UNKNOWN = (
    "CREATE TABLE notes (note TEXT, whose TEXT REFERENCES sessions(id))",
    "CREATE TABLE stars (message INTEGER REFERENCES messages ON DELETE CASCADE, n, PRIMARY KEY (message, n))",
    "CREATE TABLE remarks (id INTEGER PRIMARY KEY, session_id TEXT)",
    'CREATE TABLE "odd "" name" (id TEXT REFERENCES sessions(id), doubled GENERATED ALWAYS AS (id || id) STORED)',
)


def test_tables_nobody_knows_are_found_and_brought_back(path):
    """By foreign key to sessions or messages, of any shape; those that only name a session stay."""
    run(
        path,
        *UNKNOWN,
        "INSERT INTO notes VALUES ('a', 'tip'), ('b', 'other'), (CAST(x'ff' AS TEXT), 'root')",
        "INSERT INTO stars VALUES (1, 'x'), (1, 'y'), (29, 'z')",
        "INSERT INTO remarks VALUES (5, 'tip')",
        "INSERT INTO \"odd \"\" name\" (id) VALUES ('tip'), ('other')",
    )
    with as_before(path):
        found = rows_of(path, *sorted(FAMILY))
        assert (found["notes"], found["stars"], found['odd " name']) == (2, 2, 1)
        done = remove(path, "root")
        left = (
            "SELECT note FROM notes UNION ALL SELECT n FROM stars UNION ALL SELECT id FROM remarks"
        )
        assert rows(path, left) == [("b",), ("z",), (5,)]
        put_back(path, done.bundle.name)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a TEXT DEFAULT 'x' REFERENCES sessions(id) ON DELETE SET DEFAULT)",
        "CREATE TABLE t (a INTEGER REFERENCES messages(id) ON DELETE SET NULL)",
        "CREATE TABLE t (a TEXT, b TEXT, FOREIGN KEY (a, b) REFERENCES sessions(id, title))",
        "ALTER TABLE sessions ADD COLUMN a TEXT REFERENCES sessions(id)",
    ],
)
def test_what_cannot_be_undone_is_refused(path, tmp_path, statement):
    """Before anything is written."""
    run(path, statement)
    with as_before(path):
        with pytest.raises(RefusedError):
            remove(path, "tip")
        assert not list((tmp_path / "trash").glob("*"))


def test_a_table_without_rowids_is_not_deleted_from(path):
    """No Hermes makes one: SQLite says why."""
    run(path, "CREATE TABLE t (a TEXT PRIMARY KEY REFERENCES sessions(id)) WITHOUT ROWID")
    with as_before(path), pytest.raises(StoreError, match=r"_rowid_.*Nothing was changed"):
        remove(path, "tip")


def test_links_leave_out_what_goes_itself(path):
    """Only rows that stay need their reference back."""
    bundle = remove(path, "tip").bundle.path
    record = '"cleared sessions.parent_session_id"'
    assert rows(bundle, f"SELECT * FROM {record}") == [("branch", "tip")]
