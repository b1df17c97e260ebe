"""What keys of the main screen do to the store; each hands over to the controller that knows how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from .changing import Changing
    from .cleaning import Cleaning


class ChangingActions(Screen[object]):
    """Actions on the marked conversations, or on the current one."""

    changing: Changing
    cleaning: Cleaning

    def action_mark(self) -> None:
        """Mark, or unmark."""
        self.changing.mark()

    def action_mark_range(self) -> None:
        """Begin or end a range of marks."""
        self.changing.mark_range()

    def action_mark_all(self) -> None:
        """Mark all that is listed."""
        self.changing.mark_all()

    def action_archive(self) -> None:
        """Put away, or bring back."""
        self.changing.archive()

    def action_pin(self) -> None:
        """Pin, or let go."""
        self.changing.pin()

    def action_rename(self) -> None:
        """Another title."""
        self.changing.rename()

    def action_undo(self) -> None:
        """Take back what was done last."""
        self.changing.undo()

    def action_delete(self) -> None:
        """Move to the trash."""
        meant = self.changing.targets()
        if meant:
            self.cleaning.delete(meant)

    def action_export(self) -> None:
        """Save as files."""
        self.changing.export()

    def action_prune(self) -> None:
        """The clean-up by rules."""
        self.changing.open_prune()

    def action_trash(self) -> None:
        """What was deleted."""
        self.changing.open_trash()

    def action_retention(self) -> None:
        """What Hermes will delete."""
        self.changing.open_retention()
