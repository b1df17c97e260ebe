"""Words for people, in their language: GNU gettext, with the English text as the key.

`_` and `ngettext` are called where text is shown, never while a module is imported: tables of texts that stand in
modules are marked with `N_`, which only tells the collector of texts (`make words`) that they are such. What programs
read is not translated: names of commands, options, views, keys and codes, and the words of the search language.
English needs no catalog, and until `speak` is called there is none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import GNUTranslations

__all__ = ["ENGLISH", "LANGUAGES", "N_", "_", "language", "language_of", "ngettext", "pgettext", "speak"]

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh_CN")
"""What there are words in."""

_FOLDER = Path(__file__).resolve().parent / "locale"
_DOMAIN = "hermes-browse"
# Simplified characters: the language by itself, with its script, or in the countries that write them.
_SIMPLIFIED = ("zh", "zh_hans", "zh_cn", "zh_sg", "zh_my")

_catalog: GNUTranslations | None = None
_spoken = ENGLISH


def _(message: str) -> str:
    """A text in the language that is spoken; itself where that has no words for it.

    Args:
        message: The English text; names in braces are filled in by `str.format` afterwards.
    """
    return message if _catalog is None or not message else _catalog.gettext(message)  # the header is that of ""


def N_(message: str) -> str:
    """The text as it is, marked as one that is shown through `_` later."""
    return message


def ngettext(one: str, many: str, count: int) -> str:
    """The form of a text for so many.

    Args:
        one: English, for one.
        many: English, for any other number.
        count: How many.
    """
    if _catalog is None:
        return one if count == 1 else many
    return _catalog.ngettext(one, many, count)


def pgettext(context: str, message: str) -> str:
    """A text that is short enough to mean several things.

    Args:
        context: Which of them, in English; never shown.
        message: The English text.
    """
    return message if _catalog is None else _catalog.pgettext(context, message)


def language() -> str:
    """The language that is spoken, one of `LANGUAGES`."""
    return _spoken


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The language of a locale, by the variables and in the order of GNU gettext (its manual, 2.3).

    Args:
        environment: Where LANGUAGE, LC_ALL, LC_MESSAGES and LANG are looked up.

    Returns:
        The first one named that there are words in; English where there is none.
    """
    locale = next((found for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (found := environment.get(name))), "")
    name = locale.partition(".")[0].partition("@")[0]
    if name in ("", "C", "POSIX"):  # then LANGUAGE does not count either
        return ENGLISH
    for each in (*environment.get("LANGUAGE", "").split(":"), name):
        plain = each.partition(".")[0].partition("@")[0].replace("-", "_").lower()
        if plain in _SIMPLIFIED or plain.startswith("zh_hans_"):
            return "zh_CN"
        if plain.partition("_")[0] == ENGLISH:
            return ENGLISH
    return ENGLISH


def speak(wanted: str) -> None:
    """Show words in a language from now on.

    Args:
        wanted: One of `LANGUAGES`; anything else is English, and so is a language whose words are not installed.
    """
    global _catalog, _spoken
    _catalog, _spoken = None, ENGLISH
    if wanted == ENGLISH or wanted not in LANGUAGES:
        return
    import struct
    from gettext import GNUTranslations  # two milliseconds that English is spared

    try:
        with open(_FOLDER / wanted / "LC_MESSAGES" / f"{_DOMAIN}.mo", "rb") as file:
            _catalog = GNUTranslations(file)
    except (OSError, ValueError, struct.error):  # none there, or one that is damaged: then it is English
        return
    _spoken = wanted
