"""The question before bundles are removed for good: the one thing here that nothing brings back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle

from .. import formats
from .card import CountCard, counted

_NAMED = 12


class DropScreen(CountCard):
    """Asks for the number of bundles, one included."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(False)", "back")]

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(len(bundles), "drop", "dropped")
        self._bundles = bundles

    def compose(self) -> ComposeResult:
        """What goes, the question."""
        count = len(self._bundles)
        with Vertical(id="card"):
            size = formats.size(sum(each.bytes for each in self._bundles))
            yield Static(Content.styled(f"Remove {counted(count, 'bundle')} for good? ({size})", "bold"))
            for each in self._bundles[:_NAMED]:
                sessions = counted(len(each.sessions), "session")
                yield Static(Content.assemble("  ", one_line(each.title or each.name, 70), (f"  {sessions}", "dim")))
            if count > _NAMED:
                yield Static(Content.styled(f"  … and {count - _NAMED:,} more", "dim"))
            yield Static(Content.styled("Nothing brings them back after that.", "$warning"))
            yield from self.question()
