"""`export`: conversations into files, or to standard output, without the secrets in them."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.wording import _, pgettext

from ..exports import Document, make_redactor, not_live_words, plan_documents, redacted_words, save
from .columns import note
from .naming import count_conversations, count_messages, count_sessions
from .run import USAGE, Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.export.pieces import Format
    from hermes_browse.store.export.redact import Redactor
    from hermes_browse.store.export.source import Tally
    from hermes_browse.store.models import State
    from hermes_browse.store.sessions.models import Conversation

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
    from hermes_browse.store.preview import with_details
    from hermes_browse.store.sessions.catalog import read_neighbourhood
    from hermes_browse.store.sessions.resolve import resolve_session

    found: dict[str, Conversation] = {}
    with context.store.reader() as reader:
        for text in context.arguments.ids:
            session_id = resolve_session(reader, text)
            conversation = read_neighbourhood(reader, [session_id], context.now).of_session(session_id)
            if conversation is None:
                raise NotFoundError(_("There is no session {id} in this store.").format(id=session_id))
            found.setdefault(conversation.root_id, conversation)
        return with_details(reader, list(found.values()))


def _print(pieces: Iterator[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for piece in pieces:
        sys.stdout.write(piece)


def _say_redacted(redactor: Redactor) -> None:
    if not redactor.active:
        note(_("Secrets are kept as they are (--no-redact): look through it before you share it."))
    elif redactor.total:
        note(_("{sentence} --no-redact keeps them.").format(sentence=redacted_words(redactor)))
    else:
        note(redacted_words(redactor))


def _say_not_live(counts: Counter[State], form: Format, *, everything: bool) -> None:
    words = not_live_words(counts, form, everything=everything)
    if words:
        note(words if everything else _("{sentence} --everything takes them along.").format(sentence=words))


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
        told = _("--json and the export both want standard output; name a file with --output.")
        note(f"hermes-browse export: {told}")  # not shown
        return USAGE
    conversations = _find(context)
    if to_stdout and form is Format.MARKDOWN and len(conversations) > 1:
        told = _("several Markdown documents do not go to standard output; name a folder.")
        note(f"hermes-browse export: {told}")  # not shown
        return USAGE
    redactor = make_redactor(context.location, note, active=not wanted.no_redact)

    def pieces(some: Sequence[Conversation], tally: Tally) -> Iterator[str]:
        exporter = f"hermes-browse {version()}"
        return export_pieces(
            context.store,
            some,
            form,
            redactor=redactor,
            tally=tally,
            exporter=exporter,
            now=context.now,
            everything=wanted.everything,
        )

    if to_stdout:
        whole = Tally()
        _print(pieces(conversations, whole))
        sys.stdout.flush()
        _say_not_live(whole.not_live, form, everything=wanted.everything)
        _say_redacted(redactor)
        return 0
    documents = plan_documents(conversations, form, redactor, wanted.output)
    files: list[dict[str, object]] = []
    not_live: Counter[State] = Counter()
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
        not_live += saved.tally.not_live
        if not context.json:
            _say_written(saved.document, saved.tally)
    _say_not_live(not_live, form, everything=wanted.everything)
    _say_redacted(redactor)
    if context.json:
        counts = dict(sorted(redactor.counts.items()))
        left_out = {} if wanted.everything else {state.value: count for state, count in sorted(not_live.items())}
        print_json(
            {
                "format": form.value,
                "files": files,
                "everything": wanted.everything,
                "left_out": left_out,
                "redact": redactor.active,
                "redacted": counts,
            }
        )
    return 0


def _say_written(document: Document, tally: Tally) -> None:
    from hermes_browse.store.text import one_line

    many = len(document.conversations)
    counts = [count_sessions(tally.sessions), count_messages(tally.messages)]
    if many > 1:
        counts.insert(0, count_conversations(many))
    told = _("{path}  ({counts})")
    print(told.format(path=one_line(str(document.path)), counts=pgettext("list", ", ").join(counts)))
