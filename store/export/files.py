"""Export conversations to files: formats, safe file names, and atomic writing."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path

from ..errors import Advice, BrowseError, RefusedError
from ..files import write_whole
from ..sessions.models import Conversation
from ..text import one_line, without_parts
from ..wording import _
from .html import html_pieces
from .jsonl import jsonl_pieces
from .markdown import markdown_pieces
from .source import Export, ExportedConversation, Format

NAME_BYTES = 120
"""Maximum bytes of a file name without its extension; file systems allow 255, some tools add to
them."""

_UNSAFE = re.compile(r'[/\\:*?"<>|\ufffd\u2400-\u2426]')
_RESERVED = re.compile(
    r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?:\..*)?"
)
_STORE_FILE = re.compile(r"state\.db(?:-wal|-shm|-journal)?", re.IGNORECASE)


EXTENSIONS = {Format.MARKDOWN: ".md", Format.JSONL: ".jsonl", Format.HTML: ".html"}


_WRITERS = {
    Format.MARKDOWN: markdown_pieces,
    Format.JSONL: jsonl_pieces,
    Format.HTML: html_pieces,
}


def export_pieces(export: Export, conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield an export of conversations in pieces, with no connection open meanwhile.

    Markdown yields one document after the other, the other formats a single one. The conversations
    have details and all segments.
    """
    exported = [ExportedConversation(export, each) for each in conversations]
    for piece in _WRITERS[export.format](exported):
        export.store.close()  # whoever takes the piece may be slow
        yield piece


def file_stem(title: str, most: int = NAME_BYTES) -> str:
    """Return a file name without extension that is safe on any system and in any shell; `most` in
    bytes.

    No separators, no leading dot or dash, no device names of Windows, no trailing dots or spaces.
    If nothing is left of a title, the name is `conversation`.
    """
    name = unicodedata.normalize("NFC", one_line(title, 4 * most))
    name = re.sub(r"\s+", " ", _UNSAFE.sub(" ", name)).lstrip(" .-~").rstrip(" .")
    if _RESERVED.fullmatch(name):
        name = "_" + name
    cut = name.encode("utf-8")[:most].decode("utf-8", "ignore")
    whole = cut if cut == name else without_parts(cut)
    return whole.rstrip(" .") or "conversation"


def _folded(name: str) -> str:
    """Return the same text for names that some file system does not distinguish."""
    return unicodedata.normalize("NFC", name).casefold()


def unique_names(titles: Sequence[tuple[str, str]], extension: str) -> list[str]:
    """Return file names for conversations in one folder, given by title and id, distinct on any
    file system.

    Of conversations with the same title all but the first have their ids in it; the extension has
    its dot.
    """
    names: dict[str, str] = {}  # by what file systems make of them
    for title, session_id in titles:
        with_id = f"{file_stem(title, NAME_BYTES - 40)} ({file_stem(session_id[-20:], 30)})"
        numbered = (f"{with_id} {number}" for number in count(2))
        candidates = chain([file_stem(title), with_id], numbered)
        name = next(each for each in candidates if _folded(each) not in names)
        names[_folded(name)] = name + extension
    return list(names.values())


def _failure(path: Path, error: OSError) -> BrowseError:
    """Return the error for a file that was not written, or not to the last step."""
    return BrowseError(
        _("Writing {path} failed: {reason}.", path=path, reason=error.strerror or error),
        remedy=_("If there is a file of this name, it is whole."),
    )


def check_target(path: Path, *, force: bool, keep: Iterable[Path] = ()) -> None:
    """Check the path of an export before anything is read.

    Args:
        path: Of the file to write.
        force: Allow to replace a file.
        keep: Files never to replace, and folders whose files never are: the store and what belongs
            to it. The store of another profile is known by its name.

    Raises:
        RefusedError: It exists, is not a regular file, or is one to keep.
        BrowseError: It cannot be examined.
    """
    # There or not: a journal, for example.
    is_kept = any(_is_same_file(path, each) or _is_same_file(path.parent, each) for each in keep)
    if is_kept or _STORE_FILE.fullmatch(os.path.basename(os.path.realpath(path))):
        raise RefusedError(
            _("{path} belongs to the session store: nothing is written there.", path=path)
        )
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failure(path, error) from error
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        sentence = _("{path} is a folder.") if path.is_dir() else _("{path} is no plain file.")
        remedy = _("Name a file, or `-` for standard output.")
        raise RefusedError(sentence.format(path=path), remedy=remedy)
    if not force:
        raise _taken(path)


def _taken(path: Path) -> RefusedError:
    return RefusedError(
        _("{path} is there already.", path=path),
        remedy=_("Name another file, or replace it."),
        advice=Advice.NAME_OTHER_OR_REPLACE,
    )


def _is_same_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # one of them is missing
        return os.path.realpath(path) == os.path.realpath(other)


def make_folder(path: Path) -> None:
    """Create a private folder for files, unless it exists.

    Raises:
        RefusedError: There is a file of that name.
        BrowseError: It cannot be created.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        raise RefusedError(
            _("{path} is a file.", path=path),
            remedy=_("Several Markdown documents go into a folder."),
        ) from None
    except OSError as error:
        raise _failure(path, error) from error


def write_file(
    path: Path, pieces: Iterable[str], *, force: bool = False, keep: Iterable[Path] = ()
) -> int:
    """Write a private file (0600) completely or not at all; return its size in bytes.

    The text is encoded as UTF-8; `force` and `keep` are those of `check_target`.

    Raises:
        RefusedError: As `check_target`, also if the file has appeared meanwhile.
        BrowseError: It was not written; or it was, and something failed after that.
    """
    check_target(path, force=force, keep=keep)
    try:
        return write_whole(path, (piece.encode("utf-8") for piece in pieces), replace=force)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        raise _failure(path, error) from error
