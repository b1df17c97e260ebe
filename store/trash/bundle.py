"""Write a bundle atomically, and verify and read bundles.

A bundle is written to a folder whose name begins with a dot. Every file and folder is flushed to
disk, everything is read back and compared with its checksums, and only then is the folder renamed.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import secrets
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import RefusedError
from ..wording import _
from .format import (
    FILES,
    MANIFEST,
    README,
    README_TEXT,
    ROWS,
    SUMS,
    BundleDamagedError,
    BundleFile,
    BundleTable,
    Kept,
    Manifest,
    Origin,
    RowFate,
    TableRow,
    TrashError,
    read_line,
    read_manifest,
    text_of,
    write_line,
)
from .progress import NOBODY, Progress
from .session_files import (
    NewFile,
    SessionFile,
    make_folder,
    remove_folder,
    sum_file,
    sync_folder,
    take_along,
    write_file,
)
from .tables import Layout, Rows, find_layout, read_links, read_part

PARTIAL = ".partial-"
"""Prefix of the folder of a bundle that is being written."""

_LEVEL = 4
_MAX_LINE = 1 << 31
"""Most bytes per line: values of SQLite are shorter (https://sqlite.org/limits.html), a damaged
line may not be."""


class Contents(NamedTuple):
    """The sessions and files to write into a bundle."""

    sessions: tuple[str, ...]
    conversations: tuple[str, ...]
    titles: tuple[str | None, ...]
    files: Sequence[SessionFile]
    kin: Sequence[tuple[str, str]] = ()
    """From `shelf.ties_of`."""


class WrittenBundle(NamedTuple):
    """A bundle that was completely written."""

    path: Path
    manifest: Manifest
    layout: Layout

    @property
    def reparented(self) -> tuple[str, ...]:
        """Ids of the sessions that stay and lose their parent, except those whose id is NULL, which
        no list shows."""
        parents = ("sessions", "parent_session_id")
        links = (each for each in self.manifest.links if (each.table, each.column) == parents)
        return tuple(id for each in links if (id := text_of(each.key["id"])) is not None)


def new_name(now: float) -> str:
    """Return a name for a bundle, made of the time and random digits, never of stored text."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def origin_of(reader: Reader) -> Origin:
    """Describe the store behind a reader."""
    instance = None
    if "state_meta" in reader.schema.tables:
        instance = reader.value(
            "SELECT value FROM state_meta WHERE key = 'store_instance_id' AND typeof(value) = 'text'"
        )
    return Origin(
        str(reader.path), reader.schema.version, None if instance is None else str(instance)
    )


def is_same_store(one: Origin, other: Origin) -> bool:
    """Return whether two origins are one store: by its `store_instance_id` (0.22), else by the
    path."""
    if one.instance is not None and other.instance is not None:
        return one.instance == other.instance
    return os.path.realpath(one.path) == os.path.realpath(other.path)


def _orphans(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Return the ids of these sessions whose parent is missing."""
    if "parent_session_id" not in reader.schema.session_columns:
        return []
    rows = reader.rows_in(
        "SELECT s.id FROM sessions s WHERE s.id IN ({keys}) AND s.parent_session_id IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id)",
        ids,
    )
    return [str(row[0]) for row in rows]


def rows_digest(source: Rows, layout: Layout, ids: Sequence[str]) -> str:
    """Return the SHA-256 of all rows that a delete removes, to compare with `Manifest.taken`."""
    total = hashlib.sha256()
    for part in layout.parts:
        if part.fate is RowFate.TAKEN:
            for line in read_part(source, part, ids):
                total.update(write_line(line))
    return total.hexdigest()


def write_bundle(
    reader: Reader,
    contents: Contents,
    trash: Path,
    now: float,
    progress: Progress = NOBODY,
    *,
    messages: int = 0,
) -> WrittenBundle:
    """Write all rows and files of some sessions into the trash; an incomplete bundle is removed.

    Args:
        reader: An open reader of the store.
        contents: The sessions and files.
        trash: The folder of the bundles; created if missing.
        now: Unix seconds.
        progress: Checked for a stop between statements, and receives reports.
        messages: Approximate number of messages, for the reports only.

    Raises:
        RefusedError: The store is not encoded in UTF-8, so that bytes would not be preserved, or a
            table refers to sessions in a way that a restore could not recreate.
        TrashError: Lack of space or permission, or the bundle reads back differently.
        QueryInterruptedError: It was stopped.
    """
    if reader.value("PRAGMA encoding") != "UTF-8":
        raise RefusedError(_("This store keeps its text in UTF-16, which we do not write."))
    layout, name = find_layout(reader), new_name(now)
    temporary = trash / f"{PARTIAL}{name}"
    try:
        make_folder(trash)
        os.mkdir(temporary, 0o700)
    except OSError as error:
        raise _trash_error(trash, error) from error
    try:
        manifest = _fill(reader, layout, contents, temporary, now, messages, progress)
        if verify(temporary, progress) != manifest:
            raise BundleDamagedError(
                _("Its {file} differs from what was written.").format(file=MANIFEST)
            )
        os.rename(temporary, trash / name)
        sync_folder(trash)
    except OSError as error:
        for folder in (temporary, trash / name):  # it may have been renamed already
            remove_folder(folder)
        raise _trash_error(trash, error) from error
    except BundleDamagedError as error:
        remove_folder(temporary)
        raise TrashError(
            _("The trash at {trash} does not give back what was written. {reason}").format(
                trash=trash, reason=error
            ),
            is_unchanged=True,
        ) from error
    except BaseException:
        remove_folder(temporary)
        raise
    return WrittenBundle(trash / name, manifest, layout)


def _trash_error(trash: Path, error: OSError) -> TrashError:
    reason = error.strerror or str(error)
    return TrashError(
        _("The trash at {trash} cannot take it ({reason}).").format(trash=trash, reason=reason),
        remedy=_(
            "Deleted conversations go there first: free disk space, or check its permissions."
        ),
        is_unchanged=True,
    )


def _fill(
    reader: Reader,
    layout: Layout,
    contents: Contents,
    folder: Path,
    now: float,
    messages: int,
    progress: Progress,
) -> Manifest:
    links = read_links(reader, layout, contents.sessions)
    tables, lines, taken, piece = _write_rows(
        reader, layout, contents.sessions, folder, messages, progress
    )
    kept: list[Kept] = []
    pieces: dict[str, BundleFile] = {ROWS: piece}
    if contents.files:
        os.mkdir(folder / FILES, 0o700)
        kept, more = take_along(contents.files, folder)
        pieces |= more
        sync_folder(folder / FILES)
    pieces[README] = write_file(folder / README, README_TEXT.encode("ascii"))
    manifest = Manifest(
        name=folder.name.removeprefix(PARTIAL),
        created_at=now,
        titles=contents.titles,
        conversations=contents.conversations,
        sessions=contents.sessions,
        messages=tables["messages"].rows if "messages" in tables else 0,
        origin=origin_of(reader),
        tables=tables,
        links=tuple(links),
        orphans=tuple(_orphans(reader, contents.sessions)),
        taken=taken,
        lines=lines,
        files=tuple(kept),
        pieces=pieces,
        kin=tuple(contents.kin),
    )
    own = write_file(folder / MANIFEST, manifest.to_json())
    sums = [f"{each.sha256}  {path}\n" for path, each in sorted({**pieces, MANIFEST: own}.items())]
    write_file(folder / SUMS, "".join(sums).encode("ascii"))
    sync_folder(folder)
    return manifest


def _write_rows(
    reader: Reader,
    layout: Layout,
    ids: Sequence[str],
    folder: Path,
    messages: int,
    progress: Progress,
) -> tuple[dict[str, BundleTable], str, str, BundleFile]:
    total, taken = hashlib.sha256(), hashlib.sha256()
    tables: dict[str, BundleTable] = {}
    with contextlib.closing(NewFile(folder / ROWS)) as file:
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            for part in layout.parts:
                count = 0
                lines = read_part(reader, part, ids, progress)
                if part.table == "messages":
                    lines = progress.counted(lines, lambda _line: True, "saving", messages)
                for line in lines:
                    data = write_line(line)
                    total.update(data)
                    if part.fate is RowFate.TAKEN:
                        taken.update(data)
                    packed.write(data)
                    count += 1
                if count:
                    tables[part.table] = BundleTable(part.fate, part.columns, part.key, count)
        return tables, total.hexdigest(), taken.hexdigest(), file.finish()


def load(folder: Path) -> Manifest:
    """Read only the manifest of a bundle.

    Raises:
        BundleDamagedError: With the reason.
    """
    try:
        return read_manifest((folder / MANIFEST).read_bytes())
    except OSError as error:
        sentence = _("Its {file} cannot be read ({reason}).").format(
            file=MANIFEST, reason=error.strerror
        )
        raise BundleDamagedError(sentence) from error


def verify(folder: Path, progress: Progress = NOBODY) -> Manifest:
    """Read a whole bundle, verify its checksums, and return its manifest.

    Raises:
        BundleDamagedError: With the reason.
        QueryInterruptedError: `progress`, which is checked between lines, was asked to stop.
    """
    manifest = load(folder)
    try:
        listed = (folder / SUMS).read_bytes().decode("ascii").splitlines()
        sums = {name: total for total, _spaces, name in (line.partition("  ") for line in listed)}
        if (
            sums.keys() != {*manifest.pieces, MANIFEST}
            or sums[MANIFEST] != sum_file(folder / MANIFEST).sha256
        ):
            raise BundleDamagedError(
                _("Its {file} and {other} do not agree.").format(file=MANIFEST, other=SUMS)
            )
        for name, piece in manifest.pieces.items():
            parts = name.split("/")
            if len(parts) > 2 or ".." in parts or (len(parts) == 2 and parts[0] != FILES):
                raise BundleDamagedError(
                    _("It names a file outside itself: “{file}”.").format(file=name)
                )
            if sum_file(folder / name) != piece or sums[name] != piece.sha256:
                raise BundleDamagedError(
                    _("Its {file} is damaged: size or SHA-256 differ.").format(file=name)
                )
    except (OSError, ValueError) as error:
        raise BundleDamagedError(
            _("It cannot be read in full ({reason}).").format(reason=error)
        ) from error
    counts = Counter[str]()
    total = hashlib.sha256()
    lines = ((raw, _line(raw).table) for raw in _raw_lines(folder))
    for raw, table in progress.counted(
        lines, lambda each: each[1] == "messages", "checking", manifest.messages
    ):
        progress.check()
        total.update(raw)
        counts[table] += 1
    if total.hexdigest() != manifest.lines or counts != {
        name: each.rows for name, each in manifest.tables.items()
    }:
        raise BundleDamagedError(
            _("Its {file} does not hold the rows its manifest counts.").format(file=ROWS)
        )
    return manifest


def _raw_lines(folder: Path) -> Iterator[bytes]:
    try:
        with gzip.open(folder / ROWS, "rb") as packed:
            while raw := packed.readline(_MAX_LINE):
                yield raw
    except (OSError, EOFError, zlib.error) as error:
        sentence = _("Its {file} cannot be unpacked ({reason}).").format(file=ROWS, reason=error)
        raise BundleDamagedError(sentence) from error


def _line(raw: bytes) -> TableRow:
    try:
        return read_line(raw)
    except (ValueError, RecursionError) as error:
        raise BundleDamagedError(_("Its {file} has an invalid line.").format(file=ROWS)) from error


def read_lines(folder: Path) -> Iterator[TableRow]:
    """Yield all rows of a bundle, in the order in which they can be restored.

    Raises:
        BundleDamagedError: It cannot be read.
    """
    for raw in _raw_lines(folder):
        yield _line(raw)
