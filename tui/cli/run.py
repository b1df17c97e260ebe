"""`run`: how a conversation went, what it cost with its subagents, and what stands out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.run.marks import RunMark, find_marks
from hermes_browse.store.run.run import Run, Stretch, read_run
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..formats import cost_below, counted, dollars, timestamp
from .command_context import CommandContext, Subcommand
from .output import OutputLine, fields, print_json, print_lines
from .parser import add_id


class RunCommand(Subcommand):
    """Print how a conversation went."""

    needs_files = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser)

    def run(self, context: CommandContext) -> int:
        store = context.store
        run = read_run(store.reader, store.resolve(context.arguments.id), context.now)
        marks = find_marks(store.reader, run)
        store.close()
        if context.json:
            print_json(_run_json(run, marks))
        else:
            print_lines(_lines(run, marks))
        return 0


def _run_json(run: Run, marks: tuple[RunMark, ...]) -> Json:
    conversation = run.conversation
    return fields(conversation, "cost_usd", "tree_cost_usd") | {
        "conversation": conversation.id,
        "from": conversation.root.started_at,
        "to": conversation.last_active,
        "turns": len(run.turns),
        "tool_calls": len(run.tools),
        "compressions": list(run.compressions),
        "parts": [
            fields(part, "model", "cost_usd", "cache_share")
            | {"session": part.session_id, "message_id": part.first_message_id}
            for part in run.stretches
        ],
        "marks": [fields(mark, "kind", "message_id", "text") for mark in marks],
        "subagents": [
            fields(subagent, "cost_usd")
            | {
                "session": subagent.id,
                "from": subagent.root.started_at,
                "to": _ended_at(subagent),
            }
            for subagent in run.subagents
        ],
    }


def _ended_at(subagent: Conversation) -> float | None:
    return subagent.tip.ended_at or subagent.last_active


def _lines(run: Run, marks: tuple[RunMark, ...]) -> Iterator[OutputLine]:
    conversation = run.conversation
    cost, tree_cost = conversation.cost_usd, conversation.tree_cost_usd
    facts = (
        _span(conversation.root.started_at, conversation.last_active),
        counted(len(run.turns), "turn"),
        counted(len(run.tools), "call"),
        f"{dollars(cost)} {cost_below(cost, tree_cost, dollars)}".strip(),
    )
    yield OutputLine("title", one_line(" · ".join(filter(None, facts))))
    for part in run.stretches:
        yield OutputLine("said", one_line(_part_line(part)), 2)
    if not any(row.tokens for turn in run.turns for row in turn):
        yield OutputLine("other", _("Hermes stored no tokens for the messages of this run."))
    for subagent in run.subagents:
        span = _span(subagent.root.started_at, _ended_at(subagent))
        line = _("subagent {id}: {span} · {cost}")
        line = line.format(id=subagent.id, span=span, cost=dollars(subagent.cost_usd))
        yield OutputLine("tool", one_line(line), 2)
    for mark in marks:
        text = mark.text
        if mark.message_id is not None:
            text = _("message {id}: {text}").format(id=mark.message_id, text=text)
        yield OutputLine("seam", one_line(text), 2)


def _part_line(part: Stretch) -> str:
    share = part.cache_share
    cache = "" if share is None else _("cache {share} %").format(share=round(100 * share))
    return " · ".join(filter(None, (part.session_id, part.model, dollars(part.cost_usd), cache)))


def _span(start: float | None, end: float | None) -> str:
    return f"{timestamp(start, seconds=True)} – {timestamp(end, seconds=True)}"
