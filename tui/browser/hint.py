"""The hint of the very first start."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.wording import N_, _

from ..settings.keys.main_commands import LIST, MAIN, NEEDED
from ..widgets.bindings import working

_SHOWN = (*NEEDED, "help")
_SAFE = N_("Looking changes nothing. What you delete goes to the trash; {undo} takes it back.")
_MORE = N_("{help} shows every key. The first key takes this hint away.")


class FirstHint(Static):
    """The keys in force, and two sentences."""

    def appear(self) -> None:
        known = {command.id: command for command in (*MAIN, *LIST)}
        in_force = working((known[id] for id in _SHOWN), self.screen.active_bindings)
        keys = {command.id: names.split()[0] for names, command in in_force}
        parts: list[tuple[str, str]] = []
        room = width = self.app.size.width
        for id in filter(keys.__contains__, NEEDED):
            key, title = f"{keys[id]} ", f"{_(known[id].title)}  "
            room -= cell_len(key + title)
            if room < 0:  # a key stands in the line of its title
                parts.append(("\n", ""))
                room = width - cell_len(key + title)
            parts += [(key, "bold $accent"), (title, "")]
        for id, sentence in (("undo", _SAFE), ("help", _MORE)):
            if id in keys:
                parts.append(("\n" + _(sentence, **{id: keys[id]}), ""))
        self.display = True
        self.update(Content.assemble(*parts))
