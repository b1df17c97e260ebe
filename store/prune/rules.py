"""Rules: which conversations a clean-up means. Pure, and all of them must hold; without a rule nothing is meant.

Age is by last activity: Hermes up to 0.19 counts from the start and deletes a chat that was used yesterday.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum

from ..sessions.models import Conversation, Kind, Status
from ..wording import _, ngettext, pgettext

MINUTE, HOUR, DAY, WEEK = 60.0, 3600.0, 86_400.0, 604_800.0
STALE_AFTER = 7 * DAY
"""How long an open conversation must have been idle to count as stale where nobody says otherwise, in seconds."""

_AGES = {"m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([mhdw])", re.IGNORECASE)
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_MOST_SECONDS = 1e11  # three thousand years: more is a slip of the finger
_MOST_BYTES = 2**53
_AMOUNT = re.compile(r"(?=[\d.]*\d)\d*\.?\d*(e\d{1,2})?")
_MOST_MONEY = 1e12


class Standing(StrEnum):
    """Whether Hermes closed a conversation, which for a clean-up matters more than anything."""

    ENDED = "ended"
    OPEN = "open"
    """No end was recorded: in use, or left behind by a process that died (Hermes records no other sign)."""
    STALE = "stale-open"
    """Open, idle for long, and nobody holds it: a class of its own, taken only when asked for."""


def parse_age(text: str) -> float:
    """Seconds of an age as Hermes' own prune takes it: `5h`, `30m`, `2d`, `1w`, sums of these, bare numbers are days.

    Args:
        text: What the user typed.

    Raises:
        ValueError: It is no age; the sentence says what is.
    """
    plain = text.strip()
    try:
        seconds = float(plain) * DAY if re.fullmatch(r"\d+(\.\d+)?", plain) else 0.0
    except ValueError:
        seconds = 0.0
    if not re.fullmatch(r"\d+(\.\d+)?", plain):
        rest = _AGE.sub("", plain)
        if not plain or rest.strip():
            sentence = _("wants an age such as 30d, 2w, 12h or 1w 2d (a bare number is days), not {text!r}")
            raise ValueError(sentence.format(text=text))
        seconds = sum(float(number) * _AGES[unit.lower()] for number, unit in _AGE.findall(plain))
    if seconds > _MOST_SECONDS:
        raise ValueError(_("wants an age below three thousand years, not {text!r}").format(text=text))
    return seconds


def parse_bytes(text: str) -> int:
    """Bytes of a size: `10M`, `1.5GB`, `512k`, `4MiB`; letters alone count in thousands, with an `i` in 1024s.

    Args:
        text: What the user typed.

    Raises:
        ValueError: It is no size; the sentence says what is.
    """
    match = _BYTES.fullmatch(text.strip())
    if match is None or (match[3] and not match[2]):
        raise ValueError(_("wants a size such as 10M, 1.5G or 512k, not {text!r}").format(text=text))
    size = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].lower()]
    if size > _MOST_BYTES:
        raise ValueError(_("wants a size that a disk could hold, not {text!r}").format(text=text))
    return int(size)


def parse_money(text: str) -> float:
    """Dollars, with or without their sign.

    Args:
        text: What the user typed.

    Raises:
        ValueError: It is no amount; the sentence says so.
    """
    plain = text.strip().removeprefix("$")
    amount = float(plain) if _AMOUNT.fullmatch(plain) else -1.0
    if not 0 <= amount <= _MOST_MONEY:
        raise ValueError(_("wants an amount in dollars, not {text!r}").format(text=text))
    return amount


def standing(conversation: Conversation, now: float, stale_after: float = STALE_AFTER) -> Standing:
    """Ended, open, or stale-open; leases are not looked at here, `Status.LIVE` is.

    Args:
        conversation: Any.
        now: Unix seconds.
        stale_after: Seconds without activity.
    """
    tip = conversation.tip
    if tip.ended_at is not None or tip.end_reason is not None:
        return Standing.ENDED
    idle = idle_seconds(conversation, now)
    if conversation.status is Status.LIVE or idle is None or idle < stale_after:
        return Standing.OPEN
    return Standing.STALE


def idle_seconds(conversation: Conversation, now: float) -> float | None:
    """Seconds since anything happened in any segment; None when the store knows no time at all."""
    newest = conversation.last_active
    if newest is None:
        newest = conversation.root.started_at
    return None if newest is None else now - newest


def _folder(text: str) -> str:
    return text.rstrip("/\\") or text[:1]


def _below(folder: str, cwd: str | None) -> bool:
    """Whether a working directory is a folder or lies in it; `/a/b` is not below `/a/bc`."""
    if not cwd:
        return False
    top = _folder(folder)
    if cwd.rstrip("/\\") == top or cwd == top:
        return True
    return cwd.startswith(top if top in ("/", "\\") else (f"{top}/", f"{top}\\"))


@dataclass(frozen=True, slots=True)
class Rules:
    """What a clean-up asks for. Everything given must hold; None and empty mean "not asked"."""

    older_than: float | None = None
    """Seconds since the last activity of any segment; a conversation without any time is never old."""
    sources: frozenset[str] = frozenset()
    """Any of these, by the root. Subagents go with their parents; they are meant only where theirs is named."""
    title: str | None = None
    """Part of the title, letters of either case."""
    cwd: str | None = None
    """A folder: the conversation's working directory is it or below it."""
    model: str | None = None
    """Part of the name of its newest model, letters of either case."""
    empty: bool = False
    """No message in any segment."""
    automation: bool = False
    """Cron jobs, webhooks and the like: everything nobody typed into."""
    min_messages: int | None = None
    """Chat messages shown by default, over all segments."""
    max_messages: int | None = None
    min_size: int | None = None
    """Bytes as a plan counts them, search index included."""
    max_size: int | None = None
    max_cost: float | None = None
    """USD; an unknown cost counts as none, as in Hermes' prune."""
    stale_open: float | None = None
    """Take open conversations too that have been idle for so many seconds; alone: those and nothing else."""
    include_archived: bool = False
    marks: frozenset[str] = frozenset()
    """Ids marked by hand: meant whatever the rules say, open and hidden ones too; never protected ones."""
    unmarks: frozenset[str] = frozenset()
    """Ids unmarked by hand: spared whatever the rules say."""

    @property
    def filters(self) -> bool:
        """Whether there is a rule besides `stale_open` and marks."""
        asked = (
            self.older_than, self.title, self.cwd, self.model, self.min_messages, self.max_messages, self.min_size,
            self.max_size, self.max_cost,
        )  # fmt: skip
        return bool(self.sources or self.empty or self.automation) or any(value is not None for value in asked)

    @property
    def nothing(self) -> bool:
        """Nothing is asked for, so nothing matches."""
        return not self.filters and self.stale_open is None and not self.marks

    @property
    def needs_size(self) -> bool:
        """Whether a rule speaks of bytes."""
        return self.min_size is not None or self.max_size is not None

    @property
    def needs_rows(self) -> bool:
        """Whether a rule speaks of chat messages, which must then be counted: stored counters are hints."""
        return self.min_messages is not None or self.max_messages is not None

    def marked(self, conversation: Conversation) -> bool:
        """Marked by hand, by any segment."""
        return bool(self.marks) and any(segment.id in self.marks for segment in conversation.segments)

    def unmarked(self, conversation: Conversation) -> bool:
        """Unmarked by hand, by any segment."""
        return bool(self.unmarks) and any(segment.id in self.unmarks for segment in conversation.segments)

    def could_match(self, conversation: Conversation, now: float) -> bool:
        """All rules that need nothing but the sessions' own rows.

        Args:
            conversation: Any.
            now: Unix seconds.
        """
        if self.marked(conversation):
            return True
        if self.nothing or (conversation.archived and not self.include_archived):
            return False
        if not self.filters:
            return self.stale_open is not None and standing(conversation, now, self.stale_open) is Standing.STALE
        idle = idle_seconds(conversation, now)
        title = (conversation.title or "").casefold()
        return (
            (self.older_than is None or (idle is not None and idle > self.older_than))
            and (not self.sources or conversation.source in self.sources)
            and (self.title is None or self.title.casefold() in title)
            and (self.cwd is None or _below(self.cwd, conversation.cwd))
            and (self.model is None or self.model.casefold() in (conversation.model or "").casefold())
            and (not self.empty or not any(segment.has_messages for segment in conversation.segments))
            and (not self.automation or conversation.kind is not Kind.CHAT)
            and (self.max_cost is None or (conversation.cost_usd or 0.0) <= self.max_cost)
        )

    def matches(self, conversation: Conversation, size: int | None, now: float) -> bool:
        """Whether the rules mean this conversation; whether it is protected is another question.

        Args:
            conversation: With its rows counted, where `needs_rows`.
            size: Its bytes; None when they were not measured, which fits no rule on size.
            now: Unix seconds.
        """
        if not self.could_match(conversation, now):
            return False
        if self.marked(conversation):
            return True
        rows = conversation.message_count
        return (
            (self.min_messages is None or rows >= self.min_messages)
            and (self.max_messages is None or rows <= self.max_messages)
            and (self.min_size is None or (size is not None and size >= self.min_size))
            and (self.max_size is None or (size is not None and size <= self.max_size))
        )

    def words(self) -> str:
        """The rules in words, for a screen or a report; empty when there are none."""
        said: list[str] = []
        if self.older_than is not None:
            said.append(_("no activity for {age}").format(age=age_words(self.older_than)))
        if self.sources:
            several = pgettext("between sources", " or ").join(sorted(self.sources))
            said.append(_("source {sources}").format(sources=several))
        if self.title is not None:
            said.append(_("title contains “{text}”").format(text=self.title))
        if self.model is not None:
            said.append(_("model contains “{text}”").format(text=self.model))
        if self.cwd is not None:
            slash = os.sep if not self.cwd.endswith(("/", os.sep)) else ""
            said.append(_("in {folder}").format(folder=f"{self.cwd}{slash}"))
        said += [pgettext("rule", "empty")] * self.empty + [pgettext("rule", "automation")] * self.automation
        for sentence, count in (
            (_("at least {count:,} messages"), self.min_messages),
            (_("at most {count:,} messages"), self.max_messages),
            (_("at least {count:,} bytes"), self.min_size),
            (_("at most {count:,} bytes"), self.max_size),
        ):
            said += [sentence.format(count=count)] if count is not None else []
        if self.max_cost is not None:
            said.append(_("at most ${cost:,.2f}").format(cost=self.max_cost))
        if self.stale_open is not None:
            said.append(_("open ones too, idle for {age}").format(age=age_words(self.stale_open)))
        if self.include_archived:
            said.append(_("archived ones too"))
        return pgettext("between rules", ", ").join(said)


def age_words(seconds: float) -> str:
    """`3 weeks`, `90 days`, `5 hours`, `30 minutes`: the largest unit that says it in few digits."""
    days, hours, minutes = (round(seconds / unit) for unit in (DAY, HOUR, MINUTE))
    if seconds >= DAY:
        return ngettext("1 day", "{count:,} days", days).format(count=days)
    if seconds >= HOUR:
        return ngettext("1 hour", "{count:,} hours", hours).format(count=hours)
    return ngettext("1 minute", "{count:,} minutes", minutes).format(count=max(minutes, 0))
