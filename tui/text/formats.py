"""Format times, numbers, money, sizes, counts and names for people, on the screen and on the
command line.

`age`, `clock`, `number` and `fit` are for columns of the screen and never exceed their documented
width. The command line uses `timestamp` and `dollars`, which other programs can sort and sum. Nothing
here raises, whatever number a damaged row holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache

from hermes_browse.store.amounts import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    WEEK,
    WEEKDAYS,
    YEAR,
    local_time,
)
from hermes_browse.store.amounts import size as size
from hermes_browse.store.sessions.models import Conversation, Status
from hermes_browse.store.sessions.relations import SHORT_SOURCES
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, NN_, _, ngettext, pgettext


@cache
def _of_rich() -> tuple[Callable[[str], int], Callable[[str, int], str]]:
    from rich import cells  # start time: output into a pipe goes without Rich

    return cells.cell_len, cells.set_cell_size


def _cells(text: str) -> int:
    """Return the width of a printable line in terminal cells, as Textual counts them."""
    return len(text) if text.isascii() else _of_rich()[0](text)


def clip(text: str, width: int) -> str:
    """Cut the text to `width` cells with an ellipsis at the cut; never splits a character.

    Args:
        text: One printable line.
        width: Cells; 0 or less gives an empty text.
    """
    if width <= 0:
        return ""
    if _cells(text) <= width:
        return text
    cut = text[: width - 1]
    if not text[:width].replace("…", "").isascii():  # then each character is one cell
        cut = _of_rich()[1](text, width - 1)
    return f"{cut.rstrip()}…"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Clip or pad the text to exactly `width` cells."""
    clipped = clip(text, width)
    space = " " * max(width - _cells(clipped), 0)
    return space + clipped if right else clipped + space


def joined(*facts: str) -> str:
    """Join the facts that are known."""
    return " · ".join(filter(None, facts))


def fitting(facts: str, width: int) -> str:
    """Leave out the last of joined facts until they fit, with a sign for them; the first one
    stays."""
    left_out = ""
    while _cells(facts + left_out) > width and " · " in facts:
        facts, left_out = facts.rpartition(" · ")[0], " · …"
    return facts + left_out


def listed(*facts: str) -> str:
    """List the facts that are known, as in a sentence."""
    return _(", ").join(filter(None, facts))


AGE_WIDTH = 6
"""Cells of an age in a list, at most."""
_AGES = N_((
    (59.5 * MINUTE, MINUTE, "{count:.0f}min"),
    (23.5 * HOUR, HOUR, "{count:.0f}h"),
    (2 * WEEK, DAY, "{count:.0f}d"),
    (26 * WEEK, WEEK, "{count:.0f}w"),
    (2 * YEAR, MONTH, "{count:.0f}mo"),
    (100 * YEAR, YEAR, "{count:.0f}y"),
))  # fmt: skip
_DURATIONS = N_((
    (10, 1, "{count:.1f} s"),
    (100, 1, "{count:.0f} s"),
    (100 * MINUTE, MINUTE, "{count:.0f} min"),
    (2 * DAY, HOUR, "{count:.0f} h"),
    (math.inf, DAY, "{count:.0f} days"),
))  # fmt: skip
"""Up to how many seconds, the seconds of the unit, and the words."""


def age(moment: float | None, now: float) -> str:
    """Format an age in at most `AGE_WIDTH` cells, as it is typed: `now`, `5min`, `2h`, `3d`, `6w`,
    `7mo`, `2y`; empty for what is no date."""
    elapsed = math.nan if moment is None else now - moment
    if elapsed < -MINUTE:
        return pgettext("age", "later") if math.isfinite(elapsed) else ""
    if elapsed < MINUTE:
        return pgettext("age", "now")
    for limit, unit, words in _AGES:
        if elapsed < limit:
            count = elapsed / unit
            return _(words, count=max(count if unit <= HOUR else int(count), 1))
    return ""


def ago(moment: float | None, now: float) -> str:
    """Format an age for use in a sentence: `2h ago`, `now`."""
    text = age(moment, now)
    is_past = moment is not None and now - moment >= MINUTE
    return _("{age} ago", age=text) if text and is_past else text


def _strftime(moment: float | None, pattern: str) -> str:
    local = local_time(moment)
    return local.strftime(pattern) if local is not None else ""


def timestamp(moment: float | None, *, seconds: bool = False) -> str:
    """Format a local time as `2026-03-05 14:02`; empty for None."""
    return _strftime(moment, "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def clock(moment: float | None) -> str:
    """Format a local time of day as `14:02`; blanks of the same width for None."""
    return _strftime(moment, "%H:%M") or " " * 5


MONTHS = N_((
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December",
))  # fmt: skip
"""To be translated through `_`."""


def day(moment: float) -> str:
    """Format a local date as `Thursday, 5 March 2026`."""
    local = local_time(moment)
    if local is None:
        return _("some day")
    return _(
        "{weekday}, {day} {month} {year}",
        weekday=_(WEEKDAYS[local.weekday()]),
        day=local.day,
        month=_(MONTHS[local.month - 1]),
        year=local.year,
    )


def day_key(moment: float | None) -> str:
    """Return the local date as `2026-03-05`, equal for all times of one day; empty for None."""
    return _strftime(moment, "%Y-%m-%d")


_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: float) -> str:
    """Format a number in at most four cells: `12`, `3.4k`, `120k`, `1.2M`."""
    if not math.isfinite(value):
        return "∞"
    for one, unit in _UNITS:
        if value >= one * 0.9995:  # the smaller unit would be rounded up to 1000
            digits = 0 if value >= one * 99.5 else 1
            return f"{value / one:.{digits}f}{unit}".replace(".0", "")
    return f"{value:.0f}"


