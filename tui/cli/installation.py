"""`profiles`, `config` and `doctor`: what there is on this machine, how it is set, and whether it
works."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hermes_browse.store.amounts import size
from hermes_browse.store.api import open_store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError, StoreError
from hermes_browse.store.files import write_private
from hermes_browse.store.hermes.homes import Location, active_profile
from hermes_browse.store.wording import _, pgettext

from ..settings.keymap import known_commands, resolve_keymap, sample
from ..settings.keys import final_keys
from ..settings.options import OPTIONS, toml
from ..settings.read_config import config_path, read_config
from .command_context import CommandContext, Subcommand, give
from .output import (
    TableColumn,
    fields,
    note,
    print_table,
    print_text,
    remedy_of,
    store_json,
)
from .parser import Argument

if TYPE_CHECKING:
    from hermes_browse.store.hermes.health import StoreProblem

    from ..text.checkup import Checkup

# Profiles


class ProfilesCommand(Subcommand):
    """List the store of the root and those of its profiles."""

    needs_files = True

    def run(self, context: CommandContext) -> None:
        root = context.location.root
        if root is None:
            path = context.location.path
            raise RefusedError(
                _("{path} belongs to no Hermes root, so it has no profiles.", path=path),
                remedy=_("Name a root with --home."),
            )
        active = active_profile(root) or "default"
        profiles = [_profile_json(location, active) for location in context.location.profiles()]
        document = {"root": str(root), "active": active, "profiles": profiles}
        context.give(document, print_table, _PROFILES, profiles)


def _profile_json(location: Location, active: str) -> Json:
    """Build an entry of the document."""
    store = open_store(location)
    profile: Json = {
        "name": location.profile,
        "path": str(location.path),
        "active": location.profile == active,
        "sessions": None,
        "bytes": store.store.sizes()[0],
        "error": None,
    }
    try:
        with store:
            profile["sessions"] = store.summary().sessions
    except StoreError as problem:
        profile["error"] = problem.sentence
    return profile


_PROFILES = [
    TableColumn("profile", lambda row: f"{'*' if row['active'] else ' '} {row['name']}"),
    TableColumn("sessions", "sessions", True),
    TableColumn("size", "bytes", True, form=size),
    TableColumn("store", lambda row: row["error"] or row["path"], is_flexible=True),
]

# The configuration


class ConfigCommand(Subcommand):
    """Show or create the configuration file of the user."""

    takes_host = False

    arguments = (
        Argument(
            "what",
            "show the settings in effect (default) or the path, or write a commented sample; an existing file "
            "is never overwritten",
            nargs="?",
            choices=["show", "path", "init"],
            default="show",
        ),
    )

    def start(self, arguments: SimpleNamespace) -> int:
        """Run without a store."""
        path = config_path()
        if arguments.what == "show":
            _show(arguments)
        elif arguments.what == "path":
            give(
                arguments,
                {"path": str(path), "exists": os.path.exists(path)},
                print_text,
                str(path),
            )
        else:
            _write_sample(path)
            sentence = _("written: {path}", path=path)
            give(arguments, {"path": str(path), "written": True}, print_text, sentence)
        return 0


def _write_sample(path: Path) -> None:
    try:
        write_private(path, sample(), replace=False)
    except FileExistsError as error:
        sentence = _("{path} is there already and stays as it is.", path=path)
        raise RefusedError(sentence, remedy=_("Move it away for a fresh sample.")) from error
    except OSError as error:
        raise RefusedError(
            _("{path} could not be written: {reason}.", path=path, reason=error.strerror)
        ) from error


def _show(arguments: SimpleNamespace) -> None:
    configuration = read_config(config_path())
    (keymap, problems), options = resolve_keymap(configuration), configuration.options
    values = {option.name: getattr(options, option.name) for option in OPTIONS}
    commands = final_keys(known_commands(), keymap)
    keys = {key.id: list(dict.fromkeys(key.key_names)) for key in commands if key.id}
    path = str(configuration.path)
    document = {
        "path": path,
        "exists": configuration.exists,
        "options": values | {"surface": dict(options.surface)},
        "hosts": [host._asdict() for host in options.hosts],
        "keys": keys,
        "problems": [fields(problem, "line", "text", "remedy") for problem in problems],
    }
    give(arguments, document, _print_settings, document, values)
    for problem in () if arguments.json else problems:
        note(problem.sentence(path))


def _print_settings(document: Mapping[str, Any], values: Json) -> None:
    """Print settings as the file has them."""
    path = document["path"]
    missing = _("{path} (not there; `hermes-browse config init` writes a sample)", path=path)
    print_text(f"# {path if document['exists'] else missing}")
    for name, value in values.items():
        comment = _("{name}: as you left it", name=name)
        print_text(f"{name} = {toml(value)}" if value is not None else f"# {comment}")
    tables = [("[[hosts]]", host) for host in document["hosts"]]
    for head, table in [*tables, ("[keys]", document["keys"])]:
        print_text(f"\n{head}")
        for name, value in table.items():
            if value or head == "[keys]":
                print_text(f"{name} = {toml(value)}")


# The check-up


class DoctorCommand(Subcommand):
    """Print the findings of a check-up; the exit code is that of reading the store."""

    needs_files = True

    def run(self, context: CommandContext) -> int:
        from ..text.checkup import examine, facts  # start time: the other commands do without

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
