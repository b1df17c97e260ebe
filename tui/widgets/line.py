"""One line of text that is set as a whole; text of a store comes as plain content, never as markup."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class TextLine(Static):
    """A line of `Content`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)

    def update_content(self, content: Content) -> None:
        """Show something else."""
        self.update(content)
