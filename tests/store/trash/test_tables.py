"""What belongs to a session is found in the store."""

import pytest
import shapes
from trashing import FAMILY, as_before, family, remove, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import RefusedError
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
            part.table.name: len(
                reader.rows(
                    f"{chosen} SELECT 1 FROM {part.table.main} WHERE {part.where('m')}", ids
                )
            )
            for part in find_layout(reader.rows).parts
        }
    return {table: count for table, count in counted.items() if count}


def test_all_tables_of_hermes_are_found(path):
    """One row in each, and what is another session's is not among them."""
    found = rows_of(path, *sorted(FAMILY))
    assert found == {
        "system_prompts": 2, "sessions": 6, "messages": 24, "session_model_usage": 1, "state_meta": 1,
    }  # fmt: skip
    taken = {part.table.name for part in layout_of(path).taken}
    assert taken == {"sessions", "messages", "session_model_usage", "state_meta"}


@pytest.mark.parametrize("shape", shapes.NAMES)
def test_no_search_table_is_taken_for_one_of_rows(tmp_path, shape):
    """Nor are their shadows; triggers keep them."""
    layout = layout_of(family(tmp_path / "state.db", shape))
    tables = [part.table.name for part in layout.parts]
    assert not [name for name in tables if name.startswith("messages_fts")]
    assert tables.index("sessions") < tables.index("messages")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a TEXT REFERENCES Sessions ON DELETE CASCADE)",
        "CREATE TABLE t (a INTEGER REFERENCES messages(id) ON DELETE SET NULL)",
        "CREATE TABLE t (a TEXT, b TEXT, FOREIGN KEY (a, b) REFERENCES sessions(id, title))",
        "ALTER TABLE sessions ADD COLUMN a TEXT REFERENCES sessions(id)",
    ],
)
def test_a_table_of_another_program_that_refers_to_sessions_is_refused(path, tmp_path, statement):
    """Before anything is written."""
    run(path, statement)
    with as_before(path):
        with pytest.raises(RefusedError):
            remove(path, "tip")
        assert not list((tmp_path / "trash").glob("*"))


def test_links_leave_out_what_goes_itself(path):
    """Only rows that stay need their reference back."""
    bundle = remove(path, "tip").bundle.path
    record = '"cleared sessions.parent_session_id"'
    assert rows(bundle, f"SELECT * FROM {record}") == [("branch", "tip")]
