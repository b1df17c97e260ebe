"""`export`: conversations into files, or to standard output, without the secrets in them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.errors import NotFoundError

from ..places import env_files, store_files
from .columns import note
from .run import USAGE, Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.export.pieces import Format
    from hermes_browse.store.export.redact import Redactor
    from hermes_browse.store.export.source import Tally
    from hermes_browse.store.homes import Location
    from hermes_browse.store.models import Conversation

STDOUT = "-"
_MANY = "hermes-export"
"""The file or folder that several conversations go to when no name is given."""
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
}


class _Document(NamedTuple):
    """One file to be written."""

    path: Path
    conversations: Sequence[Conversation]


def _find(context: Context) -> list[Conversation]:
    """The conversations of all ids, each once; nothing is written before every one is found."""
    from hermes_browse.store.catalog import read_neighbourhood
    from hermes_browse.store.preview import with_details
    from hermes_browse.store.resolve import resolve_session

    found: dict[str, Conversation] = {}
    with context.store.reader() as reader:
        for text in context.arguments.ids:
            session_id = resolve_session(reader, text)
            conversation = read_neighbourhood(reader, [session_id], context.now).of_session(session_id)
            if conversation is None:
                raise NotFoundError(f"There is no session {session_id} in this store.")
            found.setdefault(conversation.root_id, conversation)
        return with_details(reader, list(found.values()))


def make_redactor(location: Location, *, active: bool = True) -> Redactor:
    """A redactor that knows the values of the user's `.env` files; what cannot be read is said.

    Args:
        location: The store.
        active: False for one that takes nothing out.
    """
    from hermes_browse.store.export.env import read_env, telling_values
    from hermes_browse.store.export.redact import Redactor

    pairs: list[tuple[str, str]] = []
    for path in env_files(location) if active else []:
        try:
            pairs += read_env(path)
        except OSError as error:
            note(f"{path} cannot be read ({error.strerror}): its values are not looked for.")
    return Redactor(telling_values(pairs), active=active)


def _plan(context: Context, conversations: Sequence[Conversation], form: Format, redactor: Redactor) -> list[_Document]:
    """Which files to write, and what goes into each."""
    from hermes_browse.store.export.files import make_folder, unique_names
    from hermes_browse.store.export.pieces import EXTENSIONS, Format

    extension = EXTENSIONS[form]
    named = context.arguments.output
    path = Path(named).expanduser() if named else None
    # A title may hold a secret, and a file name is the first thing anybody sees.
    silent = type(redactor)(redactor.values, active=redactor.active)
    titles = [(silent.text(each.title or each.preview or each.id), each.id) for each in conversations]
    if form is Format.MARKDOWN and len(conversations) > 1:
        folder = path or Path(_MANY)
        make_folder(folder)
        names = unique_names(titles, extension)
        return [_Document(folder / name, [each]) for name, each in zip(names, conversations, strict=True)]
    name = unique_names(titles, extension)[0] if len(conversations) == 1 else f"{_MANY}{extension}"
    if path is None:
        path = Path(name)
    elif path.is_dir() or str(named).endswith(os.sep):
        path = path / name
    return [_Document(path, conversations)]


def _print(pieces: Iterator[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for piece in pieces:
        sys.stdout.write(piece)


def _say_redacted(redactor: Redactor) -> None:
    from hermes_browse.store.export.redact import describe

    if not redactor.active:
        note("Secrets are kept as they are (--no-redact): look through it before you share it.")
    elif redactor.total:
        some = "1 secret" if redactor.total == 1 else f"{redactor.total:,} secrets"
        note(f"Redacted {some}: {describe(redactor.counts)}. --no-redact keeps them.")
    else:
        note("No secret of a known form was found; look through it before you share it.")


def export(context: Context) -> int:
    """`export`: one or many conversations, whole, in one of three formats."""
    from hermes_browse.store.export.files import check_target, write_file
    from hermes_browse.store.export.pieces import Format, export_pieces
    from hermes_browse.store.export.source import Tally

    from .version import version

    wanted = context.arguments
    named = wanted.format or _SUFFIXES.get(Path(wanted.output or "").suffix.lower(), "markdown")
    form = Format(named)
    to_stdout = wanted.output == STDOUT
    if to_stdout and context.json:
        note("hermes-browse export: --json and the export both want standard output; name a file with --output.")
        return USAGE
    conversations = _find(context)
    if to_stdout and form is Format.MARKDOWN and len(conversations) > 1:
        note("hermes-browse export: several Markdown documents do not go to standard output; name a folder.")
        return USAGE
    redactor = make_redactor(context.location, active=not wanted.no_redact)

    def pieces(some: Sequence[Conversation], tally: Tally) -> Iterator[str]:
        exporter = f"hermes-browse {version()}"
        return export_pieces(
            context.store, some, form, redactor=redactor, tally=tally, exporter=exporter, now=context.now
        )

    if to_stdout:
        _print(pieces(conversations, Tally()))
        sys.stdout.flush()
        _say_redacted(redactor)
        return 0
    documents = _plan(context, conversations, form, redactor)
    keep = store_files(context.store.path)
    for document in documents:
        check_target(document.path, force=wanted.force, keep=keep)
    files: list[dict[str, object]] = []
    for document in documents:
        tally = Tally()
        size = write_file(document.path, pieces(document.conversations, tally), force=wanted.force, keep=keep)
        files.append(
            {
                "path": str(document.path),
                "conversations": [each.id for each in document.conversations],
                "sessions": tally.sessions,
                "messages": tally.messages,
                "bytes": size,
            }
        )
        if not context.json:
            _say_written(document, tally)
    _say_redacted(redactor)
    if context.json:
        counts = dict(sorted(redactor.counts.items()))
        print_json({"format": form.value, "files": files, "redact": redactor.active, "redacted": counts})
    return 0


def _say_written(document: _Document, tally: Tally) -> None:
    from hermes_browse.store.text import one_line

    many = len(document.conversations)
    what = f"{many:,} conversations, " if many > 1 else ""
    print(f"{one_line(str(document.path))}  ({what}{tally.sessions:,} sessions, {tally.messages:,} messages)")
