"""Commands as Textual's bindings, and as rows of the help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType

from hermes_browse.store.wording import _

from .commands import Command
from .shared.key_names import key_names


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


def help_rows(commands: Iterable[Command], keymap: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Return keys and what they do, with the user's own keys by command id; keys with the same action share a row."""
    rows: dict[str, tuple[list[str], str]] = {}
    for each in commands:
        keys = (keymap or {}).get(each.id, each.keys)
        rows.setdefault(each.action, ([], _(each.help)))[0].append(key_names(keys))
    return [(" ".join(keys), text) for keys, text in rows.values()]
