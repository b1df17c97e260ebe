"""Cleaning up in a real terminal, with the real Hermes where its own command is run."""

import os
import stat

import pytest
from paths import HERMES
from platforms import posix_only
from terminal import Terminal
from trashing import dump, is_sound, rows, run, session_ids

pytestmark = posix_only


@pytest.mark.slow
def test_told_to_end_in_the_middle_of_a_clean_up(hermes_home):
    """It stops between two portions: each conversation is wholly there, or wholly in the trash."""
    store = hermes_home / "state.db"
    before = dump(store)
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("46 of 56 shown")
    terminal.send("*", "marked")
    terminal.send("D", "to the trash?")
    count = terminal.text.split("Move ")[1].split(" conversations")[0]
    terminal.send(f"{count}\r")
    # Perhaps the card is gone again with the portion in which it came.
    terminal.read_until(lambda: b" stops" in terminal.raw, "never saw how to stop it")
    sessions = len(before["sessions"])
    terminal.read_until(lambda: len(session_ids(store)) < sessions, "nothing is deleted")
    terminal.child.kill(15)
    terminal.wait_for_end()
    assert terminal.is_restored and is_sound(store)
    loose = "SELECT 1 FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)"
    assert rows(store, loose) == []


def _stub(folder):
    """A `hermes` that notes which files of the store anybody of its family has open."""
    folder.mkdir()
    script = folder / "hermes"
    script.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$HERMES_HOME" "$@" > "$STUB_LOG"\n'
        'ls -l /proc/$PPID/fd 2>/dev/null | grep -c "state.db" >> "$STUB_LOG"\necho "stub ran"\nexit 3\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.slow
def test_making_the_file_smaller_lets_go_of_it_first(hermes_home, tmp_path):
    """Hermes runs with the right home, nothing of ours holds the store, and the browser comes
    back."""
    log = tmp_path / "called"
    path = f"{_stub(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}"
    terminal = Terminal(["--home", str(hermes_home)], PATH=path, STUB_LOG=str(log))
    terminal.wait_for("46 of 56 shown")
    terminal.send("P", "disk usage")
    terminal.send("v", "y run it here")
    terminal.send("y", "Enter goes back")
    terminal.send("\r", "hermes ended with 3")
    home, *arguments, held = log.read_text().split("\n")[:-1]
    assert (
        home == str(hermes_home)
        and arguments == ["-p", "default", "sessions", "optimize"]
        and held == "0"
    )
    terminal.send("\x1b", "46 of 56 shown")
    terminal.leave()


@pytest.mark.slow
def test_the_real_hermes_makes_it_smaller(hermes_home):
    """What was deleted leaves room inside; afterwards the file is smaller, and the browser says by
    how much."""
    store = hermes_home / "state.db"
    filler = "CREATE TABLE filler AS SELECT randomblob(2000000) AS bytes"
    run(store, filler, "DROP TABLE filler", "PRAGMA wal_checkpoint(TRUNCATE)")
    before = store.stat().st_size
    path = f"{HERMES.parent}{os.pathsep}{os.environ['PATH']}"
    terminal = Terminal(["--home", str(hermes_home)], PATH=path)
    terminal.wait_for("46 of 56 shown")
    terminal.send("P", "free already")
    terminal.send("v", "y run it here")
    terminal.send("y", "Enter goes back")
    terminal.send("\r", "size of the file")
    assert store.stat().st_size < before - 1_500_000
    terminal.send("\x03")
    terminal.wait_for_end()
    assert terminal.is_restored and is_sound(store)
