"""`lineage`: the family tree around a session, what to resume, and what Hermes would open."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from hermes_browse.store.sessions.lineage import read_lineage
from hermes_browse.store.sessions.models import Lineage, Node, Relation
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..formats import status
from .context import Command, Context
from .output import Json, Line, note, print_json, print_lines
from .parser import text

_RELATED = {
    Relation.CONTINUED: N_("continued: {line}"),
    Relation.BRANCHED: N_("branch: {line}"),
    Relation.DELEGATED: N_("subagent: {line}"),
    Relation.RESET: N_("after a reset: {line}"),
    Relation.UNKNOWN: N_("child: {line}"),
    Relation.ORPHAN: N_("parent gone: {line}"),
}


class LineageCommand(Command):
    """The family tree around a session."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text)

    def run(self, context: Context) -> int:
        with context.store.reader() as reader:
            lineage = read_lineage(reader, resolve_session(reader, context.arguments.id), context.now)
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
        print_lines(_lines(lineage))
        if lineage.predicted != resume.id:
            careful = _("Careful: `hermes --resume={id}` would open {other}.")
            note(careful.format(id=resume.id, other=lineage.predicted))
        return 0


def _node_json(node: Node) -> Json:
    """A NODE of the JSON contract."""
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
        "end_reason": session.end_reason,
        "note": node.note or None,
    }


def _lines(lineage: Lineage) -> Iterator[Line]:
    """A line for each session, indented below its parent; a continuation stands beside what it continues."""
    depths: dict[str, int] = {}
    for node in lineage.nodes:
        above = depths.get(node.parent_id, 0) if node.parent_id is not None else -1
        is_beside = node.relation is Relation.CONTINUED and not node.note
        depths[node.session.id] = max(above, 0) if is_beside else above + 1
        yield Line("said", one_line(_node_line(node, lineage)), 2 * depths[node.session.id])


def _node_line(node: Node, lineage: Lineage) -> str:
    session = node.session
    rows = _("{count} msgs").format(count=node.rows)
    words = [session.id, session.title or "", rows, session.source, status(node.status)]
    line = " · ".join(word for word in words if word)
    if related := _RELATED.get(node.relation):
        line = _(related).format(line=line)
    if node.note:
        line = _("{name} ({note})").format(name=line, note=node.note)
    if session.id == lineage.resume.id:
        line += "  " + _("← resumes here ({reason})").format(reason=lineage.resume.reason)
    return line
