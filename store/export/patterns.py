"""How secrets look: one rule for each kind of key, token and header that can be told by its form.

Every pattern is linear on hostile text: what follows a fixed beginning is bounded or possessive, and
where a run of letters may be long, only the beginning of the run can match. Texts are mostly without
secrets, so each pattern begins with letters that the regular expression engine finds at once, and is
tried only where a word of its rule is in the text at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = "[REDACTED:"
"""What stands in place of a secret begins so, then follow its kind and a bracket."""


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


def _key(kind: str, prefix: str, rest: str) -> Rule:
    """A key told by the letters it begins with."""
    return Rule(kind, prefix, re.compile(re.escape(prefix) + _start(len(prefix)) + rest))


_QUOTE = r"(?:\\{0,7}[\"'`])?"
_CREDENTIAL = r"[^\s\"'`,;<>\\\[\](){}]"
_HEADER = rf"(?i:authorization){_QUOTE}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}"
_SCHEMES = "(?i:bearer|basic|token|digest|negotiate|apikey|api-key)"

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"  # not shown
    r"(?:[^\"'`\-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\+[nrt])*+[A-Za-z0-9+/=]{16,}+)++)"  # cut short: lines of base64 as far as they go
)

# Services whose keys have a prefix of their own and nothing else to tell them by.
_SERVICES = (
    ("hf_", "[A-Za-z0-9]{20,}"),
    ("gsk_", "[A-Za-z0-9]{20,}"),
    ("xai-", "[A-Za-z0-9]{30,}"),
    ("pplx-", "[A-Za-z0-9]{20,}"),
    ("tvly-", r"[A-Za-z0-9\-]{16,}"),
    ("r8_", "[A-Za-z0-9]{20,}"),
    ("fw_", "[A-Za-z0-9]{20,}"),
    ("fpk_", "[A-Za-z0-9]{20,}"),
    ("nvapi-", r"[A-Za-z0-9_\-]{20,}"),
    ("fc-", "[a-f0-9]{24,}"),
    ("npm_", "[A-Za-z0-9]{30,}"),
    ("pypi-", r"[A-Za-z0-9_\-]{40,}"),
    ("do", "[opr]_v1_[a-f0-9]{32,}"),
    ("ntn_", "[A-Za-z0-9]{30,}"),
    ("syt_", "[A-Za-z0-9_]{20,}"),
    ("SG.", r"[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,}"),
    ("glpat-", r"[A-Za-z0-9_\-]{16,}"),
    ("bb_live_", r"[A-Za-z0-9_\-]{16,}"),
    ("exa_", "[A-Za-z0-9]{20,}"),
    ("sk_", "[a-f0-9]{40,}"),
    ("ya29.", r"[A-Za-z0-9_\-]{20,}"),
    ("GOCSPX-", r"[A-Za-z0-9_\-]{20,}"),
    ("lin_api_", "[A-Za-z0-9]{20,}"),
    ("key-", "[a-f0-9]{32}"),
)

RULES = (
    Rule("private-key", "PRIVATE KEY", re.compile(_PRIVATE_KEY)),  # not shown
    _key("anthropic-key", "sk-ant-", r"[A-Za-z0-9_\-]{16,}"),
    # Words joined by dashes begin so too (`sk-learn-…`): a key has a digit among its first letters.
    _key("openai-key", "sk-", r"(?=[A-Za-z_\-]{0,80}[0-9])[A-Za-z0-9_\-]{20,}"),
    _key("github-token", "gh", "[pousr]_[A-Za-z0-9]{20,}"),
    _key("github-token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    _key("aws-access-key", "AKIA", "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("aws-access-key", "ASIA", "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("google-key", "AIza", r"[A-Za-z0-9_\-]{30,}"),
    _key("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-(?=[A-Za-z\-]{0,80}[0-9])[A-Za-z0-9\-]{10,}"),
    _key("slack-token", "xapp-", r"[0-9]-[A-Za-z0-9\-]{10,}"),
    Rule("slack-token", "hooks.slack", re.compile(r"hooks\.slack\.com/((?:services|workflows)/[A-Za-z0-9/_\-]{20,})")),
    *(_key("stripe-key", prefix, "[A-Za-z0-9]{10,}") for prefix in ("sk_live_", "sk_test_", "rk_live_", "rk_test_")),
    _key("stripe-key", "whsec_", "[A-Za-z0-9+/=]{20,}"),
    *(_key("service-key", prefix, rest) for prefix, rest in _SERVICES),
    Rule(
        "discord-token",
        ".",
        re.compile("[MNO]" + _start(1, r"A-Za-z0-9_\-") + r"[\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,}", re.ASCII),
    ),
    Rule(
        "jwt",
        "eyJ",
        re.compile("eyJ" + _start(3, r"A-Za-z0-9_\-") + r"[\w\-]{8,}+\.[\w\-]{8,}+(?:\.[\w\-]*+)?", re.ASCII),
    ),
    Rule("telegram-token", ":", re.compile(r"[0-9](?<![0-9][0-9])[0-9]{7,9}:[A-Za-z0-9_\-]{32,}")),
    Rule(
        "authorization",
        "authorization",
        re.compile(rf"{_HEADER}{_SCHEMES}[ \t]{{1,4}}({_CREDENTIAL}{{6,4096}}+)"),
        True,
    ),
    Rule(
        "authorization",
        "authorization",
        re.compile(rf"{_HEADER}(?={_CREDENTIAL}{{0,200}}[0-9])({_CREDENTIAL}{{12,4096}}+)"),
        True,
    ),
    Rule(
        "authorization",
        "bearer",
        re.compile(r"(?i:bearer)[ \t]{1,4}(?=[A-Za-z._~+/=\-]{0,200}[0-9])([A-Za-z0-9._~+/=\-]{12,4096}+)"),
        True,
    ),
    Rule(
        "url-password",
        "://",
        re.compile(r"://[^\s/:@\"'<>\\\[`]{0,128}:(?!\[REDACTED)(?![$<{*])([^\s/\"'<>\\`]{1,256})@"),
    ),
    Rule(
        "url-password",
        "://",
        re.compile(r"://(?=[^\s/:@\"'<>\\\[`]{0,256}[0-9])([^\s/:@\"'<>\\\[`]{20,256})@"),
    ),
)

AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])(?![0-9a-f]{40}(?![A-Za-z0-9/+=]))[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
"""Forty letters of base64, no SHA-1: a secret key where an access key stands in the same text, else anything."""
