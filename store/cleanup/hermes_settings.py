"""Read from Hermes' `config.yaml`, and its defaults by version, what Hermes does with old sessions by itself.

Import this module lazily: importing PyYAML takes about 15 ms.

Hermes reads the file with PyYAML, with the C parser if available (0.19 `utils.fast_safe_load`), substitutes environment
variables for `${NAME}` afterwards, and uses its defaults if the file is broken. Whatever depends on any of that, or on
which of two equal keys counts, is unknown here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import yaml

from ..wording import _

Value = bool | int | float

_MOST_BYTES = 1_000_000
"""A larger file is no configuration; PyYAML would need many seconds to read it."""
_MAX_DEPTH = 100
"""Nested collections."""
_MOST = 1e9
"""The largest number accepted as days or hours."""


class SettingsBlock(NamedTuple):
    """The settings of one block of a file."""

    values: dict[str, Value]
    unclear: frozenset[str] = frozenset()
    """Settings in a form that is not supported."""


def _items(events: Iterator[yaml.Event]) -> Iterator[list[yaml.Event]]:
    """Yield the events of each item of a collection, up to its end.

    Raises:
        ValueError: It is nested deeper than people write; libyaml would need minutes for it.
    """
    item: list[yaml.Event] = []
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth < 0:
            return
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        item.append(event)
        if depth == 0:
            yield item
            item = []


def _pairs(events: Iterator[yaml.Event]) -> list[tuple[str, list[yaml.Event]]]:
    """Return the keys and values of a mapping; a key that is not a scalar is an empty text.

    Raises:
        ValueError: A key merges another mapping.
    """
    items = list(_items(events))
    pairs: list[tuple[str, list[yaml.Event]]] = []
    for (key, *rest), value in zip(items[::2], items[1::2], strict=True):
        if isinstance(key, yaml.ScalarEvent) and key.value == "<<" and key.implicit[0]:
            raise ValueError("a block merges others into itself")
        pairs.append((key.value if isinstance(key, yaml.ScalarEvent) and not rest else "", value))
    return pairs


def _scalar(value: list[yaml.Event]) -> Value | None:
    """Return a plain number or boolean as PyYAML reads it (YAML 1.1); None for anything else."""
    event = value[0]
    if not isinstance(event, yaml.ScalarEvent) or event.tag is not None or not event.implicit[0]:
        return None
    try:
        number = yaml.safe_load(event.value)
    except (ValueError, yaml.YAMLError):  # an integer of thousands of digits, `0b`
        return None
    return number if isinstance(number, Value) and abs(number) <= _MOST else None


def _parse_block(text: str) -> SettingsBlock:
    """Parse the block `sessions` from the events of the YAML parser.

    Events instead of objects, because aliases then cannot multiply, deep nesting does not crash the C parser, and
    duplicate keys are seen.

    Raises:
        ValueError: The file is not supported.
        yaml.YAMLError: It is not YAML.
    """
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    next(events)  # StreamStartEvent
    if isinstance(next(events), yaml.StreamEndEvent):
        return SettingsBlock({})
    if not isinstance(next(events), yaml.MappingStartEvent):
        raise ValueError("no mapping")
    top = _pairs(events)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            raise ValueError("several documents")
    blocks = [value for key, value in top if key == "sessions"]
    if len(blocks) > 1:
        raise ValueError("several blocks `sessions`")
    if not blocks:
        return SettingsBlock({})
    head, *inside = blocks[0]
    if isinstance(head, yaml.ScalarEvent) and head.implicit[0] and head.value in ("", "~", "null", "Null", "NULL"):
        return SettingsBlock({})
    if not isinstance(head, yaml.MappingStartEvent) or head.tag is not None or (head.flow_style and len(inside) > 1):
        raise ValueError("a block in a form that is not read here")
    values: dict[str, Value] = {}
    unclear: set[str] = set()
    for key, value in _pairs(iter(inside)):
        scalar = _scalar(value)
        if scalar is None or key in values or key in unclear:
            unclear.add(key)
            values.pop(key, None)
        else:
            values[key] = scalar
    return SettingsBlock(values, frozenset(unclear))


def read_block(path: Path) -> SettingsBlock | None:
    """Read the block `sessions` of a `config.yaml`; a missing file or block is an empty one.

    Returns:
        None for a file that cannot be read or is not supported.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return _parse_block(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return SettingsBlock({})
    except (OSError, ValueError, yaml.YAMLError):  # what Hermes makes of such a file is unknown here
        return None


@dataclass(frozen=True, slots=True)
class Retention:
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
            return _("Hermes deletes sessions that ended and have been idle for an unknown number of days")
        deletes = _("Hermes deletes sessions that ended and have been idle for {days:,} days")
        return deletes.format(days=self.retention_days)


_SETTINGS: dict[str, type] = {
    "auto_prune": bool,
    "retention_days": int,
    "min_interval_hours": int,
    "vacuum_after_prune": bool,
}


def defaults_of(schema_version: int | None) -> Retention:
    """Return Hermes' defaults by the schema that its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in the releases. The
    defaults for schemas between and beyond are unknown. `vacuum_after_prune` is on from 0.13 on.
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


def read_retention(config: Path, schema_version: int | None, managed: Path | None = None) -> Retention:
    """Read what Hermes will do by itself, from its configuration and the defaults of its version.

    `schema_version` is that of the store, which tells the version of Hermes that wrote to it last. Settings in
    `managed`, from `managed_config`, override those in `config`, the `config.yaml` in the home of the profile.
    """
    retention = defaults_of(schema_version)
    for path in filter(None, (config, managed)):
        block = read_block(path)
        if block is None:
            return Retention()
        for name, kind in _SETTINGS.items():
            if name in block.values or name in block.unclear:
                value = block.values.get(name)
                is_clear = type(value) is kind and (value or 0) >= 0
                retention = replace(retention, **{name: value if is_clear else None})  # type: ignore[arg-type]  # `kind`
    return retention
