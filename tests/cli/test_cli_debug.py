"""The log: where failures are written down, what `--debug` adds to it, and what never stands in
it."""

import os
import stat

import pytest
from commandline import call, copy_store

from hermes_browse.store.connection import reader
from hermes_browse.tui.terminal import logfile
from hermes_browse.tui.terminal.logfile import log_failure, log_path


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    """What `--debug` switches on is switched off after each test."""
    monkeypatch.setattr(logfile, "_is_debugging", False)
    monkeypatch.setattr(reader, "observe", None)


def failed(secret="x"):
    """Fail with a value in the message, because of another failure; return where it is logged."""
    try:
        try:
            raise ValueError(f"{secret} first")
        except ValueError as error:
            raise KeyError(f"{secret} second") from error
    except KeyError:
        return log_failure()


def written():
    """The log."""
    return log_path().read_text(encoding="utf-8")


def test_a_failure_is_written_down_without_its_values():
    """Kinds and places, of what led to it too; for this user's eyes alone."""
    assert failed("what was said") == str(log_path())
    text = written()
    assert "KeyError" in text and "because of ValueError" in text and "test_cli_debug.py" in text
    assert "what was said" not in text
    if os.name == "posix":
        assert stat.S_IMODE(log_path().stat().st_mode) == 0o600
        assert stat.S_IMODE(log_path().parent.stat().st_mode) == 0o700


def test_the_log_does_not_grow_for_ever(monkeypatch):
    """A long one is put aside, and the one put aside before goes."""
    monkeypatch.setattr(logfile, "_MAX_BYTES", 100)
    for _ in range(5):
        failed()
    names = sorted(each.name for each in log_path().parent.iterdir())
    assert (
        names == ["hermes-browse.log", "hermes-browse.log.1"] and written().count("KeyError") == 1
    )


def test_where_no_log_can_be_written(monkeypatch, tmp_path):
    """The sentence says so; nothing else fails because of it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(logfile, "log_path", lambda: tmp_path / "file" / "hermes-browse.log")
    assert failed().startswith("no log could be written")


@pytest.mark.parametrize("behind", [True, False])
def test_debug_writes_down_what_is_done(tmp_path, behind):
    """Versions and statements with their times, and no word that was looked for, or found."""
    copy_store("state-v31", tmp_path)
    line = ["--home", str(tmp_path), "search", "auth"]
    ended = call(*([*line, "--debug"] if behind else ["--debug", *line]))
    text = written()
    assert ended.code == 0 and ended.out and str(log_path()) in ended.err
    assert "SQLite" in text and " search, process" in text and "MATCH ?" in text and " ms" in text
    assert "auth" not in text.lower().replace("hermes-browse", "").replace(
        str(tmp_path).lower(), ""
    )
    assert reader.observe is not None


def test_without_debug_nothing_is_written(tmp_path):
    """A failure that has a sentence needs no log; with --debug it has one."""
    assert call("--home", str(tmp_path), "list").code == 3
    assert not log_path().exists() and reader.observe is None
    assert call("--debug --home", str(tmp_path), "list").code == 3
    assert "StoreMissingError" in written() and str(tmp_path) not in written()
