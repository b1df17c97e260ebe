"""`compactions` and `context`: what Hermes replaced when it compressed, and what the model was given at a message."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from hermes_browse.store.compression.compactions import NOTES, Compaction, Note, read_history
from hermes_browse.store.compression.compactions import Kind as Way
from hermes_browse.store.compression.context import Context as Given
from hermes_browse.store.compression.context import Contexts, Why, context_of
from hermes_browse.store.compression.losses import Losses, Lost, Term, find_losses
from hermes_browse.store.messages.models import ChatMessage
from hermes_browse.store.messages.transcript import read_messages_of
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import fenced, one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..formats import long_number, name, size, timestamp
from .context import Command, Context
from .output import Json, Line, conversation_json, print_json, print_lines, print_text
from .parser import text
from .show import body_of, heading, message_json

_WAYS = {Way.ROTATION: N_("continued in a new session"), Way.IN_PLACE: N_("in place")}
_WHY = {
    Why.HEAD: N_("carried over"),
    Why.SUMMARY: N_("summary"),
    Why.KEPT: N_("carried over"),
    Why.SINCE: N_("since"),
}
_TERMS = {
    Term.DECISION: N_("decision"),
    Term.COMMAND: N_("command"),
    Term.URL: N_("address"),
    Term.PATH: N_("path"),
    Term.IDENTIFIER: N_("identifier"),
    Term.NUMBER: N_("number"),
    Term.NAME: N_("name"),
}
_MOST_SHOWN = 30
"""Lost terms of one compaction that are printed; JSON has all."""


class CompactionsCommand(Command):
    """Each compaction of a conversation."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text)
        parser.add_argument("--lost", action="store_true", help=_("also what nothing mentions any more"))

    def run(self, context: Context) -> int:
        wanted = context.arguments
        with context.store.reader() as reader:
            ((_id, conversation),) = context.find(reader, [wanted.id])
            compactions = read_history(reader, conversation.segments).compactions
            losses = [find_losses(reader, one) if wanted.lost else None for one in compactions]
        if context.json:
            found = [_compaction_json(one, lost) for one, lost in zip(compactions, losses, strict=True)]
            print_json({"conversation": conversation_json(conversation), "compactions": found})
        else:
            print_lines(_compaction_lines(conversation, compactions, losses))
        return 0


