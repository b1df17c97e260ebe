"""`export`: its document, and the same text on standard output as in a file; what else it does and
says is recorded."""

import os
from pathlib import Path

import pytest
from commandline import ask, call, copy_store, spawn
from contract import holds

CHAIN = "20260101_090000_aaa001"


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    """A root to export from, and an empty folder to be in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    copy_store("state-v31", tmp_path / "root")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))


@pytest.mark.parametrize("form", ["markdown", "jsonl", "html"])
def test_the_document(form):
    """The size that is told is that of the file."""
    found = ask("export", CHAIN, "--format", form)
    holds(found, "EXPORT")
    assert found["format"] == form
    (file,) = found["files"]
    assert Path(file["path"]).stat().st_size == file["bytes"] > 1000


@pytest.mark.slow
def test_standard_output():
    """The document alone, the same as in a file; what is said goes to standard error."""
    for form in ("markdown", "jsonl", "html"):
        command = ["export", CHAIN, "--format", form]
        ended = call(*command, "--output", "-")
        assert ended.code == 0 and "No secret" in ended.err and os.listdir() == []
        spawned = spawn(*command, "--output", "-", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
        assert spawned.code == 0

        def timeless(text):
            return [
                line
                for line in text.split("\n")
                if "exported_at" not in line and "<footer>" not in line
            ]

        assert timeless(spawned.out) == timeless(ended.out)
