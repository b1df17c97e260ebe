"""What a clean-up chooses: a query without words, and conversations that were marked by hand; and
why some of these stay.

The line is read by the parser of searches (`search/query.py`); this module adds what only a
clean-up wants of it. A part that cannot be taken as meant ends a clean-up, where a search goes on
without it. Archived and open conversations are left out unless a filter names them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Set
from dataclasses import dataclass
from math import inf

from ..amounts import age_words, parse_when
from ..edit.delete_plan import DeletePlan
from ..search.filters import BY_KEY, Filter
from ..search.query import EMPTY, Query, QueryProblem, parse, unknown_filters
from ..search.terms import fold
from ..sessions.catalog import Catalog, SpareReason, why_protected
from ..sessions.models import Conversation, Relation
from ..sessions.relations import idle_seconds, is_ended, is_stale, source_names
from ..wording import _

_AGE = r'older:(?:"[^"]*"|\S*)'


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
    def is_empty(self) -> bool:
        """Whether nothing is chosen."""
        return not self.has_filters and not self.marks

    @property
    def states(self) -> frozenset[str]:
        """The states that a filter names: `archived` for `is:archived` and for
        `include:archived`."""
        return frozenset(each.value.lower() for each in self._positive("is", "include"))

    @property
    def sources(self) -> frozenset[str]:
        """The sources that a filter names, folded; short names stand for the whole ones too."""
        return source_names(
            fold(value) for each in self._positive("source") for value in each.value.split(",")
        )

    def age(self, now: float) -> float | None:
        """Return the seconds of idleness that `older:` asks for, of several the most; `now` is in
        Unix seconds."""
        return max(
            (now - parse_when(each.value, now).start for each in self._positive("older")),
            default=None,
        )

    @property
    def goals(self) -> list[str]:
        """What `free:` wants back; it ends the selection."""
        return [each.value for each in self._positive("free")]

    def _positive(self, *keys: str) -> Iterator[Filter]:
        return (each for each in self.query.filters if each.key in keys and not each.negated)


def parse_line(text: str, now: float) -> Query:
    """Parse the line of a clean-up; the problems of the query say why it must not be carried out.

    `now` is in Unix seconds, for ages and dates.
    """
    query = parse(text, now=now, for_cleanup=True)
    problems = list(query.problems)
    suggestions = {each.start: each.meant for each in unknown_filters(query)}
    for term in (*query.terms, *query.excluded):
        reason = _("“{word}” is no filter: title:{word} looks for it in titles", word=term.text)
        if own := suggestions.get(term.start):
            reason = _("“{word}” is no filter: is {meant} meant?", word=term.text, meant=own)
        problems.append(QueryProblem(term.start, term.end, reason, is_fatal=True))
    for each in query.filters:
        kind = BY_KEY[each.key]
        if kind.is_cleanup_only and each.negated:
            reason = _("{key}: cannot be excluded", key=each.key)
        elif kind.reads_messages(each, now):
            reason = _(
                "{filter} chooses messages; only whole conversations can be chosen here",
                filter=f"{each.key}{each.op}{each.value}",
            )
        else:
            continue
        problems.append(QueryProblem(each.start, each.end, reason, is_fatal=True))
    return query._replace(problems=tuple(sorted(problems, key=lambda each: each.start)))


def toggled(text: str, word: str) -> str:
    """Add a filter such as `is:empty` to a line, or remove it; a new `older:` replaces the one that
    is there."""
    without, count = _replaced(text, re.escape(word), "")
    if count:
        return without
    if word.startswith("older:"):
        text, _count = _replaced(text, _AGE, "")
    return f"{text} {word}".strip()


def with_age(text: str, days: int) -> str:
    """Replace the filter `older:` of a line, or add it in front."""
    age = f"older:{days}d"
    replaced, count = _replaced(text, _AGE, age)
    return replaced if count else f"{age} {text}".strip()


def _replaced(text: str, part: str, word: str) -> tuple[str, int]:
    """Return a line with a word in place of the first part that matches, and without the others;
    and how many there were."""
    words = iter([f"{word} "] if word else [])
    pattern = rf"(?<!\S){part}(?!\S)\s*"
    line, count = re.subn(pattern, lambda _match: next(words, ""), text, flags=re.IGNORECASE)
    return line.strip(), count


def _why_open(conversation: Conversation, states: Container[str], now: float) -> SpareReason | None:
    """Return why a conversation that was never ended stays; None if it was ended, or a filter names
    it."""
    is_named = "open" in states or ("stale" in states and is_stale(conversation, now))
    if is_named or is_ended(conversation.segments):
        return None
    idle = idle_seconds(conversation, now)
    words = _("still open, idle for {age}", age=age_words(idle)) if idle < inf else _("still open")
    return SpareReason("open", words)


def why_spared(
    delete: DeletePlan, selection: Selection, catalog: Catalog, busy: Set[str], now: float
) -> SpareReason | None:
    """Return why a chosen conversation stays; None if it goes.

    Args:
        delete: That of the conversation.
        selection: What chose it; its marks are root ids. Of what was marked by hand, only what is
            protected stays.
        catalog: Of the whole store.
        busy: From `read_busy`, just read.
        now: Unix seconds.
    """
    conversation, age = delete.conversation, selection.age(now) or 0.0
    if why := why_protected(catalog, conversation, busy, now):
        return why
    if conversation.root_id in selection.marks:
        age = 0.0
    elif conversation.hidden:
        return SpareReason("hidden", _("hidden by Hermes, which keeps such a chat for itself"))
    elif why := _why_open(conversation, selection.states, now):
        return why
    for dependent in delete.dependent:
        if why := why_protected(catalog, dependent, busy, now) or _why_used(dependent, age, now):
            words = _("its subagent {session} stays: {reason}")
            if dependent.relation is Relation.CONTINUED:
                words = _("its stale sibling {session} stays: {reason}")
            return SpareReason(
                "subagent", words.format(session=dependent.root_id, reason=why.words)
            )
    return None


def _why_used(conversation: Conversation, age: float, now: float) -> SpareReason | None:
    """Return why a conversation stays that was used within the age that is asked for; None if it
    was not."""
    idle = idle_seconds(conversation, now)
    if idle >= age:
        return None
    return SpareReason("recent", _("idle for {age} only", age=age_words(idle)))
