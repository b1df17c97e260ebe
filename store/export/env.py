"""The values of a `.env` file: what a person has told Hermes in confidence, wherever it turns up again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

from .patterns import MARK

LEAST = 8
"""Code points of the shortest value that is looked for: shorter ones would be found in ordinary words."""

_MOST_BYTES = 1_000_000
_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.\-]*)[ \t]*=[ \t]*(.*)")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|pass|pwd|auth|cred|webhook|cookie|private|sid$|dsn")
_SETTING_NAME = re.compile(
    r"(?i)model|provider|host|lang|zone|theme|mode|level|editor|shell|backend|version|region|image"
)
_COMMON = frozenset(
    [
        "password",
        "changeme",
        "localhost",
        "disabled",
        "enabled",
        "undefined",
        "required",
        "optional",
        "default",
        "example",
        "anthropic",
        "openrouter",
        "development",
        "production",
        "telegram",
        "whatsapp",
        "discord",
        "[redacted]",
    ]
)
_PLAIN_WORD = re.compile(r"[A-Za-z]*|[A-Za-z]{0,12}[0-9]{1,3}[A-Za-z]?|[0-9]{1,3}")
_URL = re.compile(r"(?i)[a-z][a-z0-9+.\-]{1,20}://")


def parse_env(text: str) -> list[tuple[str, str]]:
    """Names and values of a `.env` file; quotes and comments taken off, quoted values of several lines kept whole.

    Args:
        text: The file.
    """
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

    Args:
        name: A name that speaks of secrets makes all but the commonest words worth it.
        value: The value.
    """
    if len(value) < LEAST or value.lower() in _COMMON or len(set(value)) < 3 or value.lower() in MARK.lower():
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
    """The values to look for, parts of lists and lines of long ones too.

    Args:
        pairs: Names and values of any number of files.
    """
    found: set[str] = set()
    for name, value in pairs:
        parts = [value, *value.split(","), *value.splitlines()]
        found.update(part.strip() for part in parts if is_telling(name, part.strip()))
    return frozenset(found)


def read_env(path: Path) -> list[tuple[str, str]]:
    """The names and values of a file; empty when there is none.

    Args:
        path: The file; no more than a megabyte of it is read.

    Raises:
        OSError: It is there and cannot be read.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return parse_env(raw.decode("utf-8", "replace"))


def spellings(value: str) -> Iterator[str]:
    """A value as it may stand in a text: as it is, in JSON, in JSON within JSON, in an address.

    Args:
        value: As the file holds it.
    """
    yield value
    for text in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield text
        yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield quote(value)
    yield quote_plus(value)
