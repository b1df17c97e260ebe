"""Find secrets by their form, or by the name before them (`API_KEY=…`, `"password": "…"`, `--secret
…`).

`secrets.toml` has a rule for the form of each kind of key, token and header. Every pattern is
linear on hostile text: whatever follows a fixed prefix is bounded or possessive, and a long run of
letters can only match at its start. Most texts have no secrets, so each pattern begins with a
literal prefix, which is found fast, and is only tried if a word of its rule is in the text. Each is
looked for in the text as it is; `readings` gives other ways to read it.

For a named secret the name is found first, then the end of the value: it may be quoted, and the
quotes may be escaped any number of times, as in JSON within JSON. Heuristics then decide:
`max_tokens=4096`, `token = get_token()` and `"key": "Enter"` are not secrets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_DATA = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))

MARK = "[REDACTED:"
"""Start of the replacement of a secret, before its kind and `]`."""
_NEEDLES = ("key", "token", "secret", "pass", "pwd", "credential", "auth")
"""A text without any of these, in lower case, names no secret."""
NAMED_SECRET = "named-secret"
AWS_SECRET_KEY = "aws-secret-key"
_AWS_ACCESS_KEY = "aws-access-key"
COMMON_SETTINGS = frozenset(_DATA["common_settings"].split())
"""Values of settings that are ordinary words."""


class Rule(NamedTuple):
    """One form of secret."""

    kind: str
    needle: str
    """The pattern is only tried if the text, or with `folded` its lower case, contains this."""
    pattern: re.Pattern[str]
    """The secret is group 1 if there is one, else the whole match."""
    folded: bool = False
    named: bool = False
    """The value is no secret if it only stands for one."""
    is_word: bool = False
    """The secret begins in a word of `_LONG_WORD`, which has the needle too."""


class Secret(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


def _start(width: int, word: str = "A-Za-z0-9_") -> str:
    """Return a pattern that matches where a word began `width` letters before.

    In tool output a word also begins after an escaped line end (`\\n` in JSON within text), a
    percent escape, and a colour sequence of a terminal, whose last letter looks like part of a
    word.
    """
    behind = f"[^\\n]{{{width}}}"
    escapes = (
        r"\\[nrtbf]", r"\\u[0-9A-Fa-f]{4}", r"%[0-9A-Fa-f]{2}", r"[\[;][0-9]m", r"[\[;][0-9]{2}m", r"[\[;][0-9]{3}m",
        r"\x1b\[[mK]",
    )  # fmt: skip
    return (
        f"(?:(?<![{word}]{behind})|"
        + "|".join(f"(?<={escape}{behind})" for escape in escapes)
        + ")"
    )


def _forms(name: str) -> Iterator[Rule]:
    for each in _DATA[name]:
        pattern = re.sub(
            r"<start:(\d)>", lambda match: _start(int(match[1]), r"A-Za-z0-9_\-"), each["pattern"]
        )
        options = {name: each[name] for name in ("folded", "named", "is_word") if name in each}
        yield Rule(each["kind"], each["needle"], re.compile(pattern), **options)


def _keys() -> Iterator[Rule]:
    for line in _DATA["keys"].strip().splitlines():
        kind, prefixes, rest = line.split()
        for prefix in prefixes.split(","):
            yield Rule(
                kind,
                prefix,
                re.compile(re.escape(prefix) + _start(len(prefix)) + rest),
                is_word=True,
            )


_KEYS = tuple(_keys())
RULES = (*_forms("first"), *_KEYS, *_forms("then"))
BEGINNINGS = tuple(rule.needle for rule in _KEYS)
"""The letters that keys begin with."""

_LONG_WORD = re.compile(r"[A-Za-z0-9_.\-:]{14,}")
"""What can be a key."""

_AWS_SECRET = re.compile(
    r"(?<![A-Za-z0-9/+=])(?![0-9a-f]{40}(?![A-Za-z0-9/+=]))[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)
"""Forty letters of base64, but not a SHA-1: a secret key if an access key is in the same text."""

_CORE = re.compile("key|token|secret|passw(?:or)?d|passphrase|pass|pwd|credentials?|auth")
_STRONG_KEYS = ("api", "access", "secret", "private", "encryption", "signing", "master", "auth", "account", "license",
                "service", "webhook")  # fmt: skip
"""Words before `key` that make it name a secret."""
_AFTER = re.compile(
    r"(?P<tail>(?:[_\-][A-Za-z0-9_\-]{1,32}+|(?<=[a-z])[A-Z][A-Za-z0-9_]{0,32}+|[0-9]{1,3})?)"
    r"(?:\\{0,7}[\"'`]|\*{1,2})?[ \t]{0,4}(?P<sep>:=|=>|=(?!=)|:(?![:/])|(?<=[ \t])is(?=[ \t:]):?)\*{0,2}"
    r"[ \t]{0,4}(?P<open>\\{0,7}[\"'`])?"
)
_FLAG = re.compile(
    r"--(?<![A-Za-z0-9\-]--)(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|token|secret|api-?key|secret-key)"
    r"[ \t]{1,4}(?P<open>[\"'])?(?=[^\s\-])"
)
_UNQUOTED = re.compile(r"[^\s\"'`,;&|<>\\(){}\[\]][^\s\"'`,;&|<>\\)}\]]{0,63}")
_REST = re.compile(r"[^\s\"'`,;&|<>\\)}\]]*+")
_CODE = re.compile(r"[A-Za-z_][\w.]*[\[(]")
_TEMPLATE = ("${", "$(", "{{", "%(", "%{", "#{", "...", "…", MARK, "os.", "process.env", "env.", "config.", "settings.",
             "self.", "args.", "getenv", "secrets.", "vars.")  # fmt: skip
"""Prefixes of templates and lookups."""
_QUOTED_MOST = 4096
_LEAST = 6
_LEAST_SAID = 8
_WORDS = re.compile(
    r"(?:[A-Za-z]?[a-z]+[0-9]{0,4}[a-z]{0,8}|[0-9]{1,4}[A-Za-z]{0,3})"
    r"(?:[\-_/][A-Za-z0-9]{1,16})*[.:!?)]*"
)
"""What may follow `the password is` in a sentence: `sha256-hashed`, `40-character`."""
_HARMLESS_NAMES = frozenset(_DATA["harmless_names"].split())
_PLACEHOLDERS = frozenset(_DATA["placeholders"].split())
_PLACEHOLDER = re.compile(
    r"(?:(?i:your|the|example|dummy|fake)[_\- ][^0-9]*)|[*xX.\-_•#]+|(.)\1*|\$[A-Z_][A-Z0-9_]*|<[^>]*>"
)
_IDENTIFIER = re.compile(r"(?i)[a-z_\-.]*(?:key|token|secret|passw|credential|auth)[a-z_\-.]*")


def _is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for a secret: a template, a lookup, the name of a type, a
    row of stars."""
    is_known = value.startswith(_TEMPLATE) or value.lower() in _PLACEHOLDERS
    return is_known or _PLACEHOLDER.fullmatch(value[:200]) is not None


