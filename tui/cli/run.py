"""`run`: how a conversation went, what it cost with its subagents, and what stands out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.run.marks import RunMark, find_marks
from hermes_browse.store.run.run import Run, Stretch, read_run
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..formats import dollars
from ..run.words import cache_share, ended_at, facts, has_tokens, span
from .command_context import CommandContext, Subcommand
from .output import OutputLine, print_json, print_lines
from .parser import text_arg


class RunCommand(Subcommand):
    """Print how a conversation went."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)

    def run(self, context: CommandContext) -> int:
        with context.store.reader() as reader:
            session_id = resolve_session(reader, context.arguments.id)
            run = read_run(reader, session_id, context.now)
            marks = find_marks(reader, run)
        if context.json:
            print_json(_run_json(run, marks))
        else:
            print_lines(_lines(run, marks))
        return 0


def _run_json(run: Run, marks: tuple[RunMark, ...]) -> Json:
    conversation = run.conversation
    return {
        "conversation": conversation.id,
        "from": conversation.root.started_at,
        "to": conversation.last_active,
        "cost_usd": conversation.cost_usd,
        "tree_cost_usd": conversation.tree_cost_usd,
        "turns": len(run.turns),
        "tool_calls": len(run.tools),
        "compressions": list(run.compressions),
        "parts": [_part_json(each) for each in run.stretches],
        "marks": [
            {"kind": mark.kind, "message_id": mark.message_id, "text": mark.text} for mark in marks
        ],
        "subagents": [_subagent_json(each) for each in run.subagents],
    }


def _part_json(part: Stretch) -> Json:
    return {
        "session": part.session_id,
        "message_id": part.first_message_id,
        "model": part.model,
        "cost_usd": part.cost_usd,
        "cache_share": part.cache_share,
    }


def _subagent_json(subagent: Conversation) -> Json:
    return {
        "session": subagent.id,
        "from": subagent.root.started_at,
        "to": ended_at(subagent),
        "cost_usd": subagent.cost_usd,
    }


def _lines(run: Run, marks: tuple[RunMark, ...]) -> Iterator[OutputLine]:
    yield OutputLine("title", facts(run))
    for part in run.stretches:
        cost = dollars(part.cost_usd)
        line = " · ".join(filter(None, (part.session_id, part.model, cost, cache_share(part))))
        yield OutputLine("said", one_line(line), 2)
    if not has_tokens(run):
        yield OutputLine("other", _("Hermes stored no tokens for the messages of this run."))
    for subagent in run.subagents:
        line = _("subagent {id}: {span} · {cost}").format(
            id=subagent.id,
            span=span(subagent.root.started_at, ended_at(subagent)),
            cost=dollars(subagent.cost_usd),
        )
        yield OutputLine("tool", one_line(line), 2)
    for mark in marks:
        text = mark.text
        if mark.message_id is not None:
            text = _("message {id}: {text}").format(id=mark.message_id, text=text)
        yield OutputLine("seam", one_line(text), 2)
