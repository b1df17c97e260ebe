"""`export`: conversations into files, or to standard output, without the secrets in them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_browse.store.errors import NotFoundError

from ..exports import Document, make_redactor, plan_documents, redacted_words, save
from .columns import note
from .run import USAGE, Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.export.redact import Redactor
    from hermes_browse.store.export.source import Tally
    from hermes_browse.store.models import Conversation

STDOUT = "-"
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
}


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


def _print(pieces: Iterator[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for piece in pieces:
        sys.stdout.write(piece)


def _say_redacted(redactor: Redactor) -> None:
    words = redacted_words(redactor)
    if not redactor.active:
        words = words.replace("as they are:", "as they are (--no-redact):")
    elif redactor.total:
        words += " --no-redact keeps them."
    note(words)


def export(context: Context) -> int:
    """`export`: one or many conversations, whole, in one of three formats."""
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
    redactor = make_redactor(context.location, note, active=not wanted.no_redact)

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
    documents = plan_documents(conversations, form, redactor, wanted.output)
    files: list[dict[str, object]] = []
    for saved in save(context.store, documents, pieces, force=wanted.force):
        files.append(
            {
                "path": str(saved.document.path),
                "conversations": [each.id for each in saved.document.conversations],
                "sessions": saved.tally.sessions,
                "messages": saved.tally.messages,
                "bytes": saved.bytes,
            }
        )
        if not context.json:
            _say_written(saved.document, saved.tally)
    _say_redacted(redactor)
    if context.json:
        counts = dict(sorted(redactor.counts.items()))
        print_json({"format": form.value, "files": files, "redact": redactor.active, "redacted": counts})
    return 0


def _say_written(document: Document, tally: Tally) -> None:
    from hermes_browse.store.text import one_line

    many = len(document.conversations)
    what = f"{many:,} conversations, " if many > 1 else ""
    sessions = f"{tally.sessions:,} session" + ("" if tally.sessions == 1 else "s")
    messages = f"{tally.messages:,} message" + ("" if tally.messages == 1 else "s")
    print(f"{one_line(str(document.path))}  ({what}{sessions}, {messages})")
