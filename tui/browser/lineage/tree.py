"""The widget of the lineage tree: what is unfolded, and where the cursor is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
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

from ...settings.keys.pane_commands import LINEAGE
from ...text.family import CompactionEntry, Entries, Entry, Family, SessionEntry, session_key
from ...text.styled import Line
from ...widgets.bindings import bindings
from .labels import compaction_line, more_line, session_line

MOST = 200
"""Children that are shown together, and entries of a tree that is unfolded at first."""
_LOOKS = ("title", "plain", "dim", "note", "accent", "cursor", "cursor-quiet")
_ARROW = Style.from_meta({"toggle": True})


class MoreEntry(NamedTuple):
    """Stands for entries that are not shown."""

    hidden: Sequence[Entry]
    key: str = ""


_Node = TreeNode[Entry | MoreEntry]


class LineageTree(Tree[Entry | MoreEntry], inherit_bindings=False):
    """A family tree. It has nodes only for what was unfolded, and draws only what is on screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"list--{name}" for name in _LOOKS}
    BINDINGS: ClassVar[list[BindingType]] = bindings(LINEAGE)

    at: var[Entry | MoreEntry | None] = var(None, init=False, always_update=True)
    """That to which the user moved the cursor. Set within the key that moves it, so that the next
    key finds what it acts on."""
    _is_filling = True
    """The nodes are built anew, or have not been yet: the cursor moves, and the user did not."""

    def __init__(self, *, id: str) -> None:
        super().__init__(Text(), id=id)
        self.show_root = self.auto_expand = False
        self.guide_depth = 2
        self.clock = time.time
        """Returns Unix seconds, for ages."""
        self._now = 0.0
        """The moment of all ages on screen."""
        self._entries: Entries = {}
        self._lost: Mapping[str, str] = {}
        self._unfolded: Mapping[str, bool] = {}
        """Whether an entry was unfolded, of those that were shown before the tree was read again."""
        self._shown: dict[str, _Node] = {}
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
        self._now, self._is_filling = self.clock(), True
        self._unfolded = {key: node.is_expanded for key, node in self._shown.items()}
        self._entries, self._lost = (family.entries, family.lost) if family else ({}, {})
        above = {
            entry.key: session_id and session_key(session_id)
            for session_id, entries in self._entries.items()
            for entry in entries
        }
        key: str | None = self.current.key if stays and self.current is not None else None
        if key not in above and family is not None:
            key = session_key(family.lineage.resume.id)
        way = []
        while key in above:
            way.append(key)
            key = above[key]
        self._shown.clear()
        self.clear()
        self._add(self.root, self._entries.get(None, ()), way, is_small=len(above) <= MOST)
        is_empty = self.last_line < 0  # which also numbers the lines
        self.move_cursor(None if is_empty else self._shown[way[0]])
        self._is_filling = False

    def refresh_rows(self) -> None:
        """Draw all lines again, as their ages have grown."""
        self._now = self.clock()
        self.notify_style_update()

    def _add(
        self,
        parent: _Node,
        entries: Sequence[Entry],
        way: Sequence[str] = (),
        *,
        is_small: bool = False,
        before: _Node | None = None,
    ) -> None:
        """Add nodes, and those below them that are unfolded.

        Args:
            way: Keys of the entry under the cursor and of those above it, which are unfolded.
            is_small: Whether others are unfolded too.
            before: Add them before this one; None for the end.
        """
        kept = {*way, *self._unfolded}
        counted = enumerate(entries)
        for is_shown, group in groupby(counted, lambda each: each[0] < MOST or each[1].key in kept):
            some = [entry for _index, entry in group]
            if not is_shown:
                parent.add(Text(), MoreEntry(some), before=before)
                continue
            for entry in some:
                session_id = entry.session_id if isinstance(entry, SessionEntry) else ""
                below = self._entries.get(session_id, ())
                is_unfolded = entry.key in way[1:] or self._unfolded.get(entry.key, is_small)
                node = parent.add(
                    Text(), entry, before=before, expand=is_unfolded, allow_expand=bool(below)
                )
                self._shown[entry.key] = node
                if is_unfolded:
                    self._add(node, below, way, is_small=is_small)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry | MoreEntry]) -> None:
        """Add what was not shown before."""
        node = event.node
        if isinstance(node.data, MoreEntry) and node.parent is not None:
            self._add(node.parent, node.data.hidden, before=node)
            node.remove()
        elif isinstance(node.data, SessionEntry) and not node.children:
            self._add(node, self._entries[node.data.session_id])

    # The cursor

    def watch_cursor_line(self, previous_line: int, line: int) -> None:
        """Report the move, unless it is the tree that was built anew."""
        before = self.cursor_node
        super().watch_cursor_line(previous_line, line)
        if self.cursor_node is not before and not self._is_filling:
            self.at = self.current
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

    def action_inwards(self) -> None:
        """Unfold the node under the cursor; if it is, go to the first below it."""
        node = self.cursor_node
        if node is not None and node.allow_expand and node.is_expanded:
            self.action_move(1)
        else:
            self.action_toggle_node()

    def action_outwards(self) -> None:
        """Fold the node under the cursor; if it is, go to that above it."""
        node = self.cursor_node
        if node is not None and node.allow_expand and node.is_expanded:
            self.action_toggle_node()
        elif node is not None and node.parent is not self.root:
            self.action_cursor_parent()

    def action_select(self) -> None:
        """Select the entry under the cursor, or unfold what is not shown."""
        if isinstance(self.current, MoreEntry):
            self.action_toggle_node()
        else:
            self.action_select_cursor()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked node, which the arrow folds and a double click selects."""
        node = self.get_node_at_line(event.y + self.scroll_offset.y)
        if node is not None:
            self.move_cursor(node)
        if event.chain < 2 and not event.style.meta.get("toggle"):
            event.prevent_default()  # Textual selects by a single click

    def on_resize(self) -> None:
        self.scroll_to_line(self.cursor_line, animate=False)

    # Drawing

    def get_label_width(self, node: _Node) -> int:
        """Labels fill the pane, and none is wider."""
        return 0

    def render_label(self, node: _Node, base_style: Style, style: Style) -> Text:
        arrow = ("▾ " if node.is_expanded else "▸ ") if node.allow_expand else "  "
        label = Text()
        label.append(arrow, self._look("dim", node) + (_ARROW if node.allow_expand else Style()))
        for text, look in self._line(node):
            label.append(printable(text), self._look(look, node))
        return label

    def _line(self, node: _Node) -> Line:
        room = self.scrollable_content_region.width - 3
        parent, entry = node.parent, node.data
        while parent is not None and parent is not self.root:
            room, parent = room - self.guide_depth, parent.parent
        if isinstance(entry, SessionEntry):
            return session_line(entry, room, self._now)
        if isinstance(entry, CompactionEntry):
            return compaction_line(entry, self._lost.get(entry.key, ""), room, self._now)
        return more_line(len(entry.hidden) if entry is not None else 0, room)

    def _look(self, name: str, node: _Node) -> Style:
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
        style = self.rich_style + self.get_component_rich_style("list--accent", partial=True)
        return Strip([Segment(mark, style), *line]).adjust_cell_length(width)
