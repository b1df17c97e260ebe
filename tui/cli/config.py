"""`config`: show the path of the configuration, its values and its problems, or write a sample."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.files import write_private
from hermes_browse.store.wording import _

from ..settings.keymap import known_commands, resolve_keymap, sample
from ..settings.keys import final_keys
from ..settings.options import OPTIONS, toml
from ..settings.read_config import config_path, read_config
from .command_context import Subcommand
from .output import (
    fields,
    note,
    print_json,
    print_text,
)
from .parser import Argument


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
            _show(as_json=arguments.json)
            return 0
        document: Json = {"path": str(path), "exists": path.exists()}
        text = str(path)
        if arguments.what == "init":
            _write_sample(path)
            document = {"path": str(path), "written": True}
            text = _("written: {path}", path=path)
        if arguments.json:
            print_json(document)
        else:
            print_text(text)
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


def _show(*, as_json: bool) -> None:
    configuration = read_config(config_path())
    (keymap, problems), options = resolve_keymap(configuration), configuration.options
    values = {option.name: getattr(options, option.name) for option in OPTIONS}
    keys = {
        key.id: list(dict.fromkeys(key.key_names))
        for key in final_keys(known_commands(), keymap)
        if key.id
    }
    if as_json:
        print_json(
            {
                "path": str(configuration.path),
                "exists": configuration.exists,
                "options": values | {"surface": dict(options.surface)},
                "hosts": [host._asdict() for host in options.hosts],
                "keys": keys,
                "problems": [fields(problem, "line", "text", "remedy") for problem in problems],
            }
        )
        return
    path = str(configuration.path)
    missing = _("{path} (not there; `hermes-browse config init` writes a sample)", path=path)
    print_text(f"# {path if configuration.exists else missing}")
    for name, value in values.items():
        comment = _("{name}: as you left it", name=name)
        print_text(f"{name} = {toml(value)}" if value is not None else f"# {comment}")
    for host in options.hosts:
        print_text("\n[[hosts]]")
        for name, value in host._asdict().items():
            if value:
                print_text(f"{name} = {toml(value)}")
    print_text("\n[keys]")
    for name, key_names in keys.items():
        print_text(f"{name} = {toml(key_names)}")
    for problem in problems:
        note(problem.sentence(path))
