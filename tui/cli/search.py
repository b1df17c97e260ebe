"""`search`: hits with their context, and what the search did not cover; in one store or in
several."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, groupby
from typing import Any, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.messages.chat_message import Hit, HitOrder
from hermes_browse.store.search.engine import Total, engine_of
from hermes_browse.store.search.found import HitPage
from hermes_browse.store.search.query import Query, parse, unknown_filters
from hermes_browse.store.sessions.models import FAR_PAST, Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text.formats import joined, timestamp
from .output import (
    BLANK,
    OutputLine,
    TableColumn,
    fields,
    fields_of_each,
    labelled,
    note,
    print_lines,
    print_table,
    title_or_preview,
)
from .parser import (
    ALL_HOSTS,
    SOURCE,
    VIEWS,
    Argument,
    Count,
    Flag,
    Several,
    Valued,
)
from .several import Answers, ManyStoresCommand, place_columns


class _HitRow(NamedTuple):
    """A hit with its place."""

    place: Json
    hit: Hit
    around: list[tuple[int, str, str]]
    """Id, role and text of the messages around it, itself included; empty if not asked for."""
    conversation: Conversation | None
    """None if the session of the hit is not there."""

    @property
    def name(self) -> str:
        """Of the conversation, or how it begins; empty if it is not there."""
        return one_line(title_or_preview(self.conversation), 40) if self.conversation else ""

    def json(self) -> Json:
        """Build a HIT of the JSON contract."""
        hit = self.hit
        context = [
            {"message_id": number, "role": role, "text": text} for number, role, text in self.around
        ]
        return {
            **self.place,
            **fields(hit, "message_id session_id role timestamp snippet match state"),
            "conversation_id": self.conversation.id if self.conversation else hit.session_id,
            **({"context": context} if context else {}),
        }

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield what is printed: the hit, in its conversation, and the messages around it, in
        reading order."""
        hit = self.hit
        for number, role, text in self.around or [(hit.message_id, hit.role, "")]:
            is_hit = number == hit.message_id
            yield {
                "place": self.place,
                "session": hit.session_id,
                "id": number,
                "time": timestamp(hit.timestamp) if is_hit else "",
                "role": hit.speaker if is_hit else role,
                "text": hit.snippet if is_hit else one_line(text),
                "match": hit.match if is_hit else None,
                "name": self.name if is_hit else "",
            }


class SearchCommand(ManyStoresCommand[HitPage]):
    """Search chat messages."""

    arguments = (
        Valued(
            "query",
            'words, "a phrase", OR, -word, prefix*, *part*, source:cli …; -is:rewound leaves out messages '
            "that were taken back",
            "QUERY",
            nargs="+",
        ),
        Argument("--sort", choices=[order.value for order in HitOrder], default="newest"),
        Count("--limit", "most hits, 0 for all (default 50)", default=50),
        Count("--context", "messages before and after each hit", default=0),
        Argument("--view", "default everything", choices=VIEWS),
        SOURCE,
        Several("--role", "only this role; repeatable", "R"),
        Flag("--all-profiles", "in all profiles"),
        ALL_HOSTS,
    )

    @cached_property
    def _query(self) -> Query:
        return parse(" ".join(self.given.query))

    def contradictions(self) -> Mapping[str, object]:
        """Options conflict, or a filter lacks the number or date it needs.

        Such a filter is refused because the query without it would match everything.
        """
        given = self.given
        is_several = given.all_hosts or given.all_profiles
        return {
            _("several stores are searched by time: relevance cannot be compared"): (
                is_several and given.sort == HitOrder.RELEVANCE
            ),
            self._query.refusal: self._query.refusal,
        }

    def ask(self, store: OpenStore, now: float) -> HitPage:
        given = self.given
        return store.hit_page(
            self._query,
            now,
            View(given.view or View.ALL),
            sources=given.source,
            roles=given.role,
            order=HitOrder(given.sort),
            limit=given.limit,
            context=given.context,
        )

    def report(self, answers: Answers[HitPage]) -> None:
        given = self.given
        query = self._query
        rows = _in_order(answers, given.sort)
        hits = rows[: given.limit or None]
        total, suggestions = _total(answers), answers.single.suggestions if answers.single else ()
        outcome = _outcome(answers, total, is_cut=len(hits) < len(rows))
        notes = _notes(answers, query)
        note(*notes)
        if given.json:
            found_here: Json = {
                "suggestions": fields_of_each(suggestions, "text query hits"),
                "query": query.text,
                "notes": notes,
                "hits": [hit.json() for hit in hits],
            }
            self.print_json(outcome | found_here | answers.facts)
            return
        if sys.stdout.isatty():  # under the names of their conversations
            print_lines(_hit_lines(answers, hits))
        else:
            messages = [message for hit in hits for message in hit.messages()]
            print_table([*place_columns(answers), *_COLUMNS], messages)
        note(_summary(answers, outcome, total, len(hits)))
        for each in suggestions:  # two may read alike
            note(*labelled({each.text: _number(each.hits, each.at_least)}))


