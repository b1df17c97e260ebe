"""One bundle: written so that it is whole or not there, read back before anything is deleted.

It is made in a folder whose name begins with a dot, every file and folder is synced, everything is read again and
held against its sums, and only then is the folder given its name.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..errors import QueryInterruptedError
from ..reader import Reader
from ..wording import _
from .folders import NewFile, make_folder, remove_folder, sum_file, sync_folder, write_file
from .layout import Fate, Layout, Rows
from .manifest import (
    FILES,
    MANIFEST,
    README,
    README_TEXT,
    ROWS,
    SUMS,
    BundleDamagedError,
    Kept,
    Manifest,
    Piece,
    Table,
    TrashError,
    read_manifest,
)
from .origin import origin_of, orphans
from .slices import never, read_links, read_part
from .stages import Tell, counted, quiet
from .transcripts import Found, take_along
from .values import Line, read_line, text_of, write_line

PARTIAL = ".partial-"
"""How the folder of a bundle begins that is still being written."""

_LEVEL = 4
_LONGEST = 1 << 31
"""Bytes of a line: SQLite's values are shorter (https://sqlite.org/limits.html), a damaged file may be anything."""


class Contents(NamedTuple):
    """What is to go into a bundle."""

    sessions: tuple[str, ...]
    conversations: tuple[str, ...]
    titles: tuple[str | None, ...]
    files: Sequence[Found]
    kin: Sequence[tuple[str, str]] = ()
    """From `kin.ties_of`."""


class Written(NamedTuple):
    """A bundle that is whole on disk."""

    path: Path
    manifest: Manifest
    layout: Layout

    @property
    def cut(self) -> tuple[str | None, ...]:
        """Sessions that stay and lose their parent; None for one without an id."""
        parents = ("sessions", "parent_session_id")
        return tuple(text_of(each.key["id"]) for each in self.manifest.links if (each.table, each.column) == parents)


