"""The sample that `config init` writes: every option and every action, each behind a `#` with what it does."""

from __future__ import annotations

from hermes_browse.store.wording import N_, _

from .actions import known_actions
from .options import OPTIONS

_HEAD = N_(
    "hermes-browse\n"
    "\n"
    "Everything here is optional: take away the # in front of a line to set it. "
    "`hermes-browse config show` tells what\n"
    "holds, and what in this file does not."
)
_KEYS = N_(
    'Keys of your own, on top of the keymap above: action = "key", or action = ["one key", "another"].\n'
    "A key is a character (x, X, ?), a name (enter, space, tab, escape, pagedown, f5), or either behind ctrl+ or alt+."
)


def _comment(text: str) -> str:
    """Lines behind a `#`, whatever the language makes of them."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def sample() -> str:
    """The text of a configuration that sets nothing."""
    parts = [_comment(_(_HEAD))]
    for option in OPTIONS:
        parts.append(f"{_comment(option.said())}# {option.name} = {option.sample}\n")
    keys: dict[str, list[str]] = {}
    help_of: dict[str, str] = {}
    for action in known_actions():
        if action.name:
            keys.setdefault(action.name, []).extend(f'"{key}"' for key in action.keys)
            help_of[action.name] = " ".join(_(action.help).splitlines()) if action.help else ""
    lines = [f"{_comment(_(_KEYS))}[keys]"]
    for name, named in keys.items():
        value = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
        lines.append(f"# {name} = {value}  # {help_of[name]}")
    return "\n".join([*parts, "\n".join(lines)]) + "\n"
