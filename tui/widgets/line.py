"""One line of text that is set as a whole; text of a store comes as plain content, never as markup."""

from __future__ import annotations

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static


class TextLine(Static):
    """A line of `Content`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.auto_links = False  # what can be clicked looks as it is drawn

    def update(self, content: VisualType = "", *, layout: bool = False) -> None:
        """Show another text; its line stays as high as it is, so nothing else has to be laid out."""
        before = self.content
        if isinstance(before, Content) and isinstance(content, Content) and content.is_same(before):
            return  # said with every letter typed, and drawn once
        super().update(content, layout=layout)
