"""Why a clean-up leaves conversations out, counted; and whether Hermes has closed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Set
from enum import StrEnum

from ..ages import age_words
from ..sessions.catalog import Catalog, SpareReason, why_protected
from ..sessions.models import FAR_PAST, Conversation
from ..sessions.relations import STALE_AFTER, idle_seconds, is_ended, is_stale
from ..wording import _, pgettext


class Standing(StrEnum):
    """Whether Hermes has closed a conversation."""

    ENDED = "ended"
    OPEN = "open"
    """No end is recorded: it is in use, or its process died. Hermes records nothing to tell these
    apart."""
    STALE = "stale-open"
    """Open and stale, see `relations.is_stale`: a clean-up includes these only on request."""


def standing(conversation: Conversation, now: float, stale_after: float = STALE_AFTER) -> Standing:
    """Tell whether a conversation is ended, open or stale, from its rows and `Status.LIVE`; leases
    are ignored.

    `now` is in Unix seconds; `stale_after` are the seconds without activity after which an open one
    is stale.
    """
    if is_ended(conversation.segments):
        return Standing.ENDED
    return Standing.STALE if is_stale(conversation, now, stale_after) else Standing.OPEN


def last_use(conversation: Conversation) -> tuple[float, str]:
    """Sort key: the longest idle first, those without a known time before all others."""
    return (
        FAR_PAST if conversation.last_active is None else conversation.last_active
    ), conversation.id


_COUNTS: dict[str, Callable[[], str]] = {
    "pinned": lambda: pgettext("spared", "{count:,} pinned"),
    "live": lambda: pgettext("spared", "{count:,} live"),
    "leased": lambda: pgettext("spared", "{count:,} leased"),
    "recent": lambda: pgettext("spared", "{count:,} recent"),
    "open": lambda: pgettext("spared", "{count:,} open"),
    "hidden": lambda: pgettext("spared", "{count:,} hidden"),
    "subagent": lambda: pgettext("spared", "{count:,} subagent"),
    "changed": lambda: pgettext("spared", "{count:,} changed"),
}


def count_reasons(reasons: Iterable[SpareReason]) -> str:
    """Return the number of each kind of reason, the most frequent first: `2 pinned, 1 live`."""
    counts = Counter(each.code for each in reasons).most_common()
    return pgettext("list", ", ").join(
        _COUNTS[code]().format(count=count) for code, count in counts
    )


def _why_open(conversation: Conversation, states: Container[str], now: float) -> SpareReason | None:
    """Return why a conversation that was never ended stays; None if it was ended, or a filter names
    it."""
    is_named = "open" in states or ("stale" in states and is_stale(conversation, now))
    if is_named or standing(conversation, now) is Standing.ENDED:
        return None
    idle = idle_seconds(conversation, now)
    if idle is None:
        return SpareReason("open", _("still open"))
    words = _("still open, idle for {age}", age=age_words(idle))
    if "stale" in states:
        words = _("{words}: stale after {age}", words=words, age=age_words(STALE_AFTER))
    return SpareReason("open", words)


def why_spared(
    conversation: Conversation,
    dependents: Iterable[Conversation],
    states: Container[str],
    catalog: Catalog,
    busy: Set[str],
    now: float,
    *,
    is_marked: bool,
) -> SpareReason | None:
    """Return why a chosen conversation stays; None if it goes.

    Args:
        conversation: Chosen.
        dependents: Subagents that would go with it.
        states: Those that a filter names.
        catalog: Of the whole store.
        busy: From `read_busy`, just read.
        now: Unix seconds.
        is_marked: It was marked by hand, so that only what is protected stays.
    """
    if why := why_protected(catalog, conversation, busy, now):
        return why
    if not is_marked and conversation.hidden:
        return SpareReason("hidden", _("hidden by Hermes, which keeps such a chat for itself"))
    if not is_marked and (why := _why_open(conversation, states, now)):
        return why
    for dependent in dependents:
        if why := why_protected(catalog, dependent, busy, now):
            words = _(
                "its subagent {session} stays: {reason}",
                session=dependent.root_id,
                reason=why.words,
            )
            return SpareReason("subagent", words)
    return None
