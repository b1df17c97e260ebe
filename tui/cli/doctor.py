"""`doctor`: the findings of a check-up."""

from __future__ import annotations

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import StoreError
from hermes_browse.store.wording import pgettext

from ..terminal.logfile import log_path
from ..text.checkup import Checkup, examine, facts
from .command import StoreCommand
from .output import fields, labelled, note, print_text, remedy_of, store_json


class DoctorCommand(StoreCommand):
    """Print the findings of a check-up; the exit code is that of reading the store."""

    needs_files = True

    def run(self) -> int:
        checkup = examine(self.store.source, self.store.location)
        self.give(_checkup_json(checkup), _print_checkup, checkup)
        return 0 if checkup.rules else StoreError.exit_code


def _print_checkup(checkup: Checkup) -> None:
    print_text(*labelled(dict(facts(checkup))))
    for problem in checkup.problems:
        sentence = f"{problem.text} {remedy_of(problem)}".rstrip()
        note(*labelled({pgettext("severity", problem.severity): sentence}))


def _checkup_json(checkup: Checkup) -> Json:
    holders, rules = checkup.holders, checkup.rules
    retention: Json | None = None  # where Hermes deletes nothing by itself in this file
    if rules is not None and not rules.why_never:
        retention = fields(rules.retention, "auto_prune retention_days vacuum_after_prune")
    hermes = fields(checkup, "path=hermes version=hermes_version")
    return {
        "store": store_json(checkup.summary),
        "search": fields(checkup.search, "trigram indexed messages fts5=fts"),
        "hermes": hermes if checkup.hermes else None,
        "retention": retention,
        "terminal": checkup.terminal,
        "holders": None if holders is None else [holder._asdict() for holder in holders],
        "disk": {"free_bytes": checkup.free},
        "files": {"configuration": str(checkup.configuration.path), "log": str(log_path())},
        "problems": [
            fields(problem, "severity code text") | {"remedy": remedy_of(problem)}
            for problem in checkup.problems
        ],
    }
