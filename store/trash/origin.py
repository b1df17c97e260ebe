"""Which store a bundle is from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import RefusedError
from ..reader import Reader
from ..wording import _
from .layout import Rows
from .manifest import Origin
from .slices import chunks


def origin_of(reader: Reader) -> Origin:
    """The store behind a reader.

    Raises:
        RefusedError: Its text is not UTF-8, so that bytes would not come back as they were.
    """
    if reader.value("PRAGMA encoding") != "UTF-8":
        raise RefusedError(_("This store keeps its text in UTF-16, which we do not write."))
    return Origin(str(reader.path), reader.schema.version, instance_of(reader, reader.schema.tables))


def instance_of(source: Rows, tables: frozenset[str]) -> str | None:
    """The id Hermes 0.22 gives to a store, None where it has none."""
    if "state_meta" not in tables:
        return None
    found = source.rows("SELECT value FROM state_meta WHERE key = 'store_instance_id' AND typeof(value) = 'text'")
    return str(found[0][0]) if found else None


def orphans(reader: Reader, ids: Sequence[str]) -> Iterator[str]:
    """Those of some sessions whose parent is missing."""
    if "parent_session_id" in reader.schema.session_columns:
        for chunk in chunks(ids):
            marks = ",".join("?" * len(chunk))
            rows = reader.rows(
                f"SELECT s.id FROM sessions s WHERE s.id IN ({marks}) AND s.parent_session_id IS NOT NULL "
                "AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id)",
                chunk,
            )
            yield from (str(row[0]) for row in rows)
