"""The confirmation before conversations are moved to the trash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from .. import formats
from ..commands.screen_commands import DELETING
from ..screens.card import CountCard, CountWords, keys_line

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan
    from hermes_browse.store.sessions.session import Session

NAMED = 12
"""Maximum number of conversations that the card names."""
SPARED = 6
"""Maximum number of spared ones it names."""
_ORPHANS = 3
"""Maximum number of kept relatives it names."""


def and_more(count: int) -> list[Content]:
    """Return the line for items that a list leaves out, if there are any."""
    return [Content.styled("  " + _("… and {count:,} more").format(count=count), "dim")] if count > 0 else []


def _kept(sessions: Sequence[Session]) -> str:
    """Return a sentence on the conversations that lose their parent: by title if all have one, else their number."""
    titles = [one_line(each.title, 40) for each in sessions if each.title]
    count = len(sessions)
    if len(titles) < count:
        text = ngettext(
            "1 related conversation is kept and becomes standalone",
            "{count:,} related conversations are kept and become standalone",
            count,
        )
        return text.format(count=count)
    names = pgettext("list", ", ").join(titles[:_ORPHANS])
    if count > _ORPHANS:
        more = _("{names} and {count:,} more are kept and become standalone")
        return more.format(names=names, count=count - _ORPHANS)
    text = ngettext("{names} is kept and becomes standalone", "{names} are kept and become standalone", count)
    return text.format(names=names)


class DeleteScreen(CountCard):
    """Asks for a key to delete one conversation, for their number to delete several.

    Args:
        plan: The deletion.
        trash: Sentence on where they go.
        totals: Sentence on the totals.
        spared: Sentence on the spared conversations.
        warning: A further sentence; None for none.
    """

    KEYS = DELETING

    def __init__(self, plan: Plan, trash: str, totals: str, spared: str, warning: str | None) -> None:
        super().__init__(len(plan.selected))
        self._plan, self._trash, self._totals, self._spared, self._warning = plan, trash, totals, spared, warning

    def words(self, count: int) -> CountWords:
        """Return the texts for this number."""
        return CountWords(
            ngettext("type {count} to delete it", "type {count} to delete them", count).format(count=count),
            _("{count} and Enter delete").format(count=count),
            _("that is not {count} · nothing is deleted").format(count=count),
        )

    def compose(self) -> ComposeResult:
        """Compose the question, what is deleted and spared, and the box or the keys."""
        plan = self._plan
        count = len(plan.selected)
        with Vertical(id="card"):
            question = ngettext(
                "Move 1 conversation to the trash?", "Move {count:,} conversations to the trash?", count
            )
            yield Static(Content.styled(question.format(count=count), "bold"))
            yield Static(Content.styled(self._totals, "$accent"))
            with VerticalScroll(id="doomed", can_focus=False):
                for line in self._lines():
                    yield Static(line)
            yield Static(Content.styled(self._trash, "dim"))
            if self._warning:
                yield Static(Content.styled(self._warning, "$warning"))
            if count > 1:
                yield from self.question()
            else:
                yield keys_line(self.keys_text())

    def _lines(self) -> list[Content]:
        plan = self._plan
        lines = []
        for each in plan.selected[:NAMED]:
            conversation = each.conversation
            facts = [
                one_line(conversation.source, 20),
                _("{count:,} msgs").format(count=each.own.shown),
                formats.size(each.own.total + each.of_subagents.total),
            ]
            if along := len(each.subagents):
                text = ngettext("with 1 subagent ({messages})", "with {count:,} subagents ({messages})", along)
                facts.append(text.format(count=along, messages=formats.counted(each.of_subagents.shown, "message")))
            name = one_line(formats.name(conversation), 42)
            lines.append(Content.assemble("  ", name, (f"  {' · '.join(facts)}", "dim")))
        lines += and_more(len(plan.selected) - NAMED)
        if plan.reparented:
            lines.append(Content.styled(f"  {_kept(plan.reparented)}", "dim"))
        if plan.spared:
            lines.append(Content.styled(f"  {self._spared}", "$warning"))
            for spared in plan.spared[:SPARED]:
                name = one_line(formats.name(spared.conversation), 42)
                stays, why = "    " + _("stays") + "  ", f"  {one_line(spared.why.words, 300)}"
                lines.append(Content.assemble((stays, "dim"), name, (why, "dim")))
        return lines

    def action_go(self) -> None:
        """Delete a single conversation; several need their number."""
        if len(self._plan.selected) == 1:
            self.dismiss(True)

    def action_scroll(self, lines: int) -> None:
        """Scroll the list of conversations."""
        self.query_one("#doomed", VerticalScroll).scroll_relative(y=lines, animate=False)
