"""`rename`, `archive`, `unarchive`, `pin` and `unpin`: all that is named or nothing, and the way
back."""

import pytest
from builders import HOSTILE_IDS, hostile_store
from commandline import call, copy_store
from trashing import as_before, opened

from hermes_browse.store.api import OpenStore

CHAIN = ["20260101_090000_aaa001", "20260101_100000_aaa002", "20260103_090000_aaa003"]


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))


@pytest.fixture
def path(tmp_path):
    """A store of Hermes 0.22, in its root."""
    return copy_store("state-v31", tmp_path / "root")


def test_a_busy_store(path, monkeypatch):
    """3: nothing was changed, and it says so."""
    monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 0.2)
    with as_before(path):
        with opened(path) as other:
            other.execute("BEGIN IMMEDIATE")
            ended = call("rename", CHAIN[0], "Ferry")
        assert ended.code == 3 and "busy" in ended.err and "Nothing was changed" in ended.err


@pytest.mark.parametrize("session", HOSTILE_IDS)
def test_hostile_ids(tmp_path, session):
    """They are their row's alone, and nothing of them acts on the terminal."""
    (tmp_path / "root").mkdir()
    hostile_store(tmp_path / "root" / "state.db")
    found = call("archive --json --", session).document
    assert found == {"archived": [session], "sessions": [session], "unchanged": []}
    for command in ("unarchive", "archive"):
        ended = call(command, "--", session)
        assert ended.code == 0 and ended.out.count("\n") == 1
    assert call("rename --json --", session, "--help").document["title"] == "--help"
    ended = call("rename -- control Calm")
    assert ended.code == 0 and "\x1b" not in ended.out + ended.err


def test_an_archive_that_comes_second(path, monkeypatch):
    """What another program has archived since the plan is not said to be done."""
    act = OpenStore.archive_planned

    def second(store, plan):
        act(store, plan)
        return act(store, plan)

    monkeypatch.setattr(OpenStore, "archive_planned", second)
    ended = call("prune source:telegram --archive --yes --json")
    assert ended.code == 0 and "0 conversations archived; 6 changed meanwhile" in ended.err
    assert not ended.document["would"]
    assert "changed" in {each["code"] for each in ended.document["spared"]}
