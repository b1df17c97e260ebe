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
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from .card import CountCard, CountWords

_NAMED = 12


class DropScreen(CountCard):
    """Asks for the number of bundles, one included."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(False)", N_("back"))]

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(len(bundles))
        self._bundles = bundles

    def words(self, count: int) -> CountWords:
        """What is said around the box."""
        return CountWords(
            ngettext("type {count} to drop it", "type {count} to drop them", count).format(count=count),
            _("{count} and Enter drop").format(count=count),
            _("that is not {count} · nothing is dropped").format(count=count),
        )

    def compose(self) -> ComposeResult:
        """What goes, the question."""
        count = len(self._bundles)
        with Vertical(id="card"):
            size = formats.size(sum(each.bytes for each in self._bundles))
            question = ngettext(
                "Remove 1 bundle for good? ({size})", "Remove {count:,} bundles for good? ({size})", count
            )
            yield Static(Content.styled(question.format(count=count, size=size), "bold"))
            for each in self._bundles[:_NAMED]:
                many = len(each.sessions)
                sessions = ngettext("1 session", "{count:,} sessions", many).format(count=many)
                yield Static(Content.assemble("  ", one_line(each.title or each.name, 70), (f"  {sessions}", "dim")))
            if count > _NAMED:
                yield Static(Content.styled("  " + _("… and {count:,} more").format(count=count - _NAMED), "dim"))
            yield Static(Content.styled(_("Nothing brings them back after that."), "$warning"))
            yield from self.question()