def _number(hits: int, at_least: bool) -> str:
    return f"{hits:,}{'+' if at_least else ''}"


def _in_order(answers: Answers[HitPage], order: str) -> list[_HitRow]:
    """Return the hits of all stores in one order."""
    rows = [
        _HitRow(place, hit, around, page.conversations.get(hit.session_id))
        for place, page in answers.placed
        for hit, around in zip(page.answer.hits, page.contexts, strict=True)
    ]
    if answers.single is None:
        rows.sort(key=lambda row: row.hit.timestamp or FAR_PAST, reverse=order == HitOrder.NEWEST)
    return rows


def _total(answers: Answers[HitPage]) -> Total:
    """Return how many hits there are in all stores."""
    totals = [page.total for page in answers.values]
    return Total(sum(part.count for part in totals), any(part.at_least for part in totals))


def _outcome(answers: Answers[HitPage], total: Total, *, is_cut: bool) -> Json:
    """Return how a search went in all stores together, as the document says it."""
    pages = [page.answer for page in answers.values]
    return {
        "engine": engine_of(answer.engine for answer in pages),
        "complete": answers.is_complete and all(answer.complete for answer in pages),
        "more": is_cut or any(answer.more for answer in pages),
        "elapsed_ms": round(max((answer.elapsed_ms for answer in pages), default=0.0), 3),
        "total": None if total.at_least else total.count,
    }


def _notes(answers: Answers[HitPage], query: Query) -> list[str]:
    """Return what was not searched as it was meant, and what was not searched at all."""
    notes = [problem.text for problem in (*query.problems, *unknown_filters(query))]
    # A source or a role as an option is enough to look for.
    engines = {page.answer.engine for page in answers.values}
    if query.is_empty and not notes and engines <= {"none"}:
        notes.append(_("The query is empty: nothing was looked for."))
    for place, page in answers.placed:
        names = _place_names(answers, place)
        notes += [
            ": ".join([*names, sentence])
            for sentence in (*page.answer.notes, page.uncovered)
            if sentence
        ]
    return notes


def _place_names(answers: Answers[HitPage], place: Json) -> list[str]:
    """Return the host and the profile of a place; nothing if one store was asked."""
    return [] if answers.single is not None else [str(name) for name in place.values() if name]


def _summary(answers: Answers[HitPage], outcome: Json, total: Total, shown: int) -> str:
    number = _number(total.count, total.at_least)
    line = joined(
        _("{count:,} of {total} hits", count=shown, total=number),
        answers.summary,
        str(outcome["engine"]),
        _("{took:.0f} ms", took=outcome["elapsed_ms"]),
    )
    if outcome["complete"]:
        return line
    return _("{line} · not everything was searched", line=line)


def _hit_lines(answers: Answers[HitPage], hits: list[_HitRow]) -> Iterator[OutputLine]:
    for (place, session_id), group in groupby(hits, lambda row: (row.place, row.hit.session_id)):
        rows = list(group)
        name = joined(rows[0].name, one_line(session_id), *_place_names(answers, place))
        yield OutputLine("title", name)
        for message in chain.from_iterable(row.messages() for row in rows):
            match, text = message["match"], message["text"] or _("(no text)")
            kind = "tool" if match is None else "said"
            lead = f"  {message['time']:16}  {one_line(message['role'], 9):9}  {message['id']}  "
            yield OutputLine(kind, text, lead=lead, lit=match or ())
        yield BLANK


_COLUMNS = [
    TableColumn("time", "time"),
    TableColumn("role", "role", dropped=2),
    TableColumn("conversation", "name"),
    TableColumn("text", "text", is_flexible=True, context="column"),
    TableColumn("session", "session"),
    TableColumn("message", "id", right=True, dropped=1),
]
