"""The widget of the lineage tree: what is unfolded, and where the cursor is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.reactive import var
from textual.strip import Strip
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from hermes_browse.store.text import printable
from hermes_browse.store.wording import N_

from ..bindings import bindings
from ..commands.main_commands import LINEAGE
from ..shared.styled import Line
from .family import CompactionEntry, Entries, Entry, Family, SessionEntry, session_key
from .labels import compaction_line, more_line, session_line

MOST = 200
"""Children of a session that are shown at first, and sessions of a family that is unfolded at
first."""
_LOOKS = ("title", "plain", "dim", "note", "accent", "cursor", "cursor-quiet")
_ARROW = Style.from_meta({"toggle": True})


class MoreEntry(NamedTuple):
    """Stands for children that are not shown."""

    above: str | None
    """The session that they stand under."""
    hidden: int
    is_before: bool
    """Whether they come before those that are shown."""


Node = TreeNode[Entry | MoreEntry]


class LineageTree(Tree[Entry | MoreEntry], inherit_bindings=False):
    """A family tree. It has nodes only for what is unfolded, and draws only what is on screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"list--{name}" for name in _LOOKS}
    BINDINGS: ClassVar[list[BindingType]] = bindings(LINEAGE)

    at: var[Entry | None] = var(None, init=False, always_update=True)
    """The entry to which the user moved the cursor. Set within the key that moves it, so that the
    next key finds what it acts on."""
    _is_filling = True
    """The tree is built anew, or has not been yet: the cursor moves, and the user did not."""

    def __init__(self, *, id: str) -> None:
        super().__init__(Text(), id=id)
        self.show_root = self.auto_expand = False
        self.guide_depth = 2
        self.clock = time.time
        """Returns Unix seconds, for ages."""
        self._now = 0.0
        """The moment of all ages on screen."""
        self._family: Family | None = None
        self._entries: Entries = {}
        self._above: dict[str, str | None] = {}
        """The session that an entry stands under, by its key."""
        self._unfolded: dict[str, bool] = {}
        """Whether a session was unfolded or folded."""
        self._ranges: dict[str | None, tuple[int, int]] = {}
        """Which children of a session are shown."""
        self._shown: dict[str, Node] = {}
        """The nodes of entries, by their keys."""

    @property
    def current(self) -> Entry | MoreEntry | None:
        """What is under the cursor."""
        return self.cursor_node.data if self.cursor_node is not None else None

    @property
    def enter_title(self) -> str:
        """The footer's title of Enter for the node under the cursor."""
        entry = self.current
        if isinstance(entry, MoreEntry):
            return N_("unfold")
        return N_("open") if isinstance(entry, CompactionEntry) else N_("read")

    def show(self, family: Family | None, *, stays: bool) -> None:
        """Show a tree. The cursor stays on its entry if it may and that is still there; else it
        goes to the session that a resume opens."""
        top = family.entries[None][0].key if family is not None else ""
        if top not in self._above:  # another family
            self._unfolded.clear()
            self._ranges.clear()
        self._family, self._now = family, self.clock()
        self._entries = family.entries if family is not None else {}
        self._above = {
            entry.key: above for above, entries in self._entries.items() for entry in entries
        }
        key = self._key
        if family is not None and not (stays and key in self._above):
            key = session_key(family.lineage.resume.id)
        self._fill(key)

    def refresh_rows(self) -> None:
        """Draw the lines on screen again: their ages have grown, or losses were found."""
        self._now = self.clock()
        top = self.scroll_offset.y
        for line in range(top, top + self.size.height):
            node = self.get_node_at_line(line)
            if node is not None:
                node.refresh()

    # What is unfolded

    @property
    def _key(self) -> str:
        """The key of the entry under the cursor, or of that beside what is not shown."""
        entry = self.current
        if not isinstance(entry, MoreEntry):
            return entry.key if entry is not None else ""
        first, end = self._ranges[entry.above]
        return self._entries[entry.above][first if entry.is_before else end - 1].key

    def _fill(self, key: str) -> None:
        """Build the nodes, with the cursor on an entry; the sessions that it stands under are
        unfolded."""
        way: dict[str | None, str] = {}
        step = key
        while step in self._above:
            above = self._above[step]
            way[above] = step
            if above is None:
                break
            self._unfolded[above] = True
            step = session_key(above)
        self._is_filling = True
        self._shown.clear()
        self.clear()
        self._add_below(self.root, None, way)
        is_empty = self.last_line < 0  # which also numbers the lines
        self.move_cursor(None if is_empty else self._shown.get(key))
        self._is_filling = False

    def _add_below(self, parent: Node, above: str | None, way: Mapping[str | None, str]) -> None:
        """Add the children of a session, and what is unfolded of theirs."""
        entries = self._entries.get(above, ())
        first, end = self._ranges.get(above, (0, MOST))
        keys = [entry.key for entry in entries] if above in way else []
        at = keys.index(way[above]) if keys else first
        if not first <= at < end:
            first, end = at - MOST // 2, at + MOST // 2
        self._ranges[above] = first, end = max(first, 0), min(end, len(entries))
        if first > 0:
            parent.add_leaf(Text(), MoreEntry(above, first, is_before=True))
        for entry in entries[first:end]:
            session_id = entry.session_id if isinstance(entry, SessionEntry) else None
            has_children = session_id is not None and session_id in self._entries
            is_unfolded = has_children and self._is_unfolded(session_id)
            node = parent.add(Text(), entry, expand=is_unfolded, allow_expand=has_children)
            self._shown[entry.key] = node
            if is_unfolded:
                self._add_below(node, session_id, way)
        if end < len(entries):
            parent.add_leaf(Text(), MoreEntry(above, len(entries) - end, is_before=False))

    def _is_unfolded(self, session_id: str | None) -> bool:
        is_small = self._family is not None and len(self._family.lineage.nodes) <= MOST
        return self._unfolded.get(session_id or "", is_small)

    def _fold(self, *, is_folded: bool) -> None:
        """Fold or unfold the node under the cursor."""
        node = self.cursor_node
        if node is not None and isinstance(node.data, SessionEntry) and node.allow_expand:
            self._unfolded[node.data.session_id] = not is_folded
            self._fill(node.data.key)

    def _show_more(self, entry: MoreEntry) -> None:
        """Show the next children, with the cursor on the nearest of them."""
        first, end = self._ranges[entry.above]
        beside = first - 1 if entry.is_before else end
        more = (first - MOST, end) if entry.is_before else (first, end + MOST)
        self._ranges[entry.above] = max(more[0], 0), more[1]
        self._fill(self._entries[entry.above][beside].key)
        self._tell()

    # The cursor

    def watch_cursor_line(self, previous_line: int, line: int) -> None:
        """Report the move, unless it is the tree that was built anew."""
        before = self.cursor_node
        super().watch_cursor_line(previous_line, line)
        if self.cursor_node is not before and not self._is_filling:
            self._tell()

    def _tell(self) -> None:
        entry = self.current
        self.at = entry if not isinstance(entry, MoreEntry) else None
        self.screen.refresh_bindings()  # Enter may do something else here

    def _go(self, line: int) -> None:
        self.cursor_line = max(line, 0)
        self.scroll_to_line(self.cursor_line, animate=False)

    def action_move(self, lines: int) -> None:
        """Move the cursor by a number of lines."""
        self._go(self.cursor_line + lines)

    def action_page(self, pages: float) -> None:
        """Move the cursor by a number of pages."""
        self._go(self.cursor_line + int(pages * max(self.size.height - 1, 1)))

    def action_jump(self, line: int) -> None:
        """Move the cursor to a line; -1 is the last."""
        self._go(line if line >= 0 else self.last_line)

    def action_fold(self) -> None:
        """Fold or unfold the node under the cursor, or show more."""
        node = self.cursor_node
        if node is not None and isinstance(node.data, MoreEntry):
            self._show_more(node.data)
        elif node is not None:
            self._fold(is_folded=node.is_expanded)

    def action_inwards(self) -> None:
        """Unfold the node under the cursor; go to its first child if it is unfolded."""
        node = self.cursor_node
        if node is not None and node.is_expanded and node.allow_expand:
            self._go(self.cursor_line + 1)
        else:
            self.action_fold()

    def action_outwards(self) -> None:
        """Fold the node under the cursor; go to its parent if it is folded."""
        node = self.cursor_node
        if node is not None and node.is_expanded and node.allow_expand:
            self.action_fold()
        elif node is not None and node.parent is not None and not node.parent.is_root:
            self._go(node.parent.line)

    def action_select(self) -> None:
        """Report Enter on an entry, or show more."""
        node = self.cursor_node
        if node is not None and isinstance(node.data, MoreEntry):
            self._show_more(node.data)
        elif node is not None:
            self.post_message(self.NodeSelected(node))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked node; fold it by its arrow, select it by a double
        click."""
        event.prevent_default()  # Textual selects by a single one
        if event.y + self.scroll_offset.y <= self.last_line:
            self._go(event.y + self.scroll_offset.y)
            if event.style.meta.get("toggle"):
                self.action_fold()
            elif event.chain >= 2 or isinstance(self.current, MoreEntry):
                self.action_select()

    def on_resize(self) -> None:
        self.scroll_to_line(self.cursor_line, animate=False)

    # Drawing

    def get_label_width(self, node: Node) -> int:
        """Labels fill the pane, and none is wider."""
        return 0

    def render_label(self, node: Node, base_style: Style, style: Style) -> Text:
        arrow = ("▾ " if node.is_expanded else "▸ ") if node.allow_expand else "  "
        label = Text(
            arrow, style=self._look("dim", node) + (_ARROW if node.allow_expand else Style())
        )
        for text, look in self._line(node):
            label.append(printable(text), self._look(look, node))
        return label

    def _line(self, node: Node) -> Line:
        width = self.scrollable_content_region.width
        depth = 0
        above = node.parent
        while above is not None and not above.is_root:
            depth, above = depth + 1, above.parent
        room = width - 1 - depth * self.guide_depth - 2
        entry, family = node.data, self._family
        if isinstance(entry, SessionEntry):
            return session_line(entry, room, width, self._now)
        if isinstance(entry, CompactionEntry) and family is not None:
            return compaction_line(entry, family.lost.get(entry.number, ""), room, self._now)
        count = entry.hidden if isinstance(entry, MoreEntry) else 0
        return more_line(count, room)

    def _look(self, name: str, node: Node) -> Style:
        """Return the style of a look, on the background of the cursor if that is on the node."""
        style = self.get_component_rich_style(f"list--{name}", partial=True)
        if node is not self.cursor_node:
            return style
        cursor = "cursor" if self.has_focus else "cursor-quiet"
        style += self.get_component_rich_style(f"list--{cursor}", partial=True)
        if style.color is not None and style.color == style.bgcolor:
            style += Style(color="default")  # in 16 colours the accent can be the background
        return style

    def render_line(self, y: int) -> Strip:
        """Draw a line behind a cell for the cursor, which not every theme shows by colours."""
        line = super().render_line(y)
        is_current = y + self.scroll_offset.y == self.cursor_line
        mark = ("▌" if self.has_focus else "▏") if is_current else " "
        width = self.scrollable_content_region.width
        return Strip([Segment(mark, self.rich_style), *line]).adjust_cell_length(width)
