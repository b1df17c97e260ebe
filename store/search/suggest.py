"""What else to look for when nothing was found: only what has been tried and does find something."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches

from ..connection.connect import Reader
from ..sessions.catalog import Catalog, allowed_sessions, read_catalog
from ..sessions.models import View
from ..wording import _
from .engine import count
from .filters import BY_KEY
from .fold import has_cjk
from .judge import Conditions, Scope, SessionFilter, make_conditions
from .query import Filter, Query, Term, TermKind, meant_filters, parse

_MOST = 2
"""Values offered for one filter."""


def _near(value: str, known: tuple[str, ...]) -> list[str]:
    by_fold = {each.casefold(): each for each in known}
    wanted = value.casefold()
    if wanted in by_fold:
        return []
    begun = [each for each in by_fold if wanted and each.startswith(wanted)]
    close = get_close_matches(wanted, by_fold, _MOST, 0.6)
    return [by_fold[each] for each in dict.fromkeys([*begun, *close])][:_MOST]


def _with(query: Query, each: Filter, value: str) -> tuple[str, str]:
    written = f"{each.key}:{value}" if not any(map(str.isspace, value)) else f'{each.key}:"{value}"'
    return _("with {part}").format(part=written), query.text[: each.start] + written + query.text[each.end :]


def nearby_values(reader: Reader, query: Query) -> list[tuple[str, str]]:
    """For each filter with a value the store does not have: what it may be, and the query with that instead.

    Args:
        reader: An open reader.
        query: Parsed.
    """
    found: list[tuple[str, str]] = []
    for each in query.filters:
        known = BY_KEY[each.key].known
        if known is not None and not each.negated:
            found += [_with(query, each, value) for value in _near(each.value, known(reader))]
    return found


_SECONDS = 1.0
"""Time for one measurement: what takes longer is not suggested."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query and what it finds."""

    text: str
    """What it is, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There are more than `hits`."""
    of_list: bool = False
    """`hits` counts conversations: the query asks for no words and nothing of a message."""


def asks_for_conversations(query: Query, conditions: Conditions) -> bool:
    """Whether a query narrows the list and looks for nothing in what was said."""
    return not query.groups and conditions.message is None and conditions.conversation is not None


def count_conversations(catalog: Catalog, conditions: Conditions, sessions: SessionFilter | None = None) -> int:
    """How many conversations pass the filters that look at conversations.

    Args:
        catalog: All conversations.
        conditions: Filters of a query.
        sessions: Only these, as in `search`.
    """
    passed = catalog.select(View.ALL) if conditions.conversation is not None else []
    test = sessions if sessions is None or callable(sessions) else frozenset(sessions).__contains__
    asked = conditions.conversation
    return sum(1 for each in passed if asked is not None and asked(each) and (test is None or test(each.root_id)))


def _written(term: Term) -> str:
    """A term as it would be typed."""
    if term.kind is TermKind.INSIDE:
        return f"*{term.text}*"
    quoted = term.kind is TermKind.PHRASE or any(map(str.isspace, term.text))
    return (f'"{term.text}"' if quoted else term.text) + "*" * (term.kind is TermKind.PREFIX)


def _could_be_inside(term: Term) -> bool:
    """Whether the substring index leads to a term, and not only where a word is it."""
    return len(term.text) >= 3 and not has_cjk(term.text) and not any(map(str.isspace, term.text))


def _without(query: Query, start: int, end: int) -> str:
    return " ".join((query.text[:start] + " " + query.text[end:]).split())


