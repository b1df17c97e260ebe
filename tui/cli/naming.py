"""Words that several commands show: things with their number, and the names of states.

What a state is called in JSON, and in an option, is its value; here is what people see in its place.
"""

from __future__ import annotations

from hermes_browse.store.wording import _, ngettext, pgettext


def count_conversations(count: int) -> str:
    """`1 conversation`, `1,204 conversations`."""
    return ngettext("{count:,} conversation", "{count:,} conversations", count).format(count=count)


def count_sessions(count: int) -> str:
    """`1 session`, `1,204 sessions`."""
    return ngettext("{count:,} session", "{count:,} sessions", count).format(count=count)


def count_messages(count: int) -> str:
    """`1 message`, `1,204 messages`."""
    return ngettext("{count:,} message", "{count:,} messages", count).format(count=count)


def count_hits(count: int) -> str:
    """`1 hit`, `1,204 hits`."""
    return ngettext("{count:,} hit", "{count:,} hits", count).format(count=count)


def no_text() -> str:
    """In place of a conversation's title or of a message."""
    return _("(no text)")


def status_name(value: str) -> str:
    """A status or a standing of a conversation.

    Args:
        value: Of `models.Status` or of `prune.rules.Standing`, or `pinned` or `archived`.
    """
    names = {
        "live": pgettext("status", "live"),
        "open": pgettext("status", "open"),
        "ended": pgettext("status", "ended"),
        "empty": pgettext("status", "empty"),
        "stale-open": pgettext("status", "stale-open"),
        "pinned": pgettext("status", "pinned"),
        "archived": pgettext("status", "archived"),
    }
    return names.get(value, value)


def state_name(value: str) -> str:
    """A state of a message.

    Args:
        value: Of `models.State`.
    """
    names = {
        "live": pgettext("state", "live"),
        "compacted": pgettext("state", "compacted"),
        "rewound": pgettext("state", "rewound"),
    }
    return names.get(value, value)


def view_name(value: str) -> str:
    """A view.

    Args:
        value: Of `models.View`.
    """
    names = {
        "chats": pgettext("view", "chats"),
        "automation": pgettext("view", "automation"),
        "archived": pgettext("view", "archived"),
        "all": pgettext("view", "all"),
    }
    return names.get(value, value)


def spared_name(code: str) -> str:
    """Why something is spared, in a word.

    Args:
        code: Of `prune.spare.Why`.
    """
    names = {
        "hidden": pgettext("spared", "hidden"),
        "leased": pgettext("spared", "leased"),
        "live": pgettext("spared", "live"),
        "open": pgettext("spared", "open"),
        "pinned": pgettext("spared", "pinned"),
        "recent": pgettext("spared", "recent"),
        "subagent": pgettext("spared", "subagent"),
        "unmarked": pgettext("spared", "unmarked"),
    }
    return names.get(code, code)


def grouping_name(by: str) -> str:
    """What sums are grouped by.

    Args:
        by: A value of `stats --by`.
    """
    names = {
        "model": pgettext("grouping", "model"),
        "source": pgettext("grouping", "source"),
        "day": pgettext("grouping", "day"),
        "week": pgettext("grouping", "week"),
        "month": pgettext("grouping", "month"),
        "hour": pgettext("grouping", "hour"),
        "project": pgettext("grouping", "project"),
        "conversation": pgettext("grouping", "conversation"),
        "tool": pgettext("grouping", "tool"),
    }
    return names.get(by, by)


def severity_name(value: str) -> str:
    """How bad a problem is.

    Args:
        value: Of `health.Problem`.
    """
    names = {
        "error": pgettext("severity", "error"),
        "warning": pgettext("severity", "warning"),
        "info": pgettext("severity", "info"),
    }
    return names.get(value, value)