# Plural forms differ by language, so each noun has a text of its own.
_COUNTED = {
    "conversation": NN_("1 conversation", "{count:,} conversations"),
    "session": NN_("1 session", "{count:,} sessions"),
    "message": NN_("1 message", "{count:,} messages"),
    "rewound": NN_("1 rewound message", "{count:,} rewound messages"),
    "compacted": NN_("1 compacted message", "{count:,} compacted messages"),
    "hidden": NN_("1 hidden message", "{count:,} hidden messages"),
    "new message": NN_("1 new message", "{count:,} new messages"),
    "hit": NN_("{count:,} hit", "{count:,} hits"),
    "part": NN_("1 part", "{count:,} parts"),
    "run": NN_("1 run", "{count:,} runs"),
    "bundle": NN_("1 deletion", "{count:,} deletions"),
    "copy": NN_("1 copy", "{count:,} copies"),
    "branch": NN_("1 branch", "{count:,} branches"),
    "subagent": NN_("1 subagent", "{count:,} subagents"),
    "request": NN_("1 request", "{count:,} requests"),
    "result": NN_("1 result", "{count:,} results"),
    "call": NN_("1 call", "{count:,} calls"),
    "answer": NN_("1 answer", "{count:,} answers"),
    "file": NN_("1 file", "{count:,} files"),
    "edit": NN_("1 edit", "{count:,} edits"),
    "turn": NN_("1 turn", "{count:,} turns"),
    "line": NN_("1 line", "{count:,} lines"),
    "error": NN_("1 error", "{count:,} errors"),
    "warning": NN_("1 warning", "{count:,} warnings"),
    "note": NN_("1 note", "{count:,} notes"),
}


def counted(number: int, one: str) -> str:
    """Format a count with its noun: `1 session`, `1,204 sessions`.

    Args:
        one: A key of `_COUNTED`; not shown itself.
    """
    return ngettext(*_COUNTED[one], number)


def money(value: float | None) -> str:
    """Format a cost for a column: `$1.24`, `<1¢`; empty for None and zero."""
    if value is None or value <= 0:
        return ""
    if value < 0.01:
        return "<1¢"
    return f"${value:,.2f}" if value < 1000 else f"${number(value)}"


def amount(value: float, metric: str) -> str:
    """Format a sum in few cells; those of `bytes` and `cost` have their unit."""
    if metric == "cost":
        return money(value) or "$0"
    return size(round(value)) if metric == "bytes" else number(value)


def dollars(value: float | None) -> str:
    """Format an exact cost: `$1.24`, `$0.00`, `$1,204.00`; empty for None."""
    return "" if value is None else f"${value:,.2f}"


def costs(conversation: Conversation, amount: Callable[[float | None], str] = money) -> str:
    """Format what a conversation cost itself, and with its subagents: `$2.72 · with 10 subagents
    $6.41`.

    `amount` formats one cost. A part without a known cost is left out.
    """
    own, tree, count = conversation.cost_usd, conversation.tree_cost_usd, conversation.subagents
    if tree == own:
        return amount(own)
    words = ngettext(
        "with 1 subagent {cost}", "with {count:,} subagents {cost}", count, cost=amount(tree)
    )
    return joined(amount(own), words)


def own_and_tree(
    own: float | None, tree: float | None, amount: Callable[[float | None], str] = money
) -> str:
    """Format what a row cost itself and with all below it: `$2.72 of $6.41`; once if equal, `?` if
    not known."""
    if tree == own:
        return amount(own)
    return f"{amount(own) or '?'} {_('of {cost}', cost=amount(tree))}"


def duration(seconds: float) -> str:
    """Format a duration: `0.4 s`, `12 s`, `3 min`, `5 h`, `2 days`."""
    fitting = (each for each in _DURATIONS if seconds < each[0])
    _limit, unit, words = next(fitting, _DURATIONS[-1])
    return _(words, count=max(seconds / unit, 0))


def source(name: str) -> str:
    """Abbreviate a known source to at most six cells; others are returned in full, up to 20."""
    return SHORT_SOURCES.get(name, one_line(name, 20))


def name(conversation: Conversation) -> str:
    """Return the display name of a conversation: its title, else its preview, else why it has
    neither."""
    if known := conversation.title or conversation.preview:
        return known
    return _("no messages") if conversation.status is Status.EMPTY else _("no text")


def name_so_far(conversation: Conversation) -> str:
    """Return the display name of a conversation of the catalog, `…` until its preview is read."""
    is_read = conversation.title or conversation.preview or conversation.shown_count is not None
    return name(conversation) if is_read or conversation.status is Status.EMPTY else "…"


BYTES_PER_TOKEN = 4
"""Hermes' own estimate (agent/model_metadata.py, 0.19: four characters)."""


def tokens(count: int) -> int:
    """Estimate the tokens of so many bytes, as Hermes does."""
    return count // BYTES_PER_TOKEN


def messages(count: float) -> str:
    """Format a number of messages: `120k msgs`."""
    return ngettext("{count} msg", "{count} msgs", 1 if count == 1 else 2, count=number(count))


def hashtags(tags: Iterable[str]) -> str:
    """Return tags on one line: `#deploy #urgent`."""
    return " ".join(f"#{one_line(tag)}" for tag in tags)
