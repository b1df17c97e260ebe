"""What Hermes does with old sessions by itself: its `config.yaml`, and the defaults of its versions.

Loaded only where it is needed: importing PyYAML takes about 15 ms.

Hermes reads the file with PyYAML, the C reader where there is one (0.19 `utils.fast_safe_load`), puts environment
variables in for `${NAME}` afterwards, and goes on with its defaults when the file is broken. What depends on any of
that, or on which of two equal keys counts, is "cannot tell" here.
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
"""A larger file is no configuration, and would take PyYAML many seconds to read."""
_DEEPEST = 100
"""Collections inside of each other."""
_MOST = 1e9
"""The largest number that is taken for days or hours."""


class _UnclearError(Exception):
    """Something in the file is not understood here; the text says what."""


class Block(NamedTuple):
    """What one file says about sessions."""

    values: dict[str, Value]
    unclear: frozenset[str] = frozenset()
    """Settings that are there, but in a form that is not read."""
    trouble: str = ""
    """Why nothing can be said at all; empty otherwise."""


def _items(events: Iterator[yaml.Event]) -> Iterator[list[yaml.Event]]:
    """Split what is inside of a collection into its items; ends with the collection.

    Raises:
        _UnclearError: Something is nested deeper than people write it; libyaml would need minutes for it.
    """
    item: list[yaml.Event] = []
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth < 0:
            return
        if depth > _DEEPEST:
            raise _UnclearError(_("it is nested too deeply"))
        item.append(event)
        if depth == 0:
            yield item
            item = []


def _pairs(events: Iterator[yaml.Event]) -> list[tuple[str, list[yaml.Event]]]:
    """Keys and values of a mapping; a key that is no text, or merges another mapping in, is an error.

    Raises:
        _UnclearError: There is such a key.
    """
    items = list(_items(events))
    found: list[tuple[str, list[yaml.Event]]] = []
    for (key, *rest), value in zip(items[::2], items[1::2], strict=True):
        if isinstance(key, yaml.ScalarEvent) and key.value == "<<" and key.implicit[0]:
            raise _UnclearError(_("it merges other blocks into itself"))
        found.append((key.value if isinstance(key, yaml.ScalarEvent) and not rest else "", value))
    return found


def _scalar(value: list[yaml.Event]) -> Value | None:
    """A plain number or truth value as PyYAML reads it (YAML 1.1); None for anything else."""
    event = value[0]
    if not isinstance(event, yaml.ScalarEvent) or event.tag is not None or not event.implicit[0]:
        return None
    try:
        found = yaml.safe_load(event.value)
    except (ValueError, yaml.YAMLError):  # an integer of thousands of digits, `0b`
        return None
    return found if isinstance(found, Value) and abs(found) <= _MOST else None


def _settings(text: str, name: str) -> Block:
    """The settings of a block, from the events of the YAML parser.

    Events instead of objects: aliases stay names, so that they cannot multiply; depth costs nothing, where the C
    reader crashes when it makes objects of what is nested too deeply; and keys that are there twice are seen.

    Raises:
        _UnclearError: The file is not understood.
        yaml.YAMLError: It is no YAML.
    """
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    next(events)  # the stream begins
    if isinstance(next(events), yaml.StreamEndEvent):
        return Block({})
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
        return Block({})
    head, *inside = blocks[0]
    if isinstance(head, yaml.ScalarEvent) and head.implicit[0] and head.value in ("", "~", "null", "Null", "NULL"):
        return Block({})
    if not isinstance(head, yaml.MappingStartEvent) or head.tag is not None or (head.flow_style and len(inside) > 1):
        raise _UnclearError(_("its block {name} is written in a form that is not read here").format(name=name))
    values: dict[str, Value] = {}
    unclear: set[str] = set()
    for key, value in _pairs(iter(inside)):
        read = _scalar(value)
        if read is None or key in values or key in unclear:
            unclear.add(key)
            values.pop(key, None)
        else:
            values[key] = read
    return Block(values, frozenset(unclear))


def read_block(path: Path, name: str = "sessions") -> Block:
    """Read the settings of one block of a `config.yaml`; a file or a block that is not there is an empty one.

    Args:
        path: The file.
        name: The block, a key at the top of the file.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            return Block({}, trouble=_("{path} is too large to be a configuration").format(path=path))
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Block({})
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else _("it is no UTF-8 text")
        return Block({}, trouble=_("{path} cannot be read: {reason}").format(path=path, reason=said))
    try:
        return _settings(text, name)
    except _UnclearError as unclear:
        reason = str(unclear)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        reason = _("line {number} is not valid YAML").format(number=line)
    return Block({}, trouble=_("{path} cannot be understood: {reason}").format(path=path, reason=reason))


@dataclass(frozen=True, slots=True)
class Retention:
    """What Hermes does with old sessions by itself; None means "cannot tell"."""

    auto_prune: bool | None = None
    """Hermes deletes ended sessions when it starts."""
    retention_days: int | None = None
    min_interval_hours: int | None = None
    """Hours between two such clean-ups."""
    vacuum_after_prune: bool | None = None
    auto_archive: bool | None = None
    auto_archive_days: float | None = None
    notes: tuple[str, ...] = ()
    """Sentences: why something cannot be told."""

    @property
    def sentence(self) -> str:
        """A short sentence for a header."""
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
    """Tell what Hermes does without a configuration, by the schema that its releases write.

    `auto_prune` is off up to 0.21.0 (schema 26) and on from 0.21.3 (30) to 0.22 (31), as read in the releases. The
    schemas between and beyond are not known.
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
    """Find the configuration an administrator sets over the user's (0.19 `managed_scope.py`); None without one."""
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
        schema_version: The store's, which tells the version of Hermes that wrote to it last.
        managed: The answer of `managed_config`; each setting in it wins over that in `config`.
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
