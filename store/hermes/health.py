"""Summarize a store, check its search index, list its problems and the processes that have it open,
for `doctor`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..amounts import size
from ..connection.connect import OWN, Store
from ..connection.reader import Reader
from ..connection.schema import NEWEST_KNOWN, FtsIndex
from ..connection.stored_values import as_int
from ..errors import Advice, StoreDamagedError
from ..notes.notes_file import NotesError, notes_rows
from ..search.coverage import Damage, damage_of, index_state, remedy
from ..text import as_text, one_line, text_of
from ..wording import _
from .homes import Location
from .resume_command import run_quietly

MANY_SESSIONS = 1_000
MANY_BYTES = 384_000_000
"""From about so many sessions or bytes on, says Hermes' guide, writing to the search index and
`/resume` get slower."""


class StoreProblem(NamedTuple):
    """Something the user should know or do."""

    severity: str
    """`error`, `warning` or `info`."""
    code: str
    text: str
    remedy: str = ""
    advice: Advice = Advice.NONE
    """As of `BrowseError`."""


class StoreSummary(NamedTuple):
    """Facts and numbers about a store."""

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
    """The file is read-only, or could only be opened as a snapshot."""
    warnings: tuple[StoreProblem, ...] = ()


def _warning(code: str, text: str, remedy: str) -> StoreProblem:
    return StoreProblem("warning", code, text, remedy)


def warnings_of(reader: Reader) -> Iterator[StoreProblem]:
    """Yield what every user of this file should know."""
    schema = reader.schema
    try:
        notes_rows(reader, f"SELECT 1 FROM tags WHERE {OWN} LIMIT 1")
    except NotesError as error:
        yield _warning("notes", error.sentence, error.remedy)
    nameless = as_int(reader.value("SELECT count(*) FROM sessions WHERE id IS NULL"))
    for is_so, code, text, what_to_do in (
        (
            schema.is_newer,
            "store",
            _(
                "Schema {version} is newer than the newest known one ({known}): the known parts are "
                "shown, and "
                "nothing can be changed.",
                version=schema.version,
                known=NEWEST_KNOWN,
            ),
            _("A newer hermes-browse may know it."),
        ),
        (
            schema.version is None,
            "store",
            _("The store does not say which schema it has: its columns were looked at instead."),
            _("Hermes records it when it next opens the store."),
        ),
        (
            nameless,
            "store",
            _(
                "{count:,} damaged sessions have no id: nothing can refer to them, so they are not "
                "shown.",
                count=nameless,
            ),
            _(
                "They do no harm; `hermes sessions repair` looks through the store (0.20 and later)."
            ),
        ),
        (
            reader.snapshot,
            "store",
            _(
                "The folder cannot be written to: this is a snapshot that may miss what is written "
                "meanwhile."
            ),
            _("Open it as the user who runs Hermes, or look at a copy."),
        ),
        (
            schema.is_index_stale,
            "index-stale",
            _("Hermes has marked its search index as stale: searches scan the rows themselves."),
            remedy(schema, Damage.STALE),
        ),
        (
            schema.fts is None and not schema.is_index_stale,
            "no-index",
            _("The store has no search index: searches scan the rows themselves."),
            remedy(schema, Damage.MISSING, reader.path),
        ),
    ):
        if is_so:
            yield _warning(code, text, what_to_do)


def summarize(reader: Reader, location: Location) -> StoreSummary:
    """Return the facts and numbers of a store at a location, through an open reader of it."""
    bytes_of_store, bytes_of_log = Store(reader.path).sizes()
    return StoreSummary(
        path=location.path,
        profile=location.profile,
        schema_version=reader.schema.version,
        journal_mode=as_text(reader.value("PRAGMA journal_mode")),
        size=bytes_of_store,
        wal_size=bytes_of_log,
        sessions=as_int(reader.value("SELECT count(*) FROM sessions")),
        messages=as_int(reader.value("SELECT count(*) FROM messages")),
        read_only=reader.snapshot or not os.access(location.path, os.W_OK),
        warnings=tuple(warnings_of(reader)),
    )


def problems_of(
    summary: StoreSummary, search: SearchHealth, executable: str | None
) -> Iterator[StoreProblem]:
    """Yield what is wrong with a store and its search index, and whether `hermes` is missing."""
    yield from summary.warnings
    if search.failure:
        yield _warning(
            "index-broken",
            _("Searches do not use the index: {reason}", reason=search.failure),
            search.remedy,
        )
    elif search.fts and search.indexed < search.messages:
        yield _warning(
            "index-incomplete",
            _(
                "{missing:,} of {count:,} messages are not in the search index.",
                missing=search.messages - search.indexed,
                count=search.messages,
            ),
            search.remedy,
        )
    if not search.trigram:
        yield StoreProblem(
            "info",
            "no-trigram",
            _("There is no substring index: Chinese, Japanese and Korean are scanned for."),
            _(
                "Hermes creates one if its SQLite is 3.34 or newer; until then searches are slower, "
                "but complete."
            ),
        )
    sessions = summary.sessions or 0
    if sessions >= MANY_SESSIONS or summary.size >= MANY_BYTES:
        yield StoreProblem(
            "info",
            "store-large",
            _(
                "The store has {count:,} sessions and {size}: from about 1,000 sessions or 384 MB on, "
                "Hermes' guide says, adding to its search index and `/resume` get slower.",
                count=sessions,
                size=size(summary.size),
            ),
            _("The clean-up tells what could go, and frees nothing yet."),
            Advice.PLAN_CLEAN_UP,
        )
    if executable is None:
        yield _warning(
            "no-hermes",
            _(
                "There is no `hermes` on PATH or in ~/.local/bin: conversations cannot be resumed "
                "from here."
            ),
            _("Put its folder on PATH, or install Hermes Agent."),
        )


_WORD = re.compile(r"[^\W_]+")
_SAMPLE, _SAMPLE_TEXT = 20, 400
"""Number of newest messages, and code points of each, whose words are looked up."""


class SearchHealth(NamedTuple):
    """The state of the search index."""

    fts: bool
    trigram: bool
    indexed: int
    """Rows in the word index."""
    messages: int
    failure: str = ""
    """SQLite's reason why the word index cannot be used; empty if it can."""
    remedy: str = ""
    """How to repair it; empty if it is complete."""


