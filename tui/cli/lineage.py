"""`lineage`: the lineage of a session as a tree, what to resume, and what Hermes would open."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.sessions.models import Lineage, Node
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ..text.family import CompactionEntry, Entries, entries_of, read_compactions
from ..text.formats import dollars, own_and_tree, related, status
from .command_context import CommandContext, Subcommand
from .output import OutputLine, fields, note, print_lines
from .parser import ID


class LineageCommand(Subcommand):
    """Print the lineage of a session."""

    arguments = (ID,)

    def run(self, context: CommandContext) -> int:
        store = context.store
        session_id = store.resolve(context.arguments.id)
        lineage = store.lineage(session_id, context.now)
        compactions = () if context.json else read_compactions(store, lineage)
        store.close()
        resume = lineage.resume
        if context.json:
            document: Json = {
                "focus": lineage.focus,
                "resume": fields(resume, "id", "reason"),
                "hermes_opens": lineage.predicted,
                "nodes": [_node_json(node) for node in lineage.nodes],
            }
            context.print_json(document)
            return 0
        print_lines(_lines(entries_of(lineage, compactions), lineage))
        if lineage.predicted != resume.id:
            note(
                _(
                    "Careful: `hermes --resume={id}` would open {other}.",
                    id=resume.id,
                    other=lineage.predicted,
                )
            )
        return 0


def _node_json(node: Node) -> Json:
    """Build a NODE of the JSON contract."""
    session = node.session
    names = ("id", "title", "source", "started_at", "last_active", "cost_usd", "end_reason")
    of_node = ("parent_id", "relation", "on_path", "status", "tree_cost_usd")
    document = fields(session, *names) | fields(node, *of_node, message_count="rows")
    return document | {"note": node.note or None, "tags": session.tags}


def _lines(entries: Entries, lineage: Lineage) -> Iterator[OutputLine]:
    """Yield a line for each session and each compression, as the tree on screen has them."""
    stack = [(entry, "", "") for entry in reversed(entries.get(None, ()))]
    while stack:
        entry, guides, below = stack.pop()
        if isinstance(entry, CompactionEntry):
            words = pgettext("clauses", ", ").join((entry.outcome, entry.tokens))
            yield OutputLine("said", words, lead=guides)
            continue
        yield OutputLine("said", one_line(_node_line(entry.node, lineage)), lead=guides)
        corner = ("└ ", "  ")
        for child in reversed(entries.get(entry.session_id, ())):
            stack.append((child, f"{below}{corner[0]}", f"{below}{corner[1]}"))
            corner = ("├ ", "│ ")


def _node_line(node: Node, lineage: Lineage) -> str:
    session = node.session
    rows = _("{count} msgs", count=node.rows)
    costs = own_and_tree(session.cost_usd, node.tree_cost_usd, dollars)
    facts = (session.id, one_line(node.name, 120), rows, costs, session.source, status(node.status))
    line = " · ".join(filter(None, facts))
    line = related(node.relation, line)
    if node.note:
        line = _("{name} ({note})", name=line, note=node.note)
    if session.id == lineage.resume.id:
        line += "  " + _("← resumes here ({reason})", reason=lineage.resume.reason)
    return line
