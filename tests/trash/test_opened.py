"""A bundle is read like a store: the same conversations, the same words, and nothing is left
behind."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from trashing import FAMILY, NOW, family, remove

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.transcript import read_messages, read_outline
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.trash.bundle import load
from hermes_browse.store.trash.format import ROWS, BundleDamagedError
from hermes_browse.store.trash.opened import OpenedBundle

Said = dict[str, list[tuple[str, str, str | None]]]


def said(path: Path) -> Said:
    """Role, text and reasoning of each conversation's messages, by its root."""
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        found: Said = {}
        for root in catalog.order(View.ALL):
            rows = read_outline(reader, catalog.conversation(root).segments).rows
            found[root] = [
                (each.role, each.text, each.reasoning) for each in read_messages(reader, rows)
            ]
    return found


def left_behind() -> set[Path]:
    """Temporary folders of bundles that are open."""
    return set(Path(tempfile.gettempdir()).glob("hermes-browse-trash-*"))


@pytest.mark.parametrize("shape", ["11", "14", "22", "26", "31", "31-migrated"])
def test_what_was_deleted_reads_as_before(tmp_path: Path, shape: str) -> None:
    """In every shape of store; the bundle stays as it is, and the temporary store goes."""
    path = family(tmp_path / "state.db", shape)
    before, there = said(path), left_behind()
    folder = remove(path, "tip", "other").bundle.path
    files = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    with OpenedBundle(folder) as opened:
        found = said(opened.path)
        assert {
            root: lines for root, lines in before.items() if root in FAMILY | {"other"}
        } == found and found
        assert len(left_behind() - there) == 1 and opened.path.stat().st_mode & 0o077 == 0
    assert left_behind() == there
    assert files == {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_damaged_bundle_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its rows are cut short: it says so."""
    folder = remove(family(tmp_path / "state.db"), "tip").bundle.path
    there = left_behind()
    rows = folder / ROWS
    whole = gzip.decompress(rows.read_bytes())
    rows.write_bytes(gzip.compress(whole.replace(b'"id":1,', b'"id":9223372036854775808,', 1)))
    with pytest.raises(BundleDamagedError, match="invalid line"):
        OpenedBundle(folder)
    assert left_behind() == there, "no integer of SQLite"
    rows.write_bytes(gzip.compress(whole)[:-40])
    assert load(folder).sessions
    with pytest.raises(BundleDamagedError):
        OpenedBundle(folder)
    assert left_behind() == there
