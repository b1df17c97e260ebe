"""`delete` and `trash`: documents, questions, and what they refuse."""

import os
from pathlib import Path

import pytest
from commandline import ask, call
from contract import holds
from trashing import FAMILY, NOW, as_before, dump, family, is_sound, opened

from hermes_browse.store.edit import restore


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Hermes root with a conversation of everything, half a year ago, and files of it."""
    root = tmp_path / "root"
    (root / "sessions").mkdir(parents=True)
    (root / "sessions" / "tip.json").write_text("{}")
    family(root / "state.db")
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setenv("HERMES_HOME", str(root))
    return root


def trash_of():
    """Where bundles go."""
    return Path(os.environ["XDG_DATA_HOME"]) / "hermes-browse" / "trash"


def test_the_documents(home):
    """From a delete over the list to a restore and a drop; the store is as before."""
    with as_before(home / "state.db"):
        gone = ask("delete Harbour --yes")
        holds(gone, "DELETE")
        assert set(gone["deleted"]) == FAMILY
        said = {"reparented": ["branch"], "files": ["tip.json"], "conversations": ["tip"]}
        assert gone | said | {"messages": 24} == gone
        assert not (home / "sessions" / "tip.json").exists()
        listed = ask("trash list")
        holds(listed, "TRASH")
        assert listed["bundles"] == [gone["bundle"]] and listed["folder"] == str(trash_of())
        name = gone["bundle"]["name"]
        assert {path.name for path in trash_of().iterdir()} == {
            f"{name}.db",
            f"{name}.sha256",
            "links.db",
        }
        back = ask("trash restore", gone["bundle"]["name"])
        holds(back, "RESTORE")
        assert set(back["restored"]) == FAMILY
        assert back | {"verified": True, "messages": 24, "files": 1, "notes": []} == back
        assert (home / "sessions" / "tip.json").read_text() == "{}"
        assert is_sound(home / "state.db")
    assert ask("trash list")["bundles"][0]["restored_at"] == NOW
    holds(ask("trash drop", gone["bundle"]["name"], "--yes"), "DROP")
    assert ask("trash list")["bundles"] == [] and not list(trash_of().iterdir())


def test_titles_are_made_harmless(home):
    """What was called with an escape sequence acts on no terminal; the document has it as it
    was."""
    with opened(home / "state.db") as connection:
        connection.execute(
            "UPDATE sessions SET title = ? WHERE id = 'other'", ["\x1b[31mred\x07\u202e"]
        )
    ended = call("delete other")
    assert "\x1b" not in ended.err and "␛[31mred" in ended.err
    assert ask("delete other --yes")["bundle"]["title"] == "\x1b[31mred\x07\u202e"
    listed = call("trash list")
    assert "\x1b" not in listed.out + listed.err and "\u202e" not in listed.out


def test_a_damaged_bundle_is_a_line(home):
    """And cannot be restored: exit code 1, a sentence, nothing changed."""
    name = ask("delete tip --yes")["bundle"]["name"]
    gone = dump(home / "state.db")
    (trash_of() / f"{name}.db").write_bytes(b"{}")
    ended = call("trash restore", name)
    assert ended.code == 1 and "SHA-256" in ended.err and dump(home / "state.db") == gone
    assert "damaged: " in call("trash list").out
    (damaged,) = ask("trash list")["bundles"]
    assert damaged["damage"] and damaged["sessions"] == []


def test_another_store_wants_a_yes(home, tmp_path):
    """A bundle goes back where it is from unless told otherwise."""
    name = ask("delete tip --yes")["bundle"]["name"]
    other = family(tmp_path / "other.db")
    ended = call("--db", str(other), "trash", "restore", name)
    assert ended.code == 5 and str(home / "state.db") in ended.err
    assert call("--db", str(other), "delete", "tip", "other", "branch", "--yes").code == 0
    ended = call("--db", str(other), "trash", "restore", name, "--yes", "--json")
    assert ended.code == 0 and set(ended.document["restored"]) == FAMILY
    assert any("1 files stay" in each or "was no" in each or "stay in the trash" in each
               for each in ended.document["notes"])  # fmt: skip


def test_several_bundles_at_once(home, monkeypatch):
    """One after another; what was done before one fails is said."""
    with as_before(home / "state.db"):
        names = [
            ask("delete", each, "--yes")["bundle"]["name"] for each in ("branch", "other", "tip")
        ]
        compared = []

        def compare(unit, path):
            compared.append(unit)
            return ("said once",)

        monkeypatch.setattr(restore, "_compare_index", compare)
        back = ask("trash restore", *reversed(names))
        assert len(compared) == 1 and back["notes"] == ["said once"], "of all of them together"
        assert not back["verified"], "what is wrong with an index is wrong with the restore"
        assert back["bundles"] == names[::-1] and back["messages"] == 32
    ask("delete other --yes")
    ask("rename branch Elsewhere")
    ended = call("trash restore", names[1], names[0])
    assert ended.code == 5 and f"Restored before that: {names[1]}." in ended.err


def test_the_sample_store_keeps_its_own_trash():
    """Nothing of it gets among the user's bundles."""
    listed = ask("--demo list --limit 0")["conversations"]
    named = next(each for each in listed if each["status"] == "ended" and not each["pinned"])
    gone = ask("--demo delete", named["id"], "--yes")
    assert named["id"] in gone["deleted"] and not trash_of().exists()


def test_one_conversation_of_a_bundle(home):
    """By id, prefix or title; the rest stays in the bundle. An unknown one changes nothing."""
    with as_before(home / "state.db"):
        name = ask("delete --yes tip other")["bundle"]["name"]
        document = ask("trash restore", name, "--only", "Quay")
        holds(document, "RESTORE")
        assert document | {"restored": ["other"], "messages": 4, "verified": True} == document
        with opened(
            home / "state.db", "ro"
        ) as store:  # the prompts and goals of the others stay out
            beside = "SELECT hash FROM system_prompts UNION ALL SELECT key FROM state_meta WHERE key LIKE 'goal:%'"
            assert store.execute(beside).fetchall() == [("shared",), ("goal:other",)]
        (bundle,) = ask("trash list")["bundles"]
        assert set(bundle["sessions"]) == FAMILY | {"other"} and bundle["restored_at"] is None
        missing = call("trash restore", name, "--only", "nobody")
        assert missing.code == 4 and "nobody" in missing.err
        document = ask("trash restore", name, "--only", "root")
        assert set(document["restored"]) == FAMILY
    (bundle,) = ask("trash list")["bundles"]
    assert bundle["restored_at"] is not None
