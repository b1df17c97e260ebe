"""Commands as Textual's bindings, which of them work where they are pressed, and the names of their
keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeVar

from textual.binding import ActiveBinding, Binding, BindingType
from textual.events import Key
from textual.keys import format_key

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..settings.keys import Command

Option = TypeVar("Option")
_NAMES = {
    "escape": "Esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "enter": "Enter",
    "space": "Space",
    "backspace": "Backspace",
    "insert": "Ins",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
    "delete": "Del",
}
"""Keys that are printed otherwise than by Textual's `format_key`."""


def bindings(commands: Iterable[Command]) -> list[BindingType]:
    """Return the bindings of a screen, a card or a widget, in the order of its table."""
    return [
        Binding(
            each.keys,
            each.action,
            each.title,
            show=each.footer,
            key_display=each.printed or None,
            priority=each.priority,
            tooltip=each.tooltip,
            id=each.id or None,
        )
        for each in commands
    ]


class BoundKeys:
    """A screen or a card: the keys of its commands are bound."""

    KEYS: ClassVar[tuple[Command, ...]] = ()
    """Its commands."""
    BINDINGS: ClassVar[list[BindingType]]

    def __init_subclass__(cls) -> None:
        if "KEYS" in vars(cls):
            cls.BINDINGS = bindings(cls.KEYS)
        super().__init_subclass__()

    def answer(self, text: str) -> None:
        """Answer a key with a printable sentence, where the user looks."""
        raise NotImplementedError


def _key_name(key: str) -> str:
    *before, last = key.split("+") if key != "+" else [key]
    name = _NAMES.get(last) or format_key(last)
    if (last[:1] == "f" and last[1:].isdigit()) or ("ctrl" in before and len(name) == 1):
        name = name.upper()
    return "+".join([*(each.capitalize() for each in before), name])


def key_names(keys: str) -> str:
    """Return the keys of a binding as printed on a keyboard: `Ctrl+R`, `F5`, `Space`, `Enter`,
    `Esc`, `q`."""
    return " ".join(map(_key_name, keys.split(",")))


def with_keys(
    commands: Iterable[Command], active: Mapping[str, ActiveBinding] | None = None
) -> list[tuple[str, Command]]:
    """Commands with their keys as they are printed; keys that do the same stand together.

    Args:
        commands: Tables, in the order in which they are wanted.
        active: What keys do where they are pressed, as Textual has it; commands without a key there
            are left out. None for the keys that commands have by default.
    """
    keys: dict[str, list[str]] = defaultdict(list)
    first: dict[str, Command] = {}
    for each in commands:
        first.setdefault(each.action, each)
        if active is None:
            keys[each.action] += each.key_names
    for key, entry in (active or {}).items():
        keys[entry.binding.action].append(key)
    return [(key_names(",".join(keys[name])), each) for name, each in first.items() if keys[name]]


def meaningless(event: Key) -> str:
    """Return a sentence about a letter or sign that does nothing here, empty for other keys."""
    if not event.is_printable:
        return ""
    return _(
        "{key} does nothing here · ? shows the keys", key=one_line(event.character or event.key, 20)
    )


def following(options: Iterable[Option], current: Option, by: int = 1) -> Option:
    """Return the option that a key steps to; the first one comes after the last."""
    every = list(options)
    return every[(every.index(current) + by) % len(every)]
