"""Which store rows of other files belong to: by the id of the store, else by its path."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..text import as_text
from .reader import Reader

OWN = "CASE WHEN instance IS NULL OR ?2 IS NULL THEN store = ?1 ELSE instance = ?2 END"
"""Rows of one store, by `Origin.values`; see `Origin.is_same`."""


class Origin(NamedTuple):
    """The store that rows come from."""

    path: str
    instance: str | None
    """`store_instance_id` of `state_meta` (0.22)."""

    def is_same(self, other: Origin) -> bool:
        """Return whether two origins are one store: by their ids, else by their paths."""
        if self.instance is not None and other.instance is not None:
            return self.instance == other.instance
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def values(self) -> list[str | None]:
        """Return what identifies it in the rows of a file: the columns `store` and `instance`."""
        return [os.path.realpath(self.path), self.instance]


def origin_of(reader: Reader) -> Origin:
    """Describe the store behind a reader."""
    instance = None
    if "state_meta" in reader.schema.tables:
        instance = reader.value(
            "SELECT value FROM state_meta WHERE key = 'store_instance_id' AND typeof(value) = 'text'"
        )
    return Origin(str(reader.path), as_text(instance))
