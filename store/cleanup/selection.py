"""What a clean-up chooses: a query without words, and conversations that were marked by hand.

The line is read by the parser of searches (`search/query.py`); this module adds what only a
clean-up wants of it. A part that cannot be taken as meant ends a clean-up, where a search goes on
without it. Archived and open conversations are left out unless a filter names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..ages import parse_when
from ..amounts import parse_bytes, parse_count, parse_money
from ..search.filters import BY_KEY, Filter, share_of
from ..search.query import EMPTY, MOST, Query, QueryProblem, like_filters, parse
from ..search.terms import fold
from ..wording import _

_AMOUNTS: Mapping[str, Callable[[str], float]] = {"cost": parse_money, "size": parse_bytes}
"""How the value of a filter is read; those of the others are counts."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a clean-up chooses; without a filter and without a mark nothing."""

    query: Query = EMPTY
    """From `parse_line`, without problems."""
    marks: frozenset[str] = frozenset()
    """Ids marked by hand: chosen whatever the filters say, even if open or hidden, unless
    protected."""

    @property
    def has_filters(self) -> bool:
        """Whether a filter chooses anything; `include:` only adds to what others choose."""
        return any(each.key != "include" for each in self.query.filters)

    @property
    def nothing(self) -> bool:
        """Whether nothing is chosen."""
        return not self.has_filters and not self.marks

    @property
    def states(self) -> frozenset[str]:
        """The states that a filter names: `archived` for `is:archived` and for
        `include:archived`."""
        return frozenset(each.value.lower() for each in self._positive("is", "include"))

    @property
    def sources(self) -> frozenset[str]:
        """The sources that a filter names, folded."""
        values = (value for each in self._positive("source") for value in each.value.split(","))
        return frozenset(map(fold, values))

    def age(self, now: float) -> float | None:
        """Return the seconds of idleness that `older:` asks for, of several the most; `now` is in
        Unix seconds."""
        ages = [now - parse_when(each.value, now).start for each in self._positive("older")]
        return max(ages, default=None)

    @property
    def has_goal(self) -> bool:
        """Whether `free:` ends the selection."""
        return any(self._positive("free"))

    def goal(self, used: int) -> int:
        """Return how many bytes `free:` wants back, of so many that the store uses; of several the
        least."""
        goals = []
        for each in self._positive("free"):
            share = share_of(each.value)
            goals.append(parse_bytes(each.value) if share is None else round(used * share))
        return min(goals)

    def _positive(self, *keys: str) -> Iterator[Filter]:
        return (each for each in self.query.filters if each.key in keys and not each.negated)


def parse_line(text: str, now: float) -> Query:
    """Parse the line of a clean-up; the problems of the query say why it must not be carried out.

    `now` is in Unix seconds, for ages and dates.
    """
    query = parse(text, now=now, for_cleanup=True)
    problems = [*query.problems]
    if len(text) > MOST:
        problems.append(
            QueryProblem(
                MOST, len(text), _("longer than {most:,} characters").format(most=MOST), True
            )
        )
    meant = {
        term.start: filter_meant
        for term, _reason, filter_meant in like_filters(query)
        if filter_meant
    }
    for term in (*query.terms, *query.excluded):
        if term.start in meant:
            reason = _("“{word}” is no filter: is {meant} meant?").format(
                word=term.text, meant=meant[term.start]
            )
        else:
            reason = _("“{word}” is no filter: title:{word} looks for it in titles").format(
                word=term.text
            )
        problems.append(QueryProblem(term.start, term.end, reason, True))
    for each in query.filters:
        kind = BY_KEY[each.key]
        reason = ""
        if kind.is_cleanup_only and each.negated:
            reason = _("{key}: cannot be excluded").format(key=each.key)
        elif kind.reads_messages(each, now):
            written = f"{each.key}{each.op}{each.value}"
            reason = _("{filter} chooses messages, a clean-up whole conversations").format(
                filter=written
            )
        if reason:
            problems.append(QueryProblem(each.start, each.end, reason, True))
    problems += _contradictions(query)
    return replace(query, problems=tuple(sorted(problems, key=lambda each: each.start)))


def _contradictions(query: Query) -> Iterator[QueryProblem]:
    """Yield a problem for each pair of bounds between which there is nothing: a typing error."""
    bounds: dict[str, dict[str, tuple[float, Filter]]] = {}
    for each in query.filters:
        if each.op in (":", "=") or each.negated:
            continue
        amount = _AMOUNTS.get(each.key, parse_count)(each.value)
        side, sign = ("above", 1) if each.op.startswith(">") else ("below", -1)
        known = bounds.setdefault(each.key, {}).get(side)
        if known is None or sign * amount > sign * known[0]:
            bounds[each.key][side] = amount, each
    for pair in bounds.values():
        if len(pair) == 2 and pair["above"][0] > pair["below"][0]:
            low, high = pair["above"][1], pair["below"][1]
            above, below = (f"{each.key}{each.op}{each.value}" for each in (low, high))
            reason = _("nothing is both {above} and {below}").format(above=above, below=below)
            yield QueryProblem(high.start, high.end, reason, True)


def toggled(text: str, word: str) -> str:
    """Add a filter such as `is:empty` to a line, or remove it; a new `older:` replaces the one that
    is there."""
    spans = [span for span in _spans(text) if text[slice(*span)].lower() == word]
    if spans:
        return _replaced(text, spans, "")
    if word.startswith("older:"):
        text = _replaced(text, _ages(text), "")
    return f"{text} {word}".strip()


def with_age(text: str, days: int) -> str:
    """Replace the filter `older:` of a line, or add it in front."""
    spans = _ages(text)
    age = f"older:{days}d"
    return _replaced(text, spans, age) if spans else f"{age} {text}".strip()


def _spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each part that was read as a filter, or as a bad one."""
    query = parse(text, for_cleanup=True)
    spans = [(each.start, each.end) for each in query.filters]
    return sorted(spans + [(each.start, each.end) for each in query.problems])


def _ages(text: str) -> list[tuple[int, int]]:
    return [span for span in _spans(text) if text[slice(*span)].lower().startswith("older:")]


def _replaced(text: str, spans: list[tuple[int, int]], word: str) -> str:
    """Return a line with a word in place of the first of some spans, and without the others."""
    end = len(text)
    for index in reversed(range(len(spans))):
        start, stop = spans[index]
        rest = text[stop:end].strip()
        new = word if index == 0 else ""
        text = " ".join(
            part for part in (text[:start].rstrip(), new, rest, text[end:].strip()) if part
        )
        end = len(text)
    return text
