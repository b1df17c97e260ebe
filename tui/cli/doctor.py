"""`doctor`: the findings of a check-up."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hermes.health import StoreProblem
from hermes_browse.store.wording import _, pgettext

from ..text.checkup import Checkup, examine, facts
from .command_context import CommandContext, Subcommand
from .output import fields, note, print_text, remedy_of, store_json


class DoctorCommand(Subcommand):
    """Print the findings of a check-up; the exit code is that of reading the store."""

    needs_files = True

    def run(self, context: CommandContext) -> int:
        checkup = examine(context.store.store, context.location)
        told = facts(checkup), checkup.problems
        context.give(_checkup_json(checkup), _print_checkup, *told)
        return checkup.exit_code


def _print_checkup(facts: Sequence[tuple[str, str]], problems: Sequence[StoreProblem]) -> None:
    line = _("{label}: {text}")
    for name, text in facts:
        print_text(line.format(label=name, text=text))
    for problem in problems:
        sentence = f"{problem.text} {remedy_of(problem)}".rstrip()
        note(line.format(label=pgettext("severity", problem.severity), text=sentence))


def _checkup_json(checkup: Checkup) -> Json:
    search, holders, rules = checkup.search, checkup.holders, checkup.rules
    retention: Json | None = None  # where Hermes deletes nothing by itself in this file
    if rules is not None and not rules.why_never:
        names = ("auto_prune", "retention_days", "vacuum_after_prune")
        retention = fields(rules.retention, *names)
    hermes = {"path": checkup.hermes, "version": checkup.hermes_version}
    return {
        "store": store_json(checkup.summary),
        "search": fields(search, "trigram", "indexed", "messages", fts5="fts"),
        "hermes": hermes if checkup.hermes else None,
        "retention": retention,
        "terminal": checkup.terminal,
        "holders": None if holders is None else [holder._asdict() for holder in holders],
        "disk": {"free_bytes": checkup.free},
        "files": {"configuration": str(checkup.configuration.path), "log": str(checkup.log)},
        "problems": [
            fields(problem, "severity", "code", "text") | {"remedy": remedy_of(problem)}
            for problem in checkup.problems
        ],
    }
