"""`doctor`: check the store, its search index, Hermes and the terminal."""

from __future__ import annotations

from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.wording import _, pgettext

from ..doctor.checkup import examine, facts
from .advice import remedy_of
from .command_context import CommandContext, Subcommand
from .output import note, print_json, print_text, store_json


class DoctorCommand(Subcommand):
    """Print the findings of a check-up; the exit code is that of reading the store."""

    def run(self, context: CommandContext) -> int:
        checkup = examine(context.store, context.location)
        if not context.json:
            severities = {
                "error": pgettext("severity", "error"),
                "warning": pgettext("severity", "warning"),
                "info": pgettext("severity", "info"),
            }
            line = _("{label}: {text}")
            for name, text in facts(checkup):
                print_text(line.format(label=name, text=text))
            for each in checkup.problems:
                sentence = f"{each.text} {remedy_of(each)}".rstrip()
                note(line.format(label=severities.get(each.severity, each.severity), text=sentence))
            return checkup.exit_code
        search, holders = checkup.search, checkup.holders
        print_json(
            {
                "store": store_json(checkup.summary),
                "search": {
                    "fts5": search.fts,
                    "trigram": search.trigram,
                    "indexed": search.indexed,
                    "messages": search.messages,
                },
                "hermes": {"path": checkup.hermes, "version": checkup.hermes_version}
                if checkup.hermes
                else None,
                "retention": _retention_json(checkup.rules),
                "terminal": checkup.terminal,
                "holders": None if holders is None else [each._asdict() for each in holders],
                "disk": {"free_bytes": checkup.free},
                "files": {
                    "configuration": str(checkup.configuration.path),
                    "log": str(checkup.log),
                },
                "problems": [
                    {
                        "severity": each.severity,
                        "code": each.code,
                        "text": each.text,
                        "remedy": remedy_of(each),
                    }
                    for each in checkup.problems
                ],
            }
        )
        return checkup.exit_code


def _retention_json(rules: RetentionRules | None) -> Json | None:
    """Build the JSON of what Hermes deletes by itself; null if it deletes nothing in this file or
    none is read."""
    if rules is None or rules.why_never:
        return None
    retention = rules.retention
    return {
        "auto_prune": retention.auto_prune,
        "retention_days": retention.retention_days,
        "vacuum_after_prune": retention.vacuum_after_prune,
    }
