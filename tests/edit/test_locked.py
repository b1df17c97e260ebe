"""A store that another process keeps for itself: a sentence, an exit code, nothing changed, and
nothing for the trash.

For some seconds; HERMES_BROWSE_LOCKED sets how many.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from trashing import dump, family, opened

HELD = float(os.environ.get("HERMES_BROWSE_LOCKED", "6"))

WRITES = {
    "archive": ("archive", "other"),
    "pin": ("pin", "other"),
    "rename": ("rename", "other", "Another title"),
    "delete": ("delete", "tip", "--yes"),
    "restore": ("trash", "restore", "BUNDLE"),
}


@pytest.mark.slow
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_every_command_says_so(tmp_path: Path, journal: str) -> None:
    """All of them at once against one lock, which is held longer than any of them waits."""
    path = family(tmp_path / "state.db", journal=journal)
    environment = os.environ | {
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }

    def begin(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "hermes_browse.tui", "--db", str(path), *arguments]
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    first = begin("delete", "branch", "--yes")
    said, _ = first.communicate()
    assert first.returncode == 0
    name = said.split("trash restore ")[1].split("`")[0]
    before = dump(path)
    with opened(path) as holder:
        holder.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        running = {
            work: begin(*(name if each == "BUNDLE" else each for each in words))
            for work, words in WRITES.items()
        }
        answers = [(work, process, *process.communicate()) for work, process in running.items()]
        while time.monotonic() - start < HELD:
            time.sleep(0.1)
        late = begin("archive", "other")
        answers.append(("late", late, *late.communicate()))
        holder.execute("ROLLBACK")
    for work, process, out, err in answers:
        assert (
            process.returncode == 3 and out == "" and "Nothing was changed" in err and "busy" in err
        ), (work, err)
    assert dump(path) == before
    bundles = list((tmp_path / "data").rglob("*.sha256"))
    assert [each.stem for each in bundles] == [name], "what was begun for the trash is taken back"
    after = begin("trash", "restore", name)
    after.communicate()
    assert after.returncode == 0
