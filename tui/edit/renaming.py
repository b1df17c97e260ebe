"""The card that renames a conversation; it checks Hermes' rules for titles at each letter."""

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
from ..commands.screen_commands import RENAMING
from ..screens.card import Card, keys_line
from ..shared.text_box import TextBox


class RenameScreen(Card[None]):
    """Asks for a title and stays open until it is stored, so that a refused one can be edited.

    Args:
        conversation: The conversation.
        wanted: Called with the text; is to call `done` or `refused`.
    """

    KEYS = RENAMING

    def __init__(self, conversation: Conversation, wanted: Callable[[str], None]) -> None:
        super().__init__()
        self._conversation, self._wanted = conversation, wanted
        self._is_submitted = False

    def compose(self) -> ComposeResult:
        """Compose the current name, the box, the verdict and the keys."""
        with Vertical(id="card"):
            yield Static(
                Content.assemble((_("Rename") + "  ", "bold"), (one_line(formats.name(self._conversation), 200), "dim"))
            )
            yield TextBox(one_line(self._conversation.title or "", LONGEST), id="title-box", select_on_focus=False)
            yield Static(id="verdict")
            yield keys_line(self.keys_text(_("Enter rename")))

    def on_mount(self) -> None:
        """Check the current title."""
        self._check(self.query_one(Input).value)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Check the typed title."""
        event.stop()
        self._check(event.value)

    def _check(self, typed: str) -> None:
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
        """Rename, unless the title is invalid or already submitted."""
        event.stop()
        if not check_title(event.value).problem and not self._is_submitted:
            self._is_submitted = True
            self._wanted(event.value)

    def done(self) -> None:
        """Close the card after the title was stored."""
        if self.is_current:
            self.dismiss(None)

    def refused(self, error: BrowseError) -> bool:
        """Show why the title was not stored.

        Returns:
            False if the card was closed meanwhile, so that the error must be shown elsewhere.
        """
        if not self.is_current:
            return False
        self._is_submitted = False
        self.query_one("#verdict", Static).update(Content.styled(one_line(str(error), 1000), "$error"))
        return True
