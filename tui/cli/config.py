"""`config`: the settings in effect, where they are set, and a sample of the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.files import write_private
from hermes_browse.store.wording import _

from ..settings.keymap import known_commands, resolve_keymap, sample
from ..settings.keys import final_keys
from ..settings.options import OPTIONS, toml
from ..settings.read_config import config_path, read_config
from .command import Subcommand
from .output import fields_of_each, print_text
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

    def start(self) -> int:
        """Run without a store."""
        path = config_path()
        if self.given.what == "show":
            self._show()
        elif self.given.what == "path":
            self.give({"path": str(path), "exists": os.path.exists(path)}, print_text, str(path))
        else:
            _write_sample(path)
            sentence = _("written: {path}", path=path)
            self.give({"path": str(path), "written": True}, print_text, sentence)
        return 0

    def _show(self) -> None:
        configuration = read_config(config_path())
        (keymap, problems), options = resolve_keymap(configuration), configuration.options
        keys = {
            key.id: list(dict.fromkeys(key.key_names))
            for key in final_keys(known_commands(), keymap)
            if key.id
        }
        path = str(configuration.path)
        document = {
            "path": path,
            "exists": configuration.exists,
            "options": {option.name: getattr(options, option.name) for option in OPTIONS}
            | {"surface": dict(options.surface)},
            "hosts": [host._asdict() for host in options.hosts],
            "keys": keys,
            "problems": fields_of_each(problems, "line text remedy"),
        }
        self.give(document, _print_settings, document)
        self.remark(*(problem.sentence(path) for problem in problems))


def _write_sample(path: Path) -> None:
    try:
        write_private(path, sample(), replace=False)
    except FileExistsError as error:
        raise RefusedError(
            _("{path} is there already and stays as it is.", path=path),
            remedy=_("Move it away for a fresh sample."),
        ) from error
    except OSError as error:
        raise RefusedError(
            _("{path} could not be written: {reason}.", path=path, reason=error.strerror)
        ) from error


def _print_settings(document: Mapping[str, Any]) -> None:
    """Print settings as the file has them."""
    path = document["path"]
    if not document["exists"]:
        path = _("{path} (not there; `hermes-browse config init` writes a sample)", path=path)
    hosts = [{name: text for name, text in host.items() if text} for host in document["hosts"]]
    tables = [
        (f"# {path}", document["options"]),
        *(("\n[[hosts]]", host) for host in hosts),
        ("\n[keys]", document["keys"]),
    ]
    for head, table in tables:
        print_text(head)
        for name, value in table.items():
            line = f"{name} = {toml(value)}"
            if value is None:
                line = f"# {_('{name}: as you left it', name=name)}"
            print_text(line)
