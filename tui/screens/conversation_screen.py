"""Base class of screens that tell something of one conversation, in a list first of all."""

from __future__ import annotations

from typing import ClassVar

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..browser.list.conversation_list import ConversationList
from ..browser.main import MainScreen
from ..text import formats
from ..widgets.list_rows import FixedRows, NoteRow
from .sub_screen import SubScreen


class ConversationScreen(SubScreen):
    """Something about the current conversation of the main screen."""

    TITLE: ClassVar[str]

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        assert main.current is not None
        self.conversation = main.current
        self.title_of_it = one_line(formats.name(main.current), 200)

    def on_mount(self) -> None:
        self.show_title(_(self.TITLE), self.title_of_it)
        self.set_focus(self.rows)
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
