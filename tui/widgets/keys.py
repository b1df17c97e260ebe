"""The footer: one line of text with the active keys, each of which can be clicked.

Textual's footer has a widget per key, composed and styled twice at the start, which takes as long
as the rest of the screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Input

from hermes_browse.store.wording import _

from ..settings.keys import Does
from .lines import TextLine, clicked

_REFUSED = Does("", "", "", "refuse").action
"""The action of commands that cannot be used where the footer is."""


class _Key(NamedTuple):
    binding: Binding
    key: str
    """As it is printed on a keyboard."""
    enabled: bool

    @property
    def is_always_shown(self) -> bool:
        """Whether it opens the help, which lists the others, or goes back."""
        return (self.binding.id or "").endswith("help") or self.binding.key == "escape"

    @property
    def width(self) -> int:
        return cell_len(self.key) + cell_len(_(self.binding.description)) + 3

    def content(self) -> Content:
        dim = "" if self.enabled else "dim"
        text = Content.assemble(
            (f" {self.key}", f"bold $footer-key-foreground {dim}"),
            (f" {_(self.binding.description)} ", dim),
        )
        return text.stylize(clicked(f"app.simulate_key({self.binding.key!r})"))


class KeyLine(TextLine):
    """The keys of the focused pane and their titles.

    Args:
        more: Ids of commands that are shown as well if there is room left, in this order.
        withheld: Ids of those that are left out at first.
    """

    def __init__(
        self,
        more: Sequence[str] = (),
        withheld: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(id="keys")
        self._more = more
        self._withheld = withheld
        self._first: Sequence[str] = ()
        self._keys: list[_Key] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.call_after_refresh(self._update_keys)

    def withhold(self, commands: frozenset[str], first: Sequence[str] = ()) -> None:
        """Leave out commands, by their ids, that mean nothing for what is shown, and begin with
        others."""
        if (commands, first) != (self._withheld, self._first):
            self._withheld, self._first = commands, first
            self._update_keys()

    def on_resize(self, event: Resize) -> None:
        self._update_keys()

    def _update_keys(self) -> None:
        if not self.is_attached:  # its screen was closed meanwhile
            return
        bound = self.screen.active_bindings  # takes half a millisecond
        enter = self._enter(bound)
        withheld = self._withheld | getattr(self.screen.focused, "idle_commands", frozenset())
        active: dict[str, _Key] = {}
        hidden: dict[str | None, _Key] = {}
        for each in self._working(bound):
            binding, key = each.binding, self._key(each, enter)
            if binding.id in withheld and not key.is_always_shown:
                continue
            if binding.show:
                active.setdefault(binding.action, key)
            elif binding.action != _REFUSED:
                hidden[binding.id] = key
        keys = list(active.values())
        is_by_row = enter is not None and enter.key_display and enter.id not in withheld
        if enter is not None and is_by_row and enter.action not in active:
            keys.insert(0, _Key(enter, "Enter", enabled=True))
        first = [hidden[id] for id in self._first if id in hidden]
        more = [hidden[id] for id in self._more if id in hidden]
        by_need = sorted([*first, *keys, *more], key=lambda key: not key.is_always_shown)
        ends = accumulate(key.width for key in by_need)
        fitting = [key for key, end in zip(by_need, ends, strict=True) if end <= self.size.width]
        place = next((at for at, key in enumerate(keys) if key.is_always_shown), len(keys))
        keys[place:place] = more
        shown = [key for key in (*first, *keys) if key in fitting]
        if shown != self._keys:
            self._keys = shown
            self.update(Content("").join(key.content() for key in shown))

    def _working(self, bound: Mapping[str, ActiveBinding]) -> list[ActiveBinding]:
        """Return what keys do here: in a text field, where most are letters, its own and Escape."""
        field, every = self.screen.focused, list(bound.values())
        if not isinstance(field, Input):
            return every
        return [each for each in every if each.node is field or each.binding.key == "escape"]

    def _enter(self, bound: Mapping[str, ActiveBinding]) -> Binding | None:
        """Return the binding of Enter in the focused pane; with `key_display` if it depends on the
        row under the cursor."""
        if "enter" not in bound:
            return None
        binding = bound["enter"].binding
        title = getattr(self.screen.focused, "enter_title", "")
        return replace(binding, description=title, key_display="Enter") if title else binding

    def _key(self, bound: ActiveBinding, enter: Binding | None) -> _Key:
        """Return a key as printed; Enter only if it has this action in the focused pane."""
        binding = shown = bound.binding
        if binding.key_display == "Enter" and (
            enter is None or enter.description != binding.description
        ):
            shown = replace(binding, key_display=None)
        return _Key(binding, self.app.get_key_display(shown), bound.enabled)
