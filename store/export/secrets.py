"""Find secrets by their form, or by the name before them (`API_KEY=…`, `"password": "…"`, `--secret
…`).

`secrets.toml` says what they look like. Each is looked for in the text as it is; `readings` gives
other ways to read it.
"""

from __future__ import annotations

import re
import tomllib
from array import array
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from ..connection.stored_values import write_json

_DATA = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))

MARK = "[REDACTED:"
"""Start of the replacement of a secret, before its kind and `]`."""
NAMED_SECRET = "named-secret"
COMMON_SETTINGS = frozenset(_DATA["common_settings"].split())
"""Values of settings that are ordinary words."""
LEAST_NAMED = 6
"""Minimum code points of a secret that is known by its name only."""


class Rule(NamedTuple):
    """One form of secret."""

    kind: str
    needle: str
    """The pattern is only tried if this is in the text."""
    pattern: re.Pattern[str]
    """The secret is group 1 if there is one, else the whole match."""
    is_key: bool = False
    """The secret begins with the needle."""


class Secret(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of `secrets.toml`, with its parts put in."""

    def part(match: re.Match[str]) -> str:
        text: str = _DATA["parts"][match[1]]
        return text.replace("WIDTH", rf"[^\n]{{{match[2]}}}")

    count = 1
    while count:
        pattern, count = re.subn(r"\{([a-z]+):?(\d*)\}", part, pattern)
    return re.compile(pattern)


def _rules() -> Iterator[Rule]:
    for line in _DATA["rules"].strip().splitlines():
        kind, needles, pattern = line.split(maxsplit=2)
        for needle in needles.split(","):
            rest = pattern.removeprefix("^")
            is_key = rest != pattern
            if is_key:  # to the end of the word: what is left would be one of its own
                rest = f"{re.escape(needle)}{{start:{len(needle)}}}{rest}[A-Za-z0-9]*+"
            yield Rule(kind, needle, _compiled(rest), is_key)


def _any_of(name: str) -> str:
    return "|".join(_DATA[name].split())


RULES = tuple(_rules())
_LONG_WORD = re.compile(r"[A-Za-z0-9_.\-]{14,}")
"""What can be a key."""
_NAMES = re.compile(_DATA["names"])
_NAMED = tuple(map(_compiled, _DATA["named"].strip().splitlines()))
_REST = _compiled("{letter}*+")
"""The rest of a value that is longer than its pattern."""
_NEEDLES = ("key", "token", "secret", "pass", "pwd", "credential", "auth")
"""A text without any of these, in lower case, names no secret."""
_LONGEST_NAMED = 4096
"""Of a value that is looked at with its name."""
_PLACEHOLDER = re.compile(f"{_DATA['placeholder']}|(?i:{_any_of('placeholders')})", re.DOTALL)
_HARMLESS = re.compile(rf"(?:.*(?:[_\-]|(?<=[a-z0-9])(?=[A-Z])))?(?i:{_any_of('harmless_names')})")


def _is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for a secret."""
    return _PLACEHOLDER.fullmatch(value[:200]) is not None


def _find_named(text: str) -> Iterator[Secret]:
    # The only letter whose lower case is longer
    # (https://www.unicode.org/Public/UNIDATA/SpecialCasing.txt).
    lowered = text.replace("\u0130", "I").lower()
    if not any(needle in lowered for needle in _NEEDLES):
        return
    end = 0
    for name in _NAMES.finditer(lowered):
        if name.start() < end:
            continue  # inside the value before
        matches = (pattern.match(text, name.start()) for pattern in _NAMED)
        match = next(filter(_has_secret, matches), None)
        if match is not None:
            end = next(_REST.finditer(text, match.end("value"))).end()
            yield Secret(match.start("value"), end, NAMED_SECRET)


def _has_secret(match: re.Match[str] | None) -> bool:
    """Tell whether what is named may be a secret."""
    if match is None or _HARMLESS.fullmatch(match["tail"]):
        return False
    value = match["value"]
    return len(value) >= LEAST_NAMED and not value.isspace() and not _is_placeholder(value)


def is_named_secret(name: str, value: str, between: str) -> bool:
    """Tell whether a value is a secret by the name before it, as in a text `"name": "value"`."""
    if _NAMES.search(name.lower()) is None:
        return False
    before = f'"{name}"{between}"'
    text = before + write_json(value)[1:_LONGEST_NAMED]
    return any(secret.start == len(before) for secret in _find_named(text))


def find_secrets(text: str) -> Iterator[Secret]:
    """Yield the secrets of a text, by form and then by name; they may overlap."""
    words = " ".join(_LONG_WORD.findall(text))  # less to look through than the text
    for kind, needle, pattern, is_key in RULES:
        if needle not in (words if is_key else text):
            continue
        group = min(1, pattern.groups)
        for match in pattern.finditer(text):
            if kind != NAMED_SECRET or not _is_placeholder(match[group]):
                yield Secret(*match.span(group), kind)
    yield from _find_named(text)


_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
    r"|\\\r?\n"
    "|%(?:2[0-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
)
"""What has no width, a line end that a shell takes out, and an encoded letter of ASCII."""

_RUN = r"[A-Za-z0-9_+/.\-]"
_BEGINNINGS = "|".join(
    re.escape(rule.needle) for rule in RULES if rule.is_key and len(rule.needle) > 2
)
_LOOKS_RANDOM = (
    rf"(?={_RUN}{{6}})(?={_RUN}{{0,200}}[0-9])(?={_RUN}{{0,200}}[A-Za-z])"
    rf"|(?={_RUN}{{8}})(?={_RUN}{{0,200}}[a-z][A-Z])"
)
_WRAP = re.compile(
    rf"(?<={_RUN})\r?\n[ \t]{{0,16}}(?:>[ \t]?)?(?!{_BEGINNINGS})(?:{_LOOKS_RANDOM})"
    rf"(?={_RUN}++={{0,2}}(?:[\s\"'`,;)\]}}<|&\\]|\Z))"
)
"""A line end before what looks like the rest of a key and ends like a word.

Fewer letters would be common words and numbers; so many of a long key alone give nothing away. A
line that begins with the letters of a key continues no other key.
"""


TextReading = tuple[str, Sequence[int]]
"""A text without what does not count, and where each letter of it, and the end, is in the original."""


def _reading(original: str, pattern: re.Pattern[str]) -> TextReading:
    """Leave out what a pattern matches, and decode encoded letters."""
    letters = list(original)
    for match in pattern.finditer(original):
        start, end = match.span()
        letters[start:end] = [""] * (end - start)
        if match[0].startswith("%"):
            letters[start] = chr(int(match[0][1:], 16))
    places = array("q", compress(range(len(letters)), letters))
    places.append(len(original))
    return "".join(letters), places


def readings(text: str) -> Iterator[TextReading]:
    """Yield the text as it is, and each reading that differs from it."""
    yield text, range(len(text) + 1)
    yield from (_reading(text, pattern) for pattern in (_UNSEEN, _WRAP) if pattern.search(text))
