"""Secrets taken out of texts before they leave the machine, and counted by kind.

What is known by its form (`patterns`), by the name before it (`assignments`) and by being a value of
the person's own `.env` (`env`) is replaced by `[REDACTED:kind]`. That is a net with meshes: what looks
like nothing in particular goes through, so whoever shares a file still reads it first.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ..text import as_text
from ..wording import N_, _
from .assignments import NEEDLES, find_assignments, find_flags, is_value, names_secret
from .env import spellings
from .patterns import AWS_SECRET, MARK, RULES

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
"""What a person reads for each kind, where it is translated."""

Span = tuple[int, int]


def _mark(kind: str) -> str:
    return f"{MARK}{kind}]"


def _replaced(text: str, spans: Iterable[Span], kind: str, counts: Counter[str]) -> str:
    """The text with ranges, in order and apart, replaced by the mark of a kind."""
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts += [text[last:start], _mark(kind)]
        last = end
        counts[kind] += 1
    return "".join([*parts, text[last:]]) if parts else text


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    group = 1 if pattern.groups else 0
    return (match.span(group) for match in pattern.finditer(text))


def redact(text: str, values: Iterable[str] = ()) -> tuple[str, Counter[str]]:
    """A text without its secrets, and how many of which kind were in it.

    Time is linear in the length of the text, whatever it holds. Doing it twice changes nothing more.

    Args:
        text: Any text.
        values: Texts that are secret as such, as `env.telling_values` gives them.
    """
    redactor = Redactor(values)
    return redactor.text(text), redactor.counts


class Redactor:
    """Takes secrets out of many texts and keeps count.

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
        known = {spelling for value in self.values if value for spelling in spellings(value)}
        # The longest first: one value may begin with another.
        self._values = sorted(known, key=lambda value: (-len(value), value))
        self._pattern = re.compile("|".join(map(re.escape, self._values))) if self._values else None

    @property
    def total(self) -> int:
        """Secrets taken out so far."""
        return sum(self.counts.values())

    def text(self, text: str) -> str:
        """The text without its secrets.

        Args:
            text: Any text.
        """
        if not self.active or not text:
            return text
        if self._pattern is not None and any(value in text for value in self._values):
            text = _replaced(text, _matches(self._pattern, text), ENV_VALUE, self.counts)
        lowered = text.lower()
        for rule in RULES:
            if rule.needle in (lowered if rule.folded else text):
                before = self.counts[rule.kind]
                text = _replaced(text, _matches(rule.pattern, text), rule.kind, self.counts)
                if rule.kind == "aws-access-key" and self.counts[rule.kind] > before:
                    text = _replaced(text, _matches(AWS_SECRET, text), AWS_SECRET_KEY, self.counts)
        if any(needle in lowered for needle in NEEDLES):
            text = _replaced(text, find_assignments(text), NAMED_SECRET, self.counts)
            if "--" in text:
                text = _replaced(text, find_flags(text), NAMED_SECRET, self.counts)
        return text

    def optional(self, text: str | None) -> str | None:
        """The same for a text that may be missing."""
        return None if text is None else self.text(text)

    def json_text(self, text: str) -> str:
        """A JSON text without the secrets in its strings; it stays JSON, and as it is where there were none.

        Args:
            text: What should be JSON; what is none is taken as plain text.
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

        Args:
            value: Mappings, lists, texts and numbers.

        Raises:
            RecursionError: It is nested deeper than Python can follow.
        """
        return self._walk(value, _plain)

    def _walk(self, value: object, plain: Callable[[object], object]) -> object:
        if isinstance(value, str):
            text = as_text(value) or ""
            return self.json_text(text) if text[:1] in ("{", "[") else self.text(text)
        if isinstance(value, dict):
            return {self.text(as_text(key) or ""): self._named(key, item, plain) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walk(item, plain) for item in value]
        return plain(value)

    def _named(self, key: object, value: object, plain: Callable[[object], object]) -> object:
        """The value of a key: one that a secret's name stands before goes whole."""
        found = self._walk(value, plain)
        if self.active and isinstance(found, str) and MARK not in found and names_secret(str(key)) and is_value(found):
            self.counts[NAMED_SECRET] += 1
            return _mark(NAMED_SECRET)
        return found


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def describe(counts: Counter[str]) -> str:
    """The counts in words: `OpenAI-style key × 2, .env value × 1`.

    Args:
        counts: Secrets by kind.
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    labels = {kind: _(label) for kind, label in LABELS.items()}
    return _(", ").join(f"{labels.get(kind, kind)} × {count:,}" for kind, count in ordered)
