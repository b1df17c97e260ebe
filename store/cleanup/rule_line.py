"""Parse clean-up rules typed on one line: `older:90d source:cron size>10M`."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from ..ages import parse_when
from ..amounts import parse_bytes, parse_count, parse_money
from ..sessions.relations import STALE_AFTER
from ..wording import N_, _
from .rules import Rules

_COMPARISON = re.compile(r"(msgs|messages|size|cost)(<=|>=|<|>|:)(.*)", re.IGNORECASE | re.DOTALL)
_FLAGS: dict[str, tuple[str, object]] = {
    "automation": ("automation", True),
    "empty": ("empty", True),
    "stale": ("stale_open", STALE_AFTER),
    "archived": ("include_archived", True),
}
"""By value of `is:`: a field of `Rules` and its value."""
EXAMPLES = (
    ("older:30d", N_("no activity for so long; also 5h 2w 6mo 1y, 2026-03-05")),
    ("source:cron", N_("where it is from; several with commas")),
    ("is:automation is:empty", N_("nobody typed into it; no message in it")),
    ("is:stale", N_("also open ones that have been idle for a week, or as long as older: says")),
    ("is:archived", N_("also archived ones")),
    ("size>10M msgs<5 cost<0.1", N_("bytes with their share of the index, messages, USD with subagents")),
    ("title:notes cwd:~/src model:haiku", N_("part of the title, a folder, part of the model")),
)
"""Example rules, each with its meaning, which the help translates."""


class Parsed(NamedTuple):
    """A parsed line of rules."""

    rules: Rules
    problems: tuple[str, ...]
    """Sentences about words that could not be parsed. `rules` lacks these words; a screen must not act on it then."""


def _split(text: str) -> tuple[list[str], list[str]]:
    """Split a line into words as a shell does, without backslash escapes; the second list holds problems."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # the words before the quote have been added
        return words, [_("a quote is not closed")]
    return words, []


def _parse_bounds(name: str, sign: str, value: str) -> dict[str, object]:
    """Return the fields of `Rules` for a comparison: `<5` messages is at most 4."""
    if name == "cost":
        if sign not in ("<", "<="):
            raise ValueError(_("works with < only: expensive conversations are not cleaned up by their cost"))
        limit = parse_money(value)
        return {"max_cost": limit if sign == "<=" else math.nextafter(limit, -math.inf)}
    field, bound = ("size", parse_bytes(value)) if name == "size" else ("messages", parse_count(value))
    if sign == "<" and bound == 0:
        raise ValueError(_("is never below 0"))
    low = {">": bound + 1, ">=": bound, ":": bound}
    high = {"<": bound - 1, "<=": bound, ":": bound}
    bounds: dict[str, object] = {f"min_{field}": low[sign]} if sign in low else {}
    return bounds | ({f"max_{field}": high[sign]} if sign in high else {})


def _parse_word(word: str, now: float, expand: Callable[[str], str]) -> dict[str, object]:
    """Return the fields of `Rules` for one word.

    Raises:
        ValueError: The word is not a rule; the message says why.
    """
    comparison = _COMPARISON.fullmatch(word)
    if comparison is not None:
        name = comparison[1].lower().replace("messages", "msgs")
        try:
            return _parse_bounds(name, comparison[2], comparison[3])
        except ValueError as error:
            raise ValueError(f"{name} {error}") from error
    name, colon, value = word.partition(":")
    name = name.lower()
    if not colon:
        raise ValueError(_("{word!r} is no rule: title:{word} asks for it in titles").format(word=word))
    if not value:
        raise ValueError(_("{name}: wants a value").format(name=name))
    if name == "older":
        try:
            when = parse_when(value, now)
        except ValueError as error:
            raise ValueError(f"older: {error}") from error
        return {"older_than": when.age, "before": when.start if when.age is None else None}
    if name == "source":
        return {"sources": frozenset(each for each in value.split(",") if each)}
    if name in ("title", "model"):
        return {name: value}
    if name == "cwd":
        return {"cwd": expand(value)}
    if name == "is":
        if value.lower() not in _FLAGS:
            raise ValueError(_("is: knows {words}").format(words=", ".join(_FLAGS)))
        field, setting = _FLAGS[value.lower()]
        return {field: setting}
    raise ValueError(_("{name}: is no rule").format(name=name))


def parse_rules(text: str, now: float, expand: Callable[[str], str] = str) -> Parsed:
    """Parse a line of rules. Of several words of one kind the last one counts; sources add up.

    `now`, in Unix seconds, is what dates such as `mon` count from; `expand` expands a typed folder to a full path.
    """
    words, problems = _split(text)
    fields: dict[str, object] = {}
    sources: frozenset[str] = frozenset()
    for word in words:
        try:
            fields |= _parse_word(word, now, expand)
        except ValueError as error:
            problems.append(str(error))
            continue
        more = fields.pop("sources", None)
        if isinstance(more, frozenset):
            sources |= more
    if "stale_open" in fields:
        cutoff = Rules(**fields).cutoff(now)  # type: ignore[arg-type]  # types fit the names
        fields["stale_open"] = STALE_AFTER if cutoff is None else now - cutoff
    for name, field in (("msgs", "messages"), ("size", "size")):
        least, most = fields.get(f"min_{field}"), fields.get(f"max_{field}")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            contradiction = _("{name}: nothing is above {least:,} and below {most:,}")
            problems.append(contradiction.format(name=name, least=least - 1, most=most + 1))
    return Parsed(Rules(sources=sources, **fields), tuple(problems))  # type: ignore[arg-type]  # types fit the names


def toggled(text: str, word: str) -> str:
    """Add a word such as `is:empty` to a line of rules, or remove it; a new `older:` replaces the old one.

    A line with an open quote is returned unchanged.
    """
    words, problems = _split(text)
    if problems:
        return text
    kept = [each for each in words if each != word]
    if len(kept) == len(words):
        kept = [each for each in kept if not (word.startswith("older:") and each.startswith("older:"))] + [word]
    return " ".join(_quoted(each) for each in kept)


def with_age(text: str, days: int) -> str:
    """Replace or add the word `older:` of a line of rules; a line with an open quote is returned unchanged."""
    words, problems = _split(text)
    if problems:
        return text
    position = next((index for index, each in enumerate(words) if each.startswith("older:")), 0)
    kept = [each for each in words if not each.startswith("older:")]
    kept.insert(position, f"older:{days}d")
    return " ".join(_quoted(each) for each in kept)


def _quoted(word: str) -> str:
    if not any(letter.isspace() or letter == '"' for letter in word):
        return word
    name, colon, value = word.partition(":")
    quote = "'" if '"' in value else '"'
    return f"{name}{colon}{quote}{value}{quote}" if colon else f"{quote}{word}{quote}"
