"""`compactions` and `context`: what each compaction replaced, and the model's context at a
message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import starmap

from hermes_browse.store.amounts import size
from hermes_browse.store.compression import NOTES, CompactionNote
from hermes_browse.store.compression.compactions import Compaction
from hermes_browse.store.compression.history_rows import RowOrigin
from hermes_browse.store.compression.losses import LOST_KINDS, Losses
from hermes_browse.store.compression.model_context import ModelContext, SentRow
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.export.markdown import message_markdown, plain
from hermes_browse.store.export.source import rendered
from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import fenced, one_line, printable
from hermes_browse.store.wording import N_, _

from ..text.formats import counted, timestamp
from .command import StoreCommand
from .lineage import warn_of_another
from .output import (
    BLANK,
    OutputLine,
    conversation_json,
    fields,
    fields_of_each,
    print_lines,
    print_text,
)
from .parser import ID, Count, Flag
from .show import SPEAKERS, body_of, heading, message_json, name_of, title_line

_WHY = N_(
    {
        RowOrigin.HEAD: "carried over",
        RowOrigin.SUMMARY: "summary",
        RowOrigin.KEPT: "carried over",
        RowOrigin.SINCE: "since",
    }
)
_MOST_SHOWN = 30
"""Lost terms printed for each compaction; JSON lists all."""


_Rows = Sequence[tuple[SentRow, ChatMessage]]


class CompactionsCommand(StoreCommand):
    """List the compactions of a conversation."""

    arguments = ID, Flag("--lost", "also what nothing mentions until the next compression")

    def run(self) -> None:
        store, conversation = self.store, self.conversation()
        pairs = [
            (compaction, store.losses(compaction) if self.given.lost else None)
            for compaction in store.compactions(conversation.segments).compactions
        ]
        self.give(
            {
                "conversation": conversation_json(conversation, store.retention(self.now)),
                "compactions": list(starmap(_compaction_json, pairs)),
            },
            print_lines,
            _compactions_lines(conversation, pairs),
        )


class ContextCommand(StoreCommand):
    """Show the model's context when a message was written, or what a resume would send."""

    arguments = (
        ID,
        Count(
            "--at", "the id of a message (default: what a resume would send now)", metavar="MESSAGE"
        ),
        Flag("--markdown", "the whole texts, as Markdown"),
    )

    def run(self) -> None:
        given, store = self.given, self.store
        conversation = self.conversation()
        sent, _memory = store.seen_at(conversation.segments, given.at, prompt=True)
        found = store.messages([row.id for row in sent.rows])
        messages = {message.id: message for message in found}
        rows = [(row, messages[row.id]) for row in sent.rows if row.id in messages]
        focus = store.messages([sent.at] if sent.at is not None else [])
        document = _context_json(conversation, sent, rows)
        if given.markdown:
            self.give(document, print_text, *_context_markdown(conversation, sent, rows))
        else:
            self.give(document, print_lines, _context_lines(conversation, sent, rows, focus))
        if given.at is None:
            warn_of_another(store.lineage(conversation.id, self.now))


def _notes_json(notes: Sequence[CompactionNote]) -> list[Json]:
    return [{"code": note.value, "text": _(NOTES[note])} for note in notes]


# Compactions


def _compaction_json(compaction: Compaction, losses: Losses | None) -> Json:
    """Build the JSON of a compaction; it has `lost` only when `losses` is given."""
    gap = compaction.gap
    document = fields(
        compaction,
        "at session_id into_session_id before replaced summary merged kept originals shortened "
        "not_stored_again since bytes_before bytes_after empty_sessions known=is_known",
    )
    document |= {
        "kind": "in_place" if compaction.is_in_place else "rotation",
        "tokens_before": None,
        "tokens_after": None,
        "gap": gap and fields(gap, "first last count=number"),
        "notes": _notes_json(compaction.notes),
    }
    if losses is not None:
        document["lost_complete"] = losses.is_complete
        document["lost"] = fields_of_each(losses.terms, "term kind last_message_id count=times")
    return document


def _compactions_lines(
    conversation: Conversation, pairs: Sequence[tuple[Compaction, Losses | None]]
) -> Iterator[OutputLine]:
    """Yield a paragraph for each compaction."""
    yield title_line(conversation)
    if not pairs:
        yield OutputLine("said", _("Hermes has not compressed this conversation."))
    for number, (compaction, losses) in enumerate(pairs, 1):
        yield BLANK
        head = _(
            "{number} of {count} · {time} · {way}",
            number=number,
            count=len(pairs),
            time=timestamp(compaction.at, seconds=True),
            way=_("in place") if compaction.is_in_place else _("continued in a new session"),
        )
        yield OutputLine("seam", head)
        for line in _facts(compaction):
            yield OutputLine("said", one_line(line), "  ")
        for note in compaction.notes:
            yield OutputLine("other", _(NOTES[note]), "  ")
        if losses is not None:
            yield from _lost_lines(losses)


