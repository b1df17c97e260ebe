"""The sample that `config init` writes: every option and every action, each behind a `#` with what it does."""

from __future__ import annotations

from .actions import known_actions
from .options import OPTIONS

_HEAD = """\
# hermes-browse
#
# Everything here is optional: take away the # in front of a line to set it. `hermes-browse config show` tells what
# holds, and what in this file does not.
"""
_KEYS = """\
# Keys of your own, on top of the keymap above: action = "key", or action = ["one key", "another"].
# A key is a character (x, X, ?), a name (enter, space, tab, escape, pagedown, f5), or either behind ctrl+ or alt+.
"""


def sample() -> str:
    """The text of a configuration that sets nothing."""
    parts = [_HEAD]
    for option in OPTIONS:
        said = "\n".join(f"# {line}" for line in option.help.splitlines())
        parts.append(f"{said}\n# {option.name} = {option.sample}\n")
    keys: dict[str, list[str]] = {}
    help_of: dict[str, str] = {}
    for action in known_actions():
        if action.name:
            keys.setdefault(action.name, []).extend(f'"{key}"' for key in action.keys)
            help_of[action.name] = action.help
    lines = [f"{_KEYS}[keys]"]
    for name, named in keys.items():
        value = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
        lines.append(f"# {name} = {value}  # {help_of[name]}")
    return "\n".join([*parts, "\n".join(lines)]) + "\n"
