"""A bundle is the same in every language: one that is written in one of them is put back in
another."""

from __future__ import annotations

from pathlib import Path

import pytest
from tongue import speak_brackets
from trashing import NOW, dump, family, put_back, remove

from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.format import README, README_TEXT


def test_written_in_one_and_put_back_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says to people is shown in the language of who looks; nothing of that is in its
    files."""
    path = family(tmp_path / "state.db")
    before = dump(path)
    with monkeypatch.context() as patch:
        speak_brackets(patch)
        done = remove(path, "tip", now=NOW)
        assert (
            done.sentence
            == f"‹deleted ‹{len(done.sessions)} sessions›, ‹24 messages› to the trash›"
        )
    for file in done.bundle.path.iterdir():
        assert (
            file.is_file()
            and "‹".encode() not in file.read_bytes()
            and b"\\u2039" not in file.read_bytes()
        )
    assert (done.bundle.path / README).read_text("ascii") == README_TEXT
    assert verify(done.bundle.path).messages == 24
    back = put_back(path, done.bundle.name)
    assert back.verified and back.messages == 24 and dump(path) == before
