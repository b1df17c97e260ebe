"""`lineage`: the lineage of a session as a tree, what to resume, and what Hermes would open."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from hermes_browse.store.compression.compactions import (
    CompactionHistory,
    is_compressed,
    read_history,
)
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.sessions.lineage import read_lineage
from hermes_browse.store.sessions.models import Lineage, Node
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ..formats import dollars, own_and_tree, related, status
from ..lineage.family import CompactionEntry, Entries
from ..lineage.reading import entries_of
from .command_context import CommandContext, Subcommand
from .output import OutputLine, note, print_json, print_lines
from .parser import text_arg


class LineageCommand(Subcommand):
    """Print the lineage of a session."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)

    def run(self, context: CommandContext) -> int:
        with context.store.reader() as reader:
            session_id = resolve_session(reader, context.arguments.id)
            lineage = read_lineage(reader, session_id, context.now)
            segments = [node.session for node in lineage.nodes if node.on_path]
            history = CompactionHistory()
            if not context.json and is_compressed(reader, segments):
                history = read_history(reader, segments)
        resume = lineage.resume
        if context.json:
            print_json(
                {
                    "focus": lineage.focus,
                    "resume": {"id": resume.id, "reason": resume.reason},
                    "hermes_opens": lineage.predicted,
                    "nodes": [_node_json(node) for node in lineage.nodes],
                }
            )
            return 0
        print_lines(_lines(entries_of(lineage, history.compactions), lineage))
        if lineage.predicted != resume.id:
            warning = _("Careful: `hermes --resume={id}` would open {other}.")
            note(warning.format(id=resume.id, other=lineage.predicted))
        return 0


def _node_json(node: Node) -> Json:
    """Build a NODE of the JSON contract."""
    session = node.session
    return {
        "id": session.id,
        "parent_id": node.parent_id,
        "relation": node.relation.value,
        "on_path": node.on_path,
        "title": session.title,
        "source": session.source,
        "status": node.status.value,
        "message_count": node.rows,
        "started_at": session.started_at,
        "last_active": session.last_active,
        "cost_usd": session.cost_usd,
        "tree_cost_usd": node.tree_cost_usd,
        "end_reason": session.end_reason,
        "note": node.note or None,
    }


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
    rows = _("{count} msgs").format(count=node.rows)
    costs = own_and_tree(session.cost_usd, node.tree_cost_usd, dollars)
    facts = (session.id, one_line(node.name, 120), rows, costs, session.source, status(node.status))
    line = " · ".join(filter(None, facts))
    line = related(node.relation, line)
    if node.note:
        line = _("{name} ({note})").format(name=line, note=node.note)
    if session.id == lineage.resume.id:
        line += "  " + _("← resumes here ({reason})").format(reason=lineage.resume.shown_reason)
    return line
