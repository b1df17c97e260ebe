"""What Hermes does with old sessions by itself: its `config.yaml`, and the defaults of its versions."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from ..wording import _
from .yaml_block import Value, read_block


@dataclass(frozen=True, slots=True)
class Retention:
    """What Hermes does with old sessions by itself; None is "cannot tell"."""

    auto_prune: bool | None = None
    """Deletes ended sessions at its start."""
    retention_days: int | None = None
    min_interval_hours: int | None = None
    """Between two such clean-ups."""
    vacuum_after_prune: bool | None = None
    auto_archive: bool | None = None
    auto_archive_days: float | None = None
    notes: tuple[str, ...] = ()
    """Sentences: why something cannot be told."""

    @property
    def sentence(self) -> str:
        """In a few words, for a header."""
        if self.auto_prune is None:
            return _("cannot tell whether Hermes deletes old sessions")
        if not self.auto_prune:
            return _("Hermes deletes no sessions by itself")
        if self.retention_days is None:
            return _("Hermes deletes sessions that ended and have been idle for an unknown number of days")
        said = _("Hermes deletes sessions that ended and have been idle for {days:,} days")
        return said.format(days=self.retention_days)


_FLAGS = ("auto_prune", "vacuum_after_prune", "auto_archive")
_WHOLE = ("retention_days", "min_interval_hours")


def defaults_of(schema_version: int | None) -> Retention:
    """What Hermes does where its configuration is silent, by the schema its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in the releases; what
    lies between and beyond was never looked at.
    """
    known = Retention(None, 90, 24, True, False, 3.0)
    if schema_version is not None and schema_version <= 26:
        return replace(known, auto_prune=False)
    if schema_version in (30, 31):
        return replace(known, auto_prune=True)
    if schema_version is None:
        return Retention(notes=(_("What Hermes does by default with a store of unknown schema is not known."),))
    said = _("What Hermes does by default with a store of schema {version} is not known.")
    return Retention(notes=(said.format(version=schema_version),))


def managed_config() -> Path | None:
    """The configuration an administrator puts over that of the user (0.19 `managed_scope.py`); None without one."""
    named = os.environ.get("HERMES_MANAGED_DIR", "").strip()
    if named:
        folder = Path(named)
    elif sys.platform == "win32":
        return None
    else:
        folder = Path("/etc/hermes")
    return folder / "config.yaml" if folder.is_dir() else None


def read_retention(config: Path, schema_version: int | None, managed: Path | None = None) -> Retention:
    """What Hermes will do by itself, from its configuration and the defaults of its version.

    Args:
        config: The `config.yaml` in the home of the profile.
        schema_version: Of the store, which tells the version of Hermes that wrote to it last.
        managed: From `managed_config`; its settings win one by one.
    """
    found = defaults_of(schema_version)
    notes = list(found.notes)
    for path in (config, managed):
        if path is None:
            continue
        block = read_block(path)
        if block.trouble:
            return Retention(notes=(_("{words}.").format(words=block.trouble),))
        changes: dict[str, Value | None] = {}
        for name in (*_FLAGS, *_WHOLE, "auto_archive_days"):
            value = block.values.get(name)
            wanted: tuple[type, ...] = (bool,) if name in _FLAGS else (int,) if name in _WHOLE else (int, float)
            if name in block.unclear or (
                name in block.values and (type(value) not in wanted or (name not in _FLAGS and (value or 0) < 0))
            ):
                changes[name] = None
                unclear = _("sessions.{name} in {path} is written in a way that is not understood here.")
                notes.append(unclear.format(name=name, path=path))
            elif name in block.values:
                changes[name] = float(value) if name == "auto_archive_days" and value is not None else value
        found = replace(found, **changes)  # type: ignore[arg-type]  # each of its own type, looked at above
    if found.auto_prune is not None and defaults_of(schema_version).auto_prune is None:
        notes = notes[len(defaults_of(schema_version).notes) :]
    return replace(found, notes=tuple(notes))
