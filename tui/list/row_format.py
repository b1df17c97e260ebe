"""Format a row of the list as spans of text and look, with as many columns as fit."""

from __future__ import annotations

from rich.cells import cell_len

from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Relation, Status
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..shared.styled import Span
from .columns import columns_of
from .list_rows import (
    ConversationRow,
    HitRow,
    JobRow,
    LineageRow,
    ListRow,
    MoreRow,
    NoteRow,
    SuggestionRow,
)


def glyph(conversation: Conversation) -> Span:
    """Return the state's sign in one cell, distinguishable without colour, and its look."""
    if conversation.status is Status.LIVE:
        return "●", "live"
    if conversation.pinned:
        return "★", "accent"
    if conversation.archived:
        return "▪", "dim"
    if conversation.kind is ConversationKind.SUBAGENT:
        return "⊕", "dim"
    if conversation.kind is ConversationKind.AUTOMATION:
        return "↻", "dim"
    return {Status.OPEN: ("○", "dim"), Status.EMPTY: ("∅", "dim")}.get(
        conversation.status, ("·", "dim")
    )


def family(conversation: Conversation) -> list[tuple[str, int, str]]:
    """Return the numbers of segments if several, branches and subagents, without zeros: sign,
    number, noun.

    The noun is one of `formats.counted`.
    """
    parts, branches, subagents = (
        len(conversation.segments),
        conversation.branches,
        conversation.subagents,
    )
    counts = [
        ("≡", parts if parts > 1 else 0, "part"),
        ("⑂", branches, "branch"),
        ("⊕", subagents, "subagent"),
    ]
    return [each for each in counts if each[1]]


def badges(conversation: Conversation) -> str:
    """Return the family in signs: `≡3 ⑂1 ⊕2`."""
    return " ".join(f"{sign}{count}" for sign, count, _noun in family(conversation))


def _hits(count: int) -> str:
    return ngettext("1 hit", "{count} hits", count).format(count=count)


def _conversation(row: ConversationRow, width: int, now: float) -> list[Span]:
    conversation = row.conversation
    mark, look = glyph(conversation)
    columns, taken = columns_of(conversation, width, now, complete=row.complete)
    found = _hits(row.hits) if row.hits else _("title or id") if row.is_named else ""
    extra = found or badges(conversation)
    note = one_line(conversation.note)
    room = width - 3 - taken - 2
    extra = extra if cell_len(extra) <= room // 2 else ""
    space = room - (cell_len(extra) + 1 if extra else 0)
    title = one_line(formats.name(conversation), 400)
    name = formats.clip(title, space)
    remaining = space - cell_len(name)
    note = formats.clip(note, remaining - 2) if remaining > 12 else ""
    spans: list[Span] = [(f" {mark} ", look), (name, "title" if conversation.title else "plain")]
    if note:
        spans.append((f"  {note}", "note"))
        remaining -= cell_len(note) + 2
    spans.append((" " * remaining, "plain"))
    if extra:
        spans.append((f" {extra}", "accent" if found else "dim"))
    spans.append((f" {columns} ", "dim"))
    return spans


def _job(row: JobRow, width: int, now: float) -> list[Span]:
    columns, taken = columns_of(row.total, width, now, complete=True)
    count = formats.counted(len(row.runs), "run")
    arrow = "▾" if row.expanded else "▸"
    room = width - 3 - taken - 2 - cell_len(count) - 1
    name = formats.fit(one_line(row.title or row.name), room)
    return [
        (f" {arrow} ", "dim"),
        (name, "title"),
        (f" {count}", "accent"),
        (f" {columns} ", "dim"),
    ]


_ROLES = {"user": N_("you"), "assistant": N_("asst"), "tool": N_("tool"), "system": N_("sys")}
"""Short names of roles, each in four cells."""


