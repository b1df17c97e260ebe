"""What secrets look like: by their form, or by the name before them (`API_KEY=…`, `"password": "…"`, `--secret …`).

By form there is a rule for each kind of key, token and header. Every pattern is linear on hostile text: what follows
a fixed beginning is bounded or possessive, and where a run of letters may be long, only the beginning of the run can
match. Texts are mostly without secrets, so each pattern begins with letters that the regular expression engine finds
at once, and is tried only where a word of its rule is in the text at all.

Of a named secret the name is found first, then the value is walked by hand: a value may be quoted, and the quotes may
themselves be escaped any number of times, as in JSON within JSON. Whether it is a secret is then a judgement:
`max_tokens=4096`, `token = get_token()` and `"key": "Enter"` are none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_DATA: dict[str, str] = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))

MARK = "[REDACTED:"
"""What stands in place of a secret begins so, then follow its kind and a bracket."""
NEEDLES = ("key", "token", "secret", "passw", "passphrase", "pwd", "credential", "auth", "_pass", "pass")
"""Without one of these in the lowered text there is no name of a secret in it."""
COMMON_SETTINGS = frozenset(_DATA["common_settings"].split())
"""Values of settings that are ordinary words."""


class Rule(NamedTuple):
    """One form of secret."""

    kind: str
    needle: str
    """The pattern is tried only where this is in the text; where `folded`, in the lowered text."""
    pattern: re.Pattern[str]
    """The secret is group 1 where there is one, else the whole match."""
    folded: bool = False


def _start(width: int, word: str = "A-Za-z0-9_") -> str:
    """That a word begins so many letters ago.

    In tool output a word begins also after an escaped line end (`\\n` in JSON within text), a percent
    escape, and the colours of a terminal, whose last letter looks like part of a word.
    """
    behind = f"[^\\n]{{{width}}}"
    escapes = (
        r"\\[nrtbf]", r"\\u[0-9A-Fa-f]{4}", r"%[0-9A-Fa-f]{2}", r"[\[;][0-9]m", r"[\[;][0-9]{2}m", r"[\[;][0-9]{3}m",
        r"\x1b\[[mK]",
    )  # fmt: skip
    return f"(?:(?<![{word}]{behind})|" + "|".join(f"(?<={escape}{behind})" for escape in escapes) + ")"


def _rule(kind: str, needle: str, pattern: str, *, folded: bool = False) -> Rule:
    return Rule(kind, needle, re.compile(pattern), folded)


def _keys() -> Iterator[Rule]:
    """The keys told by the letters they begin with."""
    for line in _DATA["keys"].strip().splitlines():
        kind, prefix, rest = line.split()
        yield _rule(kind, prefix, re.escape(prefix) + _start(len(prefix)) + rest)


_QUOTE = r"(?:\\{0,7}[\"'`])?"
_CREDENTIAL = r"[^\s\"'`,;<>\\\[\](){}]"
_HEADER_KIND = "authorization"
_HEADER = rf"(?i:authorization){_QUOTE}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}"
_SCHEMES = "(?i:bearer|basic|token|digest|negotiate|apikey|api-key)"

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"  # not shown
    r"(?:[^\"'`\-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\+[nrt])*+[A-Za-z0-9+/=]{16,}+)++)"  # cut short: lines of base64 as far as they go
)

_DASHED = r"A-Za-z0-9_\-"
RULES = (
    _rule("private-key", "PRIVATE KEY", _PRIVATE_KEY),  # not shown
    _rule("slack-token", "hooks.slack", r"hooks\.slack\.com/((?:services|workflows)/[A-Za-z0-9/_\-]{20,})"),
    *_keys(),
    _rule("discord-token", ".", rf"(?a:[MNO]{_start(1, _DASHED)}[\w\-]{{23,27}}\.[\w\-]{{6}}\.[\w\-]{{27,}})"),
    _rule("jwt", "eyJ", rf"(?a:eyJ{_start(3, _DASHED)}[\w\-]{{8,}}+\.[\w\-]{{8,}}+(?:\.[\w\-]*+)?)"),
    _rule("telegram-token", ":", r"[0-9](?<![0-9][0-9])[0-9]{7,9}:[A-Za-z0-9_\-]{32,}"),
    _rule(_HEADER_KIND, _HEADER_KIND, rf"{_HEADER}{_SCHEMES}[ \t]{{1,4}}({_CREDENTIAL}{{6,4096}}+)", folded=True),
    _rule(
        _HEADER_KIND, _HEADER_KIND, rf"{_HEADER}(?={_CREDENTIAL}{{0,200}}[0-9])({_CREDENTIAL}{{12,4096}}+)", folded=True
    ),
    _rule(
        _HEADER_KIND,
        "bearer",
        r"(?i:bearer)[ \t]{1,4}(?=[A-Za-z._~+/=\-]{0,200}[0-9])([A-Za-z0-9._~+/=\-]{12,4096}+)",
        folded=True,
    ),
    _rule("url-password", "://", r"://[^\s/:@\"'<>\\\[`]{0,128}:(?!\[REDACTED)(?![$<{*])([^\s/\"'<>\\`]{1,256})@"),
    _rule("url-password", "://", r"://(?=[^\s/:@\"'<>\\\[`]{0,256}[0-9])([^\s/:@\"'<>\\\[`]{20,256})@"),
)

AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])(?![0-9a-f]{40}(?![A-Za-z0-9/+=]))[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
"""Forty letters of base64, no SHA-1: a secret key where an access key stands in the same text, else anything."""

_CORE = re.compile("key|token|secret|passw(?:or)?d|passphrase|pass|pwd|credentials?|auth")
_STRONG_KEYS = ("api", "access", "secret", "private", "encryption", "signing", "master", "auth", "account", "license",
                "service", "webhook")  # fmt: skip
"""What makes a key one to be kept, before `key` itself."""
_AFTER = re.compile(
    r"(?P<tail>(?:[_\-][A-Za-z0-9_\-]{1,32}+|(?<=[a-z])[A-Z][A-Za-z0-9_]{0,32}+|[0-9]{1,3})?)"
    r"(?:\\{0,7}[\"'`])?[ \t]{0,4}(?P<sep>:=|=>|=(?!=)|:(?![:/]))[ \t]{0,4}(?P<open>\\{0,7}[\"'`])?"
)
_FLAG = re.compile(
    r"--(?<![A-Za-z0-9\-]--)(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|token|secret|api-?key|secret-key)"
    r"[ \t]{1,4}(?P<open>[\"'])?(?=[^\s\-])"
)
_UNQUOTED = re.compile(r"[^\s\"'`,;&|<>\\(){}\[\]][^\s\"'`,;&|<>\\)}\]]{0,63}")
_REST = re.compile(r"[^\s\"'`,;&|<>\\)}\]]*+")
_CODE = re.compile(r"[A-Za-z_][\w.]*[\[(]")
_LOOKUP = ("os.", "process.env", "env.", "config.", "settings.", "self.", "args.", "getenv", "secrets.", "vars.")
_TEMPLATE = ("${", "$(", "{{", "%(", "%{", "#{", "...", "…", MARK)
_QUOTED_MOST = 4096
_LEAST = 6


_HARMLESS_NAMES = frozenset(_DATA["harmless_names"].split())
_PLACEHOLDERS = frozenset(_DATA["placeholders"].split())
_PLACEHOLDER = re.compile(
    r"(?:(?i:your|the|example|dummy|fake)[_\- ][^0-9]*)|[*xX.\-_•#]+|(.)\1*|\$[A-Z_][A-Z0-9_]*|<[^>]*>"
)
_IDENTIFIER = re.compile(r"(?i)[a-z_\-.]*(?:key|token|secret|passw|credential|auth)[a-z_\-.]*")


def _is_placeholder(value: str) -> bool:
    """What stands for a secret rather than being one: templates, lookups, type names, rows of stars."""
    return (
        value.startswith(_TEMPLATE)
        or value.startswith(_LOOKUP)
        or value.lower() in _PLACEHOLDERS
        or _PLACEHOLDER.fullmatch(value[:200]) is not None
    )


def _is_code(value: str) -> bool:
    """A call, a subscript, or a name that itself speaks of secrets: what programs write without quotes."""
    return _CODE.match(value) is not None or _IDENTIFIER.fullmatch(value[:200]) is not None


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _names_no_secret(tail: str) -> bool:
    words = re.split(r"[_\-]", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tail).lower())
    return words[-1] in _HARMLESS_NAMES


class _Name(NamedTuple):
    """A name with what follows it up to its value."""

    core: str
    """As it stands in the text."""
    before: str
    """The letter before it, empty at the beginning."""
    is_strong: bool
    """The name alone says that its value is a secret."""
    match: re.Match[str]
    """Of `_AFTER`; the value begins where it ends."""


def _find_name(text: str, lowered: str, place: int) -> tuple[_Name | None, int]:
    """The next name that something is assigned to, and where to look on when it is none."""
    found = _CORE.search(lowered, place)
    if found is None:
        return None, len(text)
    match = _AFTER.match(text, found.end())
    if match is None:
        return None, found.start() + 1
    start = found.start()
    ahead = lowered[max(start - 12, 0) : start]
    strong = found[0] not in ("key", "pass") or (
        found[0] == "key" and (ahead[:-1] if ahead[-1:] in ("_", "-", ".", " ") else ahead).endswith(_STRONG_KEYS)
    )
    return _Name(text[start : found.end()], text[start - 1] if start else "", strong, match), found.end()


def _is_secret(text: str, name: _Name, value: str, *, quoted: bool) -> bool:
    """The judgement; of a value without quotes the beginning is given."""
    if len(value) < _LEAST or value.isspace() or _is_placeholder(value) or _names_no_secret(name.match["tail"]):
        return False
    core, before, sep = name.core.lower(), name.before, name.match["sep"]
    if not name.is_strong:
        prefixed = before in ("_", "-") or (before.islower() and name.core[0].isupper())
        if core == "pass":
            return (prefixed or not before.isalnum()) and (_is_mixed(value) or name.core.isupper())
        if name.core.isupper() and sep == "=" and (prefixed or not before.isalnum()):
            return _is_mixed(value)
        return (prefixed or not before.isalnum()) and len(value) >= 16 and _is_mixed(value) and " " not in value
    if core == "auth" and before.isalpha():
        return False  # OAuth and its settings
    is_password = core.startswith(("passw", "passphrase", "pwd"))
    if quoted:
        return is_password or " " not in value
    if _is_code(value):
        return False
    if sep == "=" and not text[name.match.end("sep")].isspace():
        return True
    return _is_mixed(value) and (is_password or len(value) >= 8)


def _quoted_end(text: str, start: int, opener: str) -> int:
    """Where a quoted value ends, before the backslashes of its closing quote; -1 when it is not closed nearby."""
    level, quote = len(opener) - 1, opener[-1]
    place, stop = start, start + _QUOTED_MOST
    while (found := text.find(quote, place, stop)) >= 0:
        slashes = 0
        while found - slashes > start and text[found - slashes - 1] == "\\":
            slashes += 1
        if slashes == level or slashes < level or (level == 0 and slashes % 2 == 0):
            end = found - min(slashes, level)
            return -1 if "\n" in text[start:end] else end
        place = found + 1
    return -1


def _value(text: str, start: int, opener: str | None) -> tuple[int, bool]:
    """The end of a value and whether it is quoted; without quotes the end of its beginning, for judgement."""
    if opener:
        end = _quoted_end(text, start, opener)
        if end >= 0:
            return end, True
    found = _UNQUOTED.match(text, start)
    return (found.end() if found else start), False


def _whole(text: str, end: int, *, quoted: bool) -> int:
    """The end of all of a value that has been judged by its beginning."""
    found = None if quoted else _REST.match(text, end)
    return found.end() if found else end


def lowered(text: str) -> str:
    """The text in lower case, each letter in its place.

    Args:
        text: Any text.
    """
    low = text.lower()
    # The one letter of Unicode that grows by it (https://www.unicode.org/Public/UNIDATA/SpecialCasing.txt).
    return low if len(low) == len(text) else text.replace("\u0130", "I").lower()


def find_assignments(text: str) -> Iterator[tuple[int, int]]:
    """Half-open ranges of the values that a name gives away, in order.

    Args:
        text: Any text.
    """
    low = lowered(text)
    place = 0
    while place < len(text):
        name, place = _find_name(text, low, place)
        if name is None:
            continue
        start = name.match.end()
        end, quoted = _value(text, start, name.match["open"])
        if end > start and _is_secret(text, name, text[start:end], quoted=quoted):
            place = _whole(text, end, quoted=quoted)
            yield start, place


def find_flags(text: str) -> Iterator[tuple[int, int]]:
    """Half-open ranges of the values of `--password`, `--token` and their like, in order.

    Args:
        text: Any text.
    """
    place = 0
    while match := _FLAG.search(text, place):
        start = place = match.end()
        end, quoted = _value(text, start, match["open"])
        value = text[start:end]
        if len(value) >= _LEAST and not _is_placeholder(value) and not _is_code(value):
            place = _whole(text, end, quoted=quoted)
            yield start, place


def names_secret(key: str) -> bool:
    """Whether a key of a JSON object names a secret as its value.

    Args:
        key: The key alone.
    """
    text = f"{key[-80:]}=x"
    low, place = lowered(text), 0
    while place < len(text):
        name, place = _find_name(text, low, place)
        if name is not None and name.is_strong and name.match.end("sep") == len(text) - 1:
            return not _names_no_secret(name.match["tail"])
    return False


def is_value(value: str) -> bool:
    """Whether a text that a secret's name stands before may be one.

    Args:
        value: The whole value.
    """
    return len(value) >= _LEAST and not _is_placeholder(value) and " " not in value
