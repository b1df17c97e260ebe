"""Secrets taken out of texts before they leave the machine, and counted by kind.

What is known by its form or by the name before it (`secrets`), and the values of the person's own `.env` files, are
replaced by `[REDACTED:kind]`. A secret of no known form goes through, so whoever shares a file still reads it first.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

from ..text import as_text
from ..wording import N_, _
from .secrets import (
    AWS_SECRET,
    COMMON_SETTINGS,
    MARK,
    NEEDLES,
    RULES,
    find_assignments,
    find_flags,
    is_value,
    names_secret,
)

ENV_VALUE = "env-value"
NAMED_SECRET = "named-secret"
AWS_SECRET_KEY = "aws-secret-key"

LABELS = {
    "anthropic-key": N_("Anthropic key"),
    "authorization": N_("authorization header"),
    "aws-access-key": N_("AWS access key"),
    AWS_SECRET_KEY: N_("AWS secret key"),
    "discord-token": N_("Discord token"),
    ENV_VALUE: N_(".env value"),
    "github-token": N_("GitHub token"),
    "google-key": N_("Google key"),
    "jwt": N_("JWT"),
    NAMED_SECRET: N_("named key or password"),
    "openai-key": N_("OpenAI-style key"),
    "private-key": N_("private key"),
    "service-key": N_("service key"),
    "slack-token": N_("Slack token"),
    "stripe-key": N_("Stripe key"),
    "telegram-token": N_("Telegram bot token"),
    "url-password": N_("password in an address"),
}
"""The name of each kind for people."""

LEAST = 8
"""Code points of the shortest value that is looked for: shorter ones would be found in ordinary words."""

_MOST_BYTES = 1_000_000
_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.\-]*)[ \t]*=[ \t]*(.*)")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|pass|pwd|auth|cred|webhook|cookie|private|sid$|dsn")
_SETTING_NAME = re.compile(
    r"(?i)model|provider|host|lang|zone|theme|mode|level|editor|shell|backend|version|region|image"
)
_PLAIN_WORD = re.compile(r"[A-Za-z]*|[A-Za-z]{0,12}[0-9]{1,3}[A-Za-z]?|[0-9]{1,3}")
_URL = re.compile(r"(?i)[a-z][a-z0-9+.\-]{1,20}://")


class Redactor:
    """Takes secrets out of many texts and keeps count.

    Time is linear in the length of a text, whatever it holds. Doing it twice changes nothing more.

    Args:
        values: Texts that are secret as such, looked for in every spelling (JSON, addresses).
        active: False keeps everything as it is, for who asks for that.
    """

    def __init__(self, values: Iterable[str] = (), *, active: bool = True) -> None:
        self.values = frozenset(values)
        """Texts that are secret as such."""
        self.active = active
        """Whether anything is taken out."""
        self.counts: Counter[str] = Counter()
        """Secrets taken out so far, by kind."""
        known = {spelling for value in self.values if value for spelling in _spellings(value)}
        # The longest first: one value may begin with another.
        self._values = sorted(known, key=lambda value: (-len(value), value))
        self._pattern = re.compile("|".join(map(re.escape, self._values)))

    @property
    def total(self) -> int:
        """Secrets taken out so far."""
        return self.counts.total()

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if not self.active or not text:
            return text
        if any(value in text for value in self._values):
            text = self._replaced(text, _matches(self._pattern, text), ENV_VALUE)
        lowered = text.lower()
        for rule in RULES:
            if rule.needle in (lowered if rule.folded else text):
                before = self.counts[rule.kind]
                text = self._replaced(text, _matches(rule.pattern, text), rule.kind)
                if rule.kind == "aws-access-key" and self.counts[rule.kind] > before:
                    text = self._replaced(text, _matches(AWS_SECRET, text), AWS_SECRET_KEY)
        if any(needle in lowered for needle in NEEDLES):
            text = self._replaced(text, find_assignments(text), NAMED_SECRET)
            if "--" in text:
                text = self._replaced(text, find_flags(text), NAMED_SECRET)
        return text

    def _replaced(self, text: str, spans: Iterable[tuple[int, int]], kind: str) -> str:
        """The text with ranges, in order and apart, replaced by the mark of a kind."""
        parts: list[str] = []
        last = 0
        for start, end in spans:
            parts += [text[last:start], f"{MARK}{kind}]"]
            last = end
            self.counts[kind] += 1
        return "".join([*parts, text[last:]]) if parts else text

    def optional(self, text: str | None) -> str | None:
        """The same for a text that may be missing."""
        return None if text is None else self.text(text)

    def json_text(self, text: str) -> str:
        """A JSON text without the secrets in its strings: still JSON, and unchanged where there were none.

        What is no JSON is taken as plain text.
        """
        if not self.active or not text:
            return text
        counts = self.counts.copy()
        try:
            loaded = json.loads(text)
            if not isinstance(loaded, dict | list | str):
                return self.text(text)
            cleaned = self.value(loaded)
            return text if self.counts == counts else json.dumps(cleaned, ensure_ascii=False)
        except (ValueError, RecursionError):
            self.counts = counts
            return self.text(text)

    def value(self, value: object) -> object:
        """A decoded JSON value without the secrets in its strings, in keys too; what no JSON holds becomes null.

        Raises:
            RecursionError: It is nested deeper than Python can follow.
        """
        if isinstance(value, str):
            text = as_text(value) or ""
            return self.json_text(text) if text[:1] in ("{", "[") else self.text(text)
        if isinstance(value, dict):
            return {self.text(as_text(key) or ""): self._named(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    def _named(self, key: object, value: object) -> object:
        """The value of a key: one that a secret's name stands before goes whole."""
        found = self.value(value)
        if self.active and isinstance(found, str) and MARK not in found and names_secret(str(key)) and is_value(found):
            return self._replaced(found, [(0, len(found))], NAMED_SECRET)
        return found


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span(min(1, pattern.groups)) for match in pattern.finditer(text))


