"""Redact secrets in exported texts, and count them by kind.

Secrets that are known by their form or by the name before them (`secrets`), and the values of the
user's own `.env` files, wherever they stand, are replaced by `[REDACTED:kind]`. Other secrets remain, so a file must
still be read before it is shared.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from urllib.parse import quote, quote_plus

from ..connection.stored_values import write_json
from ..files import open_regular
from ..hermes.homes import Location, default_root
from ..text import text_of
from ..wording import N_, _
from .secrets import (
    COMMON_SETTINGS,
    MARK,
    NAMED_SECRET,
    Secret,
    find_secrets,
    is_named_secret,
    readings,
)

ENV_VALUE = "env-value"

LABELS = N_(
    {
        "anthropic-key": "Anthropic key",
        "authorization": "authorization header",
        "aws-access-key": "AWS access key",
        "aws-secret-key": "AWS secret key",
        "cookie": "cookie",
        "discord-token": "Discord token",
        ENV_VALUE: ".env value",
        "github-token": "GitHub token",
        "google-key": "Google key",
        "jwt": "JWT",
        NAMED_SECRET: "named key or password",
        "openai-key": "OpenAI-style key",
        "private-key": "private key",
        "service-key": "service key",
        "slack-token": "Slack token",
        "stripe-key": "Stripe key",
        "telegram-token": "Telegram bot token",
        "url-password": "password in an address",
    }
)
"""By kind: its name for people."""

_HEADER = re.compile(r"(?i)(?:proxy-)?authorization|(?:set-)?cookie2?")
_NAMES = ("name", "Name", "key", "Key")
_VALUES = ("value", "Value")
"""Keys of an object that holds a name and its value."""
_LONGEST_NAME = 400
"""Of a text that may be the name of the next one."""


class Redactor:
    """Redacts texts in linear time and counts the secrets; redacting twice changes nothing more.

    Args:
        values: Secret texts, also found as JSON and in URLs.
        active: False leaves all texts unchanged.
    """

    def __init__(self, values: Iterable[str] = (), *, active: bool = True) -> None:
        self.values = frozenset(values)
        """Secret texts."""
        self.active = active
        """Whether secrets are replaced."""
        self.counts: Counter[str] = Counter()
        """Redacted secrets so far, by kind."""
        spellings = {spelling for value in self.values if value for spelling in _spellings(value)}
        # Longest first: one value may begin with another.
        self._values = sorted(spellings, key=lambda value: (-len(value), value))
        self._pattern = re.compile("|".join(map(re.escape, self._values)))

    def text(self, text: str) -> str:
        """Redact a text."""
        if not self.active:
            return text
        found = [
            Secret(places[start], places[end], kind)
            for reading, places in readings(text)
            for start, end, kind in self._find(reading)
        ]
        return self._replaced(text, found)

    def _find(self, text: str) -> Iterator[Secret]:
        if any(value in text for value in self._values):
            yield from (Secret(*match.span(), ENV_VALUE) for match in self._pattern.finditer(text))
        yield from find_secrets(text)

    def _replaced(self, text: str, secrets: Iterable[Secret]) -> str:
        """Replace secrets by the mark of their kind; what overlaps is one, of the kind that begins
        first."""
        parts: list[str] = []
        last = 0
        for start, end, kind in sorted(secrets, key=attrgetter("start")):
            if start >= last:
                parts += [text[last:start], f"{MARK}{kind}]"]
                self.counts[kind] += 1
            last = max(last, end)
        return "".join([*parts, text[last:]])

    def json_text(self, text: str) -> str:
        """Redact the strings of a JSON text, so that it remains JSON; any other text as plain
        text."""
        if not self.active:
            return text
        counts = self.counts.copy()
        try:
            loaded = json.loads(text)
            if not isinstance(loaded, dict | list | str):
                return self.text(text)
            cleaned = self.value(loaded)
            return text if self.counts == counts else write_json(cleaned)
        except (ValueError, RecursionError):
            self.counts = counts
            return self.text(text)

    def value(self, value: object) -> object:
        """Redact the strings of a decoded JSON value, in keys too; infinities and NaN become null.

        Raises:
            RecursionError: It is nested too deep.
        """
        if isinstance(value, str):
            text = text_of(value)
            return self.json_text(text) if text[:1] in ("{", "[") else self.text(text)
        if isinstance(value, dict):
            name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
            return {
                self.text(text_of(key)): self._named(name if key in _VALUES else key, item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._named(*pair, ", ") for pair in zip(["", *value], value, strict=False)]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    def _named(self, key: object, value: object, between: str = ": ") -> object:
        """Redact a value behind a key, or behind another one in a list: as a whole if that names a
        secret, and as a header if it is one."""
        if not (
            self.active
            and isinstance(value, str)
            and isinstance(key, str)
            and len(key) <= _LONGEST_NAME
        ):
            return self.value(value)
        text = text_of(value)
        if _HEADER.fullmatch(key):
            return self.text(f"{key}: {text}").removeprefix(f"{key}: ")
        cleaned = self.value(text)
        is_clean = cleaned == text and MARK not in text
        if is_clean and is_named_secret(text_of(key), text, between):
            return self._replaced(text, [Secret(0, len(text), NAMED_SECRET)])
        return cleaned


def _spellings(value: str) -> Iterator[str]:
    """Yield the forms of a value: plain, in JSON, in JSON within JSON, in a URL."""
    yield value
    for text in (json.dumps(value)[1:-1], write_json(value)[1:-1]):
        yield text
        yield write_json(text)[1:-1]
    yield from (quote(value, safe=""), quote(value), quote_plus(value))


def describe(counts: Counter[str]) -> str:
    """Return counts of secrets as text: `OpenAI-style key × 2, .env value × 1`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _(", ").join(f"{_(LABELS[kind])} × {count:,}" for kind, count in ordered)


