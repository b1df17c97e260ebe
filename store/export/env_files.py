"""The values of the user's own `.env` files, which are redacted wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..files import open_regular
from .secrets import COMMON_SETTINGS, MARK

LEAST = 8
"""Minimum code points of a value: shorter ones would be found in ordinary words."""

_MOST_BYTES = 1_000_000
_PAIR = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.\-]*)[ \t]*=[ \t]*"""
    r"""(?:"([^"]*)|'([^']*)|(.*?)[ \t]*(?:[ \t]\#.*)?$)""",
    re.MULTILINE,
)
"""A name and a value, in quotes over several lines, or without them up to a comment."""
_SECRET_NAME = re.compile(
    r"(?i)key|token|secret|pass|pwd|auth|cred|webhook|cookie|private|sid$|dsn"
)
_SETTING_NAME = re.compile(
    r"(?i)model|provider|host|lang|zone|theme|mode|level|editor|shell|backend|version|region|image"
)
_WORD = r"(?:[A-Za-z]*|[A-Za-z]{0,12}[0-9]{1,3}[A-Za-z]?)"
_PLAIN = re.compile(rf"[/~].*|\.\.?/.*|[A-Za-z]:[\\/].*|[A-Za-z][A-Za-z0-9+.\-]*://[^@]*|{_WORD}")
"""A path, an address without a password, or a word."""
_WORDS = re.compile(rf"{_WORD}(?:[-_/.:,+ ]{_WORD})*")


def parse_env(text: str) -> list[tuple[str, str]]:
    """Parse the text of a `.env` file into names and values, without quotes; quoted values may span
    lines."""
    pairs = _PAIR.findall(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return [(name, "".join(values)) for name, *values in pairs]


def is_secret_value(name: str, value: str) -> bool:
    """Tell whether a `.env` value is worth hiding: long enough, and not a path, a plain URL or
    ordinary words.

    If the name suggests a secret, all but the most common words are.
    """
    if len(value) < LEAST or len(set(value)) < 3:
        return False
    if value.lower() in COMMON_SETTINGS or value.lower() in MARK.lower():
        return False
    if _SECRET_NAME.search(name):
        return True
    is_setting = "/" in value or _SETTING_NAME.search(name)
    return not (_PLAIN.fullmatch(value) or (is_setting and _WORDS.fullmatch(value)))


def secret_values(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the values of `.env` files to redact, with the items of lists and the lines of long
    values."""
    return frozenset(
        part.strip()
        for name, value in pairs
        for part in (value, *value.split(","), *value.splitlines())
        if is_secret_value(name, part.strip())
    )


def read_env(path: Path) -> list[tuple[str, str]]:
    """Read the names and values of a `.env` file, at most a megabyte of it; empty if it is missing.

    Raises:
        OSError: It exists and cannot be read.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return parse_env(raw.decode("utf-8", "replace"))