def _hit(row: HitRow, width: int, now: float) -> list[Span]:
    hit = row.hit
    state = f"{formats.state(hit.state)} " if hit.state is not State.LIVE else ""
    role = _(_ROLES[hit.role]) if hit.role in _ROLES else one_line(hit.role)
    lead = f"   {formats.fit(role, 4)} "
    time = formats.fit(formats.age(hit.timestamp, now), formats.AGE_WIDTH, right=True)
    room = width - cell_len(lead) - cell_len(state) - cell_len(time) - 2
    spans: list[Span] = [(lead, "dim"), (state, "note")]
    used, position = 0, 0
    snippet = hit.snippet
    # Start near the match if it would be cut off otherwise.
    if hit.match and hit.match[0][1] > room - 4:
        start = max(hit.match[0][0] - room // 3, 0)
        position = start if start > 10 else 0
        if position:
            spans.append(("…", "dim"))
            used = 1
    for start, end in [*hit.match, (len(snippet), len(snippet))]:
        for text, look in (
            (snippet[position : max(start, position)], "plain"),
            (snippet[max(start, position) : end], "hit"),
        ):
            safe = printable(text).replace("\n", " ").replace("\t", " ")
            piece = formats.clip(safe, room - used)
            if piece:
                spans.append((piece, look))
                used += cell_len(piece)
            if piece != safe:  # cut off: no room for the next piece
                room = used
        position = max(end, position)
    spans.append(
        (
            " " * max(width - cell_len(lead) - cell_len(state) - cell_len(time) - 2 - used, 0),
            "plain",
        )
    )
    spans.append((f" {time} ", "dim"))
    return spans


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


def _node_facts(row: LineageRow, width: int, now: float) -> str:
    """Return the columns on the right of a session in the tree: as many as fit."""
    node = row.node
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


def _lineage(row: LineageRow, width: int, now: float) -> list[Span]:
    node = row.node
    lead = f" {row.guides[-_DEEPEST:]}"
    sign = f"{_EDGES[node.relation]} "
    tail = _node_facts(row, width, now)
    room = width - cell_len(lead) - cell_len(sign) - cell_len(tail) - 2
    name = one_line(node.name, 300)
    label = formats.related(node.relation, name)
    target = f" ▶ {_('resumes here')}" if row.is_target else ""
    target = target if cell_len(target) + cell_len(label) <= room else " ▶" if row.is_target else ""
    room -= cell_len(target)
    before = label[: len(label) - len(name)] if label.endswith(name) else ""
    before = formats.clip(before, room)
    name = formats.clip(label[len(before) :], room - cell_len(before))
    room -= cell_len(before) + cell_len(name)
    note = one_line(node.note)
    note = formats.clip(f"  {note}", room) if note and room > 12 else ""
    spans: list[Span] = [
        (lead, "dim"),
        (sign, "accent" if node.on_path else "dim"),
        (before, "dim"),
        (name, "title" if node.on_path else "plain"),
        (target, "accent"),
        (note, "note"),
    ]
    return [*spans, (" " * max(room - cell_len(note), 0), "plain"), (f" {tail} ", "dim")]


def _more(row: MoreRow, width: int) -> list[Span]:
    more = ngettext("1 more hit", "{count:,} more hits", row.hidden).format(count=row.hidden)
    return [(formats.fit(f"   ▸ {more}", width), "dim")]


def _suggestion(row: SuggestionRow, width: int) -> list[Span]:
    count = formats.fit(f"{row.hits:,}{'+' if row.at_least else ''}", 8, right=True)
    room = max(width - cell_len(count) - 3, 0)
    if row.of_list:
        what = ngettext("conversation {where}", "conversations {where}", row.hits)
    else:
        what = ngettext("hit {where}", "hits {where}", row.hits)
    text = formats.fit(what.format(where=one_line(row.text, 300)), room)
    return [(f" {count}", "accent"), (f"  {text}", "plain")]


def format_row(row: ListRow, width: int, now: float) -> list[Span]:
    """Format a row in exactly `width` cells, at least a few, with ages as of `now` (Unix
    seconds)."""
    if isinstance(row, ConversationRow):
        return _conversation(row, width, now)
    if isinstance(row, JobRow):
        return _job(row, width, now)
    if isinstance(row, HitRow):
        return _hit(row, width, now)
    if isinstance(row, LineageRow):
        return _lineage(row, width, now)
    if isinstance(row, MoreRow):
        return _more(row, width)
    if isinstance(row, SuggestionRow):
        return _suggestion(row, width)
    if isinstance(row, NoteRow):
        return [(formats.fit(f" {one_line(row.text)}", width), "note")]
    return row.spans(width, now)