def _spellings(value: str) -> Iterator[str]:
    """A value as it may stand in a text: as it is, in JSON, in JSON within JSON, in an address."""
    yield value
    for text in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield text
        yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield from (quote(value, safe=""), quote(value), quote_plus(value))


def parse_env(text: str) -> list[tuple[str, str]]:
    """Names and values of the text of a `.env` file, without quotes and comments; a quoted value may have line ends."""
    found: list[tuple[str, str]] = []
    lines = iter(text.removeprefix("\ufeff").splitlines())
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        name, value = match[1], match[2].strip()
        if value[:1] in ('"', "'"):
            mark, body = value[0], value[1:]
            while mark not in body:
                following = next(lines, None)
                if following is None:
                    break
                body += "\n" + following
            value = body.partition(mark)[0]
        else:
            value = re.split(r"[ \t]#", value, maxsplit=1)[0].rstrip()
        found.append((name, value))
    return found


def is_telling(name: str, value: str) -> bool:
    """Whether a value is worth hiding: long enough, and no path, plain address or ordinary words.

    A name that speaks of secrets makes all but the commonest words worth it.
    """
    if len(value) < LEAST or value.lower() in COMMON_SETTINGS or len(set(value)) < 3 or value.lower() in MARK.lower():
        return False
    if _SECRET_NAME.search(name):
        return True
    if value.startswith(("/", "~", "./", "../")) or re.match(r"[A-Za-z]:[\\/]", value):
        return False
    if _URL.match(value):
        return "@" in value
    words = re.split(r"[-_/.:,+ ]", value)
    is_plain = all(_PLAIN_WORD.fullmatch(word) for word in words)
    return not (is_plain and (len(words) == 1 or "/" in value or _SETTING_NAME.search(name)))


def telling_values(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The values to look for among names and values of `.env` files; parts of lists and lines of long ones too."""
    found: set[str] = set()
    for name, value in pairs:
        parts = [value, *value.split(","), *value.splitlines()]
        found.update(part.strip() for part in parts if is_telling(name, part.strip()))
    return frozenset(found)


def read_env(path: Path) -> list[tuple[str, str]]:
    """The names and values of a file; empty when there is none. No more than a megabyte of it is read.

    Raises:
        OSError: It is there and cannot be read.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return parse_env(raw.decode("utf-8", "replace"))


def describe(counts: Counter[str]) -> str:
    """Counts of secrets by kind in words: `OpenAI-style key × 2, .env value × 1`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    labels = {kind: _(label) for kind, label in LABELS.items()}
    return _(", ").join(f"{labels.get(kind, kind)} × {count:,}" for kind, count in ordered)
