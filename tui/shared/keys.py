"""The line of keys at the bottom, from the bindings.

Textual's footer is a widget for each key, composed and styled twice while the screen starts: that takes as
long as everything else on it. This is one line of text; a click on a key is the key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.events import Click, Resize
from textual.screen import Screen

from hermes_browse.store.wording import _

from .lines import TextLine


class _Key(NamedTuple):
    """One key of the line."""

    binding: Binding
    key: str
    """As it is printed on a keyboard."""
    enabled: bool

    @property
    def is_help(self) -> bool:
        """Whether it opens the help of its screen."""
        return self.binding.action in ("help", "do('help')")

    @property
    def width(self) -> int:
        """Cells it takes."""
        return cell_len(self.key) + cell_len(_(self.binding.description)) + 3

    def parts(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Texts with their styles."""
        dim = "" if self.enabled else " dim"
        return (f" {self.key}", f"bold $footer-key-foreground{dim}"), (f" {_(self.binding.description)} ", dim.strip())


class KeyLine(TextLine):
    """Keys and what they do, for the pane that has the focus."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys: list[_Key] = []

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.call_after_refresh(self._tell)

    def on_resize(self, event: Resize) -> None:
        """As many keys as there is room for."""
        self._tell()

    def _tell(self) -> None:
        if not self.is_attached:  # its screen has been left meanwhile
            return
        active: dict[str, ActiveBinding] = {}
        for each in self.screen.active_bindings.values():
            if each.binding.show:
                active.setdefault(each.binding.action, each)
        keys = [_Key(each.binding, self._printed(each.binding), each.enabled) for each in active.values()]
        enter = self._enter
        if enter is not None and enter.key_display:
            keys.insert(0, _Key(enter, "Enter", enabled=True))
        room = self.size.width - sum(key.width for key in keys if key.is_help)
        shown: list[_Key] = []
        for key in keys:  # the help, which has the others, always has its place
            if not key.is_help:
                room -= key.width
            if room >= 0 or key.is_help:
                shown.append(key)
        if shown == self._keys:
            return
        self._keys = shown
        self.update(Content.assemble(*(part for key in shown for part in key.parts())))

    @property
    def _enter(self) -> Binding | None:
        """The binding of Enter in the focused pane; it has a key to print if it depends on the row under the cursor."""
        enter = self.screen.active_bindings.get("enter")
        title = getattr(self.screen.focused, "enter_title", "")
        if enter is None or not title:
            return enter.binding if enter is not None else None
        return replace(enter.binding, description=title, key_display="Enter")

    def _printed(self, binding: Binding) -> str:
        """The key as it is printed; Enter only where Enter really does it in the pane that has the focus."""
        enter = self._enter
        if binding.key_display == "Enter" and (enter is None or enter.description != binding.description):
            binding = replace(binding, key_display=None)
        return self.app.get_key_display(binding)

    def on_click(self, event: Click) -> None:
        """A click on a key presses it."""
        event.stop()
        column = event.x
        for key in self._keys:
            if 0 <= column < key.width:
                self.app.simulate_key(key.binding.key)
            column -= key.width
