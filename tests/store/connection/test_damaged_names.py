"""A name in the schema that is no UTF-8: SQLite's message is not either, and is an error of SQLite
all the same."""

import pytest
from builders import make_store
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import titles
from hermes_browse.store.errors import StoreDamagedError
from hermes_browse.tui.cli import main


@pytest.fixture
def path(tmp_path):
    """A store whose table of sessions has such a name."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], journal="delete")
    name = (
        "UPDATE sqlite_master SET name = CAST(x'73657373696fc173' AS TEXT) WHERE name = 'sessions'"
    )
    run(path, "PRAGMA writable_schema=ON", name)
    return path


def test_it_is_damage(path):
    """For readers and writers."""
    with pytest.raises(StoreDamagedError, match="malformed database schema") as caught:
        Store(path).open()
    assert "hermes sessions repair" in caught.value.remedy
    with pytest.raises(StoreDamagedError, match="malformed"):
        titles.rename(Store(path), "a", "Quay")


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "doctor",
        "show a",
        "export a",
        "rename a b",
        "delete --yes a",
        "search a",
        "prune",
        "stats",
    ],
)
def test_commands_say_what_to_do(path, capsys, command):
    """Every command, and none asks to look into the log."""
    code = main(["--db", str(path), *command.split()])
    said = capsys.readouterr()
    assert code in (1, 3) and "unexpected" not in said.err
    assert "hermes sessions repair" in said.out + said.err
