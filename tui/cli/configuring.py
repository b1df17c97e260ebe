"""`config`: where the configuration is, what it sets and what in it does not hold."""

from __future__ import annotations

import os
from types import SimpleNamespace

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..commands import final_keys
from ..config.folders import config_path
from ..config.keymap import known_commands, resolve_keymap, sample, troubles_of
from ..config.options import Options
from ..config.reading import read_config
from .columns import note, print_text
from .jsonform import Json
from .run import print_json


def config(arguments: SimpleNamespace) -> int:
    """`config show|path|init`."""
    if arguments.what == "init":
        return _init(as_json=arguments.json)
    if arguments.what == "path":
        path = config_path()
        if arguments.json:
            print_json({"path": str(path), "exists": path.exists()})
        else:
            print_text(str(path))
        return 0
    return _show(as_json=arguments.json)


def _init(*, as_json: bool) -> int:
    path = config_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Exclusively: a configuration that came meanwhile is not written over.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        there = _("{path} is there already and stays as it is.").format(path=path)
        raise RefusedError(there, remedy=_("Move it away for a fresh sample.")) from error
    except OSError as error:
        failed = _("{path} could not be written: {reason}.").format(path=path, reason=error.strerror)
        raise RefusedError(failed) from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(sample())
    if as_json:
        print_json({"path": str(path), "written": True})
    else:
        print_text(_("written: {path}").format(path=path))
    return 0


def _values(options: Options) -> Json:
    return {
        "view": options.view.value if options.view is not None else None,
        "sort": options.sort.value if options.sort is not None else None,
        "theme": options.theme,
        "mouse": options.mouse,
        "glyphs": options.glyphs,
        "time": options.time,
        "dates": options.dates,
        "density": options.density,
        "language": options.language,
        "columns": list(options.columns),
        "resume": options.resume,
        "surface": dict(options.surface),
        "trash": options.trash,
        "keymap": options.keymap,
    }


def _toml(value: object) -> str:
    """A value as it stands in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f'"{one_line(name, 60)}" = {_toml(each)}' for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return f'"{value}"'


def _show(*, as_json: bool) -> int:
    configuration = read_config()
    troubles = troubles_of(configuration)
    values = _values(configuration.options)
    keymap, _troubles = resolve_keymap(configuration)
    keys = {each.id: list(dict.fromkeys(each.key_names)) for each in final_keys(known_commands(), keymap) if each.id}
    if as_json:
        print_json(
            {
                "path": str(configuration.path),
                "exists": configuration.exists,
                "options": values,
                "keys": keys,
                "problems": [{"line": each.line, "text": each.text, "remedy": each.remedy} for each in troubles],
            }
        )
        return 0
    absent = _("{path} (not there; `hermes-browse config init` writes a sample)").format(path=configuration.path)
    print_text(f"# {configuration.path if configuration.exists else absent}")
    for name, value in values.items():
        unset = _("{name}: as you left it").format(name=name)
        print_text(f"{name} = {_toml(value)}" if value is not None else f"# {unset}")
    print_text("\n[keys]")
    for name, named in keys.items():
        quoted = ", ".join(f'"{key}"' for key in named)
        print_text(f"{name} = [{quoted}]")
    for each in troubles:
        note(each.sentence(str(configuration.path)))
    return 0
