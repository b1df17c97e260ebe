"""One way to all formats: conversations in, pieces of a document out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from ..connect import Store
from ..models import Reading
from ..sessions.models import Conversation
from .html import html_pieces
from .jsonl import jsonl_pieces
from .markdown import markdown_pieces
from .redact import Redactor
from .source import Source, Tally


class Format(StrEnum):
    """What an export is written as."""

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
        form: What to write; Markdown documents hold one conversation each, one after the other.
        redactor: Takes the secrets out and counts them.
        tally: Counts sessions and messages along.
        exporter: Name and version of the program.
        now: Unix seconds, the time of the export.
        everything: Rows that were taken back, too, and hidden ones; JSON lines hold live rows alone without.
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
