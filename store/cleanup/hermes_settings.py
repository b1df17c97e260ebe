"""Read from Hermes' `config.yaml`, and its defaults by version, what Hermes does with old sessions
by itself.

Import this module lazily: importing PyYAML takes about 15 ms.

Hermes reads the file with PyYAML too (0.19 `utils.fast_safe_load`), substitutes environment
variables for `${NAME}` afterwards, and uses its defaults if the file is broken. Whatever depends on
either of these is unknown here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..files import read_regular
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
        document = yaml.safe_load(read_regular(path, _MAX_BYTES).decode("utf-8-sig"))
        block = None if document is None else document.get("sessions")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, RecursionError, yaml.YAMLError):
        return None  # what Hermes makes of such a file is unknown here
    if block is None:
        return {}
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
        if self.auto_prune is False:
            return ""
        if self.vacuum_after_prune is None:
            return _("cannot tell whether it runs VACUUM after that")
        if self.vacuum_after_prune:
            return _("runs VACUUM after that, which makes the file smaller")
        return _("runs no VACUUM after that: the file keeps its size (vacuum_after_prune)")

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


def defaults_of(schema_version: int | None) -> Retention:
    """Return Hermes' defaults by the schema that its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in
    the releases. The defaults for schemas between and beyond are unknown. `vacuum_after_prune` is
    on from 0.13 on.
    """
    if schema_version is None or not (schema_version <= 26 or schema_version in (30, 31)):
        return Retention()
    return Retention(schema_version > 26, 90, 24, True)


def managed_config() -> Path | None:
    """Return the path of an administrator's configuration, if any (0.19 `managed_scope.py`)."""
    named = os.environ.get("HERMES_MANAGED_DIR", "").strip()
    if not named and sys.platform == "win32":
        return None
    folder = Path(named or "/etc/hermes")
    return folder / "config.yaml" if folder.is_dir() else None


def read_retention(
    config: Path, schema_version: int | None, managed: Path | None = None
) -> Retention:
    """Read what Hermes will do by itself, from its configuration and the defaults of its version.

    `schema_version` is that of the store, which tells the version of Hermes that wrote to it last.
    Settings in `managed`, from `managed_config`, override those in `config`, the `config.yaml` in
    the home of the profile.
    """
    retention = defaults_of(schema_version)
    for path in filter(None, (config, managed)):
        block = read_block(path)
        if block is None:
            return Retention()
        given = {name: read(block[name]) for name, read in _SETTINGS.items() if name in block}
        retention = retention._replace(**given)
    return retention


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole_number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MAX_NUMBER else None


_SETTINGS: dict[str, Callable[[object], Any]] = {
    "auto_prune": _flag,
    "retention_days": _whole_number,
    "min_interval_hours": _whole_number,
    "vacuum_after_prune": _flag,
}
