"""`compactions` and `context`: what each compaction replaced, and the model's context at a
message."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

from hermes_browse.store.compression.compactions import (
    NOTES,
    Compaction,
    CompactionKind,
    CompactionNote,
    read_history,
)
from hermes_browse.store.compression.losses import LOST_KINDS, Losses, find_losses
from hermes_browse.store.compression.model_context import (
    Contexts,
    ModelContext,
    RowOrigin,
    context_of,
)
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.messages.transcript import read_messages_of
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import fenced, one_line
from hermes_browse.store.wording import N_, _

from ..formats import counted, long_number, name, size, timestamp
from .command_context import CommandContext, Subcommand
from .output import OutputLine, conversation_json, print_json, print_lines, print_text
from .parser import text_arg
from .show import body_of, heading, message_json

_KINDS = {
    CompactionKind.ROTATION: N_("continued in a new session"),
    CompactionKind.IN_PLACE: N_("in place"),
}
_WHY = {
    RowOrigin.HEAD: N_("carried over"),
    RowOrigin.SUMMARY: N_("summary"),
    RowOrigin.KEPT: N_("carried over"),
    RowOrigin.SINCE: N_("since"),
}
_MOST_SHOWN = 30
"""Lost terms printed for each compaction; JSON lists all."""


class CompactionsCommand(Subcommand):
    """List the compactions of a conversation."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)
        parser.add_argument(
            "--lost", action="store_true", help=_("also what nothing mentions any more")
        )

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        with context.store.reader() as reader:
            ((_session, conversation),) = context.find(reader, [arguments.id])
            compactions = read_history(reader, conversation.segments).compactions
            losses = [
                find_losses(reader, compaction) if arguments.lost else None
                for compaction in compactions
            ]
        if context.json:
            documents = [
                _compaction_json(compaction, lost)
                for compaction, lost in zip(compactions, losses, strict=True)
            ]
            print_json({"conversation": conversation_json(conversation), "compactions": documents})
        else:
            print_lines(_compaction_lines(conversation, compactions, losses))
        return 0


