"""Suggestions for a query that found nothing: wider queries that have been tried and do find something."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches

from ..connection.reader import Reader
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import View
from ..wording import _
from .conditions import Conditions, make_conditions, make_scope
from .engine import count
from .filters import BY_KEY
from .fold import has_cjk
from .query import Query, Term, TermKind, corrected_filters, parse, query_word

_MOST = 2
"""Values offered for one filter."""


def _near(value: str, known: tuple[str, ...]) -> list[str]:
    """Return the known values that one may be meant for; none where it is known."""
    by_fold = {each.casefold(): each for each in known}
    folded = value.casefold()
    if folded in by_fold:
        return []
    longer = [each for each in by_fold if folded and each.startswith(folded)]
    close = get_close_matches(folded, by_fold, _MOST, 0.6)
    return [by_fold[each] for each in dict.fromkeys([*longer, *close])][:_MOST]


def _nearby_values(reader: Reader, query: Query) -> list[tuple[str, str]]:
    """For each filter with a value the store does not have, return what it may be, and the query with that instead."""
    variants: list[tuple[str, str]] = []
    for each in query.filters:
        stored_values = BY_KEY[each.key].stored_values
        if stored_values is not None and not each.negated:
            for value in _near(each.value, stored_values(reader)):
                part = f"{each.key}:{query_word(value)}"
                wider = query.text[: each.start] + part + query.text[each.end :]
                variants.append((_("with {part}").format(part=part), wider))
    return variants


_SECONDS = 1.0
"""Time to count the hits of one suggestion; counting stops then."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query and what it finds."""

    text: str
    """What is different, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There may be more than `hits`."""
    of_list: bool = False
    """`hits` counts conversations, not messages: the query only narrows the list."""


def asks_for_conversations(query: Query, conditions: Conditions) -> bool:
    """Whether a query only narrows the list: it has no terms, and all its filters test conversations."""
    return not query.groups and conditions.message is None and conditions.conversation is not None


def count_conversations(catalog: Catalog, conditions: Conditions, sessions: Callable[[str], bool] | None = None) -> int:
    """Count the conversations that pass the filters on conversations, and a test of the root's id if there is one."""
    test = conditions.conversation
    if test is None:
        return 0
    return sum(test(each) and (sessions is None or sessions(each.root_id)) for each in catalog.select(View.ALL))


def _written(term: Term) -> str:
    """Return a term as it would be typed."""
    if term.kind is TermKind.INSIDE:
        return f"*{term.text}*"
    text = f'"{term.text}"' if term.kind is TermKind.PHRASE else query_word(term.text)
    return text + "*" * (term.kind is TermKind.PREFIX)


def _could_be_inside(term: Term) -> bool:
    """Whether the substring index may find a term inside other words."""
    return len(term.text) >= 3 and not has_cjk(term.text) and not any(map(str.isspace, term.text))


def _variants(query: Query) -> list[tuple[str, str]]:
    """Return what is different in each wider query, and the query; the closest first."""
    terms = query.terms
    filters = [query.text[each.start : each.end] for each in query.filters]
    excluded = [f"-{_written(term)}" for term in query.excluded]

    def with_rest(words: str) -> str:
        return " ".join([words, *excluded, *filters])

    variants = [(_("with {part}").format(part=meant), wider) for meant, wider in corrected_filters(query)]
    spans = [(each.start, each.end) for each in query.filters] + [(each.start, each.end) for each in query.excluded]
    if query.groups or len(spans) > 1:  # without its only filter the query would be empty
        for start, end in spans:
            wider = " ".join(f"{query.text[:start]} {query.text[end:]}".split())
            variants.append((_("without {part}").format(part=query.text[start:end]), wider))
    for each in query.filters:
        if BY_KEY[each.key].may_be_words and not each.negated:
            words = query_word(each.value)
            wider = f"{query.text[: each.start]}{words}{query.text[each.end :]}"
            variants.append((_("as words: {words}").format(words=words), wider))
    if len(query.filters) > 1 and terms:
        wider = " OR ".join(" ".join(map(_written, group)) for group in query.groups)
        variants.append((_("without the filters"), wider))
    if len(terms) == 1 and terms[0].kind is TermKind.WORD:
        starred = f"{terms[0].text}*"
        variants.append((_("as a prefix: {word}").format(word=starred), with_rest(starred)))
    elif any(term.kind is TermKind.WORD for term in terms):
        starred = " ".join(term.text + "*" if term.kind is TermKind.WORD else _written(term) for term in terms)
        variants.append((_("as the beginnings of words"), with_rest(starred)))
    if terms and all(term.kind in (TermKind.WORD, TermKind.PREFIX) and _could_be_inside(term) for term in terms):
        inside = " ".join(f"*{term.text}*" for term in terms)
        variants.append((_("inside words: {words}").format(words=inside), with_rest(inside)))
    text = " ".join(term.text for term in terms)
    bare = " ".join(re.sub(r"[\W_]+", " ", text).split())
    if bare and bare != text:
        variants.append((_("without the punctuation"), with_rest(bare)))
    if len(query.groups) == 1 and len(terms) > 1:
        variants.append((_("any of the words"), with_rest(" OR ".join(map(_written, terms)))))
    return variants


def suggest(
    reader: Reader,
    query: Query,
    *,
    sessions: Callable[[str], bool] | None = None,
    roles: Collection[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
    now: float | None = None,
    catalog: Catalog | None = None,
    lists: bool = False,
) -> tuple[Suggestion, ...]:
    """Return wider queries that find something.

    Args:
        reader: An open reader.
        query: One that found nothing.
        sessions: A test of a session's id, which stays as it is while the query is widened; None admits all.
        roles: Only these roles; empty admits all.
        cancelled: Called between statements; True stops the search.
        now: Unix seconds, for dates in filters.
        catalog: All conversations if they have been read; else they are read for filters that test them.
        lists: Count conversations for a query that only narrows the list.
    """
    moment = time.time() if now is None else now
    suggestions: list[Suggestion] = []
    by_query: dict[str, str] = {}
    for text, wider in (*_variants(query), *_nearby_values(reader, query)):
        by_query.setdefault(wider, text)
    for wider, text in by_query.items():
        if cancelled():
            break
        parsed = parse(wider, now=now)
        is_inside = any(term.kind is TermKind.INSIDE for term in parsed.terms)
        if reader.schema.trigram is None and is_inside:
            continue  # without a substring index all messages would be read
        conditions = make_conditions(parsed, moment)
        if conditions.conversation is not None and catalog is None:
            catalog = read_catalog(reader, moment)
        if lists and catalog is not None and asks_for_conversations(parsed, conditions):
            number = count_conversations(catalog, conditions, sessions)
            if number:
                suggestions.append(Suggestion(text, wider, number, False, of_list=True))
            continue
        total = count(
            reader,
            parsed,
            scope=make_scope(conditions, catalog).narrowed(sessions, frozenset(roles)),
            cancelled=cancelled,
            deadline=time.monotonic() + _SECONDS,
        )
        if total.count and not (is_inside and any(each.hits >= total.count for each in suggestions)):
            suggestions.append(Suggestion(text, wider, total.count, total.at_least))
    return tuple(suggestions)