def _variants(query: Query) -> list[tuple[str, str]]:
    """Wider queries with what they are, the nearest first."""
    terms = query.terms
    filters = [query.text[each.start : each.end] for each in query.filters]
    excluded = [f"-{_written(term)}" for term in query.excluded]

    def rest(words: str) -> str:
        return " ".join([words, *excluded, *filters])

    spans = [(each.start, each.end) for each in query.filters] + [(term.start, term.end) for term in query.excluded]
    found = [(_("with {part}").format(part=meant), wider) for meant, wider in meant_filters(query)]
    if query.groups or len(spans) > 1:  # without its only filter nothing would be asked for
        for start, end in spans:
            without = _("without {part}").format(part=query.text[start:end])
            found.append((without, _without(query, start, end)))
    for each in query.filters:
        if BY_KEY[each.key].may_be_words and not each.negated:
            words = each.value if not any(map(str.isspace, each.value)) else f'"{each.value}"'
            wider = f"{query.text[: each.start]}{words}{query.text[each.end :]}"
            found.append((_("as words: {words}").format(words=words), wider))
    if len(query.filters) > 1 and terms:
        wider = " OR ".join(" ".join(map(_written, group)) for group in query.groups)
        found.append((_("without the filters"), wider))
    if len(terms) == 1 and terms[0].kind is TermKind.WORD:
        starred = f"{terms[0].text}*"
        found.append((_("as a prefix: {word}").format(word=starred), rest(starred)))
    elif any(term.kind is TermKind.WORD for term in terms):
        starred = " ".join(term.text + "*" if term.kind is TermKind.WORD else _written(term) for term in terms)
        found.append((_("as the beginnings of words"), rest(starred)))
    if all(term.kind in (TermKind.WORD, TermKind.PREFIX) and _could_be_inside(term) for term in terms) and terms:
        inside = " ".join(f"*{term.text}*" for term in terms)
        found.append((_("inside words: {words}").format(words=inside), rest(inside)))
    bare = " ".join(re.sub(r"[\W_]+", " ", " ".join(term.text for term in terms)).split())
    if bare and bare != " ".join(term.text for term in terms):
        found.append((_("without the punctuation"), rest(bare)))
    if len(query.groups) == 1 and len(terms) > 1:
        found.append((_("any of the words"), rest(" OR ".join(map(_written, terms)))))
    return [each for place, each in enumerate(found) if each[1] not in (wider for text, wider in found[:place])]


def _scope(conditions: Conditions, catalog: Catalog) -> Scope:
    if conditions.conversation is None:
        return Scope(message=conditions.message)
    allowed = allowed_sessions(catalog, View.ALL, (), conditions.conversation)
    return Scope(allowed.__contains__, message=conditions.message)


def suggest(
    reader: Reader,
    query: Query,
    *,
    sessions: SessionFilter | None = None,
    roles: Collection[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
    now: float | None = None,
    catalog: Catalog | None = None,
    lists: bool = False,
) -> tuple[Suggestion, ...]:
    """Wider queries that find something, each measured.

    Args:
        reader: An open reader.
        query: One that found nothing.
        sessions: Admitted sessions, as in `search`; a query is widened, what the caller admits is not.
        roles: Only these roles; empty admits all.
        cancelled: Asked between statements.
        now: Unix seconds, for dates in filters.
        catalog: All conversations where they are known: filters that ask for them need not read them again.
        lists: A query that asks for conversations alone is answered with those, so they are what is counted.
    """
    moment = time.time() if now is None else now
    found: list[Suggestion] = []
    variants = _variants(query)
    variants += [each for each in nearby_values(reader, query) if each not in variants]
    for text, wider in variants:
        if cancelled():
            break
        parsed = parse(wider, now=now)
        if reader.schema.trigram is None and any(term.kind is TermKind.INSIDE for term in parsed.terms):
            continue  # without a substring index all messages would be read
        conditions = make_conditions(parsed, moment)
        if conditions.conversation is not None and catalog is None:
            catalog = read_catalog(reader, moment)
        if lists and catalog is not None and asks_for_conversations(parsed, conditions):
            number = count_conversations(catalog, conditions, sessions)
            if number:
                found.append(Suggestion(text, wider, number, False, of_list=True))
            continue
        total = count(
            reader,
            parsed,
            scope=_scope(conditions, catalog) if catalog is not None else None,
            sessions=sessions,
            roles=roles,
            cancelled=cancelled,
            deadline=time.monotonic() + _SECONDS,
            now=now,
        )
        is_inside = any(term.kind is TermKind.INSIDE for term in parsed.terms)
        if total.count and not (is_inside and any(each.hits >= total.count for each in found)):
            found.append(Suggestion(text, wider, total.count, total.at_least))
    return tuple(found)
