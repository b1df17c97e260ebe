"""Tags of conversations: short names that the user gives, kept outside of the store.

A tag stands for every session of a conversation, and one of them is enough to find it: so it stays
through compressions, through a prune of Hermes that removes the first sessions, and through delete
and restore. Hermes itself stores no tags (0.13 to 0.22).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..connection.origin import OWN
from ..connection.reader import Reader
from ..text import text_of
from .notes_file import NotesError, notes_of

IN_BUNDLE = "bundle_tags"
"""The table of a deletion in the trash, with the tags of its sessions."""


def read_tags(reader: Reader) -> Mapping[str, tuple[str, ...]]:
    """Read the tags of all sessions of a store, or of a deletion in the trash, by session id.

    A file that cannot be read has none: it must not keep anyone from reading the store. The health
    check reports it, and so does whatever changes tags.
    """
    notes = notes_of(reader)
    if IN_BUNDLE in reader.schema.tables:
        rows = reader.rows(f"SELECT session, tag FROM {IN_BUNDLE} ORDER BY tag")
    elif notes is None:
        return {}
    else:
        try:
            rows = notes.rows(f"SELECT DISTINCT session, tag FROM tags WHERE {OWN} ORDER BY tag")
        except NotesError:
            return {}
    found: dict[str, tuple[str, ...]] = {}
    for session, tag in rows:
        key = text_of(session)
        found[key] = (*found.get(key, ()), text_of(tag))
    return found
