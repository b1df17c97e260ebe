"""The hint of the very first start."""

from __future__ import annotations

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
        lines = [Content()]
        for id in filter(keys.__contains__, NEEDED):
            title = f"{_(known[id].title)}  "
            named = Content.assemble((f"{keys[id]} ", "bold $accent"), title)
            if lines[-1].cell_length + named.cell_length > self.app.size.width:
                lines.append(Content())  # a key stands in the line of its title
            lines[-1] += named
        for id, sentence in (("undo", _SAFE), ("help", _MORE)):
            if id in keys:
                lines.append(Content(_(sentence, **{id: keys[id]})))
        self.display = True
        self.update(Content("\n").join(lines))