def _is_code(value: str) -> bool:
    """Tell whether an unquoted value is a call, a subscript, or the name of a secret in a
    program."""
    return _CODE.match(value) is not None or _IDENTIFIER.fullmatch(value[:200]) is not None


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_harmless(tail: str) -> bool:
    words = re.split(r"[_\-]", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tail).lower())
    return words[-1] in _HARMLESS_NAMES


class _Name(NamedTuple):
    """A name with an assigned value."""

    core: str
    """The word that suggests a secret, as in the text."""
    before: str
    """The letter before it, empty at the start of the text."""
    is_strong: bool
    """The name alone proves that its value is a secret."""
    match: re.Match[str]
    """Of `_AFTER`, after the word; the value starts at its end."""


def _names(text: str) -> Iterator[_Name]:
    low, position = text.lower(), 0
    if len(low) != len(text):
        # The only letter whose lower case is longer
        # (https://www.unicode.org/Public/UNIDATA/SpecialCasing.txt).
        low = text.replace("\u0130", "I").lower()
    while core := _CORE.search(low, position):
        start, end = core.span()
        match = _AFTER.match(text, end)
        position = end if match else start + 1
        if match:
            before = low[max(start - 12, 0) : start]
            is_strong = core[0] not in ("key", "pass") or (
                core[0] == "key"
                and (before[:-1] if before[-1:] in ("_", "-", ".", " ") else before).endswith(
                    _STRONG_KEYS
                )
            )
            yield _Name(text[start:end], text[start - 1] if start else "", is_strong, match)


