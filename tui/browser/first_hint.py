"""Three lines at the very first start: the keys one needs, and what is safe."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.wording import N_, _

from ..settings.keys.main_commands import MAIN, NEEDED
from ..settings.keys.pane_commands import LIST
from ..widgets.bindings import working

_SAFE = N_("Looking changes nothing. What you delete goes to the trash; u takes it back.")
_MORE = N_("? shows every key. The first key takes this hint away.")


class FirstHint(Static):
    """The keys in force, and two sentences."""

    def appear(self) -> None:
        """Show itself, with the keys in force."""
        needed = [each for each in (*MAIN, *LIST) if each.id in NEEDED]
        needed.sort(key=lambda command: NEEDED.index(command.id))
        keys = working(needed, self.screen.active_bindings)
        parts = [(f"{key.split()[0]} ", "bold $accent") for key, _command in keys]
        titles = [(f"{_(command.title)}  ", "") for _key, command in keys]
        first = [part for pair in zip(parts, titles, strict=True) for part in pair]
        self.display = True
        self.update(Content.assemble(*first, f"\n{_(_SAFE)}\n{_(_MORE)}"))