def _facts(compaction: Compaction) -> Iterator[str]:
    """Yield what is known of a compaction: its sessions, its sizes, its messages."""
    here, there = compaction.session_id, compaction.into_session_id
    if there not in (None, here):
        yield f"{here} → {there}"
    summary = [] if compaction.summary is None else [compaction.summary]
    yield _(
        "{before}, {bytes} → {after}, {fewer}",
        before=counted(len(compaction.before), "message"),
        bytes=size(compaction.bytes_before),
        after=counted(len(compaction.instead), "message"),
        fewer=size(compaction.bytes_after),
    )
    for phrase, ids in (
        (_("replaced: {ids}"), compaction.replaced),
        (_("summary: {ids}"), summary),
        (_("carried over: {ids}"), compaction.kept),
        (_("since then: {ids}"), compaction.since),
    ):
        if ids:
            yield phrase.format(ids=_ranges(ids))


def _lost_lines(losses: Losses) -> Iterator[OutputLine]:
    if not losses.terms:
        yield OutputLine("said", _("Nothing was lost."), "  ")
        return
    yield OutputLine("other", _("mentioned nowhere until the next compression:"), "  ")
    for lost in losses.terms[:_MOST_SHOWN]:
        line = _(
            "{kind}: {term} ({count}×, last in message {id})",
            kind=_(LOST_KINDS[lost.kind]),
            term=lost.term,
            count=lost.times,
            id=lost.last_message_id,
        )
        yield OutputLine("tool", one_line(line), "    ")
    if (more := len(losses.terms) - _MOST_SHOWN) > 0:
        yield OutputLine("said", _("… and {count} more: --json has them", count=more), "    ")


def _ranges(ids: Sequence[int]) -> str:
    """Join ascending ids, consecutive ones as `4–9`."""
    ranges: list[list[int]] = []
    for number in ids:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("–".join(map(str, bounds)) for bounds in ranges)


# The context


def _context_json(
    conversation: Conversation,
    sent: ModelContext,
    rows: _Rows,
) -> Json:
    return fields(sent, "session_id at of certain=is_certain system_prompt=prompt bytes=size") | {
        "conversation_id": conversation.id,
        "messages": [
            message_json(message) | fields(row, "why certain=is_certain") for row, message in rows
        ],
        "tokens": None,
        "notes": _notes_json(sent.notes),
    }


def _summary(sent: ModelContext) -> str:
    """Summarize a context in one line: its size, and how its messages are made up."""
    if not sent.is_certain:
        sentence = _("Probably {rows}, {bytes}.")
    elif sent.at is None:
        sentence = _("A resume would send {rows}, {bytes}.")
    else:
        sentence = _("The model was given {rows}, {bytes}.")
    line = sentence.format(rows=counted(len(sent.rows), "message"), bytes=size(sent.size))
    if not sent.is_compressed:
        return line
    counts = Counter(row.why for row in sent.rows)
    breakdown = _(
        "Summaries {summaries} · carried over {kept} · since then {since}",
        summaries=counts[RowOrigin.SUMMARY],
        kept=counts[RowOrigin.HEAD] + counts[RowOrigin.KEPT],
        since=counts[RowOrigin.SINCE],
    )
    return f"{line} {breakdown}"


def _context_lines(
    conversation: Conversation,
    sent: ModelContext,
    rows: _Rows,
    focus: Sequence[ChatMessage],
) -> Iterator[OutputLine]:
    """Yield a heading and a line for each message of the context."""
    yield title_line(conversation)
    for message in focus:
        yield OutputLine(
            "said",
            one_line(
                _(
                    "when message {id} was written: {heading}",
                    id=message.id,
                    heading=heading(message),
                )
            ),
        )
    yield OutputLine("said", _summary(sent))
    for note in sent.notes:
        yield OutputLine("other", _(NOTES[note]))
    yield BLANK
    if sent.prompt:
        length = len(sent.prompt.encode("utf-8", "replace"))
        yield OutputLine("seam", _("system prompt, {bytes}", bytes=size(length)))
    yield from starmap(_context_line, rows)


def _context_line(row: SentRow, message: ChatMessage) -> OutputLine:
    why = _(_WHY[row.why])
    if not row.is_certain:
        why = _("{why}?", why=why)
    kind = message.role if message.role in SPEAKERS else "tool"
    if row.why is RowOrigin.SUMMARY:
        kind = "seam"
    text = one_line(message.text or body_of(message), 100)
    return OutputLine(kind, one_line(f"{row.id}  {why}  {message.role}: {text}"))


def _context_markdown(
    conversation: Conversation,
    sent: ModelContext,
    rows: _Rows,
) -> Iterator[str]:
    """Yield the context as Markdown with the full texts, a message at a time."""
    yield f"# {plain(name_of(conversation))}\n\n{_summary(sent)}\n"
    yield from (f"> {_(NOTES[note])}\n" for note in sent.notes)
    if sent.prompt:
        yield f"### {_('System prompt')}\n\n{fenced(printable(sent.prompt))}\n"
    yield from (message_markdown(rendered(message), note=_(_WHY[row.why])) for row, message in rows)
