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


class _UnclearError(Exception):
    """A part of the file is not supported here; the message says which."""


class SettingsBlock(NamedTuple):
    """The settings of one block of a file."""

    values: dict[str, Value]
    unclear: frozenset[str] = frozenset()
    """Settings in a form that is not supported."""
    trouble: str = ""
    """Why the file cannot be read; empty otherwise."""


def _items(events: Iterator[yaml.Event]) -> Iterator[list[yaml.Event]]:
    """Yield the events of each item of a collection, up to its end.

    Raises:
        _UnclearError: It is nested deeper than people write; libyaml would need minutes for it.
    """
    item: list[yaml.Event] = []
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth < 0:
            return
        if depth > _MAX_DEPTH:
            raise _UnclearError(_("it is nested too deeply"))
        item.append(event)
        if depth == 0:
            yield item
            item = []


def _pairs(events: Iterator[yaml.Event]) -> list[tuple[str, list[yaml.Event]]]:
    """Return the keys and values of a mapping; a key that is not a scalar is an empty text.

    Raises:
        _UnclearError: A key merges another mapping.
    """
    items = list(_items(events))
    pairs: list[tuple[str, list[yaml.Event]]] = []
    for (key, *rest), value in zip(items[::2], items[1::2], strict=True):
        if isinstance(key, yaml.ScalarEvent) and key.value == "<<" and key.implicit[0]:
            raise _UnclearError(_("it merges other blocks into itself"))
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


def _parse_block(text: str, name: str) -> SettingsBlock:
    """Parse the settings of a block from the events of the YAML parser.

    Events instead of objects, because aliases then cannot multiply, deep nesting does not crash the C parser, and
    duplicate keys are seen.

    Raises:
        _UnclearError: The file is not supported.
        yaml.YAMLError: It is not YAML.
    """
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    next(events)  # StreamStartEvent
    if isinstance(next(events), yaml.StreamEndEvent):
        return SettingsBlock({})
    if not isinstance(next(events), yaml.MappingStartEvent):
        raise _UnclearError(_("it is no list of settings"))
    top = _pairs(events)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            raise _UnclearError(_("it holds several documents"))
    blocks = [value for key, value in top if key == name]
    if len(blocks) > 1:
        raise _UnclearError(_("it has several blocks named {name}").format(name=name))
    if not blocks:
        return SettingsBlock({})
    head, *inside = blocks[0]
    if isinstance(head, yaml.ScalarEvent) and head.implicit[0] and head.value in ("", "~", "null", "Null", "NULL"):
        return SettingsBlock({})
    if not isinstance(head, yaml.MappingStartEvent) or head.tag is not None or (head.flow_style and len(inside) > 1):
        raise _UnclearError(_("its block {name} is written in a form that is not read here").format(name=name))
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


def read_block(path: Path) -> SettingsBlock:
    """Read the block `sessions` of a `config.yaml`; a missing file or block is an empty one."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return SettingsBlock({}, trouble=_("{path} is too large to be a configuration").format(path=path))
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return SettingsBlock({})
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else _("it is no UTF-8 text")
        return SettingsBlock({}, trouble=_("{path} cannot be read: {reason}").format(path=path, reason=reason))
    try:
        return _parse_block(text, "sessions")
    except _UnclearError as unclear:
        reason = str(unclear)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        reason = _("line {number} is not valid YAML").format(number=line)
    return SettingsBlock({}, trouble=_("{path} cannot be understood: {reason}").format(path=path, reason=reason))


@dataclass(frozen=True, slots=True)
class Retention:
    """What Hermes does with old sessions by itself; None means unknown."""

    auto_prune: bool | None = None
    """Hermes deletes ended sessions when it starts."""
    retention_days: int | None = None
    min_interval_hours: int | None = None
    """Hours between two such clean-ups."""
    vacuum_after_prune: bool | None = None
    auto_archive: bool | None = None
    auto_archive_days: float | None = None
    notes: tuple[str, ...] = ()
    """Sentences why something is unknown."""

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


_FLAGS = ("auto_prune", "vacuum_after_prune", "auto_archive")
_WHOLE = ("retention_days", "min_interval_hours")


def defaults_of(schema_version: int | None) -> Retention:
    """Return Hermes' defaults by the schema that its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in the releases. The
    defaults for schemas between and beyond are unknown.
    """
    defaults = Retention(None, 90, 24, True, False, 3.0)
    if schema_version is None:
        return Retention(notes=(_("What Hermes does by default with a store of unknown schema is not known."),))
    if schema_version <= 26:
        return replace(defaults, auto_prune=False)
    if schema_version in (30, 31):
        return replace(defaults, auto_prune=True)
    note = _("What Hermes does by default with a store of schema {version} is not known.")
    return Retention(notes=(note.format(version=schema_version),))


def managed_config() -> Path | None:
    """Return the path of an administrator's configuration, if any (0.19 `managed_scope.py`)."""
    named = os.environ.get("HERMES_MANAGED_DIR", "").strip()
    if named:
        folder = Path(named)
    elif sys.platform == "win32":
        return None
    else:
        folder = Path("/etc/hermes")
    return folder / "config.yaml" if folder.is_dir() else None


def read_retention(config: Path, schema_version: int | None, managed: Path | None = None) -> Retention:
    """Read what Hermes will do by itself, from its configuration and the defaults of its version.

    Args:
        config: The `config.yaml` in the home of the profile.
        schema_version: Of the store; it tells the version of Hermes that wrote to it last.
        managed: Result of `managed_config`; its settings override those in `config`.
    """
    defaults = retention = defaults_of(schema_version)
    notes: list[str] = []
    for path in (config, managed):
        if path is None:
            continue
        block = read_block(path)
        if block.trouble:
            return Retention(notes=(_("{words}.").format(words=block.trouble),))
        changes: dict[str, Value | None] = {}
        for name in (*_FLAGS, *_WHOLE, "auto_archive_days"):
            value = block.values.get(name)
            types: tuple[type, ...] = (bool,) if name in _FLAGS else (int,) if name in _WHOLE else (int, float)
            if name in block.unclear or (
                name in block.values and (type(value) not in types or (name not in _FLAGS and (value or 0) < 0))
            ):
                changes[name] = None
                unclear = _("sessions.{name} in {path} is written in a way that is not understood here.")
                notes.append(unclear.format(name=name, path=path))
            elif name in block.values:
                changes[name] = float(value) if name == "auto_archive_days" and value is not None else value
        retention = replace(retention, **changes)  # type: ignore[arg-type]  # types are checked above
    if retention.auto_prune is None:
        notes[:0] = defaults.notes
    return replace(retention, notes=tuple(notes))
