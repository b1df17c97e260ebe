"""Rows of the lineage tree."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.sessions.lineage import draw_tree
from hermes_browse.store.sessions.models import Lineage, Node, Relation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from .. import formats
from ..shared.styled import Line, Span, clip_line, line_width, tailed

_EDGES = {
    Relation.ROOT: "◆",
    Relation.CONTINUED: "≡",
    Relation.BRANCHED: "⑂",
    Relation.DELEGATED: "⊕",
    Relation.RESET: "↺",
    Relation.UNKNOWN: "?",
    Relation.ORPHAN: "◇",
}
_DEEPEST = 24
"""Maximum cells for tree lines; a deeper tree shows only the nearest lines."""


def _node_facts(node: Node, width: int, now: float) -> str:
    """Return the columns on the right of a session in the tree: as many as fit."""
    session, messages = node.session, formats.messages(node.rows)
    reason = (
        session.end_reason if session.end_reason != "compression" else None
    )  # the next line shows that
    state = formats.end_reason(reason) or (
        formats.status(node.status) if reason != session.end_reason else ""
    )
    below = formats.cost_below(session.cost_usd, node.tree_cost_usd)
    facts = [
        (100, 18, formats.fit(state, 18)),
        (0, max(8, cell_len(messages)), messages),
        (70, 8, formats.money(session.cost_usd)),
        (70, 11, f" {formats.fit(below, 10)}"),
        (0, formats.AGE_WIDTH + 1, formats.age(session.last_active, now)),
    ]
    return "".join(
        formats.fit(text, cells, right=True) for least, cells, text in facts if width >= least
    )


class LineageRow(NamedTuple):
    """A session in the lineage tree."""

    node: Node
    guides: str
    """Tree lines before it."""
    is_target: bool
    """Whether a resume opens this session."""

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"l{self.node.session.id}"

    def spans(self, width: int, now: float) -> list[Span]:
        node = self.node
        lead = f" {self.guides[-_DEEPEST:]}"
        sign = f"{_EDGES[node.relation]} "
        tail = _node_facts(node, width, now)
        room = width - cell_len(lead) - cell_len(sign) - cell_len(tail) - 2
        name = one_line(node.name, 300)
        label = formats.related(node.relation, name)
        target = f" ▶ {_('resumes here')}"
        if cell_len(target) + cell_len(label) > room:
            target = " ▶"
        target = target if self.is_target else ""
        before = label[: len(label) - len(name)] if label.endswith(name) else ""
        named = clip_line(
            [(before, "dim"), (label[len(before) :], "title" if node.on_path else "plain")],
            room - cell_len(target),
        )
        left = room - cell_len(target) - line_width(named)
        note = f"  {one_line(node.note)}" if node.note and left > 12 else ""
        signs: Line = [(lead, "dim"), (sign, "accent" if node.on_path else "dim")]
        line = [*signs, *named, (target, "accent"), (note, "note")]
        return tailed(line, f" {tail} ", width)


def lineage_rows(lineage: Lineage) -> list[LineageRow]:
    """Build the rows of a lineage tree."""
    target = lineage.resume.id
    return [
        LineageRow(node, guides, node.session.id == target)
        for node, guides in draw_tree(lineage.nodes)
    ]
