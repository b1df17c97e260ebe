"""Every system call of everything that writes, made to fail in turn: nothing is lost, nothing
untrue is said.

After each the store is opened as Hermes would, so that SQLite takes back what it must. Then every
row is in the store or in a bundle that restores it, every file in its place or in one, what was
said is so, and a second try ends well.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from acting import ACTIONS, NOW, trash_of
from faults import COMPILER, Faults
from trashing import Dump, dump, family, is_sound, opened, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.trash.shelf import list_bundles

IDEA = "system calls that fail"
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or COMPILER is None,
    reason="interposes the C library as Linux does, with one compiled here",
)
_NOTHING = re.compile(r"(?i)nothing (was|has been) (changed|deleted)")
_ROOM = 48 * 1024 * 1024
_FILES = ("tip.json", "tip.jsonl", "session_tip.json", "request_dump_tip_1.json")
_LASTING = re.compile(r"(sync|unlink) state\.db|rename")
_NAMES = {"rescue": "a copy into the trash", "drop": "trash drop", "remember": "what is remembered"}
_STORE_ACTIONS = ("delete", "restore", "archive", "unarchive", "pin", "rename", "undo")
"""Those that are one transaction: the store is as it was, or as it is to be."""
_AGAIN = {"delete": {0, 4}, "drop": {0}, "undo": {0, 5}, "export": {0, 5}, "prune": {0}}
"""Exit codes of a second try: what is done already is not found, or refused as changed since."""


class Case(NamedTuple):
    """One action on one kind of store, before and after it went well."""

    action: str
    folder: Path
    before: Dump
    whole: Dump
    """With all bundles put back."""
    wanted: Dump
    calls: tuple[str, ...]


def prepare(faults, folder, action, shape, journal):
    """A home with what the action needs, and what it does to it."""
    built, home = folder / "built", folder / f"{action}-{shape}-{journal}"
    (built / "sessions").mkdir(parents=True)
    for name in _FILES:
        (built / "sessions" / name).write_text(f"{name} " * 50)
    path = family(built / "state.db", shape, journal=journal)
    if action in ("unarchive", "undo"):
        run(path, "UPDATE sessions SET archived = 1 WHERE id = 'other'")
    whole = dump(path)
    if action in ("restore", "drop"):
        delete(Store(path), ["tip"], trash_of(built), now=NOW, sessions_folder=built / "sessions")
    before = dump(path)
    built.rename(home)  # a bundle goes to no store but its own while that is there
    done = shutil.copytree(home, folder / "done")
    answer = faults.run(action, done, names=True)
    assert answer.code == 0, answer
    wanted = dump(done / "state.db")
    shutil.rmtree(done)
    return Case(action, home, before, whole, wanted, answer.calls)


def ways(call):
    """How a call may fail."""
    name = call.rpartition(" ")[0]
    if name in ("read", "open to read"):
        return ("EIO",)
    if name == "write":
        return ("EIO", "ENOSPC", "short", "kill")
    if name in ("open to write", "mkdir"):
        return ("EIO", "ENOSPC", "kill")
    return ("EIO", "kill")


def try_once(faults, case, folder, at, kind):
    """Have one call fail, and look at everything."""
    shutil.copytree(case.folder, folder)
    answer = faults.run(case.action, folder, at, kind)
    what = (case.action, case.folder.name, at, kind, answer)
    path, trash = folder / "state.db", trash_of(folder)
    with opened(path) as hermes:  # whoever opens it to write takes back what was broken off
        hermes.execute("SELECT count(*) FROM sessions").fetchone()
    now = dump(path)
    assert (
        answer.code != -1 and "Traceback" not in answer.said and "unexpected" not in answer.said
    ), what
    check_said(case, answer, now, what)
    if case.action == "drop":
        assert ("cannot be removed" in answer.said) <= bool(list_bundles(trash)), what
        if answer.code == 0:  # what stands beside may stay, where its removal is what failed
            assert list_bundles(trash) == [], what
            assert len(list(trash.iterdir())) <= 1, what
    if case.action in ("delete", "rescue") and "cannot take it" in answer.said:
        assert list_bundles(trash) == [], what
    if case.action == "restore" and answer.code == 0:
        missing = [name for name in _FILES if not (folder / "sessions" / name).exists()]
        assert all(name in answer.said for name in missing), (what, missing)
    if case.action in _STORE_ACTIONS:
        assert now in (case.before, case.wanted), what
    elif case.action != "prune":
        assert now == case.before, what
    if now == case.before and contents(folder) == contents(case.folder):
        shutil.rmtree(folder)  # as it began: the second try is the one that went well
        return answer
    assert is_sound(path), what
    check_nothing_is_lost(case, folder, what)
    again = faults.run(case.action, folder)
    if case.action != "drop" or list_bundles(trash):
        assert again.code in _AGAIN.get(case.action, {0}), (what, again)
    if case.action in (*_STORE_ACTIONS, "prune"):
        assert dump(path) == case.wanted, (what, again)
    if case.action == "restore":
        assert sorted(each.name for each in (folder / "sessions").iterdir()) == sorted(_FILES), what
    if case.action == "drop":
        assert list_bundles(trash) == [], what
    shutil.rmtree(folder)
    return answer


def contents(folder):
    """All files below a folder but the store's own."""
    files = (
        each
        for each in folder.rglob("*")
        if each.is_file() and not each.name.startswith("state.db")
    )
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def check_said(case, answer, now, what):
    """Hold what was said against what is so."""
    if _NOTHING.search(answer.said):
        assert now == case.before, what
    if "Read again, the store has the change" in answer.said:
        assert now == case.wanted, what
    if answer.code == 0 and case.action in _STORE_ACTIONS:
        assert now == case.wanted, what


