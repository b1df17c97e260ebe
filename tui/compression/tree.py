"""The lineage pane: the family tree of the current conversation, with a line for each of its
compactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation, Lineage

from ..context import Context
from ..list.lineage_rows import LineageRow
from ..list.list_rows import FixedRows, ListRow
from ..screens.by_name import load
from ..screens.panes import Panes
from ..shared import header

if TYPE_CHECKING:
    from hermes_browse.store.compression.compactions import Compaction


class Tree:
    """Reads and shows the family tree of a conversation; `current` returns the current one."""

    def __init__(
        self, context: Context, panes: Panes, current: Callable[[], Conversation | None]
    ) -> None:
        self._context, self._panes, self._current = context, panes, current
        self._tip = ""
        """The newest session of the conversation whose tree was requested last."""
        self._compactions: Sequence[Compaction] = ()

    def compaction_of(self, row: ListRow | None) -> int | None:
        """Return the number of the compaction that a row of the tree stands for; None for a
        session."""
        key = row.key if row is not None and row.key[:1] == "x" else ""
        return int(key[1:]) if key and int(key[1:]) < len(self._compactions) else None

    def compaction(self, row: ListRow | None) -> Compaction | None:
        """Return the compaction that a row of the tree stands for; None for a session."""
        number = self.compaction_of(row)
        return self._compactions[number] if number is not None else None

    def session_of(self, row: ListRow | None) -> str | None:
        """Return the session of a row of the tree; of a compaction, the one that was compressed."""
        if isinstance(row, LineageRow):
            return row.node.session.id
        compaction = self.compaction(row)
        return compaction.session_id if compaction is not None else None

    def forget(self) -> None:
        """Read the tree again when it is next wanted; what is shown stays."""
        self._tip = ""

    def clear(self) -> None:
        """Show no tree."""
        self._tip, self._compactions = "", ()
        self._panes.cancel("lineage")
        self._panes.lineage.show(FixedRows([]))
        self._panes.show_family(False)
        self._panes.line("lineage-title").update("")

    def clear_unless(self, session_id: str) -> None:
        """Show no rows unless a session is among them."""
        tree = self._panes.lineage
        rows = map(tree.source.row, range(len(tree)))
        if session_id not in {row.node.session.id for row in rows if isinstance(row, LineageRow)}:
            tree.show(FixedRows([]))

    def read(self, conversation: Conversation, *, reload: bool = False) -> None:
        """Read and show the tree of a conversation, unless it is the one shown."""
        if conversation.id != self._tip or reload:
            self._tip = conversation.id
            self._panes.start("lineage", self._read, conversation.id)

    async def _read(self, tip: str) -> None:
        now, read_tree = self._context.clock(), load("tree")
        try:
            # The rows come all at once, so that none is put in under the cursor later.
            self._show(*await self._panes.read(lambda store: read_tree(store, tip, now)))
        except BrowseError:
            self.clear()
            raise

    def _show(
        self, lineage: Lineage, compactions: Sequence[Compaction], rows: list[ListRow]
    ) -> None:
        panes, pane = self._panes, self._panes.lineage
        conversation = self._current()
        segments = (
            {each.id for each in conversation.segments} if conversation is not None else set()
        )
        is_current = self.session_of(pane.current) in segments
        self._compactions = compactions
        # A cursor that the user moves in the tree stays where it is.
        pane.show(
            FixedRows(rows), key=None if is_current and pane.has_focus else f"l{lineage.resume.id}"
        )
        panes.show_family(len(rows) > 1)
        panes.line("lineage-title").update(header.lineage_title(lineage, len(compactions)))
