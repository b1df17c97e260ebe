"""`export`: write conversations to files or standard output, with secrets redacted."""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.api import open_store
from hermes_browse.store.cleanup.selection import parse_line
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.export.files import Format
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import ExportCounts
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.search.filters import BY_KEY
from hermes_browse.store.search.scope import compile_filters, roots_in
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ..export.documents import (
    Document,
    Export,
    Saved,
    make_redactor,
    not_live_words,
    plan_documents,
    redacted_words,
)
from ..formats import counted
from .command_context import CommandContext, Subcommand
from .output import note, print_json
from .parser import name_arg, text_arg

USAGE = 2
_LONGEST = 200
"""Letters of the query that a sentence repeats."""
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
}


class ExportCommand(Subcommand):
    """Export whole conversations in one of three formats."""

    reads_old_transcripts = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", nargs="*", type=text_arg)
        query_help = _(
            "conversations that these filters of the search choose, archived and open ones too: 'source:cli'"
        )
        parser.add_argument(
            "--query", metavar="FILTERS", type=text_arg, default="", help=query_help
        )
        parser.add_argument(
            "--format",
            choices=["markdown", "jsonl", "html"],
            default=None,
            help=_(
                "default: what the name after --output ends in, else markdown; jsonl is what Hermes imports"
            ),
        )
        parser.add_argument(
            "--everything",
            action="store_true",
            help=_(
                "rewound and hidden messages too. Without it JSONL holds only live messages, with it compacted ones "
                "too: Hermes 0.22 and later import those as they were, earlier versions as live messages"
            ),
        )
        parser.add_argument(
            "--output",
            metavar="PATH",
            type=name_arg,
            default=None,
            help=_(
                "a file, a folder, or - for standard output (default: a file here, named after the title)"
            ),
        )
        parser.add_argument(
            "--no-redact",
            action="store_true",
            help=_("keep keys, tokens and passwords as they are"),
        )
        parser.add_argument("--force", action="store_true", help=_("replace files that are there"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for neither ids nor filters, or for a part of the query that is no
        filter."""
        query = parse_line(arguments.query, time.time())
        if query.problems:
            return query.problems[0].text
        if any(BY_KEY[each.key].is_cleanup_only for each in query.filters):
            return _("include: and free: work in a clean-up only")
        if not arguments.ids and not query.filters:
            return _("name conversations by their ids, or choose them with --query")
        if arguments.query and getattr(arguments, "host", None):
            return _("--query does not work with --host: name conversations by their ids")
        return ""

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        form = format_of(arguments)
        to_stdout = arguments.output == "-"
        if to_stdout and context.json:
            return _refuse(
                _("--json and the export both want standard output; name a file with --output.")
            )
        with context.store.reader() as reader:
            by_root = {each.root_id: each for _session, each in context.find(reader, arguments.ids)}
            by_root |= {
                each.root_id: each for each in _chosen(reader, arguments.query, context.now)
            }
            conversations = with_details(reader, list(by_root.values()))
        if to_stdout and form is Format.MARKDOWN and len(conversations) > 1:
            return _refuse(
                _("several Markdown documents do not go to standard output; name a folder.")
            )
        redactor = make_redactor(context.location, note, active=not arguments.no_redact)

        export = Export(
            open_store(context.store), form, redactor, context.now, arguments.everything
        )
        if to_stdout:
            whole = ExportCounts()
            _write_stdout(export.pieces(conversations, whole))
            sys.stdout.flush()
            _note_not_live(whole.not_live, form, everything=arguments.everything)
            _note_redacted(redactor)
            return 0
        documents = plan_documents(conversations, form, redactor, arguments.output)
        files: list[Json] = []
        not_live: Counter[State] = Counter()
        for saved in export.save(documents, force=arguments.force):
            files.append(_file_json(saved))
            not_live += saved.tally.not_live
            if not context.json:
                _print_written(saved.document, saved.tally)
        _note_not_live(not_live, form, everything=arguments.everything)
        _note_redacted(redactor)
        if context.json:
            counts = dict(sorted(redactor.counts.items()))
            left_out = (
                {}
                if arguments.everything
                else {state.value: count for state, count in sorted(not_live.items())}
            )
            print_json(
                {
                    "format": form.value,
                    "files": files,
                    "everything": arguments.everything,
                    "left_out": left_out,
                    "redact": redactor.active,
                    "redacted": counts,
                }
            )
        return 0


def _chosen(reader: Reader, line: str, now: float) -> list[Conversation]:
    """Return the conversations that a line of filters chooses, the newest first; none for an empty
    one."""
    query = parse_line(line, now)
    if not query.filters:
        return []
    catalog = read_catalog(reader, now)
    chosen = set(roots_in(reader, compile_filters(query, now), catalog))
    if not chosen:
        raise NotFoundError(
            _("No conversation matches {filters}.").format(filters=one_line(line, _LONGEST))
        )
    return [catalog.conversation(root) for root in catalog.order(View.ALL) if root in chosen]


def _file_json(saved: Saved) -> Json:
    document, tally = saved.document, saved.tally
    return {
        "path": str(document.path),
        "conversations": [each.id for each in document.conversations],
        "sessions": tally.sessions,
        "messages": tally.messages,
        "bytes": saved.bytes,
    }


def format_of(arguments: SimpleNamespace) -> Format:
    """Return the format of an export: as named, else by the suffix of the output, else Markdown."""
    return Format(
        arguments.format or _SUFFIXES.get(Path(arguments.output or "").suffix.lower(), "markdown")
    )


def _refuse(sentence: str) -> int:
    note(f"hermes-browse export: {sentence}")
    return USAGE


def _write_stdout(pieces: Iterator[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for piece in pieces:
        sys.stdout.write(piece)


def _note_redacted(redactor: Redactor) -> None:
    if not redactor.active:
        note(_("Secrets are kept as they are (--no-redact): look through it before you share it."))
    elif redactor.total:
        note(_("{sentence} --no-redact keeps them.").format(sentence=redacted_words(redactor)))
    else:
        note(redacted_words(redactor))


def _note_not_live(counts: Counter[State], form: Format, *, everything: bool) -> None:
    sentence = not_live_words(counts, form, everything=everything)
    if sentence:
        note(
            sentence
            if everything
            else _("{sentence} --everything takes them along.").format(sentence=sentence)
        )


def _print_written(document: Document, tally: ExportCounts) -> None:
    conversations = len(document.conversations)
    counts = [counted(tally.sessions, "session"), counted(tally.messages, "message")]
    if conversations > 1:
        counts.insert(0, counted(conversations, "conversation"))
    line = _("{path}  ({counts})")
    print(
        line.format(path=one_line(str(document.path)), counts=pgettext("list", ", ").join(counts))
    )