def check_nothing_is_lost(case, folder, what):
    """All rows and files of the beginning can be had: on a copy, with every bundle put back."""
    if case.action == "export":
        out = folder / "out.md"
        text = out.read_text(encoding="utf-8") if out.exists() else "gangway tip"
        assert text.rstrip().endswith("gangway tip"), what
        return
    if case.action == "remember":
        memory = folder / "state.json"
        assert not memory.exists() or json.loads(memory.read_text()), what
        return
    if case.action not in ("delete", "prune", "restore", "rescue"):
        return
    copy = shutil.copytree(folder, folder.with_name("copy"))
    store, files = Store(copy / "state.db"), copy / "sessions"
    for bundle in list_bundles(trash_of(copy)):
        assert not bundle.damage, what
        try:
            restore(store, trash_of(copy), bundle.name, sessions_folder=files, any_store=True)
        except BrowseError as error:
            raise AssertionError((what, str(error))) from error
    assert dump(store.path) == case.whole, what
    for name in _FILES:
        assert (files / name).read_text() == f"{name} " * 50, (what, name)
    shutil.rmtree(copy)


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    """The process that forks."""
    made = Faults(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture
def place(tmp_path):
    """A folder, in memory where there is such a place: a sync to a disk takes longer than all the
    rest."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < _ROOM:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="hermes-browse-faults-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("journal", [pytest.param("wal", marks=pytest.mark.quick), "delete"])
@pytest.mark.parametrize("action", ["delete", "restore", "archive"])
def test_syncs_renames_and_removals(faults, action, journal, place):
    """The short part: what makes a transaction last, and a bundle, each with an error, and one in
    three killed too."""
    case = prepare(faults, place, action, "22", journal)
    lasting = [at for at, call in enumerate(case.calls, 1) if _LASTING.match(call)]
    assert len(lasting) > 1
    for at, kind in [*((at, "EIO") for at in lasting), *((at, "kill") for at in lasting[::3])]:
        answer = try_once(faults, case, place / "case", at, kind)
        assert answer.reached, (case.calls[at - 1], answer)


@pytest.mark.long
@pytest.mark.parametrize("shape", ["22", "31"])
@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("action", ACTIONS)
def test_every_call(faults, action, journal, shape, place, tell):
    """With an error, a full disk, a short write, a kill."""
    if action == "pin" and shape == "22":
        pytest.skip("this store knows no pins")
    if shape == "31" and action not in ("delete", "restore", "archive", "unarchive", "pin"):
        pytest.skip("makes the same calls on both schemas, or those of another action")
    if action in ("remember", "drop") and (journal, shape) != ("wal", "22"):
        pytest.skip("has nothing to do with the store")
    case = prepare(faults, place, action, shape, journal)
    cases = [(at, kind) for at, call in enumerate(case.calls, 1) for kind in ways(call)]
    for at, kind in cases:
        answer = try_once(faults, case, place / "case", at, kind)
        if answer.reached:
            tell("calls made to fail")
            tell(f"of {_NAMES.get(action, action)}")
            if kind == "kill":
                tell("of them by a kill")
            if "The last step of writing" in answer.said:
                tell("commits in doubt")
        else:
            tell("calls that did not come again", 1)
