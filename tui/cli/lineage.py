"""`lineage`: the lineage of a session as a tree, what to resume, and what Hermes would open; `run`:
how a conversation went, what it cost with its subagents, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_browse.store.changes.run import Run
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.sessions.models import Lineage, Node
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ..text.family import CompactionEntry, Entries, entries_of, read_compactions, with_guides
from ..text.formats import dollars, joined, own_and_tree, timestamp
from ..text.run_words import ended_at, facts, run_events
from ..text.sentences import related, status
from .command import StoreCommand
from .output import (
    OutputLine,
    TableColumn,
    fields,
    fields_of_each,
    note,
    print_lines,
    print_table,
)
from .parser import ID


class LineageCommand(StoreCommand):
    """Print the lineage of a session."""

    arguments = (ID,)

    def run(self) -> None:
        store = self.store
        lineage = store.lineage(store.resolve(self.given.id), self.now)
        compactions = () if self.given.json else read_compactions(store, lineage)
        document = fields(lineage, "focus hermes_opens=predicted") | {
            "resume": fields(lineage, "id=target reason"),
            "nodes": [_node_json(node, lineage) for node in lineage.nodes],
        }
        self.give(document, print_lines, _lines(entries_of(lineage, compactions), lineage))
        if not self.given.json:
            warn_of_another(lineage)


def _node_json(node: Node, lineage: Lineage) -> Json:
    """Build a NODE of the JSON contract; the parent of the top one is none of them."""
    is_top = node is lineage.nodes[0]
    return (
        fields(node.session, "id title source started_at last_active cost_usd end_reason tags")
        | {"parent_id": None if is_top else node.session.parent_id}
        | fields(node, "relation on_path status tree_cost_usd message_count=shown_count")
        | {"note": node.note or None}
    )


def warn_of_another(lineage: Lineage) -> None:
    """Print a note if Hermes would open another session than the one to resume."""
    resume, other = lineage.target, lineage.predicted
    if other != resume:
        note(_("Careful: `hermes --resume={id}` would open {other}.", id=resume, other=other))


def _lines(entries: Entries, lineage: Lineage) -> Iterator[OutputLine]:
    """Yield a line for each session and each compression, as the tree on screen has them."""
    for entry, guides in with_guides(entries):
        if isinstance(entry, CompactionEntry):
            line = pgettext("clauses", ", ").join((entry.outcome, entry.tokens))
        else:
            line = one_line(_node_line(entry.node, lineage))
        yield OutputLine("said", line, lead=guides)


def _node_line(node: Node, lineage: Lineage) -> str:
    session = node.session
    facts = joined(
        session.id,
        one_line(node.name, 120),
        _("{count} msgs", count=node.shown_count),
        own_and_tree(session.cost_usd, node.tree_cost_usd, dollars),
        session.source,
        status(node.status),
    )
    line = related(node.relation, facts)
    if node.note:
        line = _("{name} ({note})", name=line, note=node.note)
    if session.id == lineage.target:
        line += "  " + _("← resumes here ({reason})", reason=lineage.reason)
    return line


class RunCommand(StoreCommand):
    """Print how a conversation went."""

    arguments = (ID,)

    def run(self) -> None:
        run = self.store.run(self.store.resolve(self.given.id), self.now)
        self.give(_run_json(run), _print_run, run)


def _run_json(run: Run) -> Json:
    return fields(
        run,
        "compressions cost_usd=conversation.cost_usd tree_cost_usd=conversation.tree_cost_usd "
        "conversation=conversation.id from=conversation.root.started_at "
        "to=conversation.last_active",
    ) | {
        "turns": len(run.turns),
        "tool_calls": len(run.tools),
        "parts": fields_of_each(
            run.stretches,
            "model cost_usd cache_share session=first.session_id message_id=first.id",
        ),
        "marks": fields_of_each(run.marks, "kind message_id=row.id text"),
        "subagents": [
            fields(each, "cost_usd session=id from=root.started_at") | {"to": ended_at(each)}
            for each in run.subagents
        ],
    }


def _print_run(run: Run) -> None:
    print_lines([OutputLine("title", facts(run))])
    print_table(_EVENTS, list(run_events(run)))
    if not any(row.tokens for row in run.rows):
        print_lines(
            [OutputLine("other", _("Hermes stored no tokens for the messages of this run."))]
        )


_EVENTS = [
    TableColumn("time", "row.at", dropped=1, form=timestamp),
    TableColumn("session", "row.session_id", dropped=2),
    TableColumn("message", "row.id", right=True),
    TableColumn("cost", "cost_usd", right=True, form=dollars),
    TableColumn("text", "text", is_flexible=True),
]
