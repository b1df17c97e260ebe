"""The card before a risky resume: the target, the warnings, the command and the recap."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from hermes_browse.store.compression.model_context import Memory
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.messages.details import Details, RecapLine
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext

from ..settings.keys.screen_commands import PREFLIGHT
from ..text import formats
from ..widgets.card import Card, styled

_CACHED = 0.1
"""Minimum price of a cached token relative to an uncached one: a tenth with Anthropic, more
elsewhere."""


def max_uncached_cost(conversation: Conversation, tokens: float) -> float | None:
    """Return the maximum cost in USD of sending so many uncached tokens, from the conversation's
    cost so far.

    A store has no prices. But an output or cache-write token costs no less than an uncached input
    token, and a cached one no less than a tenth of it, so the total cost bounds the price of one
    token.

    Returns:
        None if no cost is recorded.
    """
    spent, cost = conversation.tokens, conversation.cost_usd
    weight = spent.input + spent.cache_write + spent.output + _CACHED * spent.cache_read
    return tokens * cost / weight if cost and weight > 0 else None


def place_and_cost(
    conversation: Conversation, details: Details, *, is_here: bool = True
) -> list[str]:
    """Return printable lines on directory and branch, and on model, context size and cost.

    Args:
        is_here: Its directory is on this machine; that of the sample store is made up, and that of
            a host is elsewhere.
    """
    cwd, branch = conversation.cwd, conversation.git_branch
    is_there = not cwd or not is_here or os.path.isdir(cwd)
    sentence = N_("in {directory}") if is_there else N_("in {directory} (not there)")
    place = formats.joined(
        _(sentence, directory=one_line(cwd, 200)) if cwd else "",
        _("branch {name}", name=one_line(branch, 80)) if branch else "",
    )
    names = conversation.model or "", details.facts.get("billing_provider", "")
    tokens = (details.live_bytes + details.prompt_bytes) / formats.BYTES_PER_TOKEN
    again = _("the next prompt sends about {count} tokens again", count=formats.number(tokens))
    most = formats.money(max_uncached_cost(conversation, tokens))
    price = _("for {cost} at most, less if the provider has them cached", cost=most)
    facts = formats.joined(
        *(one_line(name, 80) for name in names),
        again if tokens else "",
        price if most else "",
    )
    return list(filter(None, [place, facts]))


def not_remembered(memory: Memory) -> str:
    """Return what the model will not remember when it goes on; empty if it has everything that was
    said."""
    count = len(memory.forgotten)
    if memory.has_summary:
        words = ngettext(
            "The model has only a summary of 1 of {said:,} messages · after Esc, M shows what was lost",
            "The model has only a summary of {count:,} of {said:,} messages · after Esc, M shows what was lost",
            count,
            said=memory.said,
        )
    else:
        words = ngettext(
            "The model no longer has 1 of {said:,} messages, nor a summary · after Esc, M shows it",
            "The model no longer has {count:,} of {said:,} messages, nor a summary · after Esc, M shows them",
            count,
            said=memory.said,
        )
    return words if count else ""


class PreflightCard(Card[bool]):
    """Asks for confirmation, by another key than the one that opened it."""

    KEYS = PREFLIGHT

    def __init__(
        self,
        plan: ResumePlan,
        recap: Sequence[RecapLine],
        details: Details,
        memory: Memory,
    ) -> None:
        super().__init__()
        self._plan, self._recap, self._details, self._memory = plan, recap, details, memory

    def content(self) -> ComposeResult:
        plan, conversation = self._plan, self._plan.conversation
        yield styled(one_line(formats.name(conversation), 200), "bold")
        reason = one_line(plan.reason)
        place = _("on {name}", name=plan.host) if plan.host else ""
        yield styled(formats.joined(one_line(plan.target), reason, place), "dim")
        mark = ("! ", "$warning bold")
        warnings = [
            Static(Content.assemble(mark, printable(each.text)), classes="warning")
            for each in plan.warnings
        ]
        # The last warning of the sample store introduces the command.
        introduction = [warnings.pop()] if plan.is_sample and warnings else []
        yield from warnings
        is_here = not (plan.is_sample or plan.host)
        for fact in place_and_cost(conversation, self._details, is_here=is_here):
            yield styled(fact, "dim", classes="fact")
        if words := not_remembered(self._memory):
            yield styled(words, "dim", classes="fact", id="memory")
        yield from introduction
        yield styled(printable(plan.shell()), "dim", id="command")
        with VerticalScroll(id="recap", can_focus=False):
            yield Static(self._recap_content())

    def keys_text(self) -> str:
        if self._plan.is_sample:
            return self.named_keys(without=["resume", "copy-the-command"])
        return self.named_keys(without=["resume"] if self._plan.executable is None else [])

    def on_resize(self, event: Resize) -> None:
        """Limit the recap to the free height, so that the keys below it are always visible."""
        super().on_resize(event)
        self.query("#memory").set(display=True)
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        card, recap = self.query_one("#card"), self.query_one("#recap")
        others = self.query_one("#answer").virtual_region.bottom - recap.virtual_region.height
        room = self.size.height if self.has_class("-short") else self.size.height * 9 // 10
        memory = self.query("#memory")
        left = room - card.gutter.height - others
        if left < 2 and any(fact.display for fact in memory):
            memory.set(display=False)  # what is asked and the keys come first
            # Once: it is hidden at once, where a removal takes its time.
            self.call_after_refresh(self._fit)
        recap.styles.max_height = max(2, left)
        recap.scroll_end(animate=False)  # the last messages matter most

    def _recap_content(self) -> Content:
        names = {
            "user": (set_cell_size(_("you"), 5), "$warning"),
            "assistant": (set_cell_size(_("asst"), 5), "$success"),
            "earlier": ("", "dim"),
        }
        if not self._recap:
            return Content.styled(_("No messages."), "dim")
        return Content("\n").join(
            Content.assemble(names[line.role], line.text) for line in self._recap
        )

    def action_go(self) -> None:
        """Resume, if Hermes is installed and this is not the sample store."""
        if self._plan.executable is not None:
            self.dismiss(True)
        elif self._plan.is_sample:
            self.answer(_("The sample store has nothing to resume"))

    def action_copy(self) -> None:
        """Copy the command; not that of the sample store, which would open an empty chat."""
        if not self._plan.is_sample:
            self.copy(self._plan.shell())
