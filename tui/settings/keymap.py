"""The user's own keys and their errors; and the sample configuration with every key."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence

from hermes_browse.store.wording import N_, _

from .keys import Command
from .keys.main_commands import MAIN_SCOPES, PANES
from .keys.screen_commands import CARDS, SCREENS
from .options import OPTIONS, Problem, similar, toml
from .read_config import Configuration, located

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


def _without_wrong_keys(
    keys: Mapping[str, str], ids: Collection[str], problems: list[Problem]
) -> Iterator[tuple[str, str]]:
    """Yield the user's own keys by command, and note what is wrong with others."""
    for action, spelled in keys.items():
        if action not in ids:
            text = _("there is no action “{name}”.", name=action)
            remedy = similar(action, ids) or _("`config show` lists them.")
            problems.append(Problem(text, remedy, action))
            continue
        names = {each: key_name(each) for each in spelled.split(",")}
        for each, key in names.items():
            if key is None:
                text = _(
                    "“{key}” is no key, so “{action}” does not have it.", key=each, action=action
                )
                remedy = _("Keys are like x, X, ?, enter, f5, ctrl+x, alt+x.")
                problems.append(Problem(text, remedy, action))
        if good := dict.fromkeys(filter(None, names.values())):
            yield action, ",".join(good)


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


def resolve_keymap(configuration: Configuration) -> tuple[dict[str, str], list[Problem]]:
    """Return the user's own keys by command id, as `App.set_keymap` takes them, and everything that
    is wrong in the configuration, by line."""
    own: dict[str, str] = {}
    problems: list[Problem] = []
    if keys := configuration.options.keys:
        commands = known_commands()
        own = dict(_without_wrong_keys(keys, {each.id for each in commands if each.id}, problems))
        problems += dict.fromkeys(_conflicts(commands, own))
    troubles = [*configuration.troubles, *located(configuration.text, "keys", problems)]
    return own, sorted(troubles, key=lambda each: each.line or 0)


def keymap_and_trouble(
    configuration: Configuration, themes: Collection[str]
) -> tuple[dict[str, str], str]:
    """Return the keymap of a configuration, and what is wrong with it in one sentence.

    Args:
        themes: Names of the available themes.

    Returns:
        The keymap, and the first error with the number of others; empty if there is none.
    """
    keymap, troubles = resolve_keymap(configuration)
    theme = configuration.options.theme
    if theme is not None and theme not in themes:
        problem = Problem(_("there is no theme “{name}”.", name=theme), similar(theme, themes))
        troubles += located(configuration.text, "theme", [problem])
    if not troubles:
        return keymap, ""
    first, *others = sorted(troubles, key=lambda each: each.line or 0)
    sentence = first.sentence(configuration.path.name)
    if others:
        sentence += " · " + _("{count} more: `hermes-browse config show`", count=len(others))
    return keymap, sentence


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
