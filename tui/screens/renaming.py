"""The card that gives a conversation another title, with Hermes' rules at each letter."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from hermes_browse.store.edit.titles import LONGEST, check_title
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from ..commands.screens import RENAMING
from ..widgets.text_box import TextBox
from .card import Card, keys_line


class RenameScreen(Card[None]):
    """Asks for a title, and stays until it has been given: what was typed is not lost where it is refused.

    Args:
        conversation: Which.
        wanted: Takes what was typed; `done` or `refused` answers.
    """

    KEYS = RENAMING

    def __init__(self, conversation: Conversation, wanted: Callable[[str], None]) -> None:
        super().__init__()
        self._conversation, self._wanted = conversation, wanted
        self._is_asked = False

    def compose(self) -> ComposeResult:
        """What it is called, the box, what would be stored."""
        with Vertical(id="card"):
            yield Static(
                Content.assemble((_("Rename") + "  ", "bold"), (one_line(formats.name(self._conversation), 200), "dim"))
            )
            yield TextBox(one_line(self._conversation.title or "", LONGEST), id="title-box", select_on_focus=False)
            yield Static(id="verdict")
            yield keys_line(self.told_keys(_("Enter rename")))

    def on_mount(self) -> None:
        """Begin with what it is called now."""
        self._judge(self.query_one(Input).value)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Say what would become of it."""
        event.stop()
        self._judge(event.value)

    def _judge(self, typed: str) -> None:
        checked = check_title(typed)
        verdict = self.query_one("#verdict", Static)
        count = _("{count} of {limit}").format(count=checked.length, limit=LONGEST)
        if checked.problem:
            verdict.update(Content.styled(checked.problem, "$error"))
        elif checked.title is None:
            verdict.update(Content.styled(_("no title: Hermes will show how it begins"), "dim"))
        elif checked.differs:
            verdict.update(Content.assemble((f"{count} · " + _("stored as "), "dim"), one_line(checked.title)))
        else:
            verdict.update(Content.styled(count, "dim"))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Rename; not to what cannot be a title."""
        event.stop()
        if not check_title(event.value).problem and not self._is_asked:
            self._is_asked = True
            self._wanted(event.value)

    def done(self) -> None:
        """It has the title."""
        if self.is_current:
            self.dismiss(None)

    def refused(self, error: BrowseError) -> bool:
        """It could not be given: say why, whole, above what was typed.

        Returns:
            False when the card has been left meanwhile, and nobody would read it here.
        """
        if not self.is_current:
            return False
        self._is_asked = False
        self.query_one("#verdict", Static).update(Content.styled(one_line(str(error), 1000), "$error"))
        return True
