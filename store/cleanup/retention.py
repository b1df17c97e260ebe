"""What Hermes itself does with old sessions: read from its `config.yaml` and its defaults by version;
when it will delete a conversation, and what protects that.

Since 0.21.3 Hermes deletes, when it starts, sessions that ended and have been idle for
`retention_days`, archived ones too. It closes open sessions of automation that have been idle for
as long, and deletes them the same time after that. A pin protects; archiving does not. All
thresholds below were observed in runs of 0.19, 0.20.0, 0.20.1, 0.20.4, 0.20.5, 0.20.6, 0.21.0,
0.21.3, 0.21.4, 0.21.5 and 0.22.2. Their schemas are 22 (0.19), 25 (0.20.0), 26 (up to 0.21.0), 30
(up to 0.21.5) and 31 (0.22).

Hermes reads the file with PyYAML too (0.19 `utils.fast_safe_load`), substitutes environment
variables for `${NAME}` afterwards, and uses its defaults if the file is broken. Whatever depends on
either of these is unknown here. Import this module lazily: importing PyYAML takes about 15 ms.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..amounts import DAY, HOUR
from ..connection.reader import Reader
from ..connection.stored_values import as_time
from ..files import read_regular
from ..hermes.homes import Location
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation, Session
from ..wording import _

_MAX_BYTES = 250_000
"""A larger file is no configuration: Hermes' own defaults (0.19) are 15 KB. PyYAML reads about 300
KB in a second."""
_MAX_NUMBER = 1e9
"""The largest number accepted as days or hours."""


def read_block(path: Path) -> dict[str, object] | None:
    """Read the block `sessions` of a `config.yaml`; a missing file or block is an empty one.

    Returns:
        Values by setting; None for a file that cannot be read, or has no such form.
    """
    try:
        document = yaml.safe_load(read_regular(path, _MAX_BYTES).decode("utf-8-sig")) or {}
        block = document.get("sessions") or {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, RecursionError, yaml.YAMLError):
        return None  # what Hermes makes of such a file is unknown here
    return block if isinstance(block, dict) else None


class Retention(NamedTuple):
    """What Hermes does with old sessions by itself; None means unknown."""

    auto_prune: bool | None = None
    """Hermes deletes ended sessions when it starts."""
    retention_days: int | None = None
    min_interval_hours: int | None = None
    """Hours between two such clean-ups."""
    vacuum_after_prune: bool | None = None
    """Hermes then runs VACUUM, which makes the file smaller."""

    @property
    def vacuum_sentence(self) -> str:
        """What becomes of the file after a clean-up; empty if Hermes makes none."""
        words = {
            None: _("cannot tell whether it runs VACUUM after that"),
            True: _("runs VACUUM after that, which makes the file smaller"),
            False: _("runs no VACUUM after that: the file keeps its size (vacuum_after_prune)"),
        }
        return "" if self.auto_prune is False else words[self.vacuum_after_prune]

    @property
    def sentence(self) -> str:
        """A short summary for a header."""
        if self.auto_prune is None:
            return _("cannot tell whether Hermes deletes old sessions")
        if not self.auto_prune:
            return _("Hermes deletes no sessions by itself")
        if self.retention_days is None:
            return _(
                "Hermes deletes sessions that ended and have been idle for an unknown number of days"
            )
        return _(
            "Hermes deletes sessions that ended and have been idle for {days:,} days",
            days=self.retention_days,
        )


_USUAL = Retention(True, 90, 24, True)
"""The newest defaults; they tell of what type each setting is."""


def defaults_of(schema_version: int | None) -> Retention:
    """Return Hermes' defaults by the schema that its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in
    the releases. The defaults for schemas between and beyond are unknown. `vacuum_after_prune` is
    on from 0.13 on.
    """
    if schema_version is None or not (schema_version <= 26 or schema_version in (30, 31)):
        return Retention()
    return _USUAL._replace(auto_prune=schema_version > 26)


def managed_config() -> Path | None:
    """Return the path of an administrator's configuration, if any (0.19 `managed_scope.py`)."""
    folder = Path(os.environ.get("HERMES_MANAGED_DIR", "").strip() or "/etc/hermes")
    return folder / "config.yaml" if folder.is_dir() else None


def read_retention(
    config: Path, schema_version: int | None, managed: Path | None = None
) -> Retention:
    """Read what Hermes will do by itself, from its configuration and the defaults of its version.

    `schema_version` is that of the store, which tells the version of Hermes that wrote to it last.
    Settings in `managed`, from `managed_config`, override those in `config`, the `config.yaml` in
    the home of the profile.
    """
    raw: dict[str, object] = {}
    for path in filter(None, (config, managed)):
        block = read_block(path)
        if block is None:
            return Retention()
        raw |= block
    usual = _USUAL._asdict().items()
    read = {name: _checked(raw[name], like) for name, like in usual if name in raw}
    return defaults_of(schema_version)._replace(**read)


def _checked(value: Any, like: object) -> Any:
    """Return the value of a setting; None for one of another type, or a number out of all bounds."""
    is_of_type = type(value) is type(like)  # True is no number of days
    return value if is_of_type and 0 <= value <= _MAX_NUMBER else None


REAPED_SOURCES = frozenset(
    ["cli", "cron", "kanban", "acp", "api_server", "subagent", "tool", "recovered"]
)
"""Sources whose open sessions Hermes closes after a long idle time (0.22
`_AUTO_PRUNE_STALE_OPEN_SOURCES`)."""

