"""Rules that select conversations for a clean-up.

All rules must match; without a rule nothing is selected. Age is by last activity: Hermes up to 0.19 counts from the
start and deletes a chat that was used yesterday.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from ..ages import DAY, HOUR, MINUTE
from ..sessions.models import Conversation
from ..sessions.relations import idle_seconds, is_stale
from ..wording import _, ngettext, pgettext


def _below(folder: str, cwd: str | None) -> bool:
    """Tell whether a working directory is a folder or lies in it; `/a/bc` is not below `/a/b`."""
    if not cwd:
        return False
    top = folder.rstrip("/\\") or folder[:1]
    if cwd.rstrip("/\\") == top or cwd == top:
        return True
    return cwd.startswith(top if top in ("/", "\\") else (f"{top}/", f"{top}\\"))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a clean-up, all of which must match; None and empty mean no rule."""

    older_than: float | None = None
    """Seconds since the last activity of any segment; a conversation without any time is never old."""
    before: float | None = None
    """Unix seconds that the last activity must be before, likewise."""
    sources: frozenset[str] = frozenset()
    """Sources of the root segment. Subagents go with their parents, and match only if their source is listed."""
    title: str | None = None
    """Part of the title, case-insensitive."""
    cwd: str | None = None
    """A folder that is, or contains, the conversation's working directory."""
    model: str | None = None
    """Part of the name of the newest model, case-insensitive."""
    empty: bool = False
    """No message in any segment."""
    automation: bool = False
    """Cron jobs, webhooks and the like: whatever nobody typed into."""
    min_messages: int | None = None
    """Chat messages shown by default, over all segments."""
    max_messages: int | None = None
    min_size: int | None = None
    """Bytes as a plan counts them, search index included."""
    max_size: int | None = None
    max_cost: float | None = None
    """USD, with all subagents. An unknown cost is not a low one; Hermes' own prune takes it for 0."""
    stale_open: float | None = None
    """Also select open conversations idle for this number of seconds; as the only rule, select only these."""
    include_archived: bool = False
    marks: frozenset[str] = frozenset()
    """Ids marked by hand: selected whatever the rules say, even if open or hidden, unless protected."""

    @property
    def filters(self) -> bool:
        """Whether there is a rule besides `stale_open` and marks."""
        values = (self.older_than, self.before, self.title, self.cwd, self.model, self.max_cost)
        flags = self.sources or self.empty or self.automation or self.needs_size or self.needs_rows
        return bool(flags) or any(value is not None for value in values)

    @property
    def nothing(self) -> bool:
        """Whether there is no rule at all, so that nothing matches."""
        return not self.filters and self.stale_open is None and not self.marks

    @property
    def needs_size(self) -> bool:
        """Whether a rule is about bytes."""
        return self.min_size is not None or self.max_size is not None

    @property
    def needs_rows(self) -> bool:
        """Whether a rule is about chat messages, which must then be counted: stored counters are only hints."""
        return self.min_messages is not None or self.max_messages is not None

    def cutoff(self, now: float) -> float | None:
        """Return the time that the last activity must be before, of both rules on it the earlier; `now` likewise."""
        limits = [self.before] if self.before is not None else []
        limits += [now - self.older_than] if self.older_than is not None else []
        return min(limits, default=None)

    def marked(self, conversation: Conversation) -> bool:
        """Tell whether a segment is marked by hand."""
        return bool(self.marks) and any(segment.id in self.marks for segment in conversation.segments)

    def could_match(self, conversation: Conversation, now: float) -> bool:
        """Apply the rules that need only session rows; `now` is in Unix seconds."""
        if self.marked(conversation):
            return True
        if self.nothing or (conversation.archived and not self.include_archived):
            return False
        if not self.filters:
            return self.stale_open is not None and is_stale(conversation, now, self.stale_open)
        idle, cost = idle_seconds(conversation, now), conversation.tree_cost_usd
        title = (conversation.title or "").casefold()
        return (
            (self.older_than is None or (idle is not None and idle > self.older_than))
            and (self.before is None or (idle is not None and now - idle < self.before))
            and (not self.sources or conversation.source in self.sources)
            and (self.title is None or self.title.casefold() in title)
            and (self.cwd is None or _below(self.cwd, conversation.cwd))
            and (self.model is None or self.model.casefold() in (conversation.model or "").casefold())
            and (not self.empty or conversation.is_empty)
            and (not self.automation or conversation.is_automation)
            and (self.max_cost is None or (cost is not None and cost <= self.max_cost))
        )

    def matches(self, conversation: Conversation, size: int | None, now: float) -> bool:
        """Apply all rules, but no protection, to a conversation with its rows counted if `needs_rows`.

        A `size` of None, in bytes, is not measured and matches no rule on size; `now` is in Unix seconds.
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
        """Describe the rules for a screen or a report; empty without rules."""
        parts: list[str] = []
        if self.older_than is not None:
            parts.append(_("no activity for {age}").format(age=age_words(self.older_than)))
        if self.before is not None:
            time = datetime.fromtimestamp(self.before).strftime("%Y-%m-%d %H:%M")
            parts.append(_("no activity since {time}").format(time=time))
        if self.sources:
            several = pgettext("between sources", " or ").join(sorted(self.sources))
            parts.append(_("source {sources}").format(sources=several))
        if self.title is not None:
            parts.append(_("title contains “{text}”").format(text=self.title))
        if self.model is not None:
            parts.append(_("model contains “{text}”").format(text=self.model))
        if self.cwd is not None:
            slash = os.sep if not self.cwd.endswith(("/", os.sep)) else ""
            parts.append(_("in {folder}").format(folder=f"{self.cwd}{slash}"))
        parts += [pgettext("rule", "empty")] * self.empty + [pgettext("rule", "automation")] * self.automation
        for sentence, count in (
            (_("at least {count:,} messages"), self.min_messages),
            (_("at most {count:,} messages"), self.max_messages),
            (_("at least {count:,} bytes"), self.min_size),
            (_("at most {count:,} bytes"), self.max_size),
        ):
            parts += [sentence.format(count=count)] if count is not None else []
        if self.max_cost is not None:
            parts.append(_("at most ${cost:,.2f}").format(cost=self.max_cost))
        if self.stale_open is not None:
            parts.append(_("also open ones, idle for {age}").format(age=age_words(self.stale_open)))
        if self.include_archived:
            parts.append(_("also archived ones"))
        return pgettext("between rules", ", ").join(parts)


def age_words(seconds: float) -> str:
    """Return an age in its largest unit: `90 days`, `5 hours`, `30 minutes`."""
    days, hours, minutes = (round(seconds / unit) for unit in (DAY, HOUR, MINUTE))
    if seconds >= DAY:
        return ngettext("1 day", "{count:,} days", days).format(count=days)
    if seconds >= HOUR:
        return ngettext("1 hour", "{count:,} hours", hours).format(count=hours)
    return ngettext("1 minute", "{count:,} minutes", minutes).format(count=max(minutes, 0))
