"""Numbers, times and texts as the screen shows them: short, right, and exactly as wide as they claim."""

from __future__ import annotations

import math
from datetime import datetime

from rich.cells import cell_len, set_cell_size

from hermes_browse.store.models import Conversation, Relation
from hermes_browse.store.text import one_line

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 604800
_END_REASONS = {
    "compression": "compressed",
    "branched": "branched off",
    "cli_close": "closed",
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
    "tui_close": "closed",
    "tui_shutdown": "closed with the terminal",
    "ws_disconnect": "connection lost",
    "ws_orphan_reap": "connection lost",
    "idle_timeout": "closed when idle",
    "lru_evict": "put away by the server",
    "orphaned_compression": "compression cut off",
    "user_exit": "closed",
    "superseded_by_resume": "went on elsewhere",
    "startup_orphan_reap": "closed at start-up",
}


def clip(text: str, width: int) -> str:
    """The text in at most `width` cells, an ellipsis where it was cut; never half a character.

    Args:
        text: One printable line.
        width: Cells; 0 or less gives nothing.
    """
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    cut = set_cell_size(text, width - 1)
    return f"{cut.rstrip()}…"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` cells: clipped, or padded on one side."""
    clipped = clip(text, width)
    space = " " * max(width - cell_len(clipped), 0)
    return space + clipped if right else clipped + space


def age(moment: float | None, now: float) -> str:
    """How long ago, in at most four cells and a month further back: `now`, `5m`, `2h`, `3d`, `6w`, `Jan`, `2024`."""
    if moment is None or not math.isfinite(moment):
        return ""
    passed = now - moment
    if passed < -_MINUTE:
        return "later"
    if passed < _MINUTE:
        return "now"
    if passed < _HOUR:
        return f"{passed / _MINUTE:.0f}m" if passed < 59.5 * _MINUTE else "1h"
    if passed < _DAY:
        return f"{passed / _HOUR:.0f}h" if passed < 23.5 * _HOUR else "1d"
    if passed < 2 * _WEEK:
        return f"{int(passed / _DAY)}d"
    if passed < 26 * _WEEK:
        return f"{int(passed / _WEEK)}w"
    return _local(moment, "%b %y", "")


def _local(moment: float, pattern: str, otherwise: str) -> str:
    try:
        return datetime.fromtimestamp(moment).strftime(pattern)
    except (ValueError, OverflowError, OSError):
        return otherwise


_is_half_day = False


def set_clock(form: str) -> None:
    """How times of day are told from now on: `24h`, `12h`."""
    global _is_half_day
    _is_half_day = form == "12h"


_dates = "relative"
DATE_WIDTHS = {"relative": 6, "absolute": 8, "iso": 10}
"""Cells of a moment in a list, by how moments are told."""


def set_dates(form: str) -> None:
    """How moments in lists are told from now on: `relative`, `absolute`, `iso`."""
    global _dates
    _dates = form


def date_width() -> int:
    """Cells of a moment in a list."""
    return DATE_WIDTHS[_dates]


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
    return _local(when, "%-d %b", "") if own[:4] == today[:4] else _local(when, "%b %Y", "")


def clock(moment: float | None) -> str:
    """Local `14:02`, or ` 2:02 pm` where that is set; blanks of the same width for none."""
    blank = " " * (8 if _is_half_day else 5)
    if moment is None:
        return blank
    told = _local(moment, "%H:%M", "")
    if not told or not _is_half_day:
        return told or blank
    hour = int(told[:2])
    return f"{hour % 12 or 12:>2}{told[2:]} {'am' if hour < 12 else 'pm'}"


def day(moment: float) -> str:
    """Local `Thursday, 5 March 2026`."""
    return _local(moment, "%A, %-d %B %Y", "some day")


def day_key(moment: float | None) -> str:
    """Equal for moments of one local day."""
    return _local(moment, "%Y-%m-%d", "") if moment is not None else ""


def number(value: float) -> str:
    """`12`, `3.4k`, `120k`, `1.2M`."""
    if not math.isfinite(value):
        return "∞"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.0f}{unit}" if scaled >= 99.5 else f"{scaled:.1f}{unit}".replace(".0", "")
    return f"{value:.0f}"


def counted(number: int, one: str) -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{number:,} {one}" + ("" if number == 1 else "s")


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


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min`, `5 h`, `2 days`."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * _MINUTE:
        return f"{seconds / _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.0f} h"
    return f"{seconds / _DAY:.0f} days"


def end_reason(reason: str | None) -> str:
    """An end reason in words; unknown ones as they stand (the set is open)."""
    return _END_REASONS.get(reason, one_line(reason, 60)) if reason else ""


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
    return "no messages" if conversation.status.value == "empty" else "no text"


_RELATIONS = {
    Relation.ROOT: "",
    Relation.CONTINUED: "continued",
    Relation.BRANCHED: "branch",
    Relation.DELEGATED: "subagent",
    Relation.RESET: "after reset",
    Relation.UNKNOWN: "child",
    Relation.ORPHAN: "parent gone",
}


def relation(kind: Relation) -> str:
    """An edge in a word."""
    return _RELATIONS[kind]
