"""What the tests of the export share: documents of a store, and stores made for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders import make_store

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.export.files import export_pieces
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import Export, ExportCounts, Format
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Conversation

NOW = 1_777_626_000.0
"""120 days after the stores in `tests/data` begin."""


def chat(
    path: Path,
    shape: str,
    messages: Iterable[Mapping[str, object]],
    *,
    fts: bool = True,
    tables: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
    **columns: object,
) -> Path:
    """A store with one session, `s`, of some columns, and its messages."""
    rows = [{"session_id": "s", **each} for each in messages]
    return make_store(path, shape, [{"id": "s", **columns}], rows, fts=fts, tables=tables)


def conversations(path: Path, *ids: str) -> list[Conversation]:
    """Conversations of a store with details: those of some sessions (by the end of their ids), else
    all."""
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        if ids:
            sessions = [next(key for key in catalog.sessions if key.endswith(each)) for each in ids]
            found = [catalog.of_session(each) for each in sessions]
        else:
            found = [catalog.conversation(chain.root.id) for chain in catalog.conversations()]
        return with_details(reader, [each for each in found if each is not None])


def document(
    path: Path,
    format_: Format,
    *ids: str,
    redactor: Redactor | None = None,
    everything: bool = False,
    counts: ExportCounts | None = None,
) -> str:
    """One document of some conversations, or of all."""
    return "".join(
        export_pieces(
            Export(
                open_store(Store(path)),
                format_,
                redactor or Redactor(active=False),
                NOW,
                everything,
                exporter="hermes-browse test",
                counts=counts or ExportCounts(),
            ),
            conversations(path, *ids),
        )
    )


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parsed(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines; a reader that splits at every Unicode line end gets the same ones."""
    assert text.endswith("\n") and text.splitlines() == text[:-1].split("\n")
    return [json.loads(line, parse_constant=_refuse) for line in text.splitlines()]


def sessions(
    path: Path, *ids: str, redactor: Redactor | None = None, everything: bool = False
) -> dict[str, dict[str, Any]]:
    """Exported sessions by id, each once."""
    found = parsed(document(path, Format.JSONL, *ids, redactor=redactor, everything=everything))
    assert len({each["id"] for each in found}) == len(found)
    return {each["id"]: each for each in found}
