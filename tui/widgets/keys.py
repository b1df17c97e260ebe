"""The footer: one line of text with the active keys, each of which can be clicked.

Textual's footer has a widget per key, composed and styled twice at the start, which takes as long
as the rest of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from hermes_browse.store.wording import _

from ..settings.keys import Does
from .lines import TextLine, clicked

_REFUSED = Does("", "", "", "refuse").action
"""The action of commands that cannot be used where the footer is."""
_SHOWN, _END = "shown", "end"
"""Groups of the line: first the keys in the order of the bindings; at the end the help, Esc, and what
follows them."""


class _Key(NamedTuple):
    binding: Binding
    key: str
    """As it is printed on a keyboard."""

    @property
    def is_always_shown(self) -> bool:
        """Whether it opens the help, which lists the others, or goes back."""
        return (self.binding.id or "").endswith("help") or self.binding.key == "escape"

    @property
    def width(self) -> int:
        return cell_len(self.key) + cell_len(_(self.binding.description)) + 3

    def content(self) -> Content:
        text = Content.assemble(
            (f" {self.key}", "bold $footer-key-foreground"), f" {_(self.binding.description)} "
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

    def _bindings_changed(self, _screen: Screen[object]) -> None:
        self.call_after_refresh(self._update_keys)

    def withhold(self, commands: frozenset[str], first: Sequence[str] = ()) -> None:
        """Leave out commands, by their ids, that mean nothing for what is shown, and begin with
        others."""
        if (commands, first) != (self._withheld, self._first):
            self._withheld = commands
            self._first = first
            self._update_keys()

    def on_resize(self) -> None:
        self._update_keys()

    def _update_keys(self) -> None:
        if not self.is_attached:  # its screen was closed meanwhile
            return
        bound = self.screen.active_bindings  # half a millisecond
        focused = self.screen.focused
        withheld = self._withheld | getattr(focused, "idle_commands", frozenset())
        order = [*self._first, _SHOWN, *self._more, _END]
        on_enter = getattr(focused, "enter_title", "")
        keys: dict[str, tuple[int, _Key]] = {}
        group = _SHOWN
        for each in sorted(bound.values(), key=lambda each: each.binding.key != "enter"):
            binding = each.binding
            if isinstance(focused, Input) and each.node is not focused and binding.key != "escape":
                continue  # a letter there
            if binding.key == "enter" and on_enter:  # it depends on the row under the cursor
                binding = replace(binding, description=on_enter, show=True)
            key = _Key(binding, self.app.get_key_display(binding))
            if binding.show and key.is_always_shown:
                group = _END
            place = group if binding.show else binding.id
            is_withheld = binding.id in withheld and not key.is_always_shown
            if place in order and not is_withheld and binding.action != _REFUSED:
                keys.setdefault(binding.action, (order.index(place), key))
        shown = [key for _place, key in sorted(keys.values(), key=itemgetter(0))]

        def need(key: _Key) -> tuple[bool, bool]:
            return not key.is_always_shown, key.binding.id in self._more

        by_need = sorted(shown, key=need)
        ends = accumulate(key.width for key in by_need)
        fitting = [key for key, end in zip(by_need, ends, strict=True) if end <= self.size.width]
        shown = [key for key in shown if key in fitting]
        if shown != self._keys:
            self._keys = shown
            self.update(Content("").join(key.content() for key in shown))
