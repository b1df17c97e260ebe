"""The retention radar: when Hermes itself will delete a conversation, and what protects it.

Since 0.21.3 Hermes deletes, at its start, sessions that ended and have been idle for `retention_days`, archived ones
too, and closes forgotten open ones of automation, which it deletes as long after that. A pin protects, archiving does
not. All thresholds below were seen in runs of 0.19, 0.20.0, 0.20.1, 0.20.4, 0.20.5, 0.20.6, 0.21.0, 0.21.3, 0.21.4,
0.21.5 and 0.22.2; the schema tells 0.19 (22), 0.20.0 (25), up to 0.21.0 (26), up to 0.21.5 (30), and 0.22 (31).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..connect import Reader
from ..sessions.catalog import Catalog
from ..sessions.conversations import Forest
from ..sessions.models import Conversation, Relation
from ..sessions.relations import edge
from ..sessions.rows import read_busy
from ..sessions.session import Session
from ..text import as_text
from ..values import as_time
from ..wording import _
from .hermes_config import Retention, read_retention
from .rules import DAY, HOUR

REAPED_SOURCES = frozenset(["cli", "cron", "kanban", "acp", "api_server", "subagent", "tool", "recovered"])
"""Sources whose open sessions Hermes closes when they were idle for long (0.22 `_AUTO_PRUNE_STALE_OPEN_SOURCES`)."""

_BY_ACTIVITY = 25
"""The first schema whose Hermes counts age from the last activity; before, from the start."""
_REAPS = 30
"""The first schema whose Hermes closes stale open sessions, counts their age from then, and surely spares pins."""
_WHOLE_CHAINS = 31
"""The first schema whose Hermes keeps earlier segments as long as a later one; before, it cut them off."""

REAPED = "startup_orphan_reap"
"""How it ends them; their age then counts from that moment."""


class Fate(NamedTuple):
    """What Hermes will do with a conversation."""

    prune_in_days: float | None
    """Until it deletes it, or the first of its segments; 0 at its next start, None when it never does or who knows."""
    closes_in_days: float | None
    """Until it closes an open one, which goes that much later."""
    reason: str


@dataclass(frozen=True, slots=True)
class Radar:
    """What is to come; pure once it is read."""

    retention: Retention
    now: float
    next_run: float
    """Unix seconds of the earliest next clean-up of Hermes: it keeps an interval between two."""
    schema_version: int | None
    can_pin: bool
    """The store has pins; without them only a bundle saves what is on its way out."""
    beyond_reach: str = ""
    """Why Hermes deletes nothing in this file at all; empty for a store of its own."""
    busy: frozenset[str] = frozenset()
    """Ids that a live turn lease or compression lock names: its automatic clean-up passes these over."""

    @property
    def rescue(self) -> str:
        """What saves a conversation: `pin` or `bundle`. Archiving saves nothing."""
        return "pin" if self.can_pin and self._pins_hold else "bundle"

    @property
    def _whole(self) -> bool:
        """Whether earlier segments stay as long as a later one does."""
        return (self.schema_version or 0) >= _WHOLE_CHAINS

    @property
    def _by_activity(self) -> bool:
        """Whether age is counted from the last activity, not from the start."""
        return (self.schema_version or 0) >= _BY_ACTIVITY

    @property
    def _reaps(self) -> bool:
        """Whether stale open sessions of automation are closed."""
        return (self.schema_version or 0) >= _REAPS

    @property
    def _pins_hold(self) -> bool:
        """Whether a pin is sure to protect: 0.20.5 spares pins and 0.20.4 does not, and both write schema 26."""
        return (self.schema_version or 0) >= _REAPS

    @property
    def _keep(self) -> float | None:
        """Seconds Hermes keeps an idle session; None when it deletes nothing, or nobody can tell."""
        days = self.retention.retention_days
        return None if self.beyond_reach or not self.retention.auto_prune or days is None else days * DAY

    def _due(self, session: Session, keep: float) -> float | None:
        """When an ended session may go; None for open ones, and for those without any time."""
        if session.ended_at is None:
            return None
        age_from = session.last_active if self._by_activity else session.started_at
        if age_from is None:
            return None
        if self._reaps and session.end_reason == REAPED:
            age_from = max(age_from, session.ended_at)
        return age_from + keep

    def _closes(self, session: Session, keep: float) -> float | None:
        """When an open session of automation may be closed; None for all others."""
        if session.ended_at is not None or session.source not in REAPED_SOURCES or not self._reaps:
            return None
        if session.started_at is None or session.last_active is None:
            return None
        return max(session.started_at, session.last_active) + keep

    def _days(self, moment: float) -> float:
        return max(0.0, max(moment, self.next_run) - self.now) / DAY

    def fate(self, conversation: Conversation) -> Fate:
        """When it goes, or why it does not."""
        if self.beyond_reach:
            return Fate(None, None, self.beyond_reach)
        keep = self._keep
        if keep is None:
            if self.retention.auto_prune and self.retention.retention_days is None:
                return Fate(None, None, _("cannot tell how long Hermes keeps sessions"))
            return Fate(None, None, self.retention.sentence)
        segments = [conversation.tip]
        if not self._whole:
            segments = [each for each in conversation.segments if not (each.pinned and self._pins_hold)]
        if conversation.pinned and self._pins_hold and (self._whole or not segments):
            return Fate(None, None, _("pinned: Hermes does not delete it"))
        days = self.retention.retention_days
        known = [due for segment in segments if (due := self._due(segment, keep)) is not None]
        if known:
            if self._whole or len(conversation.segments) == 1:
                by_activity = _("ended: deleted {days:,} days after its last activity")
                by_start = _("ended: deleted {days:,} days after its start")
            else:
                by_activity = _("its segments ended: deleted {days:,} days after its last activity")
                by_start = _("its segments ended: deleted {days:,} days after its start")
            words = by_activity if self._by_activity else by_start
            reason = words.format(days=days)
            if conversation.pinned and not self._pins_hold:
                unsure = _("{reason}; its pin may not hold: Hermes up to 0.20.4 deletes pinned ones, too")
                reason = unsure.format(reason=reason)
            return Fate(self._days(min(known)), None, reason)
        closes = self._closes(conversation.tip, keep) if segments[-1].id == conversation.id else None
        if closes is not None:
            until = max(closes, self.next_run, self.now)
            words = _("open: closed when idle for {days:,} days, deleted {days:,} days after that")
            return Fate((until + keep - self.now) / DAY, (until - self.now) / DAY, words.format(days=days))
        if conversation.tip.ended_at is None:
            return Fate(None, None, _("open: Hermes deletes ended sessions only"))
        return Fate(None, None, _("its age is not known, so Hermes never finds it old"))

    def soonest(self, catalog: Catalog, within_days: float | None = None) -> list[tuple[Conversation, Fate]]:
        """Conversations Hermes will delete, the first ones first.

        Args:
            catalog: Of the whole store.
            within_days: Only those that go so soon.
        """
        found: list[tuple[float, str, Conversation, Fate]] = []
        if self._keep is None:
            return []
        for chain in catalog.forest.chains():
            conversation = catalog.of_chain(chain)
            fate = self.fate(conversation)
            left = fate.prune_in_days
            if left is not None and (within_days is None or left <= within_days):
                found.append((left, conversation.id, conversation, fate))
        found.sort(key=lambda each: each[:2])
        return [(conversation, fate) for _, _, conversation, fate in found]

    def doomed(self, catalog: Catalog) -> list[str]:
        """Ids of the sessions that go when Hermes cleans up now, row by row as it decides it."""
        keep = self._keep
        if keep is None:
            return []
        forest = catalog.forest
        pinned = self._pinned(forest)
        gone = {
            session.id
            for session in forest.sessions.values()
            if session.id not in pinned and (due := self._due(session, keep)) is not None and due < self.now
        }
        if self._whole:
            gone -= _kept_ancestors(forest, gone)
        return sorted(gone - self.busy)

    def closing(self, catalog: Catalog) -> list[str]:
        """Ids of the open sessions of automation that are closed when Hermes cleans up now."""
        keep = self._keep
        if keep is None:
            return []
        spared = self._pinned(catalog.forest) | self.busy
        return sorted(
            session.id
            for session in catalog.forest.sessions.values()
            if session.id not in spared and (closes := self._closes(session, keep)) is not None and closes < self.now
        )

    def _pinned(self, forest: Forest) -> set[str]:
        """Ids that a pin surely protects; in 0.22 that of a segment covers the segments after it, too."""
        if not self._pins_hold:
            return set()
        found = {session.id for session in forest.sessions.values() if session.pinned}
        waiting = [forest.sessions[each] for each in found] if self._whole else []
        while waiting:
            parent = waiting.pop()
            for child in forest.children_of(parent.id):
                if child.id not in found and edge(child, parent) is Relation.CONTINUED:
                    found.add(child.id)
                    waiting.append(child)
        return found


def _kept_ancestors(forest: Forest, gone: set[str]) -> set[str]:
    """Sessions that a continuation which stays still needs, stale siblings of a chain included."""
    kept: set[str] = set()
    waiting = [session for session in forest.sessions.values() if session.id not in gone]
    while waiting:
        session = waiting.pop()
        parent = forest.parent(session)
        if parent is not None and parent.id not in kept and edge(session, parent) is Relation.CONTINUED:
            kept.add(parent.id)
            waiting.append(parent)
    return kept


def read_radar(
    reader: Reader, config: Path | None, now: float, *, managed: Path | None = None, beyond_reach: str = ""
) -> Radar:
    """The radar of a store; costs the reading of a small file and of one row.

    Args:
        reader: An open reader.
        config: The `config.yaml` of the store's home; None when it has no home.
        now: Unix seconds.
        managed: From `hermes_config.managed_config`.
        beyond_reach: Why Hermes never opens this file, if it does not.
    """
    schema = reader.schema
    if config is None:
        beyond_reach = beyond_reach or _("Hermes does not open this file, so it deletes nothing in it")
    retention = Retention() if config is None else read_retention(config, schema.version, managed)
    last: float | None = None
    if not beyond_reach and "state_meta" in schema.tables:
        stored = as_text(reader.value("SELECT value FROM state_meta WHERE key = 'last_auto_prune'"))
        last = as_time(stored) if stored else None
    pause = (retention.min_interval_hours or 0) * HOUR
    return Radar(
        retention=retention,
        now=now,
        next_run=max(now, last + pause if last is not None else now),
        schema_version=schema.version,
        can_pin="pinned" in schema.session_columns,
        beyond_reach=beyond_reach,
        busy=read_busy(reader, now),
    )
