"""Translation of texts for people: GNU gettext, with the English text as the key.

`_` and `ngettext` are called where text is shown, never while a module is imported. Texts in tables
of a module are marked with `N_`, for the collector of texts (`make words`), and translated where
they are shown. What programs read is not translated: names of commands, options, views, keys and
codes, and the words of the search language. English needs no catalog; none is loaded until `speak`
is called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from gettext import NullTranslations

T = TypeVar("T")

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh_CN")
"""The languages there is a translation for."""

_FOLDER = Path(__file__).resolve().parent / "locale"
_DOMAIN = "hermes-browse"
# Simplified characters: the language by itself, with its script, or in the countries that write
# them.
_SIMPLIFIED = ("zh", "zh_hans", "zh_cn", "zh_sg", "zh_my")

_catalog: NullTranslations | None = None
_language = ENGLISH


def _(message: str, /, **fields: object) -> str:
    """Translate a text; one without a translation is returned as it is.

    Args:
        message: The English text.
        fields: Values for the names in braces; without any they stay, for `str.format`.
    """
    if _catalog is not None and message:  # the header is that of ""
        message = _catalog.gettext(message)
    return message.format(**fields) if fields else message


def N_(texts: T) -> T:
    """Return a text unchanged, or a table of texts; marks what is translated where it is shown.

    Of a mapping those are the values, of a tuple the items, at any depth.
    """
    return texts


def PN_(context: str, texts: T) -> T:
    """Mark, as `N_` does, what `pgettext` translates in a context."""
    return texts


def NN_(one: str, many: str) -> tuple[str, str]:
    """Mark the two texts of an `ngettext` that is called elsewhere."""
    return one, many


def ngettext(one: str, many: str, number: int, /, **fields: object) -> str:
    """Translate a text that depends on a number.

    Args:
        one: The English text for 1.
        many: The English text for any other number.
        number: The number; also the value of `{count}`, unless another one is given.
        fields: As of `_`.
    """
    text = one if number == 1 else many
    if _catalog is not None:
        text = _catalog.ngettext(one, many, number)
    return text.format(**{"count": number, **fields})


def pgettext(context: str, message: str, /, **fields: object) -> str:
    """Translate a text that is so short that it has several meanings.

    Args:
        context: The meaning, in English; never shown.
        message: The English text.
        fields: As of `_`.
    """
    text = message if _catalog is None else _catalog.pgettext(context, message)
    return text.format(**fields) if fields else text


def language() -> str:
    """Return the current language, one of `LANGUAGES`."""
    return _language


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of a locale, by the variables and in the order of GNU gettext (its
    manual, 2.3).

    Args:
        environment: Has LANGUAGE, LC_ALL, LC_MESSAGES and LANG.

    Returns:
        The first one named that has a translation; English where none has.
    """
    languages = filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG")))
    name = _without_encoding(next(languages, ""))
    if name in ("", "C", "POSIX"):  # gettext ignores LANGUAGE then
        return ENGLISH
    for each in (*environment.get("LANGUAGE", "").split(":"), name):
        plain = _without_encoding(each).replace("-", "_").lower()
        if plain in _SIMPLIFIED or plain.startswith("zh_hans_"):
            return "zh_CN"
        if plain.partition("_")[0] == ENGLISH:
            return ENGLISH
    return ENGLISH


def _without_encoding(locale: str) -> str:
    return locale.partition(".")[0].partition("@")[0]


def speak(language: str) -> None:
    """Translate into a language from now on.

    Args:
        language: One of `LANGUAGES`; anything else is English.
    """
    global _catalog, _language
    _catalog = None
    _language = language if language in LANGUAGES else ENGLISH
    if _language != ENGLISH:
        from gettext import translation  # takes two milliseconds

        _catalog = translation(_DOMAIN, _FOLDER, [language], fallback=True)
