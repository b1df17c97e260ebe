"""The files of an export: names, contents, and sentences about them; for the command line and the
screen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.export.files import (
    EXTENSIONS,
    check_target,
    export_pieces,
    make_folder,
    unique_names,
    write_file,
)
from hermes_browse.store.export.redact import Redactor, describe
from hermes_browse.store.export.source import HIDDEN, Export, ExportCounts, Format
from hermes_browse.store.hermes.homes import Location, sessions_folder
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _, ngettext

from .. import version
from . import sentences

MANY = "hermes-export"
"""The default name of the file or folder for several conversations."""
_BY_ENDING = {
    ".md": Format.MARKDOWN,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".html": Format.HTML,
    ".htm": Format.HTML,
}


def format_by_name(path: str) -> Format | None:
    """Return the format that the name of a file ends as; None if it ends as none."""
    return _BY_ENDING.get(Path(path).suffix.lower())


class Document(NamedTuple):
    path: Path
    conversations: Sequence[Conversation]


def kept_files(location: Location) -> list[Path]:
    """What no export replaces: the file of a store, SQLite's files beside it, and the folder of the
    old transcripts."""
    real = os.path.realpath(location.path)  # SQLite's files are beside the target of a link
    files = [location.path, *(Path(f"{real}{suffix}") for suffix in ("-wal", "-shm", "-journal"))]
    folder = location.old_files or sessions_folder(location)
    return files if folder is None else [*files, folder]


@dataclass(frozen=True)
class FileExport(Export):
    """An export into files."""

    exporter: str = f"hermes-browse {version()}"

    def plan(self, conversations: Sequence[Conversation], output: str) -> list[Document]:
        """Choose the files to write and their contents; make the folder they go into.

        Args:
            conversations: With details, at least one.
            output: The file or folder the user named; empty for a name made from the title, without
                secrets, in the current folder.

        Raises:
            RefusedError: The folder's path is in use by something else.
            BrowseError: The folder cannot be made.
        """
        silent = Redactor(self.redactor.values, active=self.redactor.active)  # counts nothing
        titles = [
            (silent.text(each.title or each.preview or each.id), each.id) for each in conversations
        ]
        extension = EXTENSIONS[self.format]
        names = unique_names(titles, extension)
        path = Path(os.path.expanduser(output))
        if self.format is Format.MARKDOWN and len(names) > 1:
            folder = path if output else Path(MANY)
            make_folder(folder)
            files = zip(names, conversations, strict=True)
            return [Document(folder / name, [conversation]) for name, conversation in files]
        if os.path.isdir(path) or output.endswith(os.sep):
            make_folder(path)
            path /= names[0] if len(names) == 1 else f"{MANY}{extension}"
        return [Document(path, conversations)]

    def save(
        self, documents: Sequence[Document], *, keep: Sequence[Path], force: bool
    ) -> Iterator[tuple[Document, ExportCounts, int]]:
        """Write files one after another, each atomically; all paths are checked before the first is
        written. Yields each with what is in it and its bytes.

        With `force` existing files are replaced, but never those to keep. What is not live is
        counted in all of them together, too.

        Raises:
            RefusedError: A file exists, or belongs to the store.
            BrowseError: A file cannot be written.
        """
        for document in documents:
            check_target(document.path, force=force, keep=keep)
        for document in documents:
            export = replace(self, counts=ExportCounts())
            pieces = export_pieces(export, document.conversations)
            size = write_file(document.path, pieces, force=force, keep=keep)
            self.counts.not_live += export.counts.not_live
            yield document, export.counts, size

    def not_live_words(self) -> str:
        """Return a sentence about rewound, compacted and hidden messages, which only `everything`
        includes; empty without any."""
        nouns = (State.REWOUND, State.COMPACTED, HIDDEN)
        messages = sentences.counts_line({noun: self.counts.not_live[noun] for noun in nouns})
        sentence = N_("Left out: {messages}.")
        if self.everything:
            sentence = N_("With {messages}.")
        if self.everything and self.format is Format.JSONL:
            sentence = N_(
                "With {messages}: Hermes 0.22 and later import them as such, "
                "earlier versions as live messages."
            )
        return _(sentence, messages=messages) if messages else ""


def redacted_words(redactor: Redactor) -> str:
    """Return a sentence about the secrets that were removed."""
    if not redactor.active:
        return _("Secrets are kept as they are: look through it before you share it.")
    if redactor.counts:
        return ngettext(
            "Redacted 1 secret: {kinds}.",
            "Redacted {count:,} secrets: {kinds}.",
            redactor.counts.total(),
            kinds=describe(redactor.counts),
        )
    return _("No secret of a known form was found; look through it before you share it.")
