"""Times, numbers, money, sizes, counts and names as people read them, on the screen and on the command line.

What stands in a column of the screen (`age`, `moment`, `clock`, `number`, `fit`) takes no more cells than it claims.
The command line has room, and its output is sorted and summed by other programs, so it uses the exact forms:
`timestamp`, `long_number`, `dollars`. Nothing here raises, whatever number a damaged row holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

from hermes_browse.store.sessions.models import Conversation, Relation, Status
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from .shared import calendar

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 604800
_END_REASONS = {
    "compression": N_("compressed"),
    "branched": N_("branched off"),
    "cli_close": N_("closed"),
    "new_session": N_("left by /new"),
    "resumed_other": N_("left for another by /resume"),
    "agent_close": N_("agent finished"),
    "cron_complete": N_("run complete"),
    "session_reset": N_("reset in the chat"),
    "session_switch": N_("switched in the chat"),
    "idle": N_("reset when idle"),
    "daily": N_("reset for the day"),
    "suspended": N_("suspended"),
    "resume_pending_expired": N_("resume expired"),
    "tui_close": N_("closed"),
    "tui_shutdown": N_("closed with the terminal"),
    "ws_disconnect": N_("connection lost"),
    "ws_orphan_reap": N_("connection lost"),
    "idle_timeout": N_("closed when idle"),
    "lru_evict": N_("archived by the server"),
    "orphaned_compression": N_("compression cut off"),
    "user_exit": N_("closed"),
    "superseded_by_resume": N_("went on elsewhere"),
    "startup_orphan_reap": N_("closed at start-up"),
}


def _cells(text: str) -> int:
    """Terminal cells of a printable line, as Textual counts them."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # start time: output into a pipe goes without Rich

    return cell_len(text)


