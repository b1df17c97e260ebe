"""Which rows are hits: those that the caller and the filters admit, that Hermes shows, and that have the words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeVar

from ..connection.connect import Reader
from ..messages.decode import decode_tool_calls
from ..messages.models import Hit, State
from ..sessions.catalog import allowed_sessions, read_catalog
from ..sessions.models import View
from ..wording import _
from .filters import BY_KEY, Asked, ConversationTest, RowFacts, RowTest, reason_against
from .fold import fold
from .query import Problem, Query
from .rows import KeptRows, RowText, StoredRow, read_rows
from .snippets import make_snippet
from .streams import candidates
from .terms import Plan
from .walk import Passed, Tally, Walk

_Tested = TypeVar("_Tested")


@dataclass(frozen=True)
class MessageCondition:
    """The filters of a query that look at a row."""

    tests: tuple[RowTest, ...]

    def accepts(self, row: RowFacts) -> bool:
        """Whether a row passes all of them."""
        return all(test(row) for test in self.tests)


@dataclass(frozen=True)
class Conditions:
    """All filters of a query, ready."""

    message: MessageCondition | None
    conversation: ConversationTest | None
    problems: tuple[Problem, ...]


def split_by_edits(query: Query, conditions: Conditions) -> tuple[Conditions, Conditions] | None:
    """The same conditions for rows that edit a file asked for, and for those that only mention one.

    Returns:
        None where no file is asked for.
    """
    needles = [fold(each) for each in query.files]
    if not needles:
        return None
    known = conditions.message.tests if conditions.message is not None else ()

    def edits(row: RowFacts) -> bool:
        return bool(row.tool_calls) and any(edits_file(row.tool_calls, needle) for needle in needles)

    def mentions(row: RowFacts) -> bool:
        return not edits(row)

    return (
        replace(conditions, message=MessageCondition((*known, edits))),
        replace(conditions, message=MessageCondition((*known, mentions))),
    )


def make_conditions(query: Query, now: float | None = None) -> Conditions:
    """Get the filters of a query ready; a bad value is a problem, and that filter is left out.

    Filters of one key are alternatives (`source:cli source:tui`), filters of different keys add up;
    what is left out (`-source:cron -source:tool`) adds up too.

    Args:
        query: Parsed.
        now: Unix seconds, for dates.
    """
    moment = time.time() if now is None else now
    problems: list[Problem] = []
    rows: dict[object, list[RowTest]] = {}
    chats: dict[object, list[ConversationTest]] = {}
    for each in query.filters:
        reason = reason_against(each.key, each.value, moment, each.op)
        if reason:
            problems.append(Problem(each.start, each.end, reason))
            continue
        kind = BY_KEY[each.key]
        test = kind.admits(Asked(each.key, each.value, each.op, moment))
        # Alternatives share a group; limits and exclusions stand alone, so that all of them hold.
        alternative = not each.negated and each.op in (":", "=") and not kind.is_limit
        group: object = each.key if alternative else each
        if test.row is not None:
            rows.setdefault(group, []).append(_unless(test.row, each.negated))
        elif test.conversation is not None:
            chats.setdefault(group, []).append(_unless(test.conversation, each.negated))
    message = MessageCondition(tuple(map(_any, rows.values()))) if rows else None
    all_of = list(map(_any, chats.values()))
    conversation: ConversationTest | None = (lambda found: all(test(found) for test in all_of)) if all_of else None
    return Conditions(message, conversation, tuple(problems))


def _unless(test: Callable[[_Tested], bool], negated: bool) -> Callable[[_Tested], bool]:
    return (lambda found: not test(found)) if negated else test


def _any(tests: list[Callable[[_Tested], bool]]) -> Callable[[_Tested], bool]:
    return lambda found: any(test(found) for test in tests)


_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own (0.22)."""
_HEADER = ("*** ", "+++ ", "--- ")
"""How a line of a patch begins that names a file."""


