"""`export`: write conversations to files or standard output, with secrets redacted."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Mapping, Sequence

from hermes_browse.store.cleanup.selection import parse_line
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.export.files import export_pieces
from hermes_browse.store.export.redact import make_redactor
from hermes_browse.store.export.source import ExportCounts, Format
from hermes_browse.store.files import removed_on_signals
from hermes_browse.store.search.filters import BY_KEY
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text.export_files import (
    Document,
    FileExport,
    format_by_name,
    kept_files,
    redacted_words,
)
from ..text.formats import counted, listed
from .command import StoreCommand
from .output import fields, note, print_text, printing
from .parser import Argument, Flag, Valued, name_arg


class ExportCommand(StoreCommand):
    """Export whole conversations in one of three formats."""

    arguments = (
        Valued("ids", metavar="ID", nargs="*"),
        Valued(
            "--query",
            "conversations that these filters choose, archived and open ones too: 'source:cli'; words and filters of "
            "messages are refused",
            "FILTERS",
            default="",
        ),
        Argument(
            "--format",
            "default: what the name after --output ends in, else markdown; jsonl is what Hermes imports",
            choices=[each.value for each in Format],
        ),
        Flag(
            "--everything",
            "rewound and hidden messages too. Without it JSONL holds only live messages, with it compacted ones "
            "too: Hermes 0.22 and later import those as they were, earlier versions as live messages",
        ),
        Argument(
            "--output",
            "a file, a folder, or - for standard output (default: a file here, named after the title; for several "
            "the folder hermes-export)",
            "PATH",
            type=name_arg,
        ),
        Flag("--no-redact", "keep keys, tokens and passwords as they are"),
        Flag("--force", "replace files that are there"),
    )

    def contradictions(self) -> Mapping[str, object]:
        """There are neither ids nor filters, or a part of the query is no filter."""
        given = self.given
        is_printed = given.output == "-"
        query = parse_line(given.query, time.time())
        return {
            **{problem.text: True for problem in query.problems},
            _("include: and free: work in a clean-up only"): any(
                BY_KEY[filter_.key].is_cleanup_only for filter_ in query.filters
            ),
            _("name conversations by their ids, or choose them with --query"): not (
                given.ids or query.filters
            ),
            _("--json and the export both want standard output; name a file with --output"): (
                is_printed and given.json
            ),
            _("--old of a host goes to standard output only: --output -"): (
                given.host is not None and given.old and not is_printed
            ),
        }

    def run(self) -> None:
        given, conversations = self.given, self._conversations()
        named = format_by_name(given.output or "")
        export = FileExport(
            self.store,
            Format(given.format or named or Format.MARKDOWN),
            make_redactor(self.store.location, note, active=not given.no_redact),
            self.now,
            given.everything,
        )
        if given.output == "-":
            _print(export, conversations)
        else:
            with removed_on_signals():
                self._save(export, conversations)

    def _conversations(self) -> list[Conversation]:
        """Return what is named, then what the line of filters chooses, the newest first."""
        chosen, query = self.find(self.given.ids), self.given.query
        if parse_line(query, self.now).filters:
            matching = self.store.conversations(query)
            if not matching:
                filters = one_line(query, 200)
                raise NotFoundError(_("No conversation matches {filters}.", filters=filters))
            chosen += matching
        return self.store.with_details(list({each.root_id: each for each in chosen}.values()))

    def _save(self, export: FileExport, conversations: Sequence[Conversation]) -> None:
        """Write files, and print which."""
        given, redactor = self.given, export.redactor
        documents = export.plan(conversations, given.output or "")
        keep = kept_files(self.store.location)
        files: list[Json] = []
        for document, counts, size in export.save(documents, keep=keep, force=given.force):
            files.append(
                fields(counts, "sessions messages")
                | {
                    "bytes": size,
                    "path": str(document.path),
                    "conversations": [each.id for each in document.conversations],
                }
            )
            if not self.given.json:
                print_text(_line(document, counts))
        _tell(export)
        if self.given.json:
            self.print_json(
                {
                    "format": export.format.value,
                    "files": files,
                    "everything": export.everything,
                    "left_out": {}
                    if export.everything
                    else dict(sorted(export.counts.not_live.items())),
                    "redact": redactor.active,
                    "redacted": dict(sorted(redactor.counts.items())),
                }
            )


def _print(export: FileExport, conversations: Sequence[Conversation]) -> None:
    """Write the export to standard output.

    Raises:
        BrowseError: It cannot be written, or something cannot be read.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    documents = [conversations]
    if export.format is Format.MARKDOWN:
        documents = [[conversation] for conversation in conversations]
    with printing():
        for number, document in enumerate(documents):
            if number:
                # Or the line that follows would make a heading of the last one.
                sys.stdout.write("\n")
            for piece in export_pieces(export, document):
                sys.stdout.write(piece)
        sys.stdout.flush()
    _tell(export)


def _tell(export: FileExport) -> None:
    """Note what was left out and what was redacted."""
    redactor, words = export.redactor, redacted_words(export.redactor)
    if sentence := export.not_live_words():
        if not export.everything:
            sentence = _("{sentence} --everything takes them along.", sentence=sentence)
        note(sentence)
    if not redactor.active:
        words = _(
            "Secrets are kept as they are (--no-redact): look through it before you share it."
        )
    elif redactor.counts:
        words = _("{sentence} --no-redact keeps them.", sentence=words)
    note(words)


def _line(document: Document, counts: ExportCounts) -> str:
    """Return the path of a file and what is in it."""
    conversations = len(document.conversations)
    words = listed(
        counted(conversations, "conversation") if conversations > 1 else "",
        counted(counts.sessions, "session"),
        counted(counts.messages, "message"),
    )
    return _("{path}  ({counts})", path=one_line(str(document.path)), counts=words)
