"""`search`: hits with their context, and what the search did not cover; in one store or in
several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.search.engine import Total
from hermes_browse.store.search.found import HitPage, Suggestion
from hermes_browse.store.search.query import Query, parse, unknown_filters
from hermes_browse.store.sessions.models import FAR_PAST, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text.formats import timestamp
from .command_context import ManyStoresCommand
from .output import TableColumn, fields, no_text, note, print_json, print_table, rich_output
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
from .stores import Answers, place_columns


class _HitRow(NamedTuple):
    """A hit with its place."""

    place: Json
    hit: Hit
    around: list[tuple[int, str, str]]
    """Id, role and text of the messages around it, itself included; empty if not asked for."""
    conversation_id: str
    name: str
    """Of the conversation; may be empty."""

    def json(self, *, has_context: bool) -> Json:
        """Build a HIT of the JSON contract."""
        document = self.place | fields(
            self,
            message_id="hit.message_id",
            session_id="hit.session_id",
            conversation_id="conversation_id",
            role="hit.role",
            timestamp="hit.timestamp",
            snippet="hit.snippet",
            match="hit.match",
            state="hit.state",
        )
        if has_context:
            names = ("message_id", "role", "text")
            document["context"] = [dict(zip(names, row, strict=True)) for row in self.around]
        return document

    def messages(self) -> list[_Message]:
        """Return what is printed: the hit and the messages around it, in reading order."""
        hit = self.hit
        rows = []
        for number, role, text in self.around or [(hit.message_id, hit.role, "")]:
            is_hit = number == hit.message_id
            rows.append(
                _Message(self.place, self, number, role, hit.snippet if is_hit else text, is_hit)
            )
        return rows


class _Message(NamedTuple):
    """A message of the output."""

    place: Json
    found: _HitRow
    id: int
    role: str
    text: str
    """Of a hit the snippet."""
    is_hit: bool

    @property
    def time(self) -> str:
        """The time of a hit."""
        return timestamp(self.found.hit.timestamp) if self.is_hit else ""

    def cells(self) -> tuple[str, str, str, Sequence[Sequence[int]] | None, str]:
        """Return its row on a terminal, as of `print_hit_group`."""
        text = self.text if self.is_hit else one_line(self.text) or no_text()
        ranges = self.found.hit.match if self.is_hit else None
        return self.time, one_line(self.role, 9), text, ranges, str(self.id)


class SearchCommand(ManyStoresCommand[HitPage]):
    """Search chat messages."""

    reads_old_transcripts = True

    arguments = (
        Valued(
            "query",
            'words, "a phrase", OR, -word, prefix*, *part*, source:cli …; -is:rewound leaves out messages '
            "that were taken back",
            metavar="QUERY",
            nargs="+",
        ),
        Argument("--sort", choices=["newest", "relevance", "oldest"], default="newest"),
        Count("--limit", "most hits, 0 for all (default 50)", default=50),
        Count("--context", "messages before and after each hit", default=0),
        Argument("--view", "default everything", choices=VIEWS),
        SOURCE,
        Several("--role", "only this role; repeatable", metavar="R"),
        Flag("--all-profiles", "in all profiles"),
        ALL_HOSTS,
    )

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for conflicting options, and for a filter without the number or date it
        needs.

        Such a filter is refused because the query without it would match everything.
        """
        if sentence := super().contradiction(arguments):
            return sentence
        if arguments.sort == "relevance" and (arguments.all_hosts or arguments.all_profiles):
            return _("several stores are searched by time: relevance cannot be compared")
        return parse(" ".join(arguments.query)).refusal

    def ask(self, store: OpenStore, now: float, arguments: SimpleNamespace) -> HitPage:
        return store.hit_page(
            parse(" ".join(arguments.query)),
            now,
            View(arguments.view or View.ALL),
            sources=arguments.source,
            roles=arguments.role,
            sort=arguments.sort,
            limit=arguments.limit,
            context=arguments.context,
        )

    def report(self, answers: Answers[HitPage], arguments: SimpleNamespace) -> None:
        query = parse(" ".join(arguments.query))
        found = _in_order(answers, arguments.sort)
        hits = found[: arguments.limit or None]
        outcome = _outcome(answers, is_cut=len(hits) < len(found))
        notes = _notes(answers, query)
        for sentence in notes:
            note(sentence)
        if arguments.json:
            rows = [hit.json(has_context=bool(arguments.context)) for hit in hits]
            texts = {"query": query.text, "notes": notes, "hits": rows}
            print_json(outcome.json() | texts | answers.facts)
            return
        _print_hits(answers, hits)
        note(_summary(answers, outcome, len(hits)))
        for suggestion in outcome.suggestions:
            number = f"{suggestion.hits:,}{'+' if suggestion.at_least else ''}"
            note(_("{label}: {text}", label=suggestion.text, text=number))