def search_health(reader: Reader) -> SearchHealth:
    """Check whether the word index works, and how many of the messages it holds."""
    schema, index = reader.schema, reader.schema.fts
    messages, indexed, damage = index_state(reader)
    failure = ""
    if index is not None and damage is Damage.BROKEN:
        failure = _("{table} is missing.", table=f"{index.name}_docsize")
    elif index is not None:
        try:
            _try_index(reader, index)
        except StoreDamagedError as error:
            damage, failure = damage_of(schema, error), error.sentence
    repair = "" if damage is None else remedy(schema, damage, reader.path)
    return SearchHealth(
        index is not None, schema.trigram is not None, indexed, messages, failure, repair
    )


def _try_index(reader: Reader, index: FtsIndex) -> None:
    """Look up words of the newest messages: StoreDamagedError comes only when the pages of the
    index are read."""
    newest = "SELECT content FROM message_rows ORDER BY id DESC LIMIT ?"
    texts = [text_of(row[0])[:_SAMPLE_TEXT] for row in reader.rows(newest, [_SAMPLE])]
    words = {word for text in texts for word in _WORD.findall(text)}
    for word in sorted(words)[:_SAMPLE]:
        reader.rows(
            f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"']
        )


# Who has a store open

_PROCESSES = Path("/proc")
_DELETED = " (deleted)"
_HERMES = re.compile(r"(?<!\S)hermes\S*(?: [A-Za-z]+(?!\S))?")
"""A program of Hermes in a command line, with its command."""
_LSOF_PROCESS = re.compile(r"(?m)^p(\d+)\nc(.*)$")
"""One field a line: p for the process, c for its name (lsof(8), "output for other programs")."""
_LSOF_TIMEOUT = 5.0
"""Seconds; `lsof` may hang on a network drive."""


class Holder(NamedTuple):
    """A process that has the store open."""

    pid: int
    name: str
    """Name of the program, printable; for Hermes with its command."""
    is_gone: bool
    """The file it holds has been removed or replaced: nobody sees what it writes."""


def _name(process: Path) -> str:
    """Return the name of a process, without its arguments, which may hold a secret."""
    try:
        words = os.fsdecode((process / "cmdline").read_bytes()).split("\0")[:6]
        name = (process / "comm").read_text(errors="replace").strip()
    except OSError:
        return _("a process")
    of_hermes = _HERMES.search(" ".join(map(os.path.basename, words)))
    return one_line(of_hermes[0] if of_hermes else name, 60) or _("a process")


def _held(process: Path, path: str) -> set[str]:
    """Return which files of a store a process holds: the names of those that were removed end in
    `(deleted)`."""
    files = {path, f"{path}-wal", f"{path}-shm", f"{path}{_DELETED}"}
    links: set[str] = set()
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            links.add(os.readlink(descriptor))
    return links & files


def _by_lsof(path: str) -> list[Holder] | None:
    """List the processes from `lsof` (macOS, the BSDs); None if it is missing or fails."""
    files = [file for file in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(file)]
    done = run_quietly(["lsof", "-w", "-F", "pc", "--", *files], _LSOF_TIMEOUT) if files else None
    if done is None or done.returncode > (0 if done.stderr.strip() else 1):
        return None  # 1 without a message means that nobody has a file open
    return sorted(
        Holder(int(pid), one_line(name, 60) or _("a process"), False)
        for pid, name in _LSOF_PROCESS.findall(done.stdout)
        if int(pid) != os.getpid()
    )


def holders(path: Path, processes: Path = _PROCESSES) -> list[Holder] | None:
    """List the other processes with the store, its log or its shared memory open, by process id.

    Only root sees those of other users. None if the system does not tell.
    """
    real = os.path.realpath(path)
    pids = sorted(int(entry.name) for entry in processes.glob("[0-9]*"))
    if not pids:
        return _by_lsof(real)
    programs: list[Holder] = []
    for pid in pids:
        process = processes / str(pid)
        with contextlib.suppress(OSError):  # ended meanwhile, or another user's
            held = _held(process, real)
            if held and pid != os.getpid():
                is_gone = f"{real}{_DELETED}" in held and real not in held
                programs.append(Holder(pid, _name(process), is_gone))
    return programs