def _names(argument: object, needle: str) -> bool:
    """Whether an argument names the file: a path as it stands, or the headers of a patch, not the text written."""
    if not isinstance(argument, str):
        return False
    lines = argument.split("\n")
    if len(lines) == 1:
        return needle in fold(argument)
    return any(line.startswith(_HEADER) and needle in fold(line) for line in lines)


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether a row calls a tool that changes a file.

    Args:
        tool_calls: As stored.
        needle: A part of the path, folded.
    """
    if needle not in fold(tool_calls):
        return False
    for call in decode_tool_calls(tool_calls):
        if not _CHANGES.search(call.name.lower()):
            continue
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            arguments = {"": call.arguments}
        if any(_names(each, needle) for each in arguments.values()):
            return True
    return False


SessionFilter = Callable[[str], bool] | Collection[str]
"""Whether a session is admitted: a test, or the ids of those that are."""


@dataclass(frozen=True)
class Scope:
    """Which rows may be hits, apart from the words."""

    sessions: Callable[[str], bool] | None = None
    """Whether a session is in the view, source and filters asked for; None admits all."""
    roles: frozenset[str] = frozenset()
    """Only these roles; empty admits all."""
    message: MessageCondition | None = None
    """Filters of the query that look at the row itself."""

    @property
    def is_open(self) -> bool:
        """Nothing is left out."""
        return self.sessions is None and not self.roles and self.message is None


EVERYTHING = Scope()


def _both(one: Callable[[str], bool] | None, other: Callable[[str], bool] | None) -> Callable[[str], bool] | None:
    if one is None or other is None:
        return one or other
    return lambda session_id: one(session_id) and other(session_id)


def make_scope(
    reader: Reader,
    query: Query,
    scope: Scope | None,
    sessions: SessionFilter | None,
    roles: Collection[str],
    now: float | None = None,
) -> Scope:
    """Everything that narrows a search, as one scope.

    A caller that gives a scope has seen to the filters of the query (it may have a catalog at hand
    already); where there is none they are applied here, over the whole store.

    Args:
        reader: An open reader.
        query: Parsed.
        scope: The caller's, or None.
        sessions: More to admit sessions by.
        roles: Only these roles; empty admits all.
        now: Unix seconds, for dates and for what is live.
    """
    found = scope
    if found is None:
        conditions = make_conditions(query, now)
        found = Scope(message=conditions.message)
        if conditions.conversation is not None:
            catalog = read_catalog(reader, time.time() if now is None else now)
            ids = allowed_sessions(catalog, View.ALL, (), conditions.conversation)
            found = replace(found, sessions=ids.__contains__)
    test = sessions if sessions is None or callable(sessions) else frozenset(sessions).__contains__
    wanted = frozenset(roles)
    if wanted:
        wanted = wanted & found.roles if found.roles else wanted
        if not wanted:
            return Scope(sessions=lambda session_id: False)
    return replace(found, sessions=_both(found.sessions, test), roles=wanted or found.roles)


_LEAST, _BATCH, _MOST = 8, 32, 512
"""Rows read at a time: at least, at first (a page of the screen), and at most (some 20 ms)."""
_SPARE = 1.2
"""Rows are read for so many times the hits that are still wanted, as the share of hits so far makes it seem."""


@dataclass(frozen=True, slots=True)
class Found:
    """A row that is a hit."""

    id: int
    session_id: str
    role: str
    moment: float | None
    state: State
    said: RowText | None
    """Its texts; None when they were not needed to decide."""

    def to_hit(self, plan: Plan) -> Hit:
        """The hit with its snippet."""
        snippet, ranges = make_snippet(self.said or RowText("", "", ""), plan.matchers, is_result=self.role == "tool")
        return Hit(self.id, self.session_id, self.role, self.moment, snippet, ranges, self.state)


@dataclass(frozen=True)
class Judge:
    """Decides about rows by the texts, the scope, and what Hermes hides."""

    reader: Reader
    plan: Plan
    scope: Scope
    with_texts: bool = True
    """Read the texts even where the index has decided: for snippets."""
    matched: bool = False
    """The candidates are what MATCH gives for the whole plan, so nothing is left to check in the texts."""
    kept: KeptRows | None = None
    """Where rows with their texts are kept for the next search; None keeps none."""

    @property
    def _is_decided(self) -> bool:
        return self.matched or self.plan.index_decides

    @property
    def _needs_texts(self) -> bool:
        return self.with_texts or self.scope.message is not None or not self._is_decided

    def judge(self, ids: Sequence[int], tally: Tally | None = None) -> list[Found]:
        """The rows among these ids that are hits, in the order of the ids.

        Args:
            ids: Of candidates.
            tally: Told how many of them were looked at, and how many had the terms.
        """
        needs_texts = self._needs_texts
        if needs_texts and (self.scope.sessions is not None or self.scope.roles):
            # Texts are the dear part of a row: first see which rows are asked for at all.
            admitted = self._read(ids, with_texts=False)
            ids = [key for key in ids if key in admitted and self._admits(admitted[key])]
        rows = self._read(ids, with_texts=needs_texts)
        found: list[Found] = []
        for key in ids:
            row = rows.get(key)
            if row is None or not self._admits(row) or not self._passes(row):
                continue
            said = row.thought or row.said
            has_terms = self._has_terms(said)
            if tally is not None:
                tally.looked_at += 1
                tally.had_the_words += has_terms
            if has_terms:
                kept = said if needs_texts else None
                found.append(Found(row.id, row.session_id, row.role, row.moment, row.state, kept))
        return found

    def _read(self, ids: Sequence[int], *, with_texts: bool) -> dict[int, StoredRow]:
        thought = self.plan.in_reasoning
        return read_rows(self.reader, ids, self.kept, with_texts=with_texts, in_reasoning=thought)

    def _admits(self, row: StoredRow) -> bool:
        scope = self.scope
        if row.is_hidden or (scope.roles and row.role not in scope.roles):
            return False
        return scope.sessions is None or scope.sessions(row.session_id)

    def _passes(self, row: StoredRow) -> bool:
        """Whether the row itself is as the filters of the query want it."""
        message, said = self.scope.message, row.said
        if message is None or said is None:
            return True
        return message.accepts(
            RowFacts(row.role, row.moment, row.state, said.stored, said.tool_name, said.tool_calls, row.has_reasoning)
        )

    def _has_terms(self, said: RowText | None) -> bool:
        """Whether the text has what is looked for.

        The index has decided for plain words: checking them again could only disagree with FTS5 about
        what a letter is. Everything else is checked in the text.
        """
        return self._is_decided or said is None or said.is_accepted(self.plan)

    def walk(self, walk: Walk, ids: Iterator[int] | None = None, *, batch: int = 0) -> Iterator[Found]:
        """The hits of a run in its order; batches grow as long as nothing is found in them.

        Args:
            walk: The run.
            ids: The candidates, where they are not those of the run.
            batch: Rows read at a time at the least; 0 for as many as the hits that are wanted make needed.
        """
        waiting: list[int] = []
        wanted = walk.tally.wanted
        size = batch or (min(wanted, _MOST) if wanted else _BATCH)
        given = judged = 0
        for message_id in candidates(walk) if ids is None else ids:
            if isinstance(message_id, Passed):  # a scan goes on for long: what it has found is not kept back
                found = self.judge(waiting, walk.tally)
                given, judged = given + len(found), judged + len(waiting)
                yield from found
                waiting.clear()
                walk.passed()
                continue
            waiting.append(message_id)
            sure = max(wanted - given, batch, _LEAST) if walk.tally.is_sure and wanted else size
            if len(waiting) >= min(size, sure):
                found = self.judge(waiting, walk.tally)
                given, judged = given + len(found), judged + len(waiting)
                yield from found
                if not wanted or given >= wanted or len(found) * 4 < len(waiting):
                    least = batch or _BATCH
                    size = least if len(found) * 2 > len(waiting) else min(size * 2, max(_MOST, least))
                else:
                    size = max(batch, _LEAST, min(ceil((wanted - given) * judged / given * _SPARE), _MOST))
                waiting.clear()
                if walk.stop():
                    return
        yield from self.judge(waiting, walk.tally)


RELEVANT = 2000
"""Relevance is judged among this many newest hits, or as many as are wanted where those are more: bm25 over all of
them takes most of a second (1M rows)."""


def most_relevant(judge: Judge, walk: Walk, limit: int) -> list[Found]:
    """The best by bm25 among the newest hits; newest first where no index can rank.

    Args:
        judge: One that reads texts only where they decide.
        walk: Newest first.
        limit: The most to give.

    Returns:
        Hits, best first; equally good ones newest first.
    """
    pool: list[Found] = []
    most = max(RELEVANT, limit)
    for found in judge.walk(walk):
        pool.append(found)
        if len(pool) >= most:
            walk.notes.append(_("Ranked among the newest {count:,} hits.").format(count=most))
            break
    index, match = judge.reader.schema.fts, judge.plan.match
    if index is None or not match or "fts5" not in walk.engines or not pool:
        return pool[:limit]
    rows = judge.reader.rows(
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
        [match, min(found.id for found in pool)],
    )
    places = {int(str(row[0])): place for place, row in enumerate(rows)}
    pool.sort(key=lambda found: places.get(found.id, len(places)))
    return pool[:limit]
