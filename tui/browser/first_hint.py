"""Three lines at the very first start: the keys one needs, and what is safe."""

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
        commands = [each for each in (*MAIN, *LIST) if each.id in _SHOWN]
        commands.sort(key=lambda command: _SHOWN.index(command.id))
        in_force = working(commands, self.screen.active_bindings)
        keys = {command.id: names.split()[0] for names, command in in_force}
        parts: list[tuple[str, str]] = []
        for command in commands:
            if command.id in keys and command.id in NEEDED:
                key, title = keys[command.id], _(command.title)
                parts += [(f"{key} ", "bold $accent"), (f"{title}  ", "")]
        for id, sentence in (("undo", _SAFE), ("help", _MORE)):
            if id in keys:
                parts.append(("\n" + _(sentence, **{id: keys[id]}), ""))
        self.display = True
        self.update(Content.assemble(*parts))
