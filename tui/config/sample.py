"""The sample that `config init` writes: every option and every action, each behind a `#` with what it does."""

from __future__ import annotations

from hermes_browse.store.wording import N_, _

from .keymap import known_commands
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
    """Text as lines of a comment, however many lines its translation has."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def sample() -> str:
    """The text of a configuration that sets nothing."""
    parts = [_comment(_(_HEAD))]
    for option in OPTIONS:
        parts.append(f"{_comment(option.said())}# {option.name} = {option.sample}\n")
    lines = [f"{_comment(_(_KEYS))}[keys]"]
    for command in known_commands():
        if command.id:
            keys = [f'"{key}"' for key in command.key_names]
            value = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
            lines.append(f"# {command.id} = {value}  # {' '.join(_(command.help).splitlines())}")
    return "\n".join([*parts, "\n".join(lines)]) + "\n"
