"""Exports as files: which formats there are, safe names out of any title, and writing that loses nothing."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from ..connection.connect import Store
from ..errors import BrowseError, RefusedError
from ..messages.models import Reading
from ..sessions.models import Conversation
from ..text import one_line
from ..wording import _
from .html import html_pieces
from .jsonl import jsonl_pieces
from .markdown import markdown_pieces
from .redact import Redactor
from .source import Source, Tally

NAME_BYTES = 120
"""The most bytes of a file name without its extension; file systems take 255, some tools add to them."""

_UNSAFE = re.compile(r'[/\\:*?"<>|\ufffd\u2400-\u2426]')
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?:\..*)?")


class Format(StrEnum):
    """The formats of an export."""

    MARKDOWN = "markdown"
    JSONL = "jsonl"
    HTML = "html"


EXTENSIONS = {Format.MARKDOWN: ".md", Format.JSONL: ".jsonl", Format.HTML: ".html"}


def export_pieces(
    store: Store,
    conversations: Sequence[Conversation],
    form: Format,
    *,
    redactor: Redactor,
    tally: Tally,
    exporter: str,
    now: float,
    everything: bool = False,
) -> Iterator[str]:
    """One document of conversations, in pieces; connections are opened and closed along the way.

    Args:
        store: Where they are.
        conversations: With details, in the order of the document; whole, all segments.
        form: Markdown documents hold one conversation each, one after the other.
        redactor: Takes the secrets out and counts them.
        tally: Counts sessions and messages along.
        exporter: Name and version of the program.
        now: Unix seconds, the time of the export.
        everything: Write rewound and hidden rows too. Without it JSON lines hold live rows alone.
    """
    if form is Format.JSONL:
        ids = [segment.id for each in conversations for segment in each.segments]
        yield from jsonl_pieces(store, ids, redactor, tally, everything=everything)
        return
    reading = Reading.EVERYTHING if everything else Reading.SAID
    sources = [Source(store, each, redactor, tally, reading) for each in conversations]
    if form is Format.HTML:
        yield from html_pieces(sources, exporter=exporter, now=now)
        return
    for source in sources:
        yield from markdown_pieces(source, exporter=exporter, now=now)


def _cut(text: str, most: int) -> str:
    """The text in at most so many bytes of UTF-8, whole characters only."""
    cut = text.encode("utf-8")[:most].decode("utf-8", "ignore")
    while cut != text and cut and (cut[-1] in "\u200d\ufe0f" or unicodedata.combining(cut[-1])):
        cut = cut[:-1]
    return cut


def file_stem(title: str, most: int = NAME_BYTES) -> str:
    """A file name without extension that any system takes and no shell stumbles over.

    No separators, no leading dot or dash, no device names of Windows, no trailing dots or spaces;
    what is left of a hostile title may be nothing, then it is `conversation`.

    Args:
        title: Any text.
        most: Bytes.
    """
    name = unicodedata.normalize("NFC", one_line(title, 4 * most))
    name = re.sub(r"\s+", " ", _UNSAFE.sub(" ", name)).lstrip(" .-~").rstrip(" .")
    name = _cut(name, most).rstrip(" .")
    if _RESERVED.fullmatch(name):
        name = "_" + _cut(name, most - 1)
    return name or "conversation"


def _key(name: str) -> str:
    """Equal for names that some file system takes for the same."""
    return unicodedata.normalize("NFC", name).casefold()


def unique_names(titles: Sequence[tuple[str, str]], extension: str) -> list[str]:
    """File names for several conversations in one folder, no two alike on any file system.

    Args:
        titles: Title and id of each; ids tell conversations with the same title apart.
        extension: With its dot.
    """
    stems = [file_stem(title) for title, _session in titles]
    counts = Counter(map(_key, stems))
    used: set[str] = set()
    names: list[str] = []
    for stem, (_title, session_id) in zip(stems, titles, strict=True):
        name, number = stem, 1
        if counts[_key(stem)] > 1:
            name = f"{_cut(stem, NAME_BYTES - 40).rstrip(' .')} ({_cut(file_stem(session_id[-20:]), 30)})"
        wanted = name
        while _key(name) in used:
            number += 1
            name = f"{wanted} {number}"
        used.add(_key(name))
        names.append(name + extension)
    return names


def _failed(path: Path, error: OSError, left: Path | None = None) -> BrowseError:
    """The error for a file that was not written; `left` is a temporary file that could not be removed."""
    return BrowseError(
        _("{path} could not be written: {reason}.").format(path=path, reason=error.strerror or error),
        remedy=_("{path} was left behind.").format(path=left) if left else _("Nothing was left half done."),
    )


def check_target(path: Path, *, force: bool, keep: Iterable[Path] = ()) -> None:
    """Refuse a path before anything is read for it.

    Args:
        path: Where a file is to be.
        force: Whether a file that is there may be replaced.
        keep: Files that may never be, whatever is said: the store and what belongs to it.

    Raises:
        RefusedError: It is there already, is no plain file, or is one to keep.
        BrowseError: The place cannot be looked at.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failed(path, error) from error
    resolved = os.path.realpath(path)
    if any(os.path.realpath(each) == resolved or _same(found, each) for each in keep):
        raise RefusedError(_("{path} belongs to the session store: nothing is written there.").format(path=path))
    other = _("Name a file, or `-` for standard output.")
    if stat.S_ISDIR(found.st_mode):
        raise RefusedError(_("{path} is a folder.").format(path=path), remedy=other)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
        raise RefusedError(_("{path} is no plain file.").format(path=path), remedy=other)
    if not force:
        raise RefusedError(
            _("{path} is there already.").format(path=path),
            remedy=_("Name another file, or say --force to replace it."),
        )


