"""Which files an export writes and what goes into each; the command line and the screen share it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.export.files import EXTENSIONS, Format, check_target, make_folder, unique_names, write_file
from hermes_browse.store.export.redact import Redactor, describe, read_env, secret_values
from hermes_browse.store.export.source import Tally
from hermes_browse.store.messages.models import State
from hermes_browse.store.wording import _, ngettext, pgettext

from ..store_paths import env_files, store_files

if TYPE_CHECKING:
    from collections import Counter

    from hermes_browse.store.connection.connect import Store
    from hermes_browse.store.export.files import Format
    from hermes_browse.store.export.redact import Redactor
    from hermes_browse.store.export.source import Tally
    from hermes_browse.store.hermes.homes import Location
    from hermes_browse.store.messages.models import State
    from hermes_browse.store.sessions.models import Conversation

MANY = "hermes-export"
"""The file or folder that several conversations go to when no name is given."""


class Document(NamedTuple):
    """One file to be written."""

    path: Path
    conversations: Sequence[Conversation]


class Saved(NamedTuple):
    """One file that was written."""

    document: Document
    tally: Tally
    bytes: int


def make_redactor(location: Location, tell: Callable[[str], object], *, active: bool = True) -> Redactor:
    """A redactor that knows the values of the user's `.env` files; what cannot be read is said.

    Args:
        location: The store.
        tell: Takes such a sentence.
        active: False for one that takes nothing out.
    """

    pairs: list[tuple[str, str]] = []
    for path in env_files(location) if active else []:
        try:
            pairs += read_env(path)
        except OSError as error:
            sentence = _("{path} cannot be read ({reason}): its values are not looked for.")
            tell(sentence.format(path=path, reason=error.strerror))
    return Redactor(secret_values(pairs), active=active)


def plan_documents(
    conversations: Sequence[Conversation], form: Format, redactor: Redactor, named: str | None
) -> list[Document]:
    """Which files to write, and what goes into each; makes the folder of several Markdown documents.

    Args:
        conversations: Detailed ones, at least one.
        form: Of all.
        redactor: Titles may hold secrets, and a file name is the first thing anybody sees.
        named: What the user named, file or folder; None for a name after the title, here.

    Raises:
        RefusedError: There is something else in the place of the folder.
        BrowseError: It cannot be made.
    """

    extension = EXTENSIONS[form]
    path = Path(named).expanduser() if named else None
    silent = type(redactor)(redactor.values, active=redactor.active)
    titles = [(silent.text(each.title or each.preview or each.id), each.id) for each in conversations]
    if form is Format.MARKDOWN and len(conversations) > 1:
        folder = path or Path(MANY)
        make_folder(folder)
        names = unique_names(titles, extension)
        return [Document(folder / name, [each]) for name, each in zip(names, conversations, strict=True)]
    name = unique_names(titles, extension)[0] if len(conversations) == 1 else f"{MANY}{extension}"
    if path is None:
        path = Path(name)
    elif path.is_dir() or str(named).endswith(os.sep):
        path = path / name
    return [Document(path, conversations)]


def save(
    store: Store,
    documents: Sequence[Document],
    pieces: Callable[[Sequence[Conversation], Tally], Iterator[str]],
    *,
    force: bool,
) -> Iterator[Saved]:
    """Write files one after another, each whole or not at all; all are looked at before the first is written.

    Args:
        store: Whose files are never written to.
        documents: From `plan_documents`.
        pieces: Gives the text of one, and counts what is in it.
        force: Replace files that are there.

    Raises:
        RefusedError: One is there already, or belongs to the store.
        BrowseError: One cannot be written.
    """

    keep = store_files(store.path)
    for document in documents:
        check_target(document.path, force=force, keep=keep)
    for document in documents:
        tally = Tally()
        size = write_file(document.path, pieces(document.conversations, tally), force=force, keep=keep)
        yield Saved(document, tally, size)


def not_live_words(counts: Counter[State], form: Format, *, everything: bool) -> str:
    """What became of the rows that the model no longer sees, in a sentence; empty where there were none.

    Args:
        counts: Of such rows, by state, over all files.
        form: Of all.
        everything: Whether they were written.
    """

    rewound, compacted = counts[State.REWOUND], counts[State.COMPACTED]
    parts = [
        ngettext("1 rewound message", "{count:,} rewound messages", rewound).format(count=rewound) if rewound else "",
        ngettext("1 compacted message", "{count:,} compacted messages", compacted).format(count=compacted)
        if compacted
        else "",
    ]
    messages = pgettext("list", ", ").join(part for part in parts if part)
    if not messages:
        return ""
    if not everything:
        told = _("Left out: {messages}.")
    elif form is Format.JSONL:
        told = _("With {messages}: Hermes 0.22 and later import them as such, earlier versions as live messages.")
    else:
        told = _("With {messages}.")
    return told.format(messages=messages)


def redacted_words(redactor: Redactor) -> str:
    """What was taken out, in a sentence."""

    if not redactor.active:
        return _("Secrets are kept as they are: look through it before you share it.")
    if redactor.total:
        told = ngettext("Redacted 1 secret: {kinds}.", "Redacted {count:,} secrets: {kinds}.", redactor.total)
        return told.format(count=redactor.total, kinds=describe(redactor.counts))
    return _("No secret of a known form was found; look through it before you share it.")
