"""Base class of screens that tell something in a list first of all."""

from __future__ import annotations

from typing import ClassVar

from hermes_browse.store.wording import _

from ..browser.list.conversation_list import ConversationList
from ..widgets.list_rows import FixedRows, NoteRow
from .sub_screen import SubScreen


class ListScreen(SubScreen):
    """A list that is read when the screen opens, and again with the list of the main screen."""

    TITLE: ClassVar[str]
    about = ""
    """Stands behind the title; printable."""

    def on_mount(self) -> None:
        self.show_title(_(self.TITLE), self.about)
        self.set_focus(self.rows)
        self.rows.clock = self.main.clock
        self.rows.show(FixedRows([NoteRow(_("looking …"))]))
        self.catalog_changed()

    @property
    def rows(self) -> ConversationList:
        """The first list."""
        return self.query(ConversationList).first()

    def catalog_changed(self) -> None:
        """Read it again."""
        self.start("rows", self.read_rows)

    async def read_rows(self) -> None:
        """Read and show what there is to tell."""
        raise NotImplementedError