def _same(found: os.stat_result, other: Path) -> bool:
    try:
        known = os.stat(other)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino)


def make_folder(path: Path) -> None:
    """Make a folder for several files, for its owner alone; one that is there is taken as it is.

    Raises:
        RefusedError: There is something else.
        BrowseError: It cannot be made.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        raise RefusedError(
            _("{path} is a file.").format(path=path), remedy=_("Several Markdown documents go into a folder.")
        ) from None
    except OSError as error:
        raise _failed(path, error) from error


def _sync_folder(path: Path) -> None:
    if os.name != "posix":
        return  # a folder cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put(temporary: Path, path: Path, *, force: bool) -> None:
    """Give the finished file its name; without force only if nobody has taken that meanwhile."""
    if force:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: take the name first, then the place
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            os.replace(temporary, path)
        except OSError:
            path.unlink()
            raise


def _discard(temporary: Path | None) -> Path | None:
    """Remove the temporary file after a failure; returns it when it stays."""
    try:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    except OSError:
        return temporary
    return None


def _finish(temporary: Path, path: Path) -> None:
    """Take the temporary name away, which a link leaves, and sync the folder; the file itself is there already.

    Raises:
        BrowseError: One of them failed; it says that the file was exported all the same.
    """
    try:
        temporary.unlink(missing_ok=True)
    except OSError as error:
        said = _("{path} was exported, but the temporary file {other} could not be removed: {reason}.")
        raise BrowseError(said.format(path=path, other=temporary, reason=error.strerror or error)) from error
    try:
        _sync_folder(path.parent)
    except OSError as error:
        said = _("{path} was exported, but its folder could not be synced: {reason}.")
        remedy = _("After a power cut, look whether it is there.")
        raise BrowseError(said.format(path=path, reason=error.strerror or error), remedy=remedy) from error


def write_file(path: Path, pieces: Iterable[str], *, force: bool = False, keep: Iterable[Path] = ()) -> int:
    """Write a file whole or not at all, for its owner alone (0600).

    Pieces go to a temporary file beside it, which is synced and then renamed; what fails leaves
    nothing behind (else the error names it) and what was there before untouched.

    Args:
        path: Where.
        pieces: The text, in order; UTF-8.
        force: Replace a file that is there.
        keep: Files that may never be replaced.

    Returns:
        Bytes written.

    Raises:
        RefusedError: As `check_target`, also when the file appeared meanwhile.
        BrowseError: It cannot be written; or it was, but something after it failed, and then it says so.
    """
    check_target(path, force=force, keep=keep)
    temporary: Path | None = None
    size = 0
    try:
        handle, name = tempfile.mkstemp(prefix=".hermes-browse-", suffix=".partial", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                size += file.write(piece.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        _put(temporary, path, force=force)
    except FileExistsError:
        _discard(temporary)
        raise RefusedError(
            _("{path} has appeared meanwhile.").format(path=path), remedy=_("Say --force to replace it.")
        ) from None
    except OSError as error:
        raise _failed(path, error, _discard(temporary)) from error
    except BaseException:
        _discard(temporary)
        raise
    _finish(temporary, path)
    return size
