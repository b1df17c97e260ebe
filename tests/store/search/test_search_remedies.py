"""What the program says mends an index is carried out on damaged copies, and must mend them."""

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from search_stores import found, ids, standing
from searching import search
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.health import problems_of, search_health, summarize
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.search.coverage import ASK_DOCTOR, read_coverage

_TRIGGERS = [
    f"DROP TRIGGER IF EXISTS {table}_{what}"
    for table in ("messages_fts", "messages_fts_trigram")
    for what in ("insert", "delete", "update")
]
_TABLES = ["DROP TABLE messages_fts", "DROP TABLE messages_fts_trigram"]
_WRITTEN = (
    "INSERT INTO messages (session_id, role, content, timestamp) "
    "SELECT id, 'user', 'docker written unseen', 1767300000 FROM sessions LIMIT 1"
)
_DAMAGES = {
    "no tables": [*_TRIGGERS, *_TABLES],
    "no tables but triggers": _TABLES,
    "no triggers": [*_TRIGGERS, _WRITTEN],
    "part of the table gone": ["DROP TABLE messages_fts_data"],
    "sizes gone": ["DROP TABLE messages_fts_docsize"],
    "pages gone": ["DELETE FROM messages_fts_data WHERE id > 10"],
    "holes": ["DELETE FROM messages_fts WHERE rowid BETWEEN 5 AND 100"],
}


def _advice(path):
    """What `doctor` says to do about the index: once, by the facts of the store and by the check of
    its index alike."""
    with Store(path).reader() as reader:
        health = search_health(reader)
        told = problems_of(summarize(reader, Location(path)), health, "hermes")
        assert [each.remedy for each in told if each.remedy == health.remedy] == [health.remedy]
    return health.remedy


def _carry_out(path, advice):
    """Do what is advised: the SQL with Python's own SQLite, Hermes' part with the installed
    Hermes."""
    command = shlex.split(advice.partition("sqlite3 ")[2])
    if command:
        assert Path(command[0]) == path
        run(path, command[1])
    program = ""
    if "hermes sessions repair" in advice:
        program = "import sys; from hermes_cli.main import main; sys.argv = ['hermes', 'sessions', 'repair']; main()"
    elif "start" in advice:
        program = f"from pathlib import Path; from hermes_state import SessionDB; SessionDB(Path({str(path)!r})).close()"
    home = os.environ | {"HERMES_HOME": str(path.parent), "HOME": str(path.parent)}
    python = [sys.executable, "-c", program]
    subprocess.run(python, env=home, check=True, capture_output=True, timeout=120)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hermes_state") is None, reason="Hermes is not installed here")
@pytest.mark.parametrize("how", _DAMAGES)
def test_what_is_advised_mends_the_index(fixture_store, tmp_path, how):
    path = fixture_store("state-v22").rename(tmp_path / "state.db")
    run(path, *_DAMAGES[how])
    assert sorted(found(path, "docker"), reverse=True) == standing(path, "docker"), (
        "found all the same, by a scan"
    )
    advice = _advice(path)
    assert advice
    _carry_out(path, advice)
    with Store(path).reader() as reader:
        assert not read_coverage(reader).reason and not search_health(reader).remedy
    assert sorted(found(path, "docker"), reverse=True) == standing(path, "docker")


@pytest.mark.parametrize("how", ["no tables", "stale"])
def test_an_index_that_is_not_used_is_told_once_with_one_remedy(fixture_store, how):
    stale = ["INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_stale', '')"]
    path = fixture_store("state-v31")
    run(path, *(stale if how == "stale" else _DAMAGES[how]))
    assert _advice(path)


@pytest.mark.parametrize("how", ["pages gone", "holes"])
def test_sqlite_alone_mends_an_index_without_a_copy(fixture_store, how):
    path = fixture_store("state-v31")
    holes = ["DELETE FROM messages_fts_docsize WHERE id BETWEEN 5 AND 20"]
    run(path, *(holes if how == "holes" else _DAMAGES[how]))
    advice = _advice(path)
    assert "'rebuild'" in shlex.split(advice.partition("sqlite3 ")[2])[1] and "start" not in advice
    _carry_out(path, advice)
    with Store(path).reader() as reader:
        assert not read_coverage(reader).reason and not search_health(reader).remedy


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no tables", "on its next start (0.16 and later)"),
        ("no tables but triggers", ASK_DOCTOR),
        ("no triggers", "Hermes fills it on its next start"),
        ("sizes gone", "`hermes sessions repair` rebuilds it (Hermes 0.17 and later)"),
        ("holes", "26 of 120 messages indexed, the rest is scanned; " + ASK_DOCTOR),
    ],
)
def test_the_status_line_says_it_in_short(fixture_store, how, said):
    path = fixture_store("state-v22")
    run(path, *_DAMAGES[how])
    with Store(path).reader() as reader:
        assert said in read_coverage(reader).reason


@pytest.mark.parametrize(
    ("how", "said"),
    [("pages gone", ASK_DOCTOR), ("part of the table gone", "`hermes sessions repair`")],
)
def test_what_a_search_finds_broken_is_called_broken(fixture_store, how, said):
    """Not missing: the tables are there, and the remedy is another."""
    path = fixture_store("state-v22")
    run(path, *_DAMAGES[how])
    with Store(path).reader() as reader:
        answer = search(reader, "docker", limit=0)
        assert ids(answer) == standing(path, "docker")
        reason = read_coverage(reader).reason
        assert said in reason and "index broken" in reason
        assert any("cannot be used" in note and said in note for note in answer.notes)
