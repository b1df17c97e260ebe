"""What the lines of the lineage tree say, as styled text of a given width."""

from __future__ import annotations

from rich.cells import cell_len

from hermes_browse.store.sessions.models import Node, Relation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ...text import formats, sentences
from ...text.family import CompactionEntry, SessionEntry
from ...text.styled import Line, clip_line, line_width, tailed

_EDGES = {
    Relation.ROOT: "◆",
    Relation.CONTINUED: "≡",
    Relation.BRANCHED: "⑂",
    Relation.DELEGATED: "⊕",
    Relation.RESET: "↺",
    Relation.UNKNOWN: "?",
    Relation.ORPHAN: "◇",
}


def _facts(node: Node, room: int, now: float) -> str:
    """Return the columns on the right of a session: as many as fit; of the costs that with all
    below alone, or both."""
    session, messages = node.session, formats.messages(node.rows)
    columns = (
        (97, 1000, 18, _state(node)),
        (30, 1000, max(8, cell_len(messages)), messages),
        (63, 1000, 18, formats.own_and_tree(session.cost_usd, node.tree_cost_usd)),
        (41, 62, 8, formats.money(node.tree_cost_usd)),
        (0, 1000, formats.AGE_WIDTH + 1, formats.age(session.last_active, now)),
    )
    return "".join(
        formats.fit(text, cells, right=True)
        for least, most, cells, text in columns
        if least <= room <= most
    )


def _state(node: Node) -> str:
    reason = node.session.end_reason
    if reason == "compression":  # the next line says so
        return ""
    return formats.end_reason(reason) or formats.status(node.status)


def session_line(entry: SessionEntry, room: int, now: float) -> Line:
    """Return the line of a session in exactly `room` cells: relation, title, resume target,
    columns."""
    node = entry.node
    tail = f" {_facts(node, room, now)} "
    sign = (f"{_EDGES[node.relation]} ", "accent" if node.on_path else "dim")
    left = room - cell_len(tail) - line_width([sign])
    name = one_line(node.name, 300)
    label = sentences.related(node.relation, name) if left >= 28 else name
    target = f" ▶ {_('resumes here')}" if entry.is_target else ""
    if cell_len(target) + cell_len(label) > left:
        target = target[:2]
    before = label.removesuffix(name)
    look = "title" if node.on_path else "plain"
    named = clip_line([(before, "dim"), (label[len(before) :], look)], left - cell_len(target))
    left -= line_width(named) + cell_len(target)
    note = f"  {one_line(node.note)}" if node.note and left > 12 else ""
    return tailed([sign, *named, (target, "accent"), (note, "note")], tail, room)


def compaction_line(entry: CompactionEntry, lost: str, room: int, now: float) -> Line:
    """Return the line of a compression in exactly `room` cells: what became of how many messages,
    then as much as fits of the size of the context, what was lost, and the age."""
    compaction = entry.compaction
    line: Line = [("! ", "accent") if compaction.is_broken else ("⇣ ", "dim")]
    line.append((entry.outcome, "plain"))
    for text, look in ((entry.tokens, "dim"), (lost, "accent")):
        longer: Line = [*line, (pgettext("clauses", ", "), "dim"), (text, look)]
        if text and line_width(longer) <= room:
            line = longer
    age = f" {formats.age(compaction.at, now)} "
    return tailed(line, age if line_width(line) + cell_len(age) <= room else "", room)
