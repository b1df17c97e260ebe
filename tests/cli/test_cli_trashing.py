"""`delete` and `trash`: their documents, and the store as it was; what they say is recorded."""

from pathlib import Path
from unittest.mock import Mock

import homes
import pytest
from commandline import ask, call
from contract import holds
from trashing import FAMILY, as_before, execute, is_sound, rows

from hermes_browse.store.edit import restore


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Hermes root with a conversation of everything, half a year ago, and files of it."""
    now = homes.family(tmp_path)
    monkeypatch.setattr("time.time", lambda: now)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def test_the_documents(home):
    """From a delete over the list to a restore and a drop; the store is as before."""
    with as_before(home / "state.db"):
        gone = ask("delete Harbour --yes")
        holds(gone, "DELETE")
        listed = ask("trash list")
        holds(listed, "TRASH")
        assert listed["bundles"] == [gone["bundle"]]
        back = ask("trash restore", gone["bundle"]["name"])
        holds(back, "RESTORE")
        assert set(back["restored"]) == FAMILY
        assert is_sound(home / "state.db")
    holds(ask("trash drop", gone["bundle"]["name"], "--yes"), "DROP")


def test_one_conversation_after_the_other(home):
    """The prompts and goals of those that stay in the bundle stay there too."""
    with as_before(home / "state.db"):
        name = ask("delete --yes tip other")["bundle"]["name"]
        holds(ask("trash restore", name, "--only", "Quay"), "RESTORE")
        beside = (
            "SELECT hash FROM system_prompts "
            "UNION ALL SELECT key FROM state_meta WHERE key LIKE 'goal:%'"
        )
        assert rows(home / "state.db", beside) == [("shared",), ("goal:other",)]
        ask("trash restore", name, "--only", "root")


def test_titles_are_made_harmless(home):
    """What was called with an escape sequence acts on no terminal; the document has it as it
    was."""
    title = "\x1b[31mred\x07\u202e"
    execute(home / "state.db", "UPDATE sessions SET title = ? WHERE id = 'other'", title)
    ended = call("delete other")
    assert "\x1b" not in ended.err and "␛[31mred" in ended.err
    assert ask("delete other --yes")["bundle"]["title"] == title
    listed = call("trash list")
    assert "\x1b" not in listed.out + listed.err and "\u202e" not in listed.out


def test_several_bundles_at_once(home, monkeypatch):
    """The index is compared once, for all of them together."""
    with as_before(home / "state.db"):
        names = [
            ask("delete", each, "--yes")["bundle"]["name"] for each in ("branch", "other", "tip")
        ]
        compare = Mock(return_value=("said once",))
        monkeypatch.setattr(restore, "_compare_index", compare)
        back = ask("trash restore", *reversed(names))
        assert compare.call_count == 1 and back["notes"] == ["said once"]
        assert not back["verified"], "what is wrong with an index is wrong with the restore"
        assert back["bundles"] == names[::-1] and back["messages"] == 32


def test_a_restore_that_fails_after_others(home, monkeypatch):
    """The index is compared with what has come back."""
    names = [ask("delete", each, "--yes")["bundle"]["name"] for each in ("branch", "other")]
    trash = Path(ask("trash list")["folder"])
    with (trash / f"{names[1]}.db").open("ab") as bundle:
        bundle.write(b"damage")
    monkeypatch.setattr(restore, "_compare_index", Mock(return_value=("said once",)))
    ended = call("trash restore", *names)
    assert ended.code != 0 and ended.err.count("said once") == 1


def test_a_restore_that_is_interrupted(home, monkeypatch):
    """What may be half done is said; the same command does the rest."""
    with as_before(home / "state.db"):
        name = ask("delete branch --yes")["bundle"]["name"]
        with monkeypatch.context() as patched:
            patched.setattr(restore, "check_index", Mock(side_effect=KeyboardInterrupt))
            ended = call("trash restore", name)
        assert ended.code == 130 and "the same command restores the rest" in ended.err
        assert call("trash restore", name).code == 0