def new_name(now: float) -> str:
    """A name for a bundle, from the time and chance: never from anything stored."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def taken_sum(source: Rows, layout: Layout, ids: Sequence[str], stop: Callable[[], bool] = never) -> str:
    """SHA-256 of all rows a delete takes, as the manifest has it: tells whether they are still the same."""
    total = hashlib.sha256()
    for part in layout.parts:
        if part.fate is Fate.TAKEN:
            for line in read_part(source, part, ids, stop):
                total.update(write_line(line))
    return total.hexdigest()


def write_bundle(
    reader: Reader,
    layout: Layout,
    contents: Contents,
    trash: Path,
    now: float,
    stop: Callable[[], bool] = never,
    *,
    messages: int = 0,
    tell: Tell = quiet,
) -> Written:
    """Write what belongs to sessions into the trash; nothing is left of it unless it is whole.

    Args:
        reader: An open reader.
        layout: Of its store.
        contents: Which sessions, and what goes along.
        trash: The folder of the bundles; made where it is missing.
        now: Unix seconds.
        stop: Looked at between slices.
        messages: How many there are, about; for `tell` alone.
        tell: Is told how far it is.

    Raises:
        TrashError: No room, no permission, or it does not read back as it was written.
        QueryInterruptedError: It was stopped.
    """
    name = new_name(now)
    temporary = trash / f"{PARTIAL}{name}"
    try:
        make_folder(trash)
        os.mkdir(temporary, 0o700)
    except OSError as error:
        raise _cannot(trash, error) from error
    try:
        manifest = _fill(reader, layout, contents, temporary, name, now, stop, messages, tell)
        verify(temporary, manifest, stop, tell)
        os.rename(temporary, trash / name)
        sync_folder(trash)
    except OSError as error:
        for folder in (temporary, trash / name):  # it may have its name already, and not keep it
            remove_folder(folder)
        raise _cannot(trash, error) from error
    except BundleDamagedError as error:
        remove_folder(temporary)
        raise TrashError(
            _("The trash at {trash} does not give back what was written, so nothing was deleted. {reason}").format(
                trash=trash, reason=error
            )
        ) from error
    except BaseException:
        remove_folder(temporary)
        raise
    return Written(trash / name, manifest, layout)


def _cannot(trash: Path, error: OSError) -> TrashError:
    said = error.strerror or str(error)
    return TrashError(
        _("The trash at {trash} cannot take it ({reason}); nothing was deleted.").format(trash=trash, reason=said),
        remedy=_("What is deleted goes there first: make room, or see to its permissions."),
    )


def _fill(
    reader: Reader,
    layout: Layout,
    contents: Contents,
    folder: Path,
    name: str,
    now: float,
    stop: Callable[[], bool],
    messages: int,
    tell: Tell,
) -> Manifest:
    links = tuple(read_links(reader, layout, contents.sessions))
    tables, lines, taken, piece = _write_rows(reader, layout, contents.sessions, folder, stop, messages, tell)
    kept: list[Kept] = []
    pieces: dict[str, Piece] = {ROWS: piece}
    if contents.files:
        os.mkdir(folder / FILES, 0o700)
        kept, more = take_along(contents.files, folder)
        pieces |= more
        sync_folder(folder / FILES)
    pieces[README] = write_file(folder / README, README_TEXT.encode("ascii"))
    manifest = Manifest(
        name=name,
        created_at=now,
        titles=contents.titles,
        conversations=contents.conversations,
        sessions=contents.sessions,
        messages=tables["messages"].rows if "messages" in tables else 0,
        origin=origin_of(reader),
        tables=tables,
        links=links,
        orphans=tuple(orphans(reader, contents.sessions)),
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
    stop: Callable[[], bool],
    messages: int,
    tell: Tell,
) -> tuple[dict[str, Table], str, str, Piece]:
    total, taken = hashlib.sha256(), hashlib.sha256()
    tables: dict[str, Table] = {}
    file = NewFile(folder / ROWS)
    try:
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            for part in layout.parts:
                count = 0
                said = messages if part.table == "messages" else 0
                for line in counted(read_part(reader, part, ids, stop), lambda _line: True, "saving", said, tell):
                    data = write_line(line)
                    total.update(data)
                    if part.fate is Fate.TAKEN:
                        taken.update(data)
                    packed.write(data)
                    count += 1
                if count:
                    tables[part.table] = Table(part.fate, part.columns, part.key, count)
        return tables, total.hexdigest(), taken.hexdigest(), file.finish()
    finally:
        file.abandon()


def load(folder: Path) -> Manifest:
    """The manifest of a bundle; nothing else of it is looked at.

    Raises:
        BundleDamagedError: With the reason.
    """
    try:
        manifest = read_manifest((folder / MANIFEST).read_bytes())
    except OSError as error:
        sentence = _("Its {file} cannot be read ({reason}).").format(file=MANIFEST, reason=error.strerror)
        raise BundleDamagedError(sentence) from error
    return manifest


def verify(
    folder: Path, expected: Manifest | None = None, stop: Callable[[], bool] = never, tell: Tell = quiet
) -> Manifest:
    """Read a whole bundle and hold it against its sums.

    Args:
        folder: Of the bundle.
        expected: What its manifest must say; None to believe it.
        stop: Looked at between lines.
        tell: Is told how far it is.

    Raises:
        BundleDamagedError: With what is wrong.
    """
    manifest = load(folder)
    if expected is not None and manifest != expected:
        raise BundleDamagedError(_("Its {file} is not what was written.").format(file=MANIFEST))
    try:
        listed = (folder / SUMS).read_bytes().decode("ascii").splitlines()
        sums = {name: total for total, _spaces, name in (line.partition("  ") for line in listed)}
        if sums.keys() != {*manifest.pieces, MANIFEST} or sums[MANIFEST] != sum_file(folder / MANIFEST).sha256:
            raise BundleDamagedError(_("Its {file} and {other} do not agree.").format(file=MANIFEST, other=SUMS))
        for name, piece in manifest.pieces.items():
            parts = name.split("/")
            if len(parts) > 2 or ".." in parts or (len(parts) == 2 and parts[0] != FILES):
                raise BundleDamagedError(_("It names a file outside itself: “{file}”.").format(file=name))
            if sum_file(folder / name) != piece or sums[name] != piece.sha256:
                raise BundleDamagedError(_("Its {file} is damaged: size or SHA-256 differ.").format(file=name))
    except (OSError, ValueError) as error:
        raise BundleDamagedError(_("It cannot be read whole ({reason}).").format(reason=error)) from error
    counts: dict[str, int] = {}
    total = hashlib.sha256()
    lines = ((raw, _line(raw).table) for raw in _raw_lines(folder))
    for raw, table in counted(lines, lambda each: each[1] == "messages", "checking", manifest.messages, tell):
        if stop():
            raise QueryInterruptedError(_("Stopped; nothing was changed."))
        total.update(raw)
        counts[table] = counts.get(table, 0) + 1
    if total.hexdigest() != manifest.lines or counts != {name: each.rows for name, each in manifest.tables.items()}:
        raise BundleDamagedError(_("Its {file} does not hold the rows its manifest counts.").format(file=ROWS))
    return manifest


def _raw_lines(folder: Path) -> Iterator[bytes]:
    try:
        with gzip.open(folder / ROWS, "rb") as packed:
            while raw := packed.readline(_LONGEST):
                yield raw
    except (OSError, EOFError, zlib.error) as error:
        sentence = _("Its {file} cannot be unpacked ({reason}).").format(file=ROWS, reason=error)
        raise BundleDamagedError(sentence) from error


def _line(raw: bytes) -> Line:
    try:
        return read_line(raw)
    except (ValueError, RecursionError) as error:
        raise BundleDamagedError(_("Its {file} holds a line that is none.").format(file=ROWS)) from error


def read_lines(folder: Path) -> Iterator[Line]:
    """All rows of a bundle, in the order in which they can be put back.

    Raises:
        BundleDamagedError: It cannot be read.
    """
    for raw in _raw_lines(folder):
        yield _line(raw)
