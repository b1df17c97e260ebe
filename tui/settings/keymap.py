"""The user's own keys and their errors; and the sample configuration with every key."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from hermes_browse.store.wording import N_, _

from .keys import Command
from .keys.main_commands import MAIN_SCOPES, PANES
from .keys.screen_commands import CARDS, SCREENS
from .options import OPTIONS, Problem, shown, similar, toml

_NAMES = {
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
    *("insert", "delete", "backspace", "enter", "tab", "escape", "space"),
    *(f"f{number}" for number in range(1, 25)),
}
_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "del": "delete",
    "ins": "insert",
    "bs": "backspace",
}
_RENAMED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Unicode's name to Textual's, where they differ (`textual.keys.KEY_NAME_REPLACEMENTS`, 8.2)."""
_MODIFIERS = ("ctrl", "alt", "shift", "super", "meta", "hyper")


def _character_name(key: str) -> str:
    """Return Textual's name for the key that types a character."""
    if key.isalnum() or not key.isprintable():
        return key
    name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


def key_name(spelled: str) -> str | None:
    """Return Textual's name of a key; None for what is no key.

    Args:
        spelled: A character or a name, with or without modifiers: `?`, `pgdn`, `Ctrl+x`, `shift+a`.
    """
    if len(spelled) == 1:
        return _character_name(spelled)
    *before, key = re.split(r"\s*\+\s*(?=.)", spelled.strip())
    modifiers = list(map(str.lower, before))
    if not {*modifiers} <= {*_MODIFIERS}:
        return None
    if len(key) == 1:
        key = _character_name(key)
        if modifiers == ["shift"] and key.isalpha():
            return key.upper()  # a terminal sends the capital letter
    else:
        key = _ALIASES.get(key.lower(), key.lower())
        if key not in _NAMES.union(map(_character_name, map(chr, range(0x21, 0x100)))):
            return None
    return "+".join([*(each for each in _MODIFIERS if each in modifiers), key])


def known_commands() -> list[Command]:
    """Return every command with keys, in the order of the sample."""
    return [
        each
        for tables in (MAIN_SCOPES, SCREENS, CARDS)
        for table in tables.values()
        for each in table
    ]


def can_meet(one: Command, other: Command) -> bool:
    """Whether both commands are bound at some place of the screen."""
    scopes = {one.scope, other.scope}
    if len(scopes) == 1:
        return True
    if not scopes.isdisjoint(CARDS):  # a card takes the keys of everything below it
        return "app" in scopes
    if not scopes.isdisjoint(SCREENS):  # screens are never stacked, and their only panes are lists
        return bool(scopes & {"app", "list"})
    return not scopes <= set(PANES)


def parse_keys(value: object, problems: list[Problem]) -> dict[str, str]:
    """Return the user's own keys by command id, as `App.set_keymap` takes them, and add what is wrong
    with others."""
    if not isinstance(value, Mapping):
        problems.append(Problem(_("“keys” is a table: a line [keys], and below it action = key.")))
        return {}
    commands = known_commands()
    ids = {each.id for each in commands if each.id}
    own: dict[str, str] = {}
    for action, given in value.items():
        spelled = [given] if isinstance(given, str) else given
        is_list = isinstance(spelled, list) and all(isinstance(each, str) for each in spelled)
        if not is_list or not spelled:
            text = _(
                "“{action}” takes a key, or a list of keys, not {value}.",
                action=action,
                value=shown(given),
            )
            problems.append(Problem(text, "", action))
            continue
        if action not in ids:
            text = _("there is no action “{name}”.", name=action)
            remedy = similar(action, ids) or _("`config show` lists them.")
            problems.append(Problem(text, remedy, action))
            continue
        every = ",".join("comma" if each == "," else each for each in spelled)
        names = {each: key_name(each) for each in every.split(",")}
        for each, key in names.items():
            if key is None:
                text = _(
                    "“{key}” is no key, so “{action}” does not have it.", key=each, action=action
                )
                remedy = _("Keys are like x, X, ?, enter, f5, ctrl+x, alt+x.")
                problems.append(Problem(text, remedy, action))
        if good := dict.fromkeys(filter(None, names.values())):
            own[action] = ",".join(good)
    problems += dict.fromkeys(_conflicts(commands, own))
    return own


def _conflicts(commands: Sequence[Command], own: Mapping[str, str]) -> Iterator[Problem]:
    """Yield an error for each key that the user gave to a command while another one has it."""
    final = [each._replace(keys=own.get(each.id, each.keys)) for each in commands]
    for before, command in zip(commands, final, strict=True):
        # Of other keys it is not a conflict that the user made.
        for key in [each for each in command.key_names if each not in before.key_names]:
            for other in final:
                is_shared = other.id != command.id and key in other.key_names
                if is_shared and can_meet(command, other):
                    text = _(
                        "the key “{key}” of “{action}” is that of “{other}” too.",
                        key=key,
                        action=command.id,
                        other=other.id or _(other.help),
                    )
                    yield Problem(text, _("Give one of them another key."), command.id)


_HEAD = N_(
    "hermes-browse\n"
    "\n"
    "Everything here is optional: take away the # in front of a line to set it. "
    "`hermes-browse config show` tells what\n"
    "holds, and what in this file does not."
)
_ABOUT_KEYS = N_(
    'Keys of your own: action = "key", or action = ["one key", "another"].\n'
    "A key is a character (x, X, ?) or a name (enter, space, tab, escape, pagedown, f5), also behind ctrl+, alt+, shift+."
)

_ABOUT_HOSTS = N_(
    "Other machines with a store of Hermes, one block for each; their hermes-browse answers over ssh.\n"
    "ssh is what you would type after ssh. The last three may be left out: program, Hermes root and profile there."
)
_HOSTS = """\
# [[hosts]]
# name = "vps"
# ssh = "me@vps.example.org"
# command = "hermes-browse"
# home = "/home/me/.hermes"
# profile = "default"
"""


def _comment(text: str) -> str:
    """Return text as comment lines; a translation may have more or fewer lines."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def sample() -> str:
    """Return the text of a configuration in which every option is commented out."""
    options = (
        f"{_comment(option.description())}# {option.name} = {option.sample}\n" for option in OPTIONS
    )
    lines = [f"{_comment(_(_ABOUT_KEYS))}[keys]"]
    for command in known_commands():
        if command.id:
            keys = command.key_names
            value = toml(keys[0] if len(keys) == 1 else keys)
            lines.append(f"# {command.id} = {value}  # {' '.join(_(command.help).splitlines())}")
    hosts = _comment(_(_ABOUT_HOSTS)) + _HOSTS
    return "\n".join([_comment(_(_HEAD)), *options, hosts, *lines]) + "\n"
