"""Deleting and archiving by a plan: the question before it, and carrying it out with progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import Outcome, Step
from hermes_browse.store.cleanup.plan import Plan
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _, ngettext

from ...text.formats import counted
from ..context import Context
from ..list.list_model import RowDetails
from .change_cards import KEPT, NAMED, SPARED, DeleteCard, ProgressCard

Result = TypeVar("Result")

_FEW_CONVERSATIONS = 25
"""The progress of so few is shown in the status line, and that of more on a card …"""
_MANY_MESSAGES = 2_000
"""… unless they have so many messages, which take many seconds to delete."""
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
    """Return a job that makes a plan.

    With `archive`, leave out what is archived already. Without `measure`, sizes are left to
    `OpenStore.measure_more`.
    """
    current, now, sizes = context.catalog, context.clock(), context.sizes

    def plan(store: OpenStore) -> PreparedPlan:
        catalog = current if current.exact else store.catalog(now)
        plan = store.plan(catalog, selection, now, known=sizes, measure_sizes=measure)
        return PreparedPlan(plan.without_archived() if archive else plan, catalog, selection)

    return plan


def card_of(store: OpenStore, planned: PreparedPlan, location: Location) -> DeleteCard:
    """Build the card that asks whether to delete, with the names of the first conversations; on a
    reading thread."""
    plan, catalog = planned.plan, planned.catalog
    detailed = plan.with_details(store.with_details, NAMED, SPARED)
    kept = store.with_details([catalog.conversation(child.id) for child in plan.reparented[:KEPT]])
    return DeleteCard(detailed, planned.selection.marks, kept, location)


def protected(plan: Plan, details: RowDetails) -> str:
    """Return why nothing of a plan is done."""
    if not plan.spared:
        return _("nothing to do")
    first, more = plan.spared[0], len(plan.spared) - 1
    conversation = details.complete(first.conversation)[0]
    name = conversation.title or conversation.preview or conversation.id  # it may not be read yet
    sentence = _("protected: {name}: {why}")
    if more:
        sentence = _("protected: {name}: {why} (and {more:,} more)")
    return sentence.format(name=name, why=first.why.words, more=more)


async def carry_out(
    context: Context,
    planned: PreparedPlan,
    work: Callable[..., Outcome[Result]],
) -> Outcome[Result]:
    """Carry a plan out by `work`, which takes it, and show how far that is."""
    plan, stopping = planned.plan, context.writes.stopping
    count = len(plan.selected)
    title = ngettext(
        "Moving 1 conversation to the trash",
        "Moving {count:,} conversations to the trash",
        count,
        count=count,
    )
    context.progress = f"{title} …"
    card = _progress_card(plan, title)
    if card is not None:
        context.app.push_screen(card)

    def tell(step: Step) -> None:
        context.writes.tell(context.show_progress, f"{title} · {step.words}")
        if card is not None:
            context.writes.tell(card.show, step.share, step.words)

    def stop() -> bool:
        return stopping.is_set() or (card is not None and card.stopped.is_set())

    def carry() -> Outcome[Result]:
        return work(plan, tell=tell, stop=stop)

    outcome = await context.write(carry)
    if card is not None:
        card.finish()
    return outcome


def _progress_card(plan: Plan, title: str) -> ProgressCard | None:
    """Return a card for work that takes long; None if the status line is enough."""
    if len(plan.selected) > _FEW_CONVERSATIONS:
        return ProgressCard(title)
    messages = sum(each.rows for each in plan.selected)
    if messages < _MANY_MESSAGES:
        return None
    return ProgressCard(f"{title} · {counted(messages, 'message')}")


def spared_words(outcome: Outcome[Any], verb: str) -> str:
    """Return what was done and what was spared, in one sentence."""
    sentence = outcome.sentence(verb).rstrip(".。")
    spared = len(outcome.plan.spared) - outcome.refused
    if not spared:
        return sentence
    why = outcome.plan.spared[0].why
    words = _("{count:,} protected")
    if spared == 1 and len(why.words) < _SHORT_REASON:  # leaves room for the hint at undo
        words = _("{count:,} protected: {why}")
    return f"{sentence} · {words.format(count=spared, why=why.words)}"
