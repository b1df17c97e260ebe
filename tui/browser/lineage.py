"""The lineage tree: a list whose rows fold, what its lines say, and what reads it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style
from textual import events

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError, NotFoundError
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Node, Relation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, pgettext

from ..settings.keys.main_commands import LINEAGE
from ..text import formats, sentences
from ..text.family import (
    NO_FAMILY,
    CompactionEntry,
    Entries,
    Entry,
    Family,
    SessionEntry,
    compaction_key,
    count_lost,
    read_family,
    session_key,
    with_guides,
)
from ..text.styled import Line, Span, clip_line, line_width, tailed
from ..widgets.bindings import bindings
from ..widgets.list_rows import FixedRows
from .context import Context, ShownConversation
from .list.conversation_list import ConversationList

_MOST = 200
"""Entries of a tree that is unfolded at first."""
_ARROWS = {True: ("▾ ", "arrow"), False: ("▸ ", "arrow"), None: ("  ", "dim")}
_BEFORE = {"edge": "accent", "guide": "dim"}
"""The looks of what stands before an entry."""
_CLICKS = {folds: Style.from_meta({"folds": folds}) for folds in (True, False)}
_EDGES = {
    Relation.ROOT: "◆",
    Relation.CONTINUED: "≡",
    Relation.BRANCHED: "⑂",
    Relation.DELEGATED: "⊕",
    Relation.RESET: "↺",
    Relation.UNKNOWN: "?",
    Relation.ORPHAN: "◇",
}


def _session_columns(node: Node, width: int, now: float) -> str:
    """Return the columns of a session that a line of a width has. A wide line has the cost of the
    session alone and that with all sessions below it, a narrow one only the former, so that the
    lines add up to the total above them."""
    session, messages = node.session, formats.messages(node.shown_count)
    costs = formats.own_and_tree(session.cost_usd, node.tree_cost_usd)
    age = formats.age(session.last_active, now)
    columns = (
        (_state(node), 18, width >= 97),
        (messages, max(8, cell_len(messages)), width >= 30),
        (costs, 18, width >= 63),
        (formats.money(session.cost_usd), 8, 41 <= width < 63),
        (age, formats.AGE_WIDTH + 1, True),
    )
    return "".join(
        formats.fit(text, cells, right=True) for text, cells, is_shown in columns if is_shown
    )


def _state(node: Node) -> str:
    reason = node.session.end_reason
    if reason == "compression":  # the next line says so
        return ""
    return sentences.end_reason(reason) or sentences.status(node.status)


def session_line(entry: SessionEntry, room: int, now: float) -> Line:
    """Return the line of a session in exactly `room` cells: relation, title, resume target,
    columns."""
    node = entry.node
    tail = f" {_session_columns(node, room, now)} "
    sign = (f"{_EDGES[node.relation]} ", "accent" if node.on_path else "dim")
    left = room - cell_len(tail) - line_width([sign])
    name = one_line(node.name, 300)
    before = sentences.related(node.relation, name).removesuffix(name) if left >= 28 else ""
    target = f" ▶ {_('resumes here')}" if entry.is_target else ""
    if cell_len(target + before + name) > left:
        target = target[:2]
    look = "title" if node.on_path else "plain"
    named = clip_line([(before, "dim"), (name, look)], left - cell_len(target))
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


class TreeRow(NamedTuple):
    """An entry of the tree."""

    entry: Entry
    guides: str
    """The lines that lead to it."""
    is_unfolded: bool | None
    """None if nothing is below it."""
    lost: str
    """How much a compression lost, in words; empty if it is not known."""

    @property
    def key(self) -> str:
        return self.entry.key

    @property
    def enter(self) -> str:
        return N_("open") if isinstance(self.entry, CompactionEntry) else N_("read")

    def spans(self, width: int, now: float) -> list[Span]:
        entry, room = self.entry, width - 3 - cell_len(self.guides)
        if isinstance(entry, SessionEntry):
            line = session_line(entry, room, now)
        else:
            line = compaction_line(entry, self.lost, room, now)
        return [(" ", "edge"), (self.guides, "guide"), _ARROWS[self.is_unfolded], *line]


class LineageTree(ConversationList, inherit_bindings=False):
    """A family tree."""

    BINDINGS = bindings(LINEAGE)

    def __init__(self) -> None:
        super().__init__(id="lineage")
        self._entries: Entries = {}
        self._lost: Mapping[str, str] = {}
        self._above: dict[str, str] = {}
        """The key of each entry, and of the one that it stands under; empty for none."""
        self._unfolded: dict[str, bool] = {}

    @property
    def row(self) -> TreeRow | None:
        row = self.current
        return row if isinstance(row, TreeRow) else None

    @property
    def entry(self) -> Entry | None:
        return self.row.entry if self.row is not None else None

    @property
    def compression(self) -> int | None:
        """The number of the compression under the cursor; None for a session."""
        return self.entry.number if isinstance(self.entry, CompactionEntry) else None

    def show_family(self, family: Family, *, stays: bool) -> None:
        """Show a tree. The cursor stays on its entry if it may and that is still there; else it
        goes to the session that a resume opens, which is unfolded to."""
        self._entries, self._lost = family.entries, family.lost
        self._above = {
            entry.key: session_key(session_id) if session_id is not None else ""
            for session_id, entries in self._entries.items()
            for entry in entries
        }
        is_small = len(self._above) <= _MOST
        self._unfolded = {key: self._unfolded.get(key, is_small) for key in self._above}
        key = self.key if stays else ""
        if key not in self._above:
            key = session_key(family.lineage.target)
        above = key
        while above := self._above.get(above, ""):
            self._unfolded[above] = True
        self._fill(key)

    def _fill(self, key: str) -> None:
        rows: list[TreeRow] = []
        folded = {key for key, is_unfolded in self._unfolded.items() if not is_unfolded}
        for entry, guides in with_guides(self._entries, folded):
            has_more = isinstance(entry, SessionEntry) and entry.session_id in self._entries
            is_unfolded = self._unfolded[entry.key] if has_more else None
            rows.append(TreeRow(entry, guides, is_unfolded, self._lost.get(entry.key, "")))
        self.show(FixedRows(rows), key=key)

    def action_toggle_node(self) -> None:
        row = self.row
        if row is not None and row.is_unfolded is not None:
            self._unfolded[row.key] = not row.is_unfolded
            self._fill(row.key)

    def action_inwards(self) -> None:
        """Unfold the entry under the cursor; if it is, go to the first below it."""
        if self.row is not None and self.row.is_unfolded:
            self.action_move(1)
        else:
            self.action_toggle_node()

    def action_outwards(self) -> None:
        """Fold the entry under the cursor; if it is, go to that above it."""
        row = self.row
        if row is not None and row.is_unfolded:
            self.action_toggle_node()
        elif row is not None and (above := self._above[row.key]):
            self.cursor = self.source.index_of(above) or 0

    def on_click(self, event: events.Click) -> None:
        """Move the cursor, which the arrow folds and a double click selects."""
        event.prevent_default()  # Textual would call the handler of the list as well
        super().on_click(event)
        if event.style.meta.get("folds"):
            self.action_toggle_node()

    def _look_over(self, name: str, under: str) -> Style:
        """Leave what stands before an entry out of the cursor's background; an arrow can be
        clicked."""
        if name in _BEFORE:
            return super()._look_over(_BEFORE[name], "")
        is_arrow = name == "arrow"
        return super()._look_over("dim" if is_arrow else name, under) + _CLICKS[is_arrow]


class FamilyLoader:
    """Reads the family tree of the current conversation."""

    def __init__(self, main: Context) -> None:
        self._main = main
        self._tip = ""
        """The newest session of the conversation whose tree was requested last."""

    def follow(self, shown: ShownConversation) -> None:
        """Read the tree of another conversation, or of one that has a new part."""
        conversation = shown.conversation
        if conversation is None:
            self._tip = ""
            if shown.is_listed:  # else one is being looked up in this very tree
                self._main.cancel("lineage")
                self._main.family = NO_FAMILY
        elif conversation.id != self._tip:
            self._tip = conversation.id
            self._main.start("lineage", self._read, conversation.id)

    def list_read(self, before: Catalog) -> None:
        """Read the tree again if the list, which was read anew, has something new of what is in it.

        `before` is the catalog until now.
        """
        catalog = self._main.catalog
        ids = [node.session.id for node in self._main.family.lineage.nodes]
        if self._tip and any(before.of_session(id) != catalog.of_session(id) for id in ids):
            self._main.start("lineage", self._read, self._tip)

    async def _read(self, tip: str) -> None:
        main, catalog = self._main, self._main.catalog

        def clear() -> None:
            """Show no tree of another conversation."""
            if all(node.session.id != tip for node in main.family.lineage.nodes):
                main.family = NO_FAMILY

        try:
            # All comes at once, so that nothing is put in under the cursor later.
            main.family = await main.read_at_rest(
                lambda store: read_family(store, tip, main.clock()), clear
            )
        except BrowseError as error:
            self._tip, main.family = "", NO_FAMILY
            if isinstance(error, NotFoundError):  # it was deleted, as the list will show
                return
            raise
        self.find_losses()
        if main.catalog is not catalog:  # the list was read meanwhile
            self.list_read(catalog)

    def find_losses(self) -> None:
        """Find what the compressions lost, if the tree has the focus, as that takes long."""
        if isinstance(self._main.focused, LineageTree):
            self._main.start("losses", self._find_losses, self._main.family)

    async def _find_losses(self, family: Family) -> None:
        main = self._main
        for number, compaction in enumerate(family.compactions):
            key = compaction_key(compaction, number)
            if key in family.lost:
                continue
            losses = await main.read(partial(OpenStore.losses, compaction=compaction))
            if main.family is not family:  # it was read again
                return
            lost = {**family.lost, key: count_lost(losses)}
            main.family = family = family._replace(lost=lost)
