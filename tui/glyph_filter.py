"""The signs of everything that is painted, in ASCII: the last thing that happens to a line."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from .glyphs import encodable, is_unicode, plain


class GlyphFilter(LineFilter):
    """Puts ASCII signs in the place of ours; where the terminal's encoding is narrower still, question marks.

    Args:
        encoding: Of the terminal's stream; None where it is not known.
    """

    def __init__(self, encoding: str | None) -> None:
        super().__init__()
        self._narrow = None if is_unicode(encoding) else encoding

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """A line with its signs replaced; each part keeps its width."""
        return [
            segment if segment.control or segment.text.isascii() else Segment(self._text(segment.text), segment.style)
            for segment in segments
        ]

    def _text(self, text: str) -> str:
        text = plain(text)
        return encodable(text, self._narrow) if self._narrow is not None else text