class ContextCommand(Command):
    """The context at a message."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text)
        parser.add_argument(
            "--at", metavar="MESSAGE", type=int, help=_("the id of a message (default: the newest one)")
        )
        parser.add_argument("--markdown", action="store_true", help=_("the whole texts, as Markdown"))

    def run(self, context: Context) -> int:
        wanted = context.arguments
        with context.store.reader() as reader:
            ((_id, conversation),) = context.find(reader, [wanted.id])
            contexts = Contexts(read_history(reader, conversation.segments))
            given = context_of(reader, conversation.segments, contexts, wanted.at)
            messages = read_messages_of(reader, [row.id for row in given.rows])
            asked = read_messages_of(reader, [given.at] if given.at is not None else [])
        if context.json:
            print_json(_context_json(conversation, given, messages))
        elif wanted.markdown:
            print_text(_context_markdown(conversation, given, messages))
        else:
            print_lines(_context_lines(conversation, given, messages, asked))
        return 0


def _notes_json(notes: Sequence[Note]) -> list[Json]:
    return [{"code": note.value, "text": _(NOTES[note])} for note in notes]


def _compaction_json(one: Compaction, losses: Losses | None) -> Json:
    """A compaction of the JSON contract; `lost` only where it was asked for."""
    document: Json = {
        "at": one.at,
        "kind": one.kind.value,
        "session_id": one.session_id,
        "into_session_id": one.into_session_id,
        "before": list(one.before),
        "replaced": list(one.replaced),
        "summary": one.summary,
        "merged": one.merged,
        "kept": [each.id for each in one.kept],
        "originals": [each.original for each in one.kept],
        "shortened": [each.id for each in one.kept if each.is_changed],
        "not_stored_again": list(one.not_stored_again),
        "since": list(one.since),
        "tokens_before": None,
        "tokens_after": None,
        "bytes_before": one.bytes_before,
        "bytes_after": one.bytes_after,
        "empty_sessions": list(one.shells),
        "gap": {"first": one.gap.first, "last": one.gap.last, "count": one.gap.number} if one.gap else None,
        "known": one.is_known,
        "notes": _notes_json(one.notes),
    }
    if losses is not None:
        document["lost"] = [_lost_json(lost) for lost in losses.terms]
        document["lost_complete"] = losses.is_complete
    return document


def _lost_json(lost: Lost) -> Json:
    return {
        "term": lost.term,
        "kind": lost.kind.value,
        "count": lost.times,
        "last_message_id": lost.last_message_id,
    }


def _context_json(conversation: Conversation, given: Given, messages: Sequence[ChatMessage]) -> Json:
    by_id = {message.id: message for message in messages}
    return {
        "conversation_id": conversation.id,
        "session_id": given.session_id,
        "at": given.at,
        "of": given.of,
        "certain": given.is_certain,
        "system_prompt": given.prompt,
        "messages": [
            {**message_json(by_id[row.id]), "why": row.why.value, "certain": row.is_certain}
            for row in given.rows
            if row.id in by_id
        ],
        "tokens": None,
        "bytes": given.size,
        "notes": _notes_json(given.notes),
    }


def _rows(count: int) -> str:
    return ngettext("{count:,} message", "{count:,} messages", count).format(count=count)


def _compaction_lines(
    conversation: Conversation, compactions: Sequence[Compaction], losses: Sequence[Losses | None]
) -> Iterator[Line]:
    """A paragraph for each compaction."""
    yield Line("title", f"{one_line(name(conversation))}  [{one_line(conversation.id)}]")
    if not compactions:
        yield Line("said", _("Hermes has not compressed this conversation."))
    for number, (one, lost) in enumerate(zip(compactions, losses, strict=True), 1):
        yield Line("said", "")
        heading = _("{number} of {count} · {time} · {way}")
        heading = heading.format(
            number=number, count=len(compactions), time=timestamp(one.at, seconds=True), way=_(_WAYS[one.kind])
        )
        yield Line("seam", one_line(heading))
        if one.into_session_id is not None and one.into_session_id != one.session_id:
            yield Line("said", one_line(f"{one.session_id} → {one.into_session_id}"), 2)
        sizes = _("{before}, {bytes} → {after}, {fewer}")
        after = len(one.kept) + len(one.not_stored_again) + (one.summary is not None)
        yield Line(
            "said",
            sizes.format(
                before=_rows(len(one.before)),
                bytes=size(one.bytes_before),
                after=_rows(after),
                fewer=size(one.bytes_after),
            ),
            2,
        )
        for told, ids in (
            (_("replaced: {ids}"), one.replaced),
            (_("summary: {ids}"), () if one.summary is None else (one.summary,)),
            (_("carried over: {ids}"), [each.id for each in one.kept]),
            (_("since then: {ids}"), one.since),
        ):
            if ids:
                yield Line("said", told.format(ids=_ranges(ids)), 2)
        for note in one.notes:
            yield Line("other", _(NOTES[note]), 2)
        if lost is not None:
            yield from _lost_lines(lost)


def _lost_lines(losses: Losses) -> Iterator[Line]:
    if not losses.terms:
        yield Line("said", _("Nothing that was looked for is lost."), 2)
        return
    yield Line("other", _("mentioned nowhere any more:"), 2)
    for lost in losses.terms[:_MOST_SHOWN]:
        told = _("{kind}: {term} ({count}×, last in message {id})")
        told = told.format(kind=_(_TERMS[lost.kind]), term=lost.term, count=lost.times, id=lost.last_message_id)
        yield Line("tool", one_line(told), 4)
    more = len(losses.terms) - _MOST_SHOWN
    if more > 0:
        yield Line("said", _("… and {count} more: --json has them").format(count=long_number(more)), 4)


def _ranges(ids: Sequence[int]) -> str:
    """Ids in order, runs as `4–9`."""
    parts: list[list[int]] = []
    for each in ids:
        if parts and each == parts[-1][-1] + 1:
            parts[-1][1:] = [each]
        else:
            parts.append([each])
    return ", ".join("–".join(map(str, part)) for part in parts)


def _context_heading(given: Given) -> str:
    """One sentence about the whole of it."""
    told = _("The model was given {rows}, {bytes}.") if given.is_certain else _("As far as is known: {rows}, {bytes}.")
    counts: dict[Why, int] = {}
    for row in given.rows:
        counts[row.why] = counts.get(row.why, 0) + 1
    line = told.format(rows=_rows(len(given.rows)), bytes=size(given.size))
    kept = counts.get(Why.HEAD, 0) + counts.get(Why.KEPT, 0)
    if given.compaction is not None:
        parts = _("Summaries {summaries} · carried over {kept} · since then {since}")
        line += " " + parts.format(summaries=counts.get(Why.SUMMARY, 0), kept=kept, since=counts.get(Why.SINCE, 0))
    return line


def _context_lines(
    conversation: Conversation, given: Given, messages: Sequence[ChatMessage], asked: Sequence[ChatMessage]
) -> Iterator[Line]:
    """A line for each message that was sent."""
    yield Line("title", f"{one_line(name(conversation))}  [{one_line(conversation.id)}]")
    for message in asked:
        told = _("when message {id} was written: {heading}").format(id=message.id, heading=heading(message))
        yield Line("said", one_line(told))
    yield Line("said", one_line(_context_heading(given)))
    for note in given.notes:
        yield Line("other", _(NOTES[note]))
    yield Line("said", "")
    if given.prompt:
        told = _("system prompt, {bytes}").format(bytes=size(len(given.prompt.encode("utf-8", "replace"))))
        yield Line("seam", told)
    by_id = {message.id: message for message in messages}
    for row in given.rows:
        if row.id not in by_id:
            continue
        message = by_id[row.id]
        why = _(_WHY[row.why]) if row.is_certain else _("{why}?").format(why=_(_WHY[row.why]))
        kind = "seam" if row.why is Why.SUMMARY else message.role if message.role in ("user", "assistant") else "tool"
        told = f"{row.id}  {why}  {message.role}: {one_line(message.text or body_of(message), 100)}"
        yield Line(kind, one_line(told))


def _context_markdown(conversation: Conversation, given: Given, messages: Sequence[ChatMessage]) -> str:
    """Everything that was sent, with whole texts."""
    lines = [f"# {one_line(name(conversation))}", "", one_line(_context_heading(given)), ""]
    lines += [f"> {_(NOTES[note])}" for note in given.notes]
    if given.prompt:
        lines += ["", "## " + _("System prompt"), "", fenced(given.prompt)]
    why = {row.id: row for row in given.rows}
    for message in messages:
        row = why[message.id]
        lines += ["", f"## {message.id} · {one_line(heading(message))} · {_(_WHY[row.why])}", ""]
        if row.why is Why.SUMMARY:
            lines.append(fenced(message.text))
        elif body := body_of(message):
            lines.append(fenced(body) if message.role == "tool" else body)
    return "\n".join(lines).rstrip()
