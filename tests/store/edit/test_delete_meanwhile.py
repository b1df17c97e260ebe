"""What others do to a conversation while it is deleted: it is spared, or the deletion keeps it."""

import os
import subprocess
from pathlib import Path

import pytest
from trashing import (
    FAMILY,
    NOW,
    execute,
    gone_by_hand,
    in_trash,
    put_back,
    remove,
    rows,
    run,
    session_ids,
)

from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.edit import restore as restoring
from hermes_browse.store.errors import RefusedError, WriteUnverifiedError
from hermes_browse.store.trash import copying, shelf
from hermes_browse.store.trash.bundle import BundleNotFoundError, read_bundle_facts

MADE_AGAIN = "INSERT INTO sessions (id, source, started_at) VALUES ('other', 'cli', 1e9)"
"""As Hermes does at the first turn of a chat that is gone (`ensure_session`, 0.19)."""


def act(monkeypatch, name, work):
    """Do something before a function of the delete is called."""
    called = getattr(deleting, name)

    def wrapped(*arguments, **named):
        work()
        return called(*arguments, **named)

    monkeypatch.setattr(deleting, name, wrapped)


def test_a_session_that_is_made_again_at_once(path, monkeypatch):
    """That its id is there says nothing: its messages are in the trash alone."""
    act(monkeypatch, "remove_files", lambda: run(path, MADE_AGAIN))
    messages = remove(path, "other").bundle.messages
    (bundle,) = shelf.list_bundles(path.parent / "trash")
    assert bundle.sessions == ("other",) and bundle.messages == messages > 0
    run(path, "DELETE FROM sessions WHERE id = 'other'")
    assert set(put_back(path, bundle.name).sessions) == {"other"}


def test_a_session_that_is_made_again_after_a_kill(path):
    """Whoever looks next compares rows, not ids."""
    bundle = remove(path, "other").bundle
    late = "INSERT INTO messages (session_id, role, timestamp) VALUES ('other', 'user', 1)"
    run(path, MADE_AGAIN, late)
    with subprocess.Popen(["true"]) as process:
        process.wait()
    shelf.write_fate(bundle.path, shelf.BundleFate(deleting=process.pid))
    assert shelf.describe(bundle.path).sessions == ("other",)


def test_one_that_lost_only_some_messages_is_kept_in_the_trash(path):
    """Hermes has deleted some of what a killed delete left."""
    bundle = remove(path, "other").bundle
    put_back(path, bundle.name)
    facts = read_bundle_facts(bundle.path)
    assert shelf.mark_kept(bundle.path, facts).kept == ("other",)
    run(
        path,
        "DELETE FROM messages WHERE id = (SELECT max(id) FROM messages WHERE session_id = 'other')",
    )
    assert shelf.mark_kept(bundle.path, facts).kept == ()


def test_one_that_another_program_deletes(path, monkeypatch):
    """The deletion may be the only one to have it; so it stays, and the error names it."""
    act(monkeypatch, "attach", lambda: gone_by_hand(path, "other"))
    with pytest.raises(RefusedError, match="has changed meanwhile") as raised:
        remove(path, "other")
    (bundle,) = shelf.list_bundles(path.parent / "trash")
    assert f"The deletion {bundle.name} in the trash has a copy of 1 " in raised.value.remedy


def test_one_that_is_gone_before_it_is_copied(path, monkeypatch):
    """Nothing is left in the trash, and nothing is to be repaired."""
    act(monkeypatch, "write_bundle", lambda: gone_by_hand(path, "other"))
    with pytest.raises(RefusedError, match="has changed meanwhile") as raised:
        remove(path, "other")
    assert not raised.value.remedy and in_trash(path.parent) == []


@pytest.mark.parametrize(
    ("moment", "error", "is_back"),
    [("_check_store", BundleNotFoundError, False), ("put_back", WriteUnverifiedError, True)],
)
def test_a_deletion_that_is_dropped_while_it_is_restored(path, monkeypatch, moment, error, is_back):
    """Before and after the rows are in the store, and it is said which."""
    name = remove(path, "other").bundle.name
    called = getattr(restoring, moment)

    def wrapped(*arguments, **named):
        shelf.remove_bundle(shelf.find(path.parent / "trash", name))
        if moment == "put_back":
            raise FileNotFoundError
        return called(*arguments, **named)

    monkeypatch.setattr(restoring, moment, wrapped)
    with pytest.raises(error):
        put_back(path, name)
    assert ("other" in session_ids(path)) is is_back


@pytest.mark.parametrize("moment", ["_check_room", "attach"])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE sessions SET pinned = 1 WHERE id = 'next'", "stays: pinned"),
        (
            "INSERT INTO messages (session_id, role, timestamp, message_uid) "
            f"VALUES ('helper', 'user', {NOW}, 'late')",
            "in use",
        ),
        (
            f"UPDATE session_turn_leases SET conversation_id = 'root', expires_at = {NOW + 600}",
            "running",
        ),
    ],
)
def test_what_is_protected_after_the_plan_is_spared(path, monkeypatch, moment, change, why):
    """Before the copy, which has it as it is then, and after."""
    act(monkeypatch, moment, lambda: run(path, change))
    with pytest.raises(RefusedError, match=why):
        remove(path, "tip")
    assert session_ids(path) >= FAMILY and in_trash(path.parent) == []


def test_the_marks_are_there_before_the_bundle_is(path, monkeypatch):
    """A kill between the two would leave a deletion of what is still in the store."""
    seen = []
    rename = os.rename

    def watched(*paths):
        seen.append([Path(name).suffix for name in in_trash(path.parent)])
        rename(*paths)

    monkeypatch.setattr(copying.os, "rename", watched)
    remove(path, "tip")
    assert [".db", ".json", ".sha256"] in seen


@pytest.mark.slow
@pytest.mark.parametrize("title", ["A" * 100, "A" * 98, "Ferry #999999999", "Ferry #7"])
def test_a_title_that_is_cut_finds_a_free_number(path, title):
    """Of two in turn, while another session has the title."""
    names = []
    for session in ("other", "branch"):
        run(path, "UPDATE sessions SET title = NULL")
        execute(path, "UPDATE sessions SET title = ? WHERE id = ?", title, session)
        names.append(remove(path, session).bundle.name)
    execute(path, "UPDATE sessions SET title = ? WHERE id = 'root'", title)
    for name in names:
        put_back(path, name)
    titles = [text for (text,) in rows(path, "SELECT title FROM sessions WHERE title NOTNULL")]
    assert len(titles) == len(set(titles)) == 3