REAPED = "startup_orphan_reap"
"""The `end_reason` of sessions that Hermes closed; their age counts from then."""
_BY_ACTIVITY, _REAPS, _WHOLE_CHAINS = 25, 30, 31
"""First schemas whose Hermes counts the age of a session from its last activity, not its start;
closes stale open ones, and surely spares pins (0.20.5 does, 0.20.4 does not, and both write schema
26); and keeps earlier segments as long as a later one."""


class Forecast(NamedTuple):
    """What Hermes will do with a conversation."""

    prune_in_days: float | None
    """Days until it deletes it, or its first segment: 0 at its next start, None if never or unknown."""
    reason: str


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """The rules by which the Hermes of a store deletes; reads nothing itself."""

    retention: Retention
    now: float
    next_run: float
    """Unix seconds of Hermes' earliest next clean-up, at an interval after the last one."""
    schema_version: int
    """0 if unknown."""
    can_pin: bool
    """The store has pins; without them only a copy in the trash saves a conversation."""
    why_never: str = ""
    """Why Hermes deletes nothing in this file; empty for a store that Hermes uses."""

    @property
    def pins_hold(self) -> bool:
        """Whether a pin surely saves a conversation. Archiving does not save it."""
        return self.can_pin and self._reaps

    @property
    def _reaps(self) -> bool:
        return self.schema_version >= _REAPS

    def forecast(self, conversation: Conversation) -> Forecast:
        """Predict when Hermes deletes a conversation, or why it does not."""
        tip, days = conversation.tip, self.retention.retention_days
        if self.why_never or not self.retention.auto_prune or days is None:
            return Forecast(None, self.why_never or self.retention.sentence)
        keep = days * DAY
        # The segments by whose age Hermes deletes, without those that a pin protects.
        segments: Sequence[Session] = conversation.segments
        if self.schema_version >= _WHOLE_CHAINS:
            segments = () if conversation.pinned else (tip,)
        elif self._reaps:
            segments = [each for each in segments if not each.pinned]
        if not segments:
            return Forecast(None, _("pinned: Hermes does not delete it"))
        ends = [at for segment in segments if (at := self._ends(segment)) is not None]
        idle = self._closes_after(tip) if segments[-1] == tip else None
        if ends:
            at = max(min(ends) + keep, self.next_run)
            reason = self._why_due(conversation)
        elif idle is not None:
            at = max(idle + keep, self.next_run) + keep
            reason = _(
                "open: closed when idle for {days:,} days, deleted {days:,} days after that",
                days=days,
            )
        elif tip.ended_at is None:
            return Forecast(None, _("open: Hermes deletes ended sessions only"))
        else:
            return Forecast(None, _("its age is not known, so Hermes never finds it old"))
        return Forecast((at - self.now) / DAY, reason)

    def _ends(self, session: Session) -> float | None:
        """Return the Unix seconds from which the age of an ended session counts; None for an open
        one or one without times."""
        age_from = (
            session.last_active if self.schema_version >= _BY_ACTIVITY else session.started_at
        )
        if session.ended_at is None or age_from is None:
            return None
        is_reaped = self._reaps and session.end_reason == REAPED
        return max(age_from, session.ended_at) if is_reaped else age_from

    def _closes_after(self, session: Session) -> float | None:
        """Return the Unix seconds from which the idleness of an open session of automation counts;
        None for all others, which Hermes does not close."""
        is_reaped = self._reaps and session.source in REAPED_SOURCES and session.ended_at is None
        if not is_reaped or session.started_at is None or session.last_active is None:
            return None
        return max(session.started_at, session.last_active)

    def _why_due(self, conversation: Conversation) -> str:
        is_one = self.schema_version >= _WHOLE_CHAINS or len(conversation.segments) == 1
        words = {
            (True, True): _("ended: deleted {days:,} days after its last activity"),
            (True, False): _("ended: deleted {days:,} days after its start"),
            (False, True): _("its parts ended: deleted {days:,} days after its last activity"),
            (False, False): _("its parts ended: deleted {days:,} days after its start"),
        }[is_one, self.schema_version >= _BY_ACTIVITY]
        reason = words.format(days=self.retention.retention_days)
        if not conversation.pinned or self._reaps:
            return reason
        return _(
            "{reason}; its pin may not hold: Hermes up to 0.20.4 deletes pinned ones, too",
            reason=reason,
        )

    def deletions(self, catalog: Catalog) -> list[tuple[Conversation, float, str]]:
        """List the conversations that Hermes will delete, soonest first, each with the days until
        then, and why."""
        forecasts = ((each, *self.forecast(each)) for each in catalog.conversations())
        going = [(each, days, reason) for each, days, reason in forecasts if days is not None]
        return sorted(going, key=lambda one: (one[1], one[0].id))


def retention_rules_at(reader: Reader, location: Location, now: float) -> RetentionRules:
    """Read what the predictions need: the configuration in the store's home, and the last clean-up.
    `now` is in Unix seconds."""
    schema = reader.schema
    retention, why_never, last = Retention(), "", 0.0
    if location.host is not None:
        why_never = _("what Hermes deletes there is set on {name}", name=location.host.name)
    elif location.root is None:
        why_never = _("Hermes does not open this file, so it deletes nothing in it")
    else:
        # The sample is the same on every machine.
        managed = None if location.demo else managed_config()
        retention = read_retention(location.path.parent / "config.yaml", schema.version, managed)
        if "state_meta" in schema.tables:
            stored = "SELECT value FROM state_meta WHERE key = 'last_auto_prune'"
            last = as_time(reader.value(stored)) or 0.0
    interval = (retention.min_interval_hours or 0) * HOUR
    return RetentionRules(
        retention=retention,
        now=now,
        next_run=max(now, last + interval),
        schema_version=schema.version or 0,
        can_pin="pinned" in schema.session_columns,
        why_never=why_never,
    )
