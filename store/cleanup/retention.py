"""Predict when Hermes itself will delete a conversation, and what protects it.

Since 0.21.3 Hermes deletes, when it starts, sessions that ended and have been idle for
`retention_days`, archived ones too. It closes open sessions of automation that have been idle for
as long, and deletes them the same time after that. A pin protects; archiving does not. All
thresholds below were observed in runs of 0.19, 0.20.0, 0.20.1, 0.20.4, 0.20.5, 0.20.6, 0.21.0,
0.21.3, 0.21.4, 0.21.5 and 0.22.2. Their schemas are 22 (0.19), 25 (0.20.0), 26 (up to 0.21.0), 30
(up to 0.21.5) and 31 (0.22).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..ages import DAY, HOUR
from ..connection.reader import Reader
from ..connection.stored_values import as_time
from ..sessions.catalog import Catalog
from ..sessions.conversations import Forest
from ..sessions.models import Conversation, Relation
from ..sessions.relations import edge
from ..sessions.session import Session
from ..sessions.session_rows import read_busy
from ..text import as_text
from ..wording import _
from .hermes_settings import Retention, read_retention

REAPED_SOURCES = frozenset(
    ["cli", "cron", "kanban", "acp", "api_server", "subagent", "tool", "recovered"]
)
"""Sources whose open sessions Hermes closes after a long idle time (0.22
`_AUTO_PRUNE_STALE_OPEN_SOURCES`)."""

_BY_ACTIVITY = 25
"""The first schema whose Hermes counts age from the last activity; older ones count from the
start."""
_REAPS = 30
"""The first schema whose Hermes closes stale open sessions, and counts their age from then."""
_PINS = 30
"""The first schema whose Hermes surely spares pins: 0.20.5 does, 0.20.4 does not, and both write
schema 26."""
_WHOLE_CHAINS = 31
"""The first schema whose Hermes keeps earlier segments as long as a later one; older ones delete
them."""

REAPED = "startup_orphan_reap"
"""The `end_reason` of sessions that Hermes closed; their age counts from then."""


class Fate(NamedTuple):
    """What Hermes will do with a conversation."""

    prune_in_days: float | None
    """Days until it deletes the conversation, or the first of its segments: 0 at its next start,
    None if never or unknown."""
    reason: str


@dataclass(frozen=True, slots=True)
class Radar:
    """Predicts what Hermes will do; reads nothing itself."""

    retention: Retention
    now: float
    next_run: float
    """Unix seconds of Hermes' earliest next clean-up, at an interval after the last one."""
    schema_version: int | None
    can_pin: bool
    """The store has pins; without them only a bundle saves a conversation."""
    beyond_reach: str = ""
    """Why Hermes deletes nothing in this file; empty for a store that Hermes uses."""
    busy: frozenset[str] = frozenset()
    """Ids with a live turn lease or compression lock, which Hermes' automatic clean-up skips."""

    @property
    def rescue(self) -> str:
        """How to save a conversation: `pin` or `bundle`. Archiving does not save it."""
        return "pin" if self.can_pin and self._since(_PINS) else "bundle"

    def _since(self, schema: int) -> bool:
        """Tell whether the store's Hermes is at least as new as the first with a schema."""
        return (self.schema_version or 0) >= schema

    @property
    def _keep(self) -> float | None:
        """Seconds that Hermes keeps an idle session; None if it deletes none, or unknown."""
        days = self.retention.retention_days
        return (
            None
            if self.beyond_reach or not self.retention.auto_prune or days is None
            else days * DAY
        )

    def _due(self, session: Session, keep: float) -> float | None:
        """Return the Unix seconds when an ended session is deleted; None for an open one or one
        without times."""
        if session.ended_at is None:
            return None
        age_from = session.last_active if self._since(_BY_ACTIVITY) else session.started_at
        if age_from is None:
            return None
        if self._since(_REAPS) and session.end_reason == REAPED:
            age_from = max(age_from, session.ended_at)
        return age_from + keep

    def _closes(self, session: Session, keep: float) -> float | None:
        """Return the Unix seconds when an open session of automation is closed; None for all
        others."""
        if (
            session.ended_at is not None
            or session.source not in REAPED_SOURCES
            or not self._since(_REAPS)
        ):
            return None
        if session.started_at is None or session.last_active is None:
            return None
        return max(session.started_at, session.last_active) + keep

    def fate(self, conversation: Conversation) -> Fate:
        """Predict when Hermes deletes a conversation, or why it does not."""
        if self.beyond_reach:
            return Fate(None, self.beyond_reach)
        keep = self._keep
        if keep is None:
            if self.retention.auto_prune and self.retention.retention_days is None:
                return Fate(None, _("cannot tell how long Hermes keeps sessions"))
            return Fate(None, self.retention.sentence)
        segments = [conversation.tip]
        if not self._since(_WHOLE_CHAINS):
            segments = [
                each for each in conversation.segments if not (each.pinned and self._since(_PINS))
            ]
        if (
            conversation.pinned
            and self._since(_PINS)
            and (self._since(_WHOLE_CHAINS) or not segments)
        ):
            return Fate(None, _("pinned: Hermes does not delete it"))
        days = self.retention.retention_days
        due_times = [due for segment in segments if (due := self._due(segment, keep)) is not None]
        if due_times:
            if self._since(_WHOLE_CHAINS) or len(conversation.segments) == 1:
                by_activity = _("ended: deleted {days:,} days after its last activity")
                by_start = _("ended: deleted {days:,} days after its start")
            else:
                by_activity = _("its segments ended: deleted {days:,} days after its last activity")
                by_start = _("its segments ended: deleted {days:,} days after its start")
            words = by_activity if self._since(_BY_ACTIVITY) else by_start
            reason = words.format(days=days)
            if conversation.pinned and not self._since(_PINS):
                unsure = _(
                    "{reason}; its pin may not hold: Hermes up to 0.20.4 deletes pinned ones, too"
                )
                reason = unsure.format(reason=reason)
            return Fate(max(0.0, max(min(due_times), self.next_run) - self.now) / DAY, reason)
        closes = (
            self._closes(conversation.tip, keep) if segments[-1].id == conversation.id else None
        )
        if closes is not None:
            until = max(closes, self.next_run, self.now)
            words = _("open: closed when idle for {days:,} days, deleted {days:,} days after that")
            return Fate((until + keep - self.now) / DAY, words.format(days=days))
        if conversation.tip.ended_at is None:
            return Fate(None, _("open: Hermes deletes ended sessions only"))
        return Fate(None, _("its age is not known, so Hermes never finds it old"))

    def soonest(self, catalog: Catalog) -> list[tuple[Conversation, Fate]]:
        """List the conversations that Hermes will delete, soonest first."""
        if self._keep is None:
            return []
        fates = ((each, self.fate(each)) for each in catalog.forest.chains())
        going = [
            (fate.prune_in_days, each.id, each, fate)
            for each, fate in fates
            if fate.prune_in_days is not None
        ]
        return [(each, fate) for *_, each, fate in sorted(going, key=lambda entry: entry[:2])]

    def closing(self, catalog: Catalog) -> list[str]:
        """List the ids of the open sessions of automation that Hermes would close now."""
        keep = self._keep
        if keep is None:
            return []
        spared = self._pinned(catalog.forest) | self.busy
        return sorted(
            session.id
            for session in catalog.forest.sessions.values()
            if session.id not in spared
            and (closes := self._closes(session, keep)) is not None
            and closes < self.now
        )

    def _pinned(self, forest: Forest) -> set[str]:
        """Return the ids that a pin surely protects; in 0.22 the pin of a segment also covers the
        segments after it."""
        if not self._since(_PINS):
            return set()
        pinned = {session.id for session in forest.sessions.values() if session.pinned}
        stack = [forest.sessions[each] for each in pinned] if self._since(_WHOLE_CHAINS) else []
        while stack:
            parent = stack.pop()
            for child in forest.children_of(parent.id):
                if child.id not in pinned and edge(child, parent) is Relation.CONTINUED:
                    pinned.add(child.id)
                    stack.append(child)
        return pinned


