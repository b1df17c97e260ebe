"""`profiles` and `doctor`: several roots and stores, sound and broken ones, and which one is
meant."""

import homes
import pytest
from commandline import ask, call, path_with, stub_hermes
from contract import holds
from trashing import run


@pytest.fixture
def root(tmp_path):
    """A root with profiles: sound, broken, empty, without a store, and folders that are none."""
    root = tmp_path / "root"
    root.mkdir()
    homes.profiles(root)
    return root


def test_which_profile_is_meant(root, monkeypatch):
    """As Hermes takes it: --profile, a home that is a profile's, the sticky one, the root's own."""

    def meant(*options):
        store = ask(*options, "list")["store"]
        return store["profile"], store["path"]

    own, coder = (
        ("default", str(root / "state.db")),
        ("coder", str(root / "profiles" / "coder" / "state.db")),
    )
    assert meant("--home", str(root)) == own
    assert meant("--home", str(root), "--profile", "coder") == coder
    assert meant("--home", str(root / "profiles" / "coder")) == coder
    assert meant("--db", coder[1]) == coder and meant("--db", own[1]) == own
    monkeypatch.setenv("HERMES_HOME", str(root))
    assert meant() == own and meant("--profile", "coder") == coder
    (root / "active_profile").write_text("coder\n")
    assert meant() == coder and meant("--profile", "default") == own
    assert meant("--home", str(root)) == own, "what is named is what is opened"
    assert ask("profiles")["active"] == "coder"
    monkeypatch.setenv("HERMES_HOME", str(root / "profiles" / "a-b_9"))
    assert meant()[0] == "a-b_9"
    monkeypatch.delenv("HERMES_HOME")
    monkeypatch.setenv("HOME", str(root.parent))
    root.rename(root.parent / ".hermes")
    assert meant()[1] == str(root.parent / ".hermes" / "profiles" / "coder" / "state.db")


def test_looking_leaves_no_trace(root):
    """No byte of any file changes, and no file comes, apart from SQLite's own -shm and -wal."""

    def files():
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    before = files()
    for command in (
        "list",
        "list --sort size",
        "search the",
        "profiles",
        "doctor",
        "resume --last --print",
    ):
        for options in ([], ["--profile", "coder"]):
            call("--home", str(root), *options, *command.split())
    after = {
        name: content for name, content in files().items() if not name.endswith(("-shm", "-wal"))
    }
    assert after == before


def test_doctor_of_a_sound_store(root, tmp_path, monkeypatch):
    """Whether `hermes` is there, and its version without running it."""
    monkeypatch.setenv("PATH", path_with())
    document = ask("--home", str(root), "doctor")
    assert document["hermes"] is None and "no-hermes" in [
        each["code"] for each in document["problems"]
    ]
    folder = stub_hermes(tmp_path / "env" / "bin", f"touch '{tmp_path}/was-run'")
    monkeypatch.setenv("PATH", path_with(folder))
    found = ask("--home", str(root), "doctor")
    assert found["hermes"] == {"path": str(folder / "hermes"), "version": None}
    (
        tmp_path / "env" / "lib" / "python3.11" / "site-packages" / "hermes_agent-1.2.3.dist-info"
    ).mkdir(parents=True)
    assert ask("--home", str(root), "doctor")["hermes"]["version"] == "1.2.3"
    assert [each["code"] for each in found["problems"]] == []
    assert not (tmp_path / "was-run").exists()
    assert found["search"] | {"messages": 0, "indexed": 0} == {
        "fts5": True,
        "trigram": True,
        "indexed": 0,
        "messages": 0,
    }
    assert found["search"]["indexed"] == found["search"]["messages"] > 0


@pytest.mark.parametrize(
    "content, code",
    [
        (None, "store-missing"),
        (b"", "store-empty"),
        (b"no database" * 500, "store-foreign"),
    ],
)
def test_doctor_of_a_store_that_cannot_be_read(tmp_path, content, code):
    """3, and still the whole document: the problem is in it with its remedy."""
    if content is not None:
        (tmp_path / "state.db").write_bytes(content)
    for where in (["--home", str(tmp_path)], ["--db", str(tmp_path / "state.db")]):
        ended = call(*where, "doctor", "--json")
        assert ended.code == 3
        holds(ended.document, "DOCTOR")
        problem = ended.document["problems"][0]
        assert (problem["severity"], problem["code"]) == ("error", code) and problem["remedy"]
        assert ended.document["store"]["warnings"] == [problem["text"]]
        assert ended.document["store"]["sessions"] is None
        people = call(*where, "doctor")
        assert people.code == 3 and people.err.startswith("error: ") and str(tmp_path) in people.out


def test_doctor_says_what_the_index_lacks(root):
    """Rows that are not in the search index are counted, a store without one is told apart."""
    run(
        root / "state.db",
        "DELETE FROM messages_fts_docsize WHERE id IN (SELECT id FROM messages_fts_docsize LIMIT 3)",
    )
    document = ask("--home", str(root), "doctor")
    assert document["search"]["messages"] - document["search"]["indexed"] == 3
    problem = next(each for each in document["problems"] if each["code"] == "index-incomplete")
    assert problem["text"].startswith("3 of ")


def test_a_newer_store_is_read(root):
    """Never refused: a warning in `list` and `doctor`, and the rows."""
    run(
        root / "state.db",
        "UPDATE schema_version SET version = 99",
        "ALTER TABLE sessions ADD COLUMN of_the_future TEXT",
    )
    ended = call("--home", str(root), "list", "--json")
    assert (
        ended.code == 0
        and ended.document["shown"] > 0
        and ended.document["store"]["schema_version"] == 99
    )
    assert any("newer" in warning for warning in ended.document["store"]["warnings"])
    assert "newer" in call("--home", str(root), "list").err
    assert any("newer" in each["text"] for each in ask("--home", str(root), "doctor")["problems"])