class ContextCommand(Subcommand):
    """Show the model's context when a message was written, or what a resume would send."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)
        parser.add_argument(
            "--at",
            metavar="MESSAGE",
            type=int,
            help=_("the id of a message (default: what a resume would send now)"),
        )
        parser.add_argument(
            "--markdown", action="store_true", help=_("the whole texts, as Markdown")
        )

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        with context.store.reader() as reader:
            ((_session, conversation),) = context.find(reader, [arguments.id])
            history = read_history(reader, conversation.segments)
            contexts = Contexts(history, conversation.segments)
            sent = context_of(reader, contexts, arguments.at)
            messages = read_messages_of(reader, [row.id for row in sent.rows])
            focus = read_messages_of(reader, [sent.at] if sent.at is not None else [])
        if context.json:
            print_json(_context_json(conversation, sent, messages))
        elif arguments.markdown:
            print_text(_context_markdown(conversation, sent, messages))
        else:
            print_lines(_context_lines(conversation, sent, messages, focus))
        return 0


def _notes_json(notes: Sequence[CompactionNote]) -> list[Json]:
    return [{"code": note.value, "text": _(NOTES[note])} for note in notes]


def _compaction_json(compaction: Compaction, losses: Losses | None) -> Json:
    """Build the JSON of a compaction; it has `lost` only when `losses` is given."""
    gap = compaction.gap
    document: Json = {
        "at": compaction.at,
        "kind": compaction.kind.value,
        "session_id": compaction.session_id,
        "into_session_id": compaction.into_session_id,
        "before": list(compaction.before),
        "replaced": list(compaction.replaced),
        "summary": compaction.summary,
        "merged": compaction.merged,
        "kept": [each.id for each in compaction.kept],
        "originals": [each.original for each in compaction.kept],
        "shortened": [each.id for each in compaction.kept if each.is_changed],
        "not_stored_again": list(compaction.not_stored_again),
        "since": list(compaction.since),
        "tokens_before": None,
        "tokens_after": None,
        "bytes_before": compaction.bytes_before,
        "bytes_after": compaction.bytes_after,
        "empty_sessions": list(compaction.empty_sessions),
        "gap": {"first": gap.first, "last": gap.last, "count": gap.number} if gap else None,
        "known": compaction.is_known,
        "notes": _notes_json(compaction.notes),
    }
    if losses is not None:
        document["lost"] = [
            {
                "term": lost.term,
                "kind": lost.kind.value,
                "count": lost.times,
                "last_message_id": lost.last_message_id,
            }
            for lost in losses.terms
        ]
        document["lost_complete"] = losses.is_complete
    return document


def _context_json(
    conversation: Conversation, sent: ModelContext, messages: Sequence[ChatMessage]
) -> Json:
    by_id = {message.id: message for message in messages}
    return {
        "conversation_id": conversation.id,
        "session_id": sent.session_id,
        "at": sent.at,
        "of": sent.of,
        "certain": sent.is_certain,
        "system_prompt": sent.prompt,
        "messages": [
            {**message_json(by_id[row.id]), "why": row.why.value, "certain": row.is_certain}
            for row in sent.rows
            if row.id in by_id
        ],
        "tokens": None,
        "bytes": sent.size,
        "notes": _notes_json(sent.notes),
    }


def _compaction_lines(
    conversation: Conversation, compactions: Sequence[Compaction], losses: Sequence[Losses | None]
) -> Iterator[OutputLine]:
    """Yield a paragraph for each compaction."""
    yield OutputLine("title", f"{one_line(name(conversation))}  [{one_line(conversation.id)}]")
    if not compactions:
        yield OutputLine("said", _("Hermes has not compressed this conversation."))
    for number, (compaction, lost) in enumerate(zip(compactions, losses, strict=True), 1):
        yield OutputLine("said", "")
        heading = _("{number} of {count} · {time} · {way}")
        heading = heading.format(
            number=number,
            count=len(compactions),
            time=timestamp(compaction.at, seconds=True),
            way=_(_KINDS[compaction.kind]),
        )
        yield OutputLine("seam", one_line(heading))
        if (
            compaction.into_session_id is not None
            and compaction.into_session_id != compaction.session_id
        ):
            yield OutputLine(
                "said", one_line(f"{compaction.session_id} → {compaction.into_session_id}"), 2
            )
        sentence = _("{before}, {bytes} → {after}, {fewer}")
        after = (
            len(compaction.kept)
            + len(compaction.not_stored_again)
            + (compaction.summary is not None)
        )
        yield OutputLine(
            "said",
            sentence.format(
                before=counted(len(compaction.before), "message"),
                bytes=size(compaction.bytes_before),
                after=counted(after, "message"),
                fewer=size(compaction.bytes_after),
            ),
            2,
        )
        for phrase, ids in (
            (_("replaced: {ids}"), compaction.replaced),
            (_("summary: {ids}"), () if compaction.summary is None else (compaction.summary,)),
            (_("carried over: {ids}"), [each.id for each in compaction.kept]),
            (_("since then: {ids}"), compaction.since),
        ):
            if ids:
                yield OutputLine("said", phrase.format(ids=_ranges(ids)), 2)
        for note in compaction.notes:
            yield OutputLine("other", _(NOTES[note]), 2)
        if lost is not None:
            yield from _lost_lines(lost)


def _lost_lines(losses: Losses) -> Iterator[OutputLine]:
    if not losses.terms:
        yield OutputLine("said", _("Nothing was lost."), 2)
        return
    yield OutputLine("other", _("mentioned nowhere any more:"), 2)
    for lost in losses.terms[:_MOST_SHOWN]:
        line = _("{kind}: {term} ({count}×, last in message {id})")
        line = line.format(
            kind=_(LOST_KINDS[lost.kind]), term=lost.term, count=lost.times, id=lost.last_message_id
        )
        yield OutputLine("tool", one_line(line), 4)
    more = len(losses.terms) - _MOST_SHOWN
    if more > 0:
        yield OutputLine(
            "said", _("… and {count} more: --json has them").format(count=long_number(more)), 4
        )


def _ranges(ids: Sequence[int]) -> str:
    """Join ascending ids, consecutive ones as `4–9`."""
    ranges: list[list[int]] = []
    for each in ids:
        if ranges and each == ranges[-1][-1] + 1:
            ranges[-1][1:] = [each]
        else:
            ranges.append([each])
    return ", ".join("–".join(map(str, bounds)) for bounds in ranges)


def _context_heading(sent: ModelContext) -> str:
    """Summarize a context in one line: its size, and how its messages are made up."""
    if not sent.is_certain:
        sentence = _("Probably {rows}, {bytes}.")
    elif sent.at is None:
        sentence = _("A resume would send {rows}, {bytes}.")
    else:
        sentence = _("The model was given {rows}, {bytes}.")
    counts = Counter(row.why for row in sent.rows)
    line = sentence.format(rows=counted(len(sent.rows), "message"), bytes=size(sent.size))
    kept = counts[RowOrigin.HEAD] + counts[RowOrigin.KEPT]
    if sent.compaction is not None:
        breakdown = _("Summaries {summaries} · carried over {kept} · since then {since}")
        line += " " + breakdown.format(
            summaries=counts[RowOrigin.SUMMARY], kept=kept, since=counts[RowOrigin.SINCE]
        )
    return line


def _context_lines(
    conversation: Conversation,
    sent: ModelContext,
    messages: Sequence[ChatMessage],
    focus: Sequence[ChatMessage],
) -> Iterator[OutputLine]:
    """Yield a heading and a line for each message of the context."""
    yield OutputLine("title", f"{one_line(name(conversation))}  [{one_line(conversation.id)}]")
    for message in focus:
        line = _("when message {id} was written: {heading}").format(
            id=message.id, heading=heading(message)
        )
        yield OutputLine("said", one_line(line))
    yield OutputLine("said", one_line(_context_heading(sent)))
    for note in sent.notes:
        yield OutputLine("other", _(NOTES[note]))
    yield OutputLine("said", "")
    if sent.prompt:
        line = _("system prompt, {bytes}").format(
            bytes=size(len(sent.prompt.encode("utf-8", "replace")))
        )
        yield OutputLine("seam", line)
    by_id = {message.id: message for message in messages}
    for row in sent.rows:
        if row.id not in by_id:
            continue
        message = by_id[row.id]
        why = _(_WHY[row.why]) if row.is_certain else _("{why}?").format(why=_(_WHY[row.why]))
        kind = (
            "seam"
            if row.why is RowOrigin.SUMMARY
            else message.role
            if message.role in ("user", "assistant")
            else "tool"
        )
        line = f"{row.id}  {why}  {message.role}: {one_line(message.text or body_of(message), 100)}"
        yield OutputLine(kind, one_line(line))


def _context_markdown(
    conversation: Conversation, sent: ModelContext, messages: Sequence[ChatMessage]
) -> str:
    """Format the context as Markdown with the full texts."""
    lines = [f"# {one_line(name(conversation))}", "", one_line(_context_heading(sent)), ""]
    lines += [f"> {_(NOTES[note])}" for note in sent.notes]
    if sent.prompt:
        lines += ["", "## " + _("System prompt"), "", fenced(sent.prompt)]
    rows = {row.id: row for row in sent.rows}
    for message in messages:
        row = rows[message.id]
        lines += ["", f"## {message.id} · {one_line(heading(message))} · {_(_WHY[row.why])}", ""]
        if row.why is RowOrigin.SUMMARY:
            lines.append(fenced(message.text))
        elif body := body_of(message):
            lines.append(fenced(body) if message.role == "tool" else body)
    return "\n".join(lines).rstrip()
