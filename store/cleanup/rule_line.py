"""Rules as a person types them on one line: `older:90d source:cron size>10M`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from ..wording import N_, _
from .protection import STALE_AFTER
from .rules import Rules, parse_age, parse_bytes, parse_money

_COMPARED = re.compile(r"(msgs|messages|size|cost)(<=|>=|<|>|:)(.*)", re.IGNORECASE | re.DOTALL)


_DIGITS = 15
"""Most digits of a count: more is a slip of the finger, and more than every reader of JSON can hold."""


_FLAGS: dict[str, tuple[str, object]] = {
    "automation": ("automation", True),
    "empty": ("empty", True),
    "stale": ("stale_open", STALE_AFTER),
    "archived": ("include_archived", True),
}
"""Values of `is:`, each with the field of `Rules` that it sets."""
EXAMPLES = (
    ("older:30d", N_("no activity for so long; also 2w, 12h")),
    ("source:cron", N_("where it is from; several with commas")),
    ("is:automation is:empty", N_("nobody typed into it; no message in it")),  # not shown
    ("is:stale", N_("open ones too that have been idle for a week, or as long as older: says")),
    ("is:archived", N_("those put away too")),
    ("size>10M msgs<5 cost<0.1", N_("bytes with their share of the index, messages, USD")),
    ("title:notes cwd:~/src model:haiku", N_("part of the title, a folder, part of the model")),  # not shown
)
"""Rules as they are written, each with its meaning, which the help translates."""


class Parsed(NamedTuple):
    """A line of rules as it was understood."""

    rules: Rules
    problems: tuple[str, ...]
    """Sentences about words that could not be read. The rules hold without these; a screen must not act on them."""


def _split(text: str) -> tuple[list[str], list[str]]:
    """Split a line into words as a shell does, without backslashes; the second list holds problems."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # after the words before the quote were added
        return words, [_("a quote is not closed")]
    return words, []


def _count(text: str) -> int:
    plain = text.replace(",", "")
    count = int(plain) if plain.isdecimal() and len(plain) <= _DIGITS else -1
    if count < 0:
        raise ValueError(_("wants a whole number, 0 or more, not {text!r}").format(text=text))
    return count


def _bounds(name: str, sign: str, value: str) -> dict[str, object]:
    """Fields of `Rules` for a comparison of whole numbers: `<5` is at most 4."""
    if name == "cost":
        if sign not in ("<", "<="):
            raise ValueError(_("is asked for with < only: what was dear is not cleaned up by its price"))
        return {"max_cost": parse_money(value)}
    read: Callable[[str], int] = parse_bytes if name == "size" else _count
    bound, field = read(value), "size" if name == "size" else "messages"
    if sign == "<" and bound == 0:
        raise ValueError(_("is never below 0"))
    low = {">": bound + 1, ">=": bound}
    high = {"<": bound - 1, "<=": bound}
    if sign == ":":
        return {f"min_{field}": bound, f"max_{field}": bound}
    return {f"min_{field}": low[sign]} if sign in low else {f"max_{field}": high[sign]}


def _word(word: str, expand: Callable[[str], str]) -> dict[str, object]:
    """Fields of `Rules` for one word.

    Raises:
        ValueError: The word is no rule; the sentence says why.
    """
    compared = _COMPARED.fullmatch(word)
    if compared is not None:
        name = {"messages": "msgs"}.get(compared[1].lower(), compared[1].lower())
        try:
            return _bounds(name, compared[2], compared[3])
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
            return {"older_than": parse_age(value)}
        except ValueError as error:
            raise ValueError(f"older: {error}") from error
    if name == "source":
        return {"sources": frozenset(each for each in value.split(",") if each)}
    if name in ("title", "model"):
        return {name: value}
    if name == "cwd":
        return {"cwd": expand(value)}
    if name == "is":
        if value.lower() not in _FLAGS:
            raise ValueError(_("is: knows {words}").format(words=", ".join(_FLAGS)))
        field, asked = _FLAGS[value.lower()]
        return {field: asked}
    raise ValueError(_("{name}: is no rule").format(name=name))


def parse_rules(text: str, expand: Callable[[str], str] = str) -> Parsed:
    """Read a line of rules. Of several words of one kind the last one holds; sources add up.

    Args:
        text: Any text.
        expand: Makes a full path of what a user types for a folder.
    """
    words, problems = _split(text)
    found: dict[str, object] = {}
    sources: frozenset[str] = frozenset()
    for word in words:
        try:
            asked = _word(word, expand)
        except ValueError as error:
            problems.append(str(error))
            continue
        more = asked.pop("sources", None)
        if isinstance(more, frozenset):
            sources |= more
        found.update(asked)
    age = found.get("older_than")
    if "stale_open" in found and isinstance(age, float):
        found["stale_open"] = age
    for name, field in (("msgs", "messages"), ("size", "size")):
        least, most = found.get(f"min_{field}"), found.get(f"max_{field}")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            problems.append(
                _("{name}: nothing is above {least:,} and below {most:,}").format(
                    name=name, least=least - 1, most=most + 1
                )
            )
    return Parsed(Rules(sources=sources, **found), tuple(problems))  # type: ignore[arg-type]  # by name, each of its type


def toggled(text: str, word: str) -> str:
    """Add a word to a line of rules, or remove it if it is there. A new `older:` replaces the old one.

    Args:
        text: A line of rules; one with a problem is returned as it is.
        word: Such as `is:empty` or `older:90d`.
    """
    words, problems = _split(text)
    if problems:
        return text
    kept = [each for each in words if each != word]
    if len(kept) == len(words):
        kept = [each for each in kept if not (word.startswith("older:") and each.startswith("older:"))] + [word]
    return " ".join(_quoted(each) for each in kept)


def with_age(text: str, days: int) -> str:
    """Give a line of rules another age, in the place of the one it has.

    Args:
        text: A line of rules; one with a problem is returned as it is.
        days: For `older:`.
    """
    words, problems = _split(text)
    if problems:
        return text
    place = next((index for index, each in enumerate(words) if each.startswith("older:")), 0)
    kept = [each for each in words if not each.startswith("older:")]
    kept.insert(place, f"older:{days}d")
    return " ".join(_quoted(each) for each in kept)


def _quoted(word: str) -> str:
    if not any(letter.isspace() or letter == '"' for letter in word):
        return word
    name, colon, value = word.partition(":")
    quote = "'" if '"' in value else '"'
    return f"{name}{colon}{quote}{value}{quote}" if colon else f"{quote}{word}{quote}"
