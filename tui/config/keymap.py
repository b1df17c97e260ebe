"""From a preset and keys of the user's own to the keymap Textual takes, with what is wrong in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from hermes_browse.store.wording import _

from .actions import APP, Action, card_actions, final_keys, screen_actions
from .lines import line_of
from .presets import KEYMAPS
from .reading import Configuration, Trouble, similar

_NAMED = {
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
    *("insert", "delete", "backspace", "enter", "tab", "escape", "space"),
    *(f"f{number}" for number in range(1, 25)),
}
_OTHERWISE = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "del": "delete",
    "ins": "insert",
    "bs": "backspace",
    " ": "space",
}
_RENAMED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Names of Textual's that are not those of Unicode (`textual.keys.KEY_NAME_REPLACEMENTS`, 8.2)."""
_MODIFIERS = ("ctrl", "alt", "shift", "super", "meta", "hyper")


def _character_name(key: str) -> str:
    """The name Textual gives the key of a character."""
    if key.isalnum() or not key.isprintable():
        return key
    name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


def key_name(spelled: str) -> str | None:
    """A key as Textual names it; None for what is no key.

    Args:
        spelled: A character, a name, or either behind modifiers: `?`, `pgdn`, `Ctrl+x`, `shift+a`.
    """
    if len(spelled) == 1:
        return "space" if spelled == " " else _character_name(spelled)
    *before, last = spelled.strip().split("+") if not spelled.endswith("++") else [*spelled[:-2].split("+"), "+"]
    modifiers = [each.strip().lower() for each in before]
    if any(each not in _MODIFIERS for each in modifiers) or not last.strip():
        return None
    key = last.strip()
    if len(key) == 1:
        key = _character_name(key)
        if modifiers == ["shift"] and key.isalpha():
            return key.upper()  # a terminal sends the letter, not that Shift was held
    else:
        key = _OTHERWISE.get(key.lower(), key.lower())
        if key not in _NAMED and key not in {_character_name(chr(number)) for number in range(0x21, 0x100)}:
            return None
    return "+".join([*(each for each in _MODIFIERS if each in modifiers), key])


def _line(configuration: Configuration, action: str) -> int | None:
    return line_of(configuration.text, "keys", action)


def _own_keys(configuration: Configuration, names: Iterable[str]) -> tuple[dict[str, str], list[Trouble]]:
    """The keys of the user's own, by action, as far as they hold."""
    known, found, troubles = set(names), dict[str, str](), list[Trouble]()
    for action, spelled in configuration.options.keys.items():
        if known and action not in known:
            text, remedy = _("there is no action “{name}”.").format(name=action), similar(action, known)
            troubles.append(Trouble(_line(configuration, action), text, remedy or _("`config show` lists them.")))
            continue
        keys = {each: key_name(each) for each in spelled.split(",")}
        for each, key in keys.items():
            if key is None:
                text = _("“{key}” is no key, so “{action}” does not have it.").format(key=each, action=action)
                remedy = _("Keys are like x, X, ?, enter, f5, ctrl+x, alt+x.")
                troubles.append(Trouble(_line(configuration, action), text, remedy))
        good = [key for key in keys.values() if key is not None]
        if good:
            found[action] = ",".join(dict.fromkeys(good))
    return found, troubles


def _conflicts(configuration: Configuration, actions: Sequence[Action], own: Mapping[str, str]) -> list[Trouble]:
    """Keys that the user gave to one action while another has them."""
    preset = KEYMAPS[configuration.options.keymap]
    before = {action.name: action.keys for action in final_keys(actions, preset) if action.name}
    troubles, told = [], set[tuple[str, frozenset[str]]]()
    for action in actions:
        for key in own.get(action.name, "").split(","):
            if not key or key in before.get(action.name, ()):
                continue  # it had this key already: nothing is worse than before
            for other in actions:
                theirs = own.get(other.name, "").split(",") if other.name in own else before.get(other.name, other.keys)
                pair = key, frozenset((action.name, other.name or other.help))
                if other.name == action.name or key not in theirs or not action.meets(other) or pair in told:
                    continue
                told.add(pair)
                text = _("the key “{key}” of “{action}” is that of “{other}” too.")
                text = text.format(
                    key=key, action=action.name, other=other.name or (_(other.help) if other.help else "")
                )
                troubles.append(Trouble(_line(configuration, action.name), text, _("Give one of them another key.")))
    return troubles


def resolve_keymap(
    configuration: Configuration, actions: Sequence[Action] | None = None
) -> tuple[dict[str, str], list[Trouble]]:
    """The keymap of a configuration.

    Args:
        configuration: What the user has set.
        actions: What there is to be given keys; all there is by default.

    Returns:
        Action to keys, as `App.set_keymap` takes it, and what is wrong with the user's part.
    """
    options = configuration.options
    if not options.keys and not KEYMAPS[options.keymap]:
        return {}, []
    if actions is None:
        actions = screen_actions()
        names = {action.name for action in actions if action.scope != APP}
        if actions and not names.issuperset(options.keys):  # reading the cards takes a third as long as all the rest
            actions = [*actions, *card_actions()]
    own, troubles = _own_keys(configuration, (action.name for action in actions if action.name))
    troubles += _conflicts(configuration, actions, own)
    return {**KEYMAPS[options.keymap], **own}, sorted(troubles, key=lambda each: each.line or 0)


def troubles_of(configuration: Configuration) -> list[Trouble]:
    """Everything in a configuration that does not hold, by line."""
    found = [*configuration.troubles, *resolve_keymap(configuration)[1]]
    return sorted(found, key=lambda each: each.line or 0)