def read_radar(
    reader: Reader, config: Path | None, now: float, *, managed: Path | None = None, host: str = ""
) -> Radar:
    """Read what the predictions need: the configuration, the last clean-up, and the leases.

    `config` is the `config.yaml` of the store's home, if it has one; `now` is in Unix seconds;
    `managed` is from `hermes_settings.managed_config`; `host` names the machine of a store whose
    settings cannot be read.
    """
    schema = reader.schema
    beyond_reach = (
        ""
        if config is not None
        else _("Hermes does not open this file, so it deletes nothing in it")
    )
    if host:
        beyond_reach = _("what Hermes deletes there is set on {name}").format(name=host)
    retention = Retention() if config is None else read_retention(config, schema.version, managed)
    last: float | None = None
    if not beyond_reach and "state_meta" in schema.tables:
        stored = as_text(reader.value("SELECT value FROM state_meta WHERE key = 'last_auto_prune'"))
        last = as_time(stored) if stored else None
    interval = (retention.min_interval_hours or 0) * HOUR
    return Radar(
        retention=retention,
        now=now,
        next_run=max(now, last + interval) if last is not None else now,
        schema_version=schema.version,
        can_pin="pinned" in schema.session_columns,
        beyond_reach=beyond_reach,
        busy=read_busy(reader, now),
    )