def _in_order(answers: Answers[HitPage], sort: str) -> list[_HitRow]:
    """Return the hits of all stores in one order."""
    found = [
        _found(place, page, number)
        for place, page in answers.answers
        for number in range(len(page.answer.hits))
    ]
    if answers.only is None:
        found.sort(key=lambda row: row.hit.timestamp or FAR_PAST, reverse=sort == "newest")
    return found


def _found(place: Json, page: HitPage, number: int) -> _HitRow:
    hit = page.answer.hits[number]
    conversation = page.conversations.get(hit.session_id)
    tip = conversation.id if conversation is not None else hit.session_id
    title = conversation.title if conversation is not None else None
    return _HitRow(place, hit, page.contexts[number], tip, one_line(title or "", 40))


class _Outcome(NamedTuple):
    """How a search went, in all stores together."""

    engine: str
    is_complete: bool
    has_more: bool
    elapsed_ms: float
    total: Total | None
    suggestions: tuple[Suggestion, ...]

    def json(self) -> Json:
        """Build the document without its hits."""
        is_exact = self.total is not None and not self.total.at_least
        return {
            "engine": self.engine,
            "complete": self.is_complete,
            "more": self.has_more,
            "elapsed_ms": round(self.elapsed_ms, 3),
            "total": self.total.count if self.total is not None and is_exact else None,
            "suggestions": [
                fields(suggestion, "text", "query", "hits") for suggestion in self.suggestions
            ],
        }


def _outcome(answers: Answers[HitPage], *, is_cut: bool) -> _Outcome:
    pages = [page for _place, page in answers.answers]
    engines = {page.answer.engine for page in pages} - {"none"} or {"none"}
    totals = [page.total or Total(len(page.answer.hits), True) for page in pages]
    total = Total(sum(part.count for part in totals), any(part.at_least for part in totals))
    return _Outcome(
        engines.pop() if len(engines) == 1 else "mixed",
        answers.is_complete and all(page.answer.complete for page in pages),
        is_cut or any(page.answer.more for page in pages),
        max((page.answer.elapsed_ms for page in pages), default=0.0),
        answers.only.total if answers.only is not None else total,
        answers.only.suggestions if answers.only is not None else (),
    )


def _notes(answers: Answers[HitPage], query: Query) -> list[str]:
    """Return what was not searched as it was meant, and what was not searched at all."""
    notes = [problem.text for problem in (*query.problems, *unknown_filters(query))]
    if not query.text.strip():
        notes.append(_("The query is empty: nothing was looked for."))
    for place, page in answers.answers:
        names = _place_names(answers, place)
        notes += [
            ": ".join([*names, sentence])
            for sentence in (*page.answer.notes, page.uncovered)
            if sentence
        ]
    return notes


def _place_names(answers: Answers[HitPage], place: Json) -> list[str]:
    """Return the host and the profile of a place; nothing if one store was asked."""
    return [] if answers.only is not None else [str(name) for name in place.values() if name]


def _summary(answers: Answers[HitPage], outcome: _Outcome, shown: int) -> str:
    total = outcome.total
    if total is None:
        count = _("hits shown: {count:,}, there are more", count=shown)
    else:
        number = f"{total.count:,}{'+' if total.at_least else ''}"
        count = _("{count:,} of {total} hits", count=shown, total=number)
    took = _("{took:.0f} ms", took=outcome.elapsed_ms)
    line = " · ".join(filter(None, [count, answers.summary, outcome.engine, took]))
    if outcome.is_complete:
        return line
    return _("{line} · not everything was searched", line=line)


def _print_hits(answers: Answers[HitPage], hits: list[_HitRow]) -> None:
    """Print hits with their context: on a terminal under the names of their conversations, in a
    pipe as a table."""
    if not sys.stdout.isatty():
        messages = [message for hit in hits for message in hit.messages()]
        print_table([*place_columns(answers), *_COLUMNS], messages)
        return
    for _place_and_id, group in groupby(hits, key=lambda hit: (hit.place, hit.hit.session_id)):
        some = list(group)
        names = [
            some[0].name,
            one_line(some[0].hit.session_id),
            *_place_names(answers, some[0].place),
        ]
        rows = [message.cells() for hit in some for message in hit.messages()]
        rich_output().print_hit_group(" · ".join(filter(None, names)), rows)


_COLUMNS: list[TableColumn[_Message]] = [
    TableColumn("time", "time"),
    TableColumn("role", "role", dropped=2),
    TableColumn("conversation", lambda row: row.found.name if row.is_hit else ""),
    TableColumn("text", "text", is_flexible=True, context="column"),
    TableColumn("session", "found.hit.session_id"),
    TableColumn("message", "id", True, dropped=1),
]
