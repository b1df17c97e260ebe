"""Words that screens and command line use alike: for messages and their relations, the state of a
conversation, a plan to clean up, changes of files, and what happened since the user looked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from hermes_browse.store.amounts import size
from hermes_browse.store.sessions.models import Relation, known_sum
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, PN_, _, ngettext, pgettext

from .formats import counted, joined, listed, money

if TYPE_CHECKING:
    from hermes_browse.store.changes.changes import Changes, FileChange
    from hermes_browse.store.cleanup.plan import Plan, Totals
    from hermes_browse.store.since import SinceItem

# Messages and relations


# What is translated below.
PN_("state", ("live", "compacted", "rewound"))


def state(value: str) -> str:
    """Translate the state of a chat message (`chat_message.State`)."""
    return pgettext("state", value)


def counts_line(counts: Mapping[str, int]) -> str:
    """List what there is of some nouns, keys as of `counted`: `2 branches, 1 subagent`."""
    return listed(*(counted(count, noun) for noun, count in counts.items() if count))


_ROLES = N_(
    {
        "user": ("you", "you", "user"),
        "assistant": ("assistant", "asst", "assistant"),
        "tool": ("tool", "tool", "tool"),
        "system": ("system", "sys", "system"),
        "session_meta": ("gateway", "gateway", "gateway"),
        "summary": ("summary", "sum", "summary"),
    }
)
_FORMS = ("speaker", "short", "kind")
"""Of a role: who speaks, the same in four cells, and where messages are counted."""


def role(of: str, form: Literal["speaker", "short", "kind"] = "speaker") -> str:
    """Translate a role; unknown ones are shown as stored."""
    return _(_ROLES[of][_FORMS.index(form)]) if of in _ROLES else one_line(of, 20)


_RELATIONS = N_(
    {
        Relation.CONTINUED: "continued",
        Relation.BRANCHED: "branch",
        Relation.DELEGATED: "subagent",
        Relation.RESET: "after reset",
        Relation.UNKNOWN: "child",
        Relation.ORPHAN: "parent gone",
    }
)


def relation(kind: Relation) -> str:
    """Translate a relation; empty for the root of a lineage."""
    return _(_RELATIONS[kind]) if kind in _RELATIONS else ""


def related(kind: Relation, name: str) -> str:
    """Prefix the name of a session with its relation: `subagent: Run the tests`."""
    word = relation(kind)
    return _("{relation}: {name}", relation=word, name=name) if word else name


# Conversations

# What is translated below.
PN_("status", ("live", "open", "ended", "empty", "stale", "pinned", "archived"))


def status(value: str) -> str:
    """Translate the state of a conversation: a `Status`, a `DeletePlan.standing`, `pinned`
    or `archived`."""
    return pgettext("status", value.removesuffix("-open"))  # stale-open


_END_REASONS = N_(
    {
        "compression": "compressed",
        "branched": "branched off",
        "cli_close": "ended",
        "new_session": "left by /new",
        "resumed_other": "left for another by /resume",
        "agent_close": "agent finished",
        "cron_complete": "run complete",
        "session_reset": "reset in the chat",
        "session_switch": "switched in the chat",
        "idle": "reset when idle",
        "daily": "reset for the day",
        "suspended": "suspended",
        "resume_pending_expired": "resume expired",
        "tui_close": "ended",
        "tui_shutdown": "ended with the terminal",
        "ws_disconnect": "connection lost",
        "ws_orphan_reap": "connection lost",
        "idle_timeout": "ended when idle",
        "lru_evict": "archived by the server",
        "orphaned_compression": "compression cut off",
        "user_exit": "ended",
        "superseded_by_resume": "went on elsewhere",
        "startup_orphan_reap": "ended at start-up",
    }
)


def end_reason(reason: str | None) -> str:
    """Describe an end reason; unknown ones are shown as stored (the set is open)."""
    if not reason:
        return ""
    return _(_END_REASONS[reason]) if reason in _END_REASONS else one_line(reason, 60)


# A plan


def totals_line(plan: Plan) -> str:
    """`1,204 messages (5 hidden) · 4.1 MB · $3.40 with subagents · 14 sessions`; visits every
    conversation of the plan."""
    totals = plan.totals()
    sizes = totals.sizes
    cost = money(totals.cost_usd)
    if cost and totals.cost_usd != known_sum(each.conversation.cost_usd for each in plan.selected):
        cost = _("{cost} with subagents", cost=cost)
    hidden = sizes.rows - sizes.shown if plan.is_measured else 0
    messages = counted(sizes.rows, "message")
    if hidden:
        messages = _("{messages} ({count:,} hidden)", messages=messages, count=hidden)
    return joined(
        messages,
        _(
            "{size}" if plan.is_measured else N_("measuring, so far {size}"),
            size=size(sizes.total),
        ),
        cost,
        counted(totals.sessions, "session"),
    )


def along_line(plan: Plan, marks: Container[str]) -> str:
    """`1 marked subagent goes along with its parent`; empty if none does."""
    count = sum(session.id in marks for planned in plan.selected for session in planned.subagents)
    if not count:
        return ""
    return ngettext(
        "1 marked subagent goes along with its parent",
        "{count:,} marked subagents go along with their parents",
        count,
    )


# Codes of a `SpareReason`, translated below.
PN_(
    "spared",
    ("pinned", "live", "leased", "recent", "open", "hidden", "subagent", "changed"),
)


def spared_line(plan: Plan) -> str:
    """`3 protected: 2 pinned, 1 live`, or `2 protected: pinned`; empty if none is."""
    counts = Counter(each.why.code for each in plan.spared).most_common()
    if not counts:
        return ""
    kinds = [
        pgettext("spared", "{count:,} {kind}", count=count, kind=pgettext("spared", code))
        for code, count in counts
    ]
    if len(counts) == 1:
        kinds = [pgettext("spared", counts[0][0])]
    return _("{count:,} protected: {kinds}", count=len(plan.spared), kinds=listed(*kinds))


def effects_of_delete(plan: Plan, totals: Totals) -> Iterator[str]:
    """Yield what a delete does beside removing the conversations."""
    if plan.selected:
        yield _(
            "Deleting makes about {free} free for Hermes' next rows at once; the file gets smaller, by about "
            "{size}, only with `hermes sessions optimize` and its VACUUM.",
            free=size(totals.sizes.free_bytes),
            size=size(totals.sizes.given_back_bytes),
        )
    if subagents := sum(len(planned.subagents) for planned in plan.selected):
        yield ngettext(
            "1 session of a subagent or a stale sibling goes along with a delete.",
            "{count:,} sessions of subagents and stale siblings go along with a delete.",
            subagents,
        )
    if orphans := len(plan.reparented):
        yield ngettext(
            "1 session loses its parent and stays.",
            "{count:,} sessions lose their parent and stay.",
            orphans,
        )


# Changes

_DISK = N_(
    {
        "same": "still the same on disk",
        "changed": "changed since",
        "gone": "not on this disk",
    }
)


def summary(changes: Changes) -> str:
    """Count the files, and the edits that failed."""
    count = changes.failed
    failed = ngettext("{count:,} edit failed", "{count:,} edits failed", count)
    return joined(counted(len(changes.files), "file"), failed if count else "")


def notes(change: FileChange) -> Iterator[str]:
    """Yield what is not known of a change, and what became of the file since."""
    if not change.is_known_before:
        yield _("what stood there before is not known")
    elif not change.is_exact:
        yield _("not all is known")
    if change.disk is not None:
        yield _(_DISK[change.disk])


def author(session_id: str, own: Collection[str]) -> str:
    """Name who did something: the conversation of the sessions `own`, or a subagent by its id."""
    return _("itself") if session_id in own else f"…{one_line(session_id[-6:])}"


# Since the user looked

LANE_NAMES = N_(
    {
        "waiting": "waits for you",
        "wrong": "went wrong",
        "new": "new",
        "running": "running",
    }
)
"""Lanes of `since`, to be translated through `_`."""


def why(item: SinceItem) -> str:
    """Return why an item is there; what is inferred says so."""
    text = one_line(item.why, 300)
    return text if item.certain else _("{why} (inferred)", why=text)
