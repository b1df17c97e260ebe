"""`run`: how a conversation went, what it cost with its subagents, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.run.run import Run
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text.formats import dollars, joined
from ..text.sentences import cache_share, ended_at, facts, has_tokens, span
from .command_context import CommandContext, Subcommand
from .output import OutputLine, fields, print_json, print_lines
from .parser import ID


class RunCommand(Subcommand):
    """Print how a conversation went."""

    arguments = (ID,)

    def run(self, context: CommandContext) -> int:
        store = context.store
        run = store.run(store.resolve(context.arguments.id), context.now)
        store.close()
        if context.json:
            print_json(_run_json(run))
        else:
            print_lines(_lines(run))
        return 0


def _run_json(run: Run) -> Json:
    conversation = run.conversation
    return fields(conversation, "cost_usd", "tree_cost_usd") | {
        "conversation": conversation.id,
        "from": conversation.root.started_at,
        "to": conversation.last_active,
        "turns": len(run.turns),
        "tool_calls": len(run.tools),
        "compressions": run.compressions,
        "parts": [
            fields(
                part,
                *("model", "cost_usd", "cache_share"),
                session="session_id",
                message_id="first_message_id",
            )
            for part in run.stretches
        ],
        "marks": [fields(mark, "kind", "message_id", "text") for mark in run.marks],
        "subagents": [
            fields(subagent, "cost_usd")
            | {
                "session": subagent.id,
                "from": subagent.root.started_at,
                "to": ended_at(subagent),
            }
            for subagent in run.subagents
        ],
    }


def _lines(run: Run) -> Iterator[OutputLine]:
    yield OutputLine("title", facts(run))
    for part in run.stretches:
        words = joined(part.session_id, part.model, dollars(part.cost_usd), cache_share(part))
        yield OutputLine("said", one_line(words), 2)
    if not has_tokens(run):
        yield OutputLine("other", _("Hermes stored no tokens for the messages of this run."))
    for subagent in run.subagents:
        time = span(subagent.root.started_at, ended_at(subagent))
        line = _(
            "subagent {id}: {span} · {cost}",
            id=subagent.id,
            span=time,
            cost=dollars(subagent.cost_usd),
        )
        yield OutputLine("tool", one_line(line), 2)
    for mark in run.marks:
        text = mark.text
        if mark.message_id is not None:
            text = _("message {id}: {text}", id=mark.message_id, text=text)
        yield OutputLine("seam", one_line(text), 2)
