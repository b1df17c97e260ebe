"""The card before a risky resume: what is opened, what speaks against it, and the recap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.details import Details
from hermes_browse.store.models import Conversation
from hermes_browse.store.recap import RecapLine
from hermes_browse.store.resume import ResumePlan
from hermes_browse.store.text import one_line, printable

from .. import clipboard, formats
from ..details_text import BYTES_PER_TOKEN
from .card import Card


def place_and_cost(conversation: Conversation, details: Details | None) -> Iterator[str]:
    """Where it goes on, with what, and how much that is: printable lines.

    Args:
        conversation: What is resumed.
        details: Read for it; None where they were not.
    """
    place = []
    if conversation.cwd:
        there = "" if Path(conversation.cwd).is_dir() else " (not there)"
        place.append(f"in {one_line(conversation.cwd, 200)}{there}")
    if conversation.git_branch:
        place.append(f"branch {one_line(conversation.git_branch, 80)}")
    if place:
        yield " · ".join(place)
    if details is None:
        return
    named = conversation.model, details.facts.get("billing_provider")
    told = [one_line(each, 80) for each in named if each]
    tokens = (details.live_bytes + details.prompt_bytes) / BYTES_PER_TOKEN
    if tokens:
        told.append(
            f"context about {formats.number(tokens)} tokens, all sent anew unless the provider still has them cached"
        )
    if told:
        yield " · ".join(told)


class PreflightScreen(Card[bool]):
    """Asks for a key that is not the one that brought it up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "go", "resume"),
        Binding("c", "copy", "copy the command"),
        Binding("down,j", "scroll(1)", "down", show=False),
        Binding("up,k", "scroll(-1)", "up", show=False),
        Binding("escape,q,n", "dismiss(False)", "back"),
    ]

    def __init__(self, plan: ResumePlan, recap: Sequence[RecapLine], details: Details | None = None) -> None:
        super().__init__()
        self._plan, self._recap, self._details = plan, recap, details

    def compose(self) -> ComposeResult:
        """Target, warnings, command, recap, keys."""
        plan, conversation = self._plan, self._plan.conversation
        with Vertical(id="card"):
            yield Static(Content.styled(one_line(formats.name(conversation), 200), "bold"))
            yield Static(Content.styled(f"{one_line(plan.target.id)} · {one_line(plan.target.reason)}", "dim"))
            for warning in plan.warnings:
                yield Static(Content.assemble(("! ", "$warning bold"), printable(warning.text)), classes="warning")
            for fact in place_and_cost(conversation, self._details):
                yield Static(Content.styled(fact, "dim"), classes="fact")
            yield Static(Content.styled(printable(plan.shell()), "dim"), id="command")
            with VerticalScroll(id="recap", can_focus=False):
                yield Static(self._recap_content())
            keys = "y resume · c copy the command · Esc back"
            if plan.executable is None:
                keys = "c copy the command · Esc back"
            yield Static(Content.styled(keys, "$accent"), id="answer")

    def _recap_content(self) -> Content:
        looks = {"user": "$warning", "assistant": "$success", "earlier": "dim"}
        names = {"user": "you  ", "assistant": "asst ", "earlier": ""}
        parts: list[Content] = []
        for line in self._recap:
            parts.append(Content.assemble((names[line.role], looks[line.role]), line.text))
        return Content("\n").join(parts) if parts else Content.styled("No messages.", "dim")

    def action_go(self) -> None:
        """Resume; not where there is nothing to resume with."""
        if self._plan.executable is not None:
            self.dismiss(True)

    def action_copy(self) -> None:
        """Put the command on the clipboard, and say by which way."""

        async def work() -> None:
            route = await clipboard.copy(self._plan.shell(), self.app.copy_to_clipboard)
            self.query_one("#answer", Static).update(Content.styled(f"{route} · Esc back", "$accent"))

        self.run_worker(work(), exclusive=True)

    def action_scroll(self, lines: int) -> None:
        """Scroll the recap."""
        self.query_one("#recap", VerticalScroll).scroll_relative(y=lines, animate=False)