def clip(text: str, width: int) -> str:
    """The text in at most `width` cells, an ellipsis where it was cut; never half a character.

    Args:
        text: One printable line.
        width: Cells; 0 or less gives nothing.
    """
    if width <= 0:
        return ""
    if _cells(text) <= width:
        return text
    cut = text[: width - 1]
    if not text[:width].replace("…", "").isascii():  # then each character is one cell
        from rich.cells import set_cell_size  # start time: output into a pipe goes without Rich

        cut = set_cell_size(text, width - 1)
    return f"{cut.rstrip()}…"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` cells: clipped, or padded on one side."""
    clipped = clip(text, width)
    space = " " * max(width - _cells(clipped), 0)
    return space + clipped if right else clipped + space


def age(moment: float | None, now: float) -> str:
    """How long ago, in at most eight cells in every language: `now`, `5m`, `2h`, `3d`, `6w`, earlier `Jan 2024`."""
    if moment is None or not math.isfinite(moment):
        return ""
    passed = now - moment
    if passed < -_MINUTE:
        return pgettext("age", "later")
    if passed < _MINUTE:
        return pgettext("age", "now")
    if passed < _HOUR:
        if passed < 59.5 * _MINUTE:
            return _("{minutes:.0f}m").format(minutes=passed / _MINUTE)
        return _("{hours:.0f}h").format(hours=1)
    if passed < _DAY:
        if passed < 23.5 * _HOUR:
            return _("{hours:.0f}h").format(hours=passed / _HOUR)
        return _("{days}d").format(days=1)
    if passed < 26 * _WEEK:
        return _days(passed)
    return _told(moment, calendar.short_month, "")


def _days(passed: float) -> str:
    if passed < 2 * _WEEK:
        return _("{days}d").format(days=int(passed / _DAY))
    return _("{weeks}w").format(weeks=int(passed / _WEEK))


def idle(seconds: float) -> str:
    """For how long nothing has happened, in at most six cells: `2h`, `3d`, `60w`; never a date."""
    return _days(seconds) if seconds >= 26 * _WEEK else age(0.0, seconds)


def ago(moment: float | None, now: float) -> str:
    """The same as part of a sentence: `2h ago`, `now`, `Jan 2024`."""
    told = age(moment, now)
    if moment is None or not told or not _MINUTE <= now - moment < 26 * _WEEK:
        return told
    return _("{age} ago").format(age=told)


def _told(moment: float, tell: Callable[[datetime], str], otherwise: str) -> str:
    try:
        return tell(datetime.fromtimestamp(moment))
    except (ValueError, OverflowError, OSError):
        return otherwise


def _local(moment: float, pattern: str, otherwise: str) -> str:
    return _told(moment, lambda local: local.strftime(pattern), otherwise)


def timestamp(moment: float | None, *, seconds: bool = False) -> str:
    """Local `2026-03-05 14:02`; empty for none."""
    return "" if moment is None else _local(moment, "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M", "")


_is_half_day = False


def set_clock(form: str) -> None:
    """How times of day are told from now on: `24h`, `12h`."""
    global _is_half_day
    _is_half_day = form == "12h"


_dates = "relative"
DATE_WIDTHS = {"relative": 8, "absolute": 8, "iso": 10}
"""Cells of a moment in a list, by how moments are told."""


def set_dates(form: str) -> None:
    """How moments in lists are told from now on: `relative`, `absolute`, `iso`."""
    global _dates
    _dates = form


def date_width(*, has_header: bool = True) -> int:
    """Cells of a moment in a list; relative ones need fewer in a column without a header."""
    return DATE_WIDTHS[_dates] if has_header or _dates != "relative" else 6


def moment(when: float | None, now: float) -> str:
    """A moment in a list, in at most `date_width()` cells.

    Relative is `2h`; absolute is the time of day today (`14:02`, `2:02 pm`), `28 May` this year, `May 2025` before.
    iso is `2026-05-28`, today too: the eye sorts it.

    Args:
        when: Unix seconds; None gives nothing.
        now: Unix seconds.
    """
    if _dates == "relative" or when is None or not math.isfinite(when):
        return age(when, now)
    today = day_key(now)
    own = day_key(when)
    if _dates == "iso":
        return own
    if own == today:
        return clock(when).strip()
    return _told(when, calendar.short_date if own[:4] == today[:4] else calendar.short_month, "")


def clock(moment: float | None) -> str:
    """Local `14:02`, or ` 2:02 pm` where that is set; blanks of the same width for none."""
    blank = " " * (8 if _is_half_day else 5)
    if moment is None:
        return blank
    told = _local(moment, "%H:%M", "")
    if not told or not _is_half_day:
        return told or blank
    hour = int(told[:2])
    # As it is in every language: columns have eight cells for it.
    return f"{hour % 12 or 12:>2}{told[2:]} {'am' if hour < 12 else 'pm'}"


def day(moment: float) -> str:
    """Local `Thursday, 5 March 2026`."""
    return _told(moment, calendar.long_day, _("some day"))


def day_key(moment: float | None) -> str:
    """Equal for moments of one local day."""
    return _local(moment, "%Y-%m-%d", "") if moment is not None else ""


_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: float) -> str:
    """`12`, `3.4k`, `120k`, `1.2M`: at most four cells."""
    if not math.isfinite(value):
        return "∞"
    for size, unit in _UNITS:
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.0f}{unit}" if scaled >= 99.5 else f"{scaled:.1f}{unit}".replace(".0", "")
    return f"{value:.0f}"


def long_number(value: float) -> str:
    """`12`, `3.4k`, `120.5k`, `1.2M`: one decimal place in every unit."""
    for size, unit in _UNITS:
        if value >= size * 0.99995:  # what would round up to a thousand of the smaller unit
            return f"{value / size:.1f}{unit}".replace(".0", "")
    return f"{value:g}"


# A language has forms of its own for numbers, so each thing that is counted is a text of its own.
_COUNTED: dict[str, Callable[[int], str]] = {
    "conversation": lambda count: ngettext("1 conversation", "{count:,} conversations", count),
    "session": lambda count: ngettext("1 session", "{count:,} sessions", count),
    "subagent session": lambda count: (  # not shown
        ngettext("1 subagent session", "{count:,} subagent sessions", count)
    ),
    "open session": lambda count: ngettext("1 open session", "{count:,} open sessions", count),  # not shown
    "message": lambda count: ngettext("1 message", "{count:,} messages", count),
    "hit": lambda count: ngettext("{count:,} hit", "{count:,} hits", count),
    "segment": lambda count: ngettext("{count:,} segment", "{count:,} segments", count),
    "part": lambda count: ngettext("1 part", "{count:,} parts", count),
    "run": lambda count: ngettext("1 run", "{count:,} runs", count),
    "bundle": lambda count: ngettext("1 bundle", "{count:,} bundles", count),
    "profile": lambda count: ngettext("1 profile", "{count:,} profiles", count),
    "branch": lambda count: ngettext("1 branch", "{count:,} branches", count),
    "subagent": lambda count: ngettext("1 subagent", "{count:,} subagents", count),
    "request": lambda count: ngettext("1 request", "{count:,} requests", count),
    "result": lambda count: ngettext("1 result", "{count:,} results", count),
    "call": lambda count: ngettext("1 call", "{count:,} calls", count),
    "answer": lambda count: ngettext("1 answer", "{count:,} answers", count),
    "line": lambda count: ngettext("1 line", "{count:,} lines", count),
    "image": lambda count: ngettext("1 image", "{count:,} images", count),
    "link": lambda count: ngettext("1 link", "{count:,} links", count),
    "path": lambda count: ngettext("1 path", "{count:,} paths", count),
    "error": lambda count: ngettext("1 error", "{count:,} errors", count),
    "warning": lambda count: ngettext("1 warning", "{count:,} warnings", count),
    "note": lambda count: ngettext("1 note", "{count:,} notes", count),
}


def counted(number: int, one: str) -> str:
    """`1 session`, `1,204 sessions`.

    Args:
        number: How many.
        one: What, one of those that are known here; never shown itself.
    """
    return _COUNTED[one](number).format(count=number)


def size(count: int) -> str:
    """`480 B`, `12 KB`, `1.2 GB`."""
    value, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit in ("B", "KB") or value >= 99.95 else f"{value:.1f} {unit}"


def money(value: float | None) -> str:
    """`$1.24`, `<1¢`; empty for unknown and for nothing."""
    if value is None or value <= 0:
        return ""
    if value < 0.01:
        return "<1¢"
    return f"${value:,.2f}" if value < 1000 else f"${number(value)}"


def dollars(value: float | None) -> str:
    """`$1.24`, `$0.00`, `$1,204.00`; empty for unknown."""
    return "" if value is None else f"${value:,.2f}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min`, `5 h`, `2 days`."""
    if seconds < 10:
        return _("{seconds:.1f} s").format(seconds=max(seconds, 0))
    if seconds < 100:
        return _("{seconds:.0f} s").format(seconds=seconds)
    if seconds < 100 * _MINUTE:
        return _("{minutes:.0f} min").format(minutes=seconds / _MINUTE)
    if seconds < 2 * _DAY:
        return _("{hours:.0f} h").format(hours=seconds / _HOUR)
    return _("{days:.0f} days").format(days=seconds / _DAY)


def end_reason(reason: str | None) -> str:
    """An end reason in words; unknown ones as they stand (the set is open)."""
    if not reason:
        return ""
    known = _END_REASONS.get(reason)
    return _(known) if known is not None else one_line(reason, 60)


_SOURCES = {"telegram": "tele", "discord": "disc", "whatsapp": "wa", "api_server": "api", "webhook": "hook"}


def source(name: str) -> str:
    """A source in at most six cells."""
    return _SOURCES.get(name, one_line(name, 20))


def name(conversation: Conversation) -> str:
    """What a conversation is called: its title, else what was said first, else why there is nothing."""
    if conversation.title:
        return conversation.title
    if conversation.preview:
        return conversation.preview
    return _("no messages") if conversation.status is Status.EMPTY else _("no text")


def messages(count: float) -> str:
    """`120k msgs`."""
    return _("{count} msgs").format(count=number(count))


def status(value: str) -> str:
    """How a conversation stands, in a word: a `Status`, a `cleanup.rules.Standing`, `pinned` or `archived`."""
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


def state(value: str) -> str:
    """How a chat message stands, in a word (`models.State`)."""
    names = {
        "live": pgettext("state", "live"),
        "compacted": pgettext("state", "compacted"),
        "rewound": pgettext("state", "rewound"),
    }
    return names.get(value, value)


_ROLES = {
    "user": N_("you"),
    "assistant": N_("assistant"),
    "tool": N_("tool"),
    "system": N_("system"),
    "session_meta": N_("gateway"),
}


def role(of: str) -> str:
    """Who has said something; roles that are not known as they stand."""
    known = _ROLES.get(of)
    return _(known) if known is not None else one_line(of, 20)


_RELATIONS = {
    Relation.CONTINUED: N_("continued"),
    Relation.BRANCHED: N_("branch"),
    Relation.DELEGATED: N_("subagent"),
    Relation.RESET: N_("after reset"),
    Relation.UNKNOWN: N_("child"),
    Relation.ORPHAN: N_("parent gone"),
}


def relation(kind: Relation) -> str:
    """An edge in a word; empty for the top of a family."""
    return _(_RELATIONS[kind]) if kind in _RELATIONS else ""


def related(kind: Relation, name: str) -> str:
    """Return the name of a session after the word for its relation: `subagent: Run the tests`."""
    word = relation(kind)
    return _("{relation}: {name}").format(relation=word, name=name) if word else name
