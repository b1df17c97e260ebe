"""Bundles on the screen of the trash: rows, the contents of one, the question before some are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..commands.screens import DROPPING
from ..screens.card import CountCard, CountWords
from ..shared.styled import Line, row_line

_SESSIONS = 200
"""Sessions of a bundle that are listed."""
_NAMED = 12
"""Bundles that the question names."""


class BundleRow(NamedTuple):
    """A bundle in the list."""

    bundle: Bundle
    is_marked: bool

    @property
    def key(self) -> str:
        """Made of its name."""
        return f"b{self.bundle.name}"

    def spans(self, width: int, now: float) -> Line:
        """Draw the row in exactly `width` cells."""
        each = self.bundle
        columns = formats.fit(formats.age(each.created_at, now), formats.DATE_WIDTHS["relative"], right=True)
        if width >= 50:
            columns += formats.fit(formats.messages(each.messages), 12, right=True)
        columns += formats.fit(formats.size(each.bytes), 9, right=True)
        state = _("damaged") if each.damage else _("put back") if each.restored_at is not None else ""
        state = state and f"  {state}"
        name = one_line(each.title or (each.conversations[0] if each.conversations else each.name), 200)
        look = "note" if each.damage else "dim" if each.restored_at is not None else "title"
        lead = (" ✓ ", "mark") if self.is_marked else (" ! ", "accent") if each.damage else (" · ", "dim")
        return row_line(lead, (name + state, look), columns, width)


def contents(bundle: Bundle) -> Content:
    """The contents of a bundle, line by line."""
    lines = [Content.styled(one_line(bundle.title or bundle.name, 200), "bold")]
    if bundle.damage:
        told = _("damaged: {reason}").format(reason=one_line(bundle.damage, 300))
        lines.append(Content.styled(told, "$error"))
    day, clock = formats.day(bundle.created_at), formats.clock(bundle.created_at)
    facts = [
        " · ".join(
            [
                formats.counted(len(bundle.conversations), "conversation"),
                formats.counted(len(bundle.sessions), "session"),
                formats.counted(bundle.messages, "message"),
            ]
        ),
        _("deleted {day}, {clock} · {size}").format(day=day, clock=clock, size=formats.size(bundle.bytes)),
    ]
    if bundle.restored_at is not None:
        told = _("put back {day}; the bundle stays until it is dropped")
        facts.append(told.format(day=formats.day(bundle.restored_at)))
    facts += [_("from {store}").format(store=one_line(bundle.store, 300)) if bundle.store else "", bundle.name, ""]
    lines += [Content.styled(fact, "dim") for fact in facts]
    tips = set(bundle.conversations)
    for session in bundle.sessions[:_SESSIONS]:
        lines.append(Content.assemble(("◆ " if session in tips else "  ", "$accent"), one_line(session, 100)))
    if len(bundle.sessions) > _SESSIONS:
        more = _("… and {count:,} more").format(count=len(bundle.sessions) - _SESSIONS)
        lines.append(Content.styled(f"  {more}", "dim"))
    return Content("\n").join(lines)


class DropScreen(CountCard):
    """Asks for the number of bundles, one included."""

    KEYS = DROPPING

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(len(bundles))
        self._bundles = bundles

    def words(self, count: int) -> CountWords:
        """The words around the box."""
        return CountWords(
            ngettext("type {count} to drop it", "type {count} to drop them", count).format(count=count),
            _("{count} and Enter drop").format(count=count),
            _("that is not {count} · nothing is dropped").format(count=count),
        )

    def compose(self) -> ComposeResult:
        """The bundles, the warning, the box for the number."""
        count = len(self._bundles)
        with Vertical(id="card"):
            size = formats.size(sum(each.bytes for each in self._bundles))
            question = ngettext(
                "Remove 1 bundle for good? ({size})", "Remove {count:,} bundles for good? ({size})", count
            )
            yield Static(Content.styled(question.format(count=count, size=size), "bold"))
            for each in self._bundles[:_NAMED]:
                sessions = formats.counted(len(each.sessions), "session")
                yield Static(Content.assemble("  ", one_line(each.title or each.name, 70), (f"  {sessions}", "dim")))
            if count > _NAMED:
                yield Static(Content.styled("  " + _("… and {count:,} more").format(count=count - _NAMED), "dim"))
            yield Static(Content.styled(_("Nothing brings them back after that."), "$warning"))
            yield from self.question()
