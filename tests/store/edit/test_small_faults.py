"""What the system or another process does at the worst moment is told as it is."""

import os

import pytest
from trashing import allow_any_trigger, as_before, family, put_back, remove, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import titles, transaction
from hermes_browse.store.errors import BrowseError, WriteUnverifiedError


def test_a_stat_that_fails_after_the_commit(path, monkeypatch):
    """The file was not replaced: nobody knows, and the change is in it."""
    real = transaction.Writer._verify

    def fail(place, **named):
        raise OSError(5, "Input/output error")

    def verify(*given):
        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", fail)
            real(*given)

    monkeypatch.setattr(transaction.Writer, "_verify", verify)
    with pytest.raises(
        WriteUnverifiedError, match=r"was written, but could not be read back.*Input/output"
    ) as caught:
        titles.rename(Store(path), "tip", "Pier at dawn")
    monkeypatch.undo()
    assert "replaced" not in caught.value.sentence
    with Store(path).reader() as reader:
        assert reader.value("SELECT title FROM sessions WHERE id = 'tip'") == "Pier at dawn"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_root_gives_files_back_to_their_owner(tmp_path):
    """A Hermes of another user reads what root restores in its home."""
    path = family(tmp_path / "state.db", journal="delete")
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "tip.jsonl").write_text("{}\n", encoding="utf-8")
    os.chown(folder / "tip.jsonl", 12345, 23456)
    os.chown(folder, 12345, 23456)
    name = remove(path, "tip", sessions_folder=folder).bundle.name
    assert not (folder / "tip.jsonl").exists()
    put_back(path, name, sessions_folder=folder)
    found = (folder / "tip.jsonl").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


def test_a_trigger_that_refuses_is_an_error_that_changes_nothing(path, monkeypatch):
    """What SQLite says is told, and that nothing was changed; the same error within a larger work
    does not say so."""
    run(
        path,
        "CREATE TRIGGER no BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'not here'); END",
    )
    allow_any_trigger(monkeypatch)
    with as_before(path):
        with pytest.raises(BrowseError, match=r"not here.* Nothing was changed") as caught:
            remove(path, "tip")
        caught.value.is_unchanged = False
        assert "Nothing was changed" not in str(caught.value)
