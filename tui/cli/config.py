"""`config`: show the path of the configuration, its values and its problems, or write a sample."""

from __future__ import annotations

import argparse
from types import SimpleNamespace

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.files import write_whole
from hermes_browse.store.wording import _

from ..commands import final_keys
from ..config.folders import config_path
from ..config.keymap import known_commands, resolve_keymap, sample, troubles_of
from ..config.options import OPTIONS, toml
from ..config.read_config import read_config
from .command_context import Subcommand
from .output import note, print_json, print_text


class ConfigCommand(Subcommand):
    """Show or create the configuration file of the user."""

    takes_host = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "what",
            nargs="?",
            choices=["show", "path", "init"],
            default="show",
            help=_(
                "show the settings in effect (default) or the path, or write a commented sample; an existing file "
                "is never overwritten"
            ),
        )

    def start(self, arguments: SimpleNamespace) -> int:
        """Run without a store."""
        if arguments.what == "init":
            return _init(as_json=arguments.json)
        if arguments.what == "show":
            return _show(as_json=arguments.json)
        path = config_path()
        if arguments.json:
            print_json({"path": str(path), "exists": path.exists()})
        else:
            print_text(str(path))
        return 0


def _init(*, as_json: bool) -> int:
    path = config_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, [sample().encode("utf-8")], replace=False)
    except FileExistsError as error:
        sentence = _("{path} is there already and stays as it is.").format(path=path)
        raise RefusedError(sentence, remedy=_("Move it away for a fresh sample.")) from error
    except OSError as error:
        sentence = _("{path} could not be written: {reason}.").format(
            path=path, reason=error.strerror
        )
        raise RefusedError(sentence) from error
    if as_json:
        print_json({"path": str(path), "written": True})
    else:
        print_text(_("written: {path}").format(path=path))
    return 0


def _show(*, as_json: bool) -> int:
    configuration = read_config(config_path())
    problems = troubles_of(configuration)
    options = configuration.options
    values = {each.name: getattr(options, each.name) for each in OPTIONS}
    values |= {"columns": list(options.columns), "surface": dict(options.surface)}
    keymap, _problems = resolve_keymap(configuration)
    keys = {
        each.id: list(dict.fromkeys(each.key_names))
        for each in final_keys(known_commands(), keymap)
        if each.id
    }
    if as_json:
        print_json(
            {
                "path": str(configuration.path),
                "exists": configuration.exists,
                "options": values,
                "hosts": [each._asdict() for each in options.hosts],
                "keys": keys,
                "problems": [
                    {"line": each.line, "text": each.text, "remedy": each.remedy}
                    for each in problems
                ],
            }
        )
        return 0
    missing = _("{path} (not there; `hermes-browse config init` writes a sample)").format(
        path=configuration.path
    )
    print_text(f"# {configuration.path if configuration.exists else missing}")
    for name, value in values.items():
        comment = _("{name}: as you left it").format(name=name)
        print_text(f"{name} = {toml(value)}" if value is not None else f"# {comment}")
    for host in options.hosts:
        print_text("\n[[hosts]]")
        for name, value in host._asdict().items():
            if value:
                print_text(f"{name} = {toml(value)}")
    print_text("\n[keys]")
    for name, key_names in keys.items():
        quoted = ", ".join(f'"{key}"' for key in key_names)
        print_text(f"{name} = [{quoted}]")
    for each in problems:
        note(each.sentence(str(configuration.path)))
    return 0
