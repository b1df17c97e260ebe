"""Deleting and archiving by a plan: how it is made, the question before it, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import CleanedUp
from hermes_browse.store.cleanup.plan import Plan
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.edit.delete_plan import long_lock_warning
from hermes_browse.store.hermes.homes import Location, trash_folder
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Relation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ...settings.keys.screen_commands import DELETING
from ...text import formats
from ...text.sentences import along_line, spared_line, totals_line
from ...widgets.card import CountCard, styled
from ..context import Context

NAMED = 12
"""Maximum number of conversations that the card names."""
_LEAST_NAMED = 3
"""How many it names on a low screen."""
SPARED = 6
"""Maximum number of spared ones it names."""
KEPT = 3
"""Maximum number of kept relatives it names."""
_WIDEST, _FRAME, _SHORTEST = 100, 12, 24
"""Cells: of the widest card, of its frame and what stands around a name, of the shortest name."""


def and_more(count: int) -> list[Content]:
    """Return the line for items that a list leaves out, if there are any."""
    return (
        [Content.styled("  " + _("… and {count:,} more", count=count), "dim")] if count > 0 else []
    )


def _kept(conversations: Sequence[Conversation], count: int) -> str:
    """Return a sentence on the conversations that lose their parent: the first ones by name, with
    what is peculiar about each, of so many."""
    names = []
    for conversation in conversations:
        name, note = one_line(formats.name(conversation), 40), one_line(conversation.note, 40)
        if conversation.relation is Relation.UNKNOWN:  # a marked one goes along
            note = _("possibly a subagent")
        names.append(f"{name} ({note})" if note else name)
    listed, more = pgettext("list", ", ").join(names), count - len(names)
    if more > 0:
        return _("{names} and {count:,} more stay, without their parent", names=listed, count=more)
    return ngettext(
        "{names} stays, without its parent",
        "{names} stay, without their parent",
        count,
        names=listed,
    )


class DeleteCard(CountCard):
    """Asks for a key to delete one conversation, for their number to delete several.

    Args:
        plan: The deletion, with the names of its first conversations.
        marks: The tips of those that were marked by hand.
        kept: The first `KEPT` conversations that stay and lose their parent.
        location: Of the store.
    """

    KEYS = DELETING

    def __init__(
        self,
        plan: Plan,
        marks: Collection[str],
        kept: Sequence[Conversation],
        location: Location,
    ) -> None:
        count = len(plan.selected)
        asked = ngettext("type {count} to delete it", "type {count} to delete them", count)
        super().__init__(count, asked, _("{count} and Enter delete", count=count))
        self._plan, self._marks, self._kept, self._location = plan, marks, kept, location
        # Made where the card is made, on a reading thread: a plan may have 100,000 conversations.
        self._totals, self._others = totals_line(plan), self._lines()
        self._warning = long_lock_warning(max(each.messages for each in plan.selected))

    def content(self) -> ComposeResult:
        yield styled(
            ngettext(
                "Move 1 conversation to the trash?",
                "Move {count:,} conversations to the trash?",
                self.count,
            ),
            "bold",
        )
        yield styled(self._totals, "$accent")
        with VerticalScroll(id="doomed", can_focus=False):
            yield from map(Static, [*self._names(), *self._others])
        yield styled(self._trash(), "dim")
        if self._warning:
            yield styled(self._warning, "$warning")
        if self.count > 1:
            yield self.box()

    def keys_text(self) -> str:
        return super().keys_text() if self.count > 1 else self.named_keys()

    def _trash(self) -> str:
        """Return a sentence on where they go."""
        location = self._location
        if location.host is not None:
            return ngettext(
                "It goes to the trash of {name}: u restores it.",
                "They go to the trash of {name}: u restores them.",
                self.count,
                name=location.host.name,
            )
        trash = one_line(str(trash_folder(location)), 300)
        if location.demo:
            trash = _("the sample store's trash")
        return ngettext(
            "It goes to the trash ({trash}): u restores it, X shows the trash.",
            "They go to the trash ({trash}): u restores them, X shows the trash.",
            self.count,
            trash=trash,
        )

    def _names(self) -> list[Content]:
        """Name as many conversations as fit the height and width in the style of the card, each in
        one line."""
        width, lines = self.app.size.width * 9 // 10, self.app.size.height * 28 // 100
        most = min(NAMED, max(lines - len(self._others) - 1, _LEAST_NAMED))
        named = []
        for each in self._plan.selected[:most]:
            conversation = each.conversation
            along = ngettext(
                "with 1 subagent ({messages})",
                "with {count:,} subagents ({messages})",
                len(each.subagents),
                messages=formats.counted(each.sizes.shown - each.own.shown, "message"),
            )
            if each.cost_usd != conversation.cost_usd:
                along = f"{along} {formats.money(each.cost_usd)}".rstrip()
            about = formats.joined(
                one_line(conversation.source, 20),
                formats.messages(each.own.shown),
                formats.size(each.sizes.total),
                formats.money(conversation.cost_usd),
                along if each.subagents else "",
            )
            room = max(min(width, _WIDEST) - _FRAME - cell_len(about), _SHORTEST)
            name = formats.clip(one_line(formats.name(conversation), 300), room)
            named.append(Content.assemble("  ", name, (f"  {about}", "dim")))
        return named + and_more(self.count - most)

    def _lines(self) -> list[Content]:
        """Tell of what stays."""
        plan, lines = self._plan, []
        if plan.reparented:
            lines.append(Content.styled(f"  {_kept(self._kept, len(plan.reparented))}", "dim"))
        if plan.spared:
            kept = spared_line(plan)
            if len(plan.spared) <= SPARED:  # each is named below, with the reason
                kept = _("{count:,} protected", count=len(plan.spared))
            stay = formats.joined(self._of_marked(), along_line(plan, self._marks), kept)
            lines.append(Content.styled(f"  {stay}", "$warning"))
            for spared in plan.spared[:SPARED]:
                name = one_line(formats.name(spared.conversation), 42)
                stays, why = "    " + _("kept") + "  ", f"  {one_line(spared.why.words, 300)}"
                lines.append(Content.assemble((stays, "dim"), name, (why, "dim")))
        return lines

    def _of_marked(self) -> str:
        """Return how many of the marked ones go; empty if others go too."""
        if not all(each.conversation.id in self._marks for each in self._plan.selected):
            return ""
        return _("{marked:,} marked: {count:,} go", marked=len(self._marks), count=self.count)

    def action_go(self) -> None:
        """Delete a single conversation; several need their number."""
        if self.count == 1:
            self.dismiss(True)


_SHORT_REASON = 50
"""Letters of a reason that fits into the status line."""


class PreparedPlan(NamedTuple):
    """A plan, and what it was made from."""

    plan: Plan
    catalog: Catalog
    selection: Selection = Selection()
    """Its `marks` are the tips of conversations that were marked by hand."""


@dataclass
class PlanChoices:
    """What the user has chosen for a plan; remembered for the next one."""

    rules: str = "older:30d"
    left_out: frozenset[str] = frozenset()
    """Roots of conversations that the user leaves out."""
    taken: frozenset[str] = frozenset()
    """Tips of conversations that were marked by hand."""


def planning(
    context: Context, selection: Selection, *, archive: bool = False, measure: bool = True
) -> Callable[[OpenStore], PreparedPlan]:
    """Return a job that makes a plan, to be run with the store.

    Args:
        context: Has the conversations that it is about.
        selection: What is to be deleted or archived.
        archive: Plan to archive instead of to delete.
        measure: Measure all sizes; else that is left to `OpenStore.measure_more`.
    """

    def plan(store: OpenStore) -> PreparedPlan:
        now, catalog, sizes = context.clock(), context.catalog, context.details.sizes
        if not catalog.exact:
            catalog = store.catalog(now)
        plan = store.plan(catalog, selection, now, known=sizes, measure_sizes=measure)
        return PreparedPlan(plan.for_archive() if archive else plan, catalog, selection)

    return plan


def card_of(store: OpenStore, planned: PreparedPlan, location: Location) -> DeleteCard:
    """Build the card that asks whether to delete, with the names of the first conversations; on a
    reading thread."""
    plan = planned.plan
    detailed = plan.with_details(store.with_details, NAMED, SPARED)
    children = [planned.catalog.conversation(child.id) for child in plan.reparented[:KEPT]]
    kept = store.with_details(children)
    return DeleteCard(detailed, planned.selection.marks, kept, location)


def protected(context: Context, plan: Plan) -> str:
    """Return why nothing of a plan is done."""
    if not plan.spared:
        return _("nothing to do")
    first, more = plan.spared[0], len(plan.spared) - 1
    conversation = context.details.complete(first.conversation)
    name = conversation.title or conversation.preview or conversation.id  # it may not be read yet
    sentence = N_("“{name}” is protected: {why}")
    if more:
        sentence = N_("“{name}” is protected: {why} (and {more:,} more)")
    return _(sentence, name=name, why=first.why.words, more=more)


def spared_words(plan: Plan, cleaned: CleanedUp, verb: str) -> str:
    """Return what was done of a plan and what it spared, in one sentence."""
    sentence = cleaned.sentence(verb).rstrip(".。")
    spared = len(plan.spared)
    if not spared:
        return sentence
    why = plan.spared[0].why
    words = N_("{count:,} protected")
    if spared == 1 and len(why.words) < _SHORT_REASON:  # leaves room for the hint at undo
        words = N_("{count:,} protected: {why}")
    return formats.joined(sentence, _(words, count=spared, why=why.words))
