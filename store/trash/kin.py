"""Who hung on whom, as all bundles of a trash know it: what goes in several bundles comes back as one family.

A delete cuts what stays loose from what goes, and a session that goes later no longer names its parent. So a bundle
keeps, beside its rows and the links it cut, every tie between its own sessions and others that neither shows any more:
it finds them in the bundles that are there when it is written. Whichever of two sessions comes back second then knows
of the first, in any order, and also when the other bundle has been dropped since.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..reader import Reader
from .bundle import load, read_lines
from .layout import Rows
from .manifest import MANIFEST, BundleDamagedError, Manifest, Origin
from .origin import origin_of
from .slices import chunks

_KEPT = 10_000
_PARENT = "parent_session_id"


class Known(NamedTuple):
    """What the bundles of one store say of families."""

    parents: dict[str, str]
    """The parent of each session that had one, by the newest bundle that says so."""
    bundles: dict[str, str]
    """The newest bundle that holds each session."""


class _Bundle(NamedTuple):
    created_at: float
    name: str
    origin: Origin
    sessions: tuple[str, ...]
    ties: tuple[tuple[str, str], ...]


def same_store(one: Origin, other: Origin) -> bool:
    """Whether two bundles are from one store."""
    if one.instance is not None and other.instance is not None:
        return one.instance == other.instance
    return os.path.realpath(one.path) == os.path.realpath(other.path)


def known(trash: Path, origin: Origin) -> Known:
    """What all sound bundles of a store say.

    Args:
        trash: The folder of the bundles; may be missing.
        origin: Of the store.
    """
    found: list[_Bundle] = []
    try:
        names = [entry.name for entry in os.scandir(trash) if not entry.name.startswith(".")]
    except OSError:
        names = []  # whatever reads or writes a bundle there says what is wrong with it
    for name in names:
        try:
            bundle = _read(trash / name, os.stat(trash / name / MANIFEST).st_mtime_ns)
        except (OSError, BundleDamagedError):
            continue  # the list of the trash says so; what it knew is lost with it
        if same_store(bundle.origin, origin):
            found.append(bundle)
    found.sort()
    return Known(
        {child: parent for bundle in found for child, parent in bundle.ties},
        {session: bundle.name for bundle in found for session in bundle.sessions},
    )


@lru_cache(maxsize=_KEPT)
def _read(folder: Path, _written: int) -> _Bundle:
    """One bundle; a clean-up writes thousands, and each asks all that are there."""
    manifest = load(folder)
    ties = [
        (str(link.key.get("id")), str(link.was))
        for link in manifest.links
        if (link.table, link.column) == ("sessions", _PARENT) and isinstance(link.was, str)
    ]
    ties += _in_rows(folder) if manifest.kin is None else manifest.kin
    return _Bundle(manifest.created_at, manifest.name, manifest.origin, manifest.sessions, tuple(ties))


def _in_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Parents that the rows of an older bundle name; its manifest does not say."""
    seen = False
    for line in read_lines(folder):
        if line.table == "sessions":
            seen = True
            child, parent = line.row.get("id"), line.row.get(_PARENT)
            if isinstance(child, str) and isinstance(parent, str):
                yield child, parent
        elif seen:
            return


def ties_of(reader: Reader, trash: Path, ids: Sequence[str]) -> list[tuple[str, str]]:
    """The ties of some sessions to others that their rows, or links to them, do not show to whoever reads a manifest.

    Args:
        reader: An open reader of the store.
        trash: The folder of the bundles.
        ids: Of the sessions.

    Returns:
        Child and parent, of which one is among the sessions.
    """
    if _PARENT not in reader.schema.session_columns:
        return []
    own = set(ids)
    kept = known(trash, origin_of(reader)).parents
    named = _parents(reader, ids)
    ties = {child: parent for child, parent in named.items() if parent is not None and parent not in own}
    up = {child: kept[child] for child in ids if child in kept and named.get(child) is None and kept[child] not in own}
    down = {child: parent for child, parent in kept.items() if parent in own and child not in own}
    there = _present(reader, [*up.values(), *down])
    # Where both are in the store, the store is right.
    ties |= {child: parent for child, parent in up.items() if parent not in there}
    return sorted([*ties.items(), *((child, parent) for child, parent in down.items() if child not in there)])


def _parents(source: Rows, ids: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for chunk in chunks(ids):
        marks = ",".join("?" * len(chunk))
        rows = source.rows(f"SELECT id, {_PARENT} FROM sessions WHERE id IN ({marks})", chunk)
        found |= {str(child): None if parent is None else str(parent) for child, parent in rows}
    return found


def _present(source: Rows, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for chunk in chunks(list(dict.fromkeys(ids))):
        marks = ",".join("?" * len(chunk))
        found.update(str(row[0]) for row in source.rows(f"SELECT id FROM sessions WHERE id IN ({marks})", chunk))
    return found


def loose_children(source: Rows, known_ties: Known, parents: Sequence[str]) -> list[tuple[str, str]]:
    """Sessions in the store that hung on some others and have no parent now, each with the one it had.

    Args:
        source: A unit of writing.
        known_ties: What the bundles say.
        parents: Ids of sessions that are there again.
    """
    wanted = set(parents)
    children = [child for child, parent in known_ties.parents.items() if parent in wanted]
    now = _parents(source, children)
    return [(each, known_ties.parents[each]) for each in children if each in now and now[each] is None]


def of_bundle(trash: Path, manifest: Manifest) -> Known:
    """What is known of the family of a bundle's sessions.

    A bundle that has asked the others when it was written knows best; for an older one they are asked now.
    """
    found = known(trash, manifest.origin)
    return found if manifest.kin is None else found._replace(parents=dict(manifest.kin))