def _is_secret(text: str, name: _Name, value: str, *, quoted: bool) -> bool:
    """Tell whether the value of a name is a secret; of an unquoted value only the start is
    given."""
    if (
        len(value) < _LEAST
        or value.isspace()
        or _is_placeholder(value)
        or _is_harmless(name.match["tail"])
    ):
        return False
    core, before, sep = name.core.lower(), name.before, name.match["sep"]
    if sep.startswith("is"):
        return (
            name.is_strong
            and len(value) >= _LEAST_SAID
            and _is_mixed(value)
            and not _WORDS.fullmatch(value)
        )
    if not name.is_strong:
        if before.isalnum() and not (before.islower() and name.core[0].isupper()):
            return False
        if core == "pass":
            return _is_mixed(value) or name.core.isupper()
        if name.core.isupper() and sep == "=":
            return _is_mixed(value)
        if not quoted and _is_code(value):
            return False
        return len(value) >= 16 and _is_mixed(value) and " " not in value
    if core == "auth" and before.isalpha():
        return False  # OAuth and its settings
    is_password = core.startswith(("passw", "passphrase", "pwd"))
    if quoted:
        return is_password or (" " not in value and not _IDENTIFIER.fullmatch(value[:200]))
    if _is_code(value):
        return False
    if sep == "=" and not text[name.match.end("sep")].isspace():
        return True
    return _is_mixed(value) and (is_password or len(value) >= 8)


def _quoted_end(text: str, start: int, opener: str) -> int:
    """Return the end of a quoted value, before the backslashes of its closing quote; -1 if it is
    not closed nearby."""
    level, quote = len(opener) - 1, opener[-1]
    position, stop = start, start + _QUOTED_MOST
    while (close := text.find(quote, position, stop)) >= 0:
        slashes = 0
        while close - slashes > start and text[close - slashes - 1] == "\\":
            slashes += 1
        if slashes <= level or (level == 0 and slashes % 2 == 0):
            end = close - min(slashes, level)
            return -1 if "\n" in text[start:end] else end
        position = close + 1
    return -1


def _value_end(text: str, start: int, opener: str | None) -> tuple[int, bool]:
    """Return the end of a value and whether it is quoted; without quotes the end of its first 64
    letters."""
    if opener:
        end = _quoted_end(text, start, opener)
        if end >= 0:
            return end, True
    match = _UNQUOTED.match(text, start)
    return (match.end() if match else start), False


def _whole_end(text: str, end: int, *, quoted: bool) -> int:
    """Return the end of the whole value, of which `_value_end` may have found only the start."""
    match = None if quoted else _REST.match(text, end)
    return match.end() if match else end


def _find_assignments(text: str) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of the secret values that are assigned to names, in order."""
    position = 0
    for name in _names(text):
        start = name.match.end()
        if name.match.start() < position:
            continue  # inside the value before
        end, quoted = _value_end(text, start, name.match["open"])
        if end > start and _is_secret(text, name, text[start:end], quoted=quoted):
            position = _whole_end(text, end, quoted=quoted)
            yield start, position


def _find_flags(text: str) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of the values of `--password`, `--token` and similar options, in
    order."""
    position = 0
    while match := _FLAG.search(text, position):
        start = position = match.end()
        end, quoted = _value_end(text, start, match["open"])
        value = text[start:end]
        if len(value) >= _LEAST and not _is_placeholder(value) and not _is_code(value):
            position = _whole_end(text, end, quoted=quoted)
            yield start, position


def _rules_for(text: str, lowered: str) -> Iterator[Rule]:
    words = " ".join(
        _LONG_WORD.findall(text)
    )  # a small part of most texts, in which needles are found sooner
    for rule in RULES:
        place = words if rule.is_word else lowered if rule.folded else text
        if rule.needle in place:
            yield rule


def _find_forms(text: str, lowered: str) -> Iterator[Secret]:
    has_access_key = False
    for rule in _rules_for(text, lowered):
        group = min(1, rule.pattern.groups)
        for match in rule.pattern.finditer(text):
            if rule.named and _is_placeholder(match[group]):
                continue
            has_access_key = has_access_key or rule.kind == _AWS_ACCESS_KEY
            yield Secret(*match.span(group), rule.kind)
    if has_access_key:
        yield from (Secret(*match.span(), AWS_SECRET_KEY) for match in _AWS_SECRET.finditer(text))


def find_secrets(text: str) -> Iterator[Secret]:
    """Yield the secrets of a text, by form and then by name; they may overlap."""
    lowered = text.lower()
    yield from _find_forms(text, lowered)
    if any(needle in lowered for needle in _NEEDLES):
        yield from (Secret(*span, NAMED_SECRET) for span in _find_assignments(text))
        if "--" in text:
            yield from (Secret(*span, NAMED_SECRET) for span in _find_flags(text))


def names_secret(key: str) -> bool:
    """Tell whether a key of a JSON object names a secret."""
    text = f"{key[-80:]}=x"
    for name in _names(text):
        if name.is_strong and name.match.end("sep") == len(text) - 1:
            return not _is_harmless(name.match["tail"])
    return False


def is_value(value: str) -> bool:
    """Tell whether the value of a key that names a secret may be one."""
    return len(value) >= _LEAST and not _is_placeholder(value) and " " not in value