LEAST = 8
"""Minimum code points of a value: shorter ones would be found in ordinary words."""

Setting = tuple[str, str]
"""A name of a `.env` file and its value."""
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


def is_secret_value(name: str, value: str) -> bool:
    """Tell whether a `.env` value is worth hiding: long enough, and not a path, a plain URL or
    ordinary words.

    If the name suggests a secret, all but the most common words are.
    """
    is_short = len(value) < LEAST or len(set(value)) < 3
    if is_short or value.lower() in COMMON_SETTINGS or value.lower() in MARK.lower():
        return False
    is_named = _SECRET_NAME.search(name) is not None
    is_setting = "/" in value or _SETTING_NAME.search(name)
    return is_named or not (_PLAIN.fullmatch(value) or (is_setting and _WORDS.fullmatch(value)))


def secret_values(pairs: Iterable[Setting]) -> frozenset[str]:
    """Return the values of `.env` files to redact, with the items of lists and the lines of long
    values."""
    return frozenset(
        part.strip()
        for name, value in pairs
        for part in (value, *value.split(","), *value.splitlines())
        if is_secret_value(name, part.strip())
    )


def read_env(path: Path) -> list[Setting]:
    """Read the names and values of a `.env` file, without quotes, at most a megabyte of it; empty if
    it is missing. Quoted values may span lines.

    Raises:
        OSError: It exists and cannot be read.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return [(name, "".join(values)) for name, *values in _PAIR.findall(text)]


def _env_files(location: Location) -> list[Path]:
    """Return the `.env` files whose values may occur in a store: of its folder, its root and the
    user's homes."""
    if location.demo:
        return []
    folders = [location.path.parent, location.root, default_root()]
    if home := os.environ.get("HERMES_HOME", "").strip():
        folders.append(Path(home))
    return list(dict.fromkeys(folder / ".env" for folder in folders if folder is not None))


def make_redactor(
    location: Location, tell: Callable[[str], object], *, active: bool = True
) -> Redactor:
    """Return a redactor that knows the values of the user's `.env` files.

    `tell` takes a sentence for each of these files that cannot be read. Without `active` it removes
    nothing.
    """
    pairs: list[Setting] = []
    for path in _env_files(location) if active else []:
        try:
            pairs += read_env(path)
        except OSError as error:
            tell(
                _(
                    "{path} cannot be read ({reason}): its values are not looked for.",
                    path=path,
                    reason=error.strerror,
                )
            )
    return Redactor(secret_values(pairs), active=active)
