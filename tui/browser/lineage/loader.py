"""Reads the family tree of the current conversation."""

from __future__ import annotations

import asyncio
from functools import partial

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError

from ...text.family import Family, compaction_key
from ..by_name import load
from ..context import ShownPlace
from ..panes import Panes
from ..transcript.loader import PATIENCE, REST


class FamilyLoader:
    """Sets the family tree."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._tip = ""
        """The newest session of the conversation whose tree was requested last."""

    def follow(self, before: ShownPlace, place: ShownPlace) -> None:
        """Read the tree of another conversation, or of one that has changed."""
        conversation = place.conversation
        if conversation is None:
            self._tip = ""
            if place.is_listed:  # else one is being looked up in this very tree
                self._main.cancel("lineage")
                self._main.family = None
        elif conversation.id != self._tip or (
            place.number == before.number and conversation != before.conversation
        ):
            self._tip = conversation.id
            self._main.start("lineage", self._read, conversation.id)

    def _clear_unless(self, session_id: str) -> None:
        """Show no tree unless a session is in it."""
        family = self._main.family
        nodes = family.lineage.nodes if family is not None else ()
        if session_id not in (node.session.id for node in nodes):
            self._main.family = None

    async def _read(self, tip: str) -> None:
        main, now, read_family = self._main, self._main.clock(), load("family")
        await asyncio.sleep(REST)
        late = asyncio.get_running_loop().call_later(PATIENCE, self._clear_unless, tip)
        try:
            # All comes at once, so that nothing is put in under the cursor later.
            family: Family = await main.read(lambda store: read_family(store, tip, now))
        except BrowseError:
            self._tip, main.family = "", None
            raise
        finally:
            late.cancel()
        main.family = family
        self.find_losses()

    def find_losses(self) -> None:
        """Find what the compressions lost, if the tree has the focus, as that takes long."""
        if self._main.focused is self._main.lineage:
            self._main.start("losses", self._find_losses)

    async def _find_losses(self) -> None:
        main, count_lost = self._main, load("count-lost")
        family = main.family
        for number, compaction in enumerate(family.compactions if family is not None else ()):
            key = compaction_key(compaction, number)
            if family is None or key in family.lost:
                continue
            losses = await main.read(partial(OpenStore.losses, compaction=compaction))
            lost = count_lost(losses)
            if main.family is not family:  # it was read again
                return
            main.family = family = family._replace(lost={**family.lost, key: lost})
