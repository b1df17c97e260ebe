"""Reads the family tree of the current conversation, with a line for each of its compactions."""

from __future__ import annotations

import asyncio

from hermes_browse.store.errors import BrowseError

from ..context import ShownPlace
from ..list.lineage_rows import LineageRow
from ..list.list_rows import FixedRows
from ..screens.by_name import load
from ..screens.current import compaction_of
from ..screens.panes import Panes
from ..shared import header
from ..transcript.loader import PATIENCE, REST


class LineageLoader:
    """Fills the tree and its title."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._tip = ""
        """The newest session of the conversation whose tree was requested last."""

    def follow(self, before: ShownPlace, place: ShownPlace) -> None:
        """Show the tree of another conversation, or of one that has changed."""
        conversation = place.conversation
        if conversation is None:
            self._tip = ""
            if place.is_listed:  # else one is being looked up in this very tree
                self._clear()
        elif conversation.id != self._tip or (
            place.number == before.number and conversation != before.conversation
        ):
            self._tip = conversation.id
            self._main.start("lineage", self._read, conversation.id)

    def _clear(self) -> None:
        main, self._tip = self._main, ""
        main.cancel("lineage")
        main.lineage.show(FixedRows([]))
        main.show_family(False)
        main.line("lineage-title").update("")

    def _clear_unless(self, session_id: str) -> None:
        """Show no rows unless a session is among them."""
        tree = self._main.lineage
        if tree.source.index_of(f"l{session_id}") is None:
            tree.show(FixedRows([]))

    async def _read(self, tip: str) -> None:
        main, now, read_tree = self._main, self._main.clock(), load("tree")
        await asyncio.sleep(REST)
        late = asyncio.get_running_loop().call_later(PATIENCE, self._clear_unless, tip)
        try:
            # The rows come all at once, so that none is put in under the cursor later.
            lineage, compactions, rows = await main.read(lambda store: read_tree(store, tip, now))
        except BrowseError:
            self._clear()
            raise
        finally:
            late.cancel()
        pane, conversation, row = main.lineage, main.current, main.lineage.current
        compaction = compaction_of(row)
        session = row.node.session.id if isinstance(row, LineageRow) else None
        at = compaction.session_id if compaction is not None else session
        segments = {each.id for each in conversation.segments} if conversation is not None else ()
        # A cursor that the user moves in the tree stays where it is.
        stays = pane.has_focus and at in segments
        pane.show(FixedRows(rows), key=None if stays else f"l{lineage.resume.id}")
        main.show_family(len(rows) > 1)
        main.line("lineage-title").update(header.lineage_title(lineage, len(compactions)))
