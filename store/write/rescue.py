"""A copy of conversations in the trash while they stay where they are: what saves them where there are no pins.

When Hermes deletes such a conversation later by itself, its bundle brings it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..connect import Store
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation
from ..trash import transcripts
from ..trash.bundle import Contents, write_bundle
from ..trash.kin import ties_of
from ..trash.layout import discover
from ..trash.shelf import Bundle, describe
from .closure import close_over


def bundle(
    store: Store,
    catalog: Catalog,
    conversations: Sequence[Conversation],
    trash: Path,
    *,
    now: float,
    sessions_folder: Path | None = None,
) -> Bundle:
    """Write a bundle of conversations with their subagents; the store is only read.

    Args:
        store: The store.
        catalog: Of the whole store.
        conversations: Of that catalog; at least one.
        trash: The folder of the bundles.
        now: Unix seconds.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.

    Raises:
        TrashError: The trash cannot take it.
        StoreError: The store cannot be read.
    """
    sessions = close_over(catalog.forest, [each.id for each in conversations]).sessions
    with store.reader() as reader:
        contents = Contents(
            sessions,
            tuple(each.id for each in conversations),
            tuple(each.title for each in conversations),
            transcripts.find(reader, sessions_folder, sessions),
            ties_of(reader, trash, sessions),
        )
        return describe(write_bundle(reader, discover(reader), contents, trash, now).path)
