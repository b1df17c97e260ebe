"""What is known of a store as a whole, and what is wrong with it: the facts behind `doctor`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..connection.connect import Reader, Store
from ..connection.schema import NEWEST_KNOWN
from ..wording import _
from .homes import Location

if TYPE_CHECKING:
    from .index_health import SearchHealth  # loads the search, which counting does without

_DIST = re.compile(r"hermes_agent-([\w.+]+)\.dist-info")


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """The store in numbers."""

    path: Path
    profile: str | None
    schema_version: int | None
    journal_mode: str | None
    size: int
    """Bytes of the database."""
    wal_size: int
    """Bytes of the write-ahead log."""
    sessions: int | None
    messages: int | None
    read_only: bool
    """The file, or the way we had to open it, allows reading only."""
    warnings: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    """What can be done about each of the warnings."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something the user should know or do."""

    severity: str
    """`error`, `warning` or `info`."""
    code: str
    text: str
    remedy: str = ""


def _warnings(reader: Reader) -> list[tuple[str, str]]:
    """Sentences about this file that every reader of it should know, each with what can be done."""
    schema, found = reader.schema, list[tuple[str, str]]()
    if schema.is_newer:
        text = _(
            "Schema {version} is newer than the newest known one ({known}): "
            "what is known of it is shown, nothing of it is changed."
        ).format(version=schema.version, known=NEWEST_KNOWN)
        found.append((text, _("A newer hermes-browse may know it.")))
    if schema.version is None:
        text = _("The store does not say which schema it has: its columns were looked at instead.")
        found.append((text, _("Hermes writes it down when it opens the store next.")))
    nameless = int(str(reader.value("SELECT count(*) FROM sessions WHERE id IS NULL") or 0))
    if nameless:
        text = _("{count:,} damaged sessions have no id: nothing can refer to them, so they are not shown.")
        remedy = _("They do no harm; `hermes sessions repair` looks through the store (0.20 and later).")
        found.append((text.format(count=nameless), remedy))
    if reader.snapshot:
        text = _("The folder cannot be written to: this is a snapshot that may miss what is written meanwhile.")
        found.append((text, _("Open it as the user who runs Hermes, or look at a copy.")))
    if schema.note("fts_stale"):
        text = _("Hermes has marked its search index as stale: searches scan the rows themselves.")
        found.append((text, _("`hermes sessions optimize` makes it anew.")))
    elif schema.fts is None:
        text = _("The store has no search index: searches scan the rows themselves.")
        found.append((text, _("Hermes makes one when it opens the store next, where its SQLite has FTS5.")))
    return found


def warnings_of(reader: Reader) -> tuple[str, ...]:
    """Sentences about this file that every reader of it should know."""
    return tuple(text for text, remedy in _warnings(reader))


def summarize(reader: Reader, store: Store, location: Location) -> StoreSummary:
    """Count what is in a store.

    Args:
        reader: An open reader of the store.
        store: The same store.
        location: Where it is.
    """
    size, wal_size = store.sizes()
    warnings = _warnings(reader)
    mode = reader.value("PRAGMA journal_mode")
    return StoreSummary(
        path=location.path,
        profile=location.profile,
        schema_version=reader.schema.version,
        journal_mode=str(mode) if mode is not None else None,
        size=size,
        wal_size=wal_size,
        sessions=int(str(reader.value("SELECT count(*) FROM sessions") or 0)),
        messages=int(str(reader.value("SELECT count(*) FROM messages") or 0)),
        read_only=reader.snapshot or not os.access(location.path, os.W_OK),
        warnings=tuple(text for text, remedy in warnings),
        remedies=tuple(remedy for text, remedy in warnings),
    )


def hermes_version(executable: str) -> str | None:
    """Find the version of an installed Hermes beside its launcher.

    `hermes --version` would make folders in HERMES_HOME (observed, 0.19), which looking must not do.

    Args:
        executable: Full path of the `hermes` program.
    """
    prefix = Path(executable).resolve().parent.parent
    for folder in (*prefix.glob("lib/python3*/site-packages"), prefix / "Lib" / "site-packages"):
        for entry in folder.glob("hermes_agent-*.dist-info"):
            match = _DIST.fullmatch(entry.name)
            if match:
                return match[1]
    return None


def problems_of(summary: StoreSummary, search: SearchHealth, executable: str | None) -> Sequence[Problem]:
    """List what is wrong or worth knowing."""
    found: list[Problem] = []
    remedies = (*summary.remedies, *[""] * len(summary.warnings))
    found += [Problem("warning", "store", *each) for each in zip(summary.warnings, remedies, strict=False)]
    if search.failure:
        text = _("Searches do without the index: {reason}").format(reason=search.failure)
        found.append(Problem("warning", "index-broken", text, search.remedy))
    elif not search.fts:
        found.append(Problem("warning", "no-index", _("There is no search index: searches scan."), search.remedy))
    elif search.indexed < search.messages:
        text = _("{missing:,} of {count:,} messages are not in the search index.")
        text = text.format(missing=search.messages - search.indexed, count=search.messages)
        found.append(Problem("warning", "index-incomplete", text, search.remedy))
    if not search.trigram:
        found.append(
            Problem(
                "info",
                "no-trigram",
                _("There is no substring index: Chinese, Japanese and Korean are scanned for."),
                _("Hermes makes one where its SQLite is 3.34 or newer; until then searches are slower, not poorer."),
            )
        )
    if summary.wal_size > 256 * 1024 * 1024:
        found.append(
            Problem(
                "warning",
                "wal-large",
                _("The write-ahead log holds {size:,.0f} MB.").format(size=summary.wal_size / 1e6),
                _("It shrinks when the last Hermes process ends; a process may be stuck in a long read."),
            )
        )
    if executable is None:
        found.append(
            Problem(
                "warning",
                "no-hermes",
                _("There is no `hermes` on PATH: conversations cannot be resumed from here."),
                _("Put its folder on PATH, or install Hermes Agent."),
            )
        )
    return found
