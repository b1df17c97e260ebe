"""The question before a delete: what goes, what goes along, what stays and why, and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.text import one_line

from .. import formats
from .card import CountCard, counted, keys_line

if TYPE_CHECKING:
    from hermes_browse.store.prune.plan import Plan

NAMED = 12
"""Conversations the card names."""
SPARED = 6
"""Spared ones it names."""


class DeleteScreen(CountCard):
    """Asks; for several conversations the answer is their number, never the key that came here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "go", "delete", show=False),
        Binding("down", "scroll(1)", "down", show=False),
        Binding("up", "scroll(-1)", "up", show=False),
        Binding("escape", "dismiss(False)", "back"),
    ]

    def __init__(self, plan: Plan, trash: str, totals: str, spared: str, warning: str | None = None) -> None:
        super().__init__(len(plan.would), "delete", "deleted")
        self._plan, self._trash, self._totals, self._spared = plan, trash, totals, spared
        self._warning = warning

    def compose(self) -> ComposeResult:
        """What goes, what stays, the question."""
        plan = self._plan
        count = len(plan.would)
        with Vertical(id="card"):
            yield Static(Content.styled(f"Move {counted(count, 'conversation')} to the trash?", "bold"))
            yield Static(Content.styled(self._totals, "$accent"))
            with VerticalScroll(id="doomed", can_focus=False):
                for line in self._lines():
                    yield Static(line)
            yield Static(
                Content.styled(f"They go into {one_line(self._trash, 300)}: u brings them back, X shows it.", "dim")
            )
            if self._warning:
                yield Static(Content.styled(self._warning, "$warning"))
            if count > 1:
                yield from self.question()
            else:
                yield keys_line("y delete · Esc back")

    def _lines(self) -> list[Content]:
        plan = self._plan
        lines = []
        for each in plan.would[:NAMED]:
            conversation = each.conversation
            facts = f"{each.own.rows + each.along.rows:,} msgs · {formats.size(each.own.total + each.along.total)}"
            along = f" · {counted(len(each.subagents), 'subagent')} along" if each.subagents else ""
            name = one_line(formats.name(conversation), 42)
            lines.append(
                Content.assemble("  ", name, (f"  {one_line(conversation.source, 20)} · {facts}{along}", "dim"))
            )
        if len(plan.would) > NAMED:
            lines.append(Content.styled(f"  … and {len(plan.would) - NAMED:,} more", "dim"))
        if plan.reparented:
            names = ", ".join(one_line(session.title or session.id, 40) for session in plan.reparented[:3])
            more = f" and {len(plan.reparented) - 3:,} more" if len(plan.reparented) > 3 else ""
            stays = "stays and loses its" if len(plan.reparented) == 1 else "stay and lose their"
            lines.append(Content.styled(f"  {names}{more} {stays} parent", "dim"))
        if plan.spared:
            lines.append(Content.styled(f"  {self._spared}", "$warning"))
            for spared in plan.spared[:SPARED]:
                name = one_line(formats.name(spared.conversation), 42)
                lines.append(
                    Content.assemble(("    stays  ", "dim"), name, (f"  {one_line(spared.why.words, 300)}", "dim"))
                )
        return lines

    def action_go(self) -> None:
        """One conversation is deleted by a key; several by their number."""
        if len(self._plan.would) == 1:
            self.dismiss(True)

    def action_scroll(self, lines: int) -> None:
        """Scroll what goes."""
        self.query_one("#doomed", VerticalScroll).scroll_relative(y=lines, animate=False)
