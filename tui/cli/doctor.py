"""`doctor`: the store, its search index, Hermes and the terminal, and what is wrong with them."""

from __future__ import annotations

from hermes_browse.store.wording import _, pgettext

from ..checkup import examine, facts
from .context import Command, Context
from .output import note, print_json, print_text, store_json


class DoctorCommand(Command):
    """Look at everything; fails as reading the store does."""

    def run(self, context: Context) -> int:
        found = examine(context.store, context.location)
        if not context.json:
            severities = {
                "error": pgettext("severity", "error"),
                "warning": pgettext("severity", "warning"),
                "info": pgettext("severity", "info"),
            }
            line = _("{label}: {text}")
            for name, text in facts(found):
                print_text(line.format(label=name, text=text))
            for each in found.problems:
                told = f"{each.text} {each.remedy}".rstrip()
                note(line.format(label=severities.get(each.severity, each.severity), text=told))
            return found.exit_code
        search, held = found.search, found.holders
        print_json(
            {
                "store": store_json(found.summary),
                "search": {
                    "fts5": search.fts,
                    "trigram": search.trigram,
                    "indexed": search.indexed,
                    "messages": search.messages,
                },
                "hermes": {"path": found.hermes, "version": found.hermes_version} if found.hermes else None,
                "terminal": found.terminal,
                "holders": None if held is None else [each._asdict() for each in held],
                "disk": {"free_bytes": found.free},
                "files": {"configuration": str(found.configuration.path), "log": str(found.log)},
                "problems": [
                    {"severity": each.severity, "code": each.code, "text": each.text, "remedy": each.remedy}
                    for each in found.problems
                ],
            }
        )
        return found.exit_code
