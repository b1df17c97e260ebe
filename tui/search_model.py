"""Results of a search as rows: titles that match first, then conversations with their hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from hermes_browse.store.catalog import Catalog, read_neighbourhood
from hermes_browse.store.connect import Reader
from hermes_browse.store.models import Conversation, Hit, View
from hermes_browse.store.preview import with_details, with_names
from hermes_browse.store.search import (
    Answer,
    Conditions,
    Coverage,
    Query,
    Scope,
    Total,
    make_plan,
    search,
)
from hermes_browse.store.search.conditions import split_by_edits

from .rows import ConversationRow, FixedRows, HitRow, ListRow, MoreRow, NoteRow, SuggestionRow
from .search_elsewhere import scope_of

if TYPE_CHECKING:
    from .search_count import Counted

PAGE = 32
"""Hits read at a time: more than a screen shows, and each costs its snippet."""
SOME = 3
"""Hits of a conversation that are shown unless it is unfolded."""
_MOST_TITLES = 8


class Fold(Enum):
    """How many hits of a conversation are shown."""

    BEST = "best"
    """The one that has most of what is looked for."""
    SOME = "some"
    ALL = "all"

    def step(self, by: int) -> Fold:
        """So many steps towards more, or with a negative number towards fewer."""
        steps = list(Fold)
        return steps[min(max(steps.index(self) + by, 0), len(steps) - 1)]


def _shown(hits: Sequence[Hit], fold: Fold) -> list[Hit]:
    if fold is Fold.BEST:
        return [max(hits, key=_worth)]
    return list(hits if fold is Fold.ALL or len(hits) <= SOME + 1 else hits[:SOME])


def _worth(hit: Hit) -> tuple[int, bool]:
    """Different things lit in the snippet; said rather than put out by a tool."""
    return len({hit.snippet[start:end].casefold() for start, end in hit.match}), hit.role != "tool"


@dataclass(frozen=True)
class Found:
    """What a search gave, ready to be shown."""

    query: Query
    answer: Answer
    titles: tuple[Conversation, ...]
    """Conversations whose title or id matches."""
    conversations: dict[str, Conversation] = field(default_factory=dict)
    """By session id, for the hits."""
    suggestions: tuple[SuggestionRow, ...] = ()
    total: Total | None = None
    """All hits, once they have been counted behind the keyboard."""
    roots: int = 0
    """Conversations they are in."""
    coverage: Coverage | None = None
    """What the index holds, once that has been looked at."""
    past_edits: bool = False
    """Of a file asked for, all edits have been given: what follows are mentions."""
    of_list: bool = False
    """Conversations alone are asked for, and there is none like that."""
    notes: tuple[str, ...] = ()
    """What could not be looked at."""
    sort: str = "newest"
    """The order of the hits."""
    is_partial: bool = False
    """A scan has found these so far and goes on."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """In the order found."""
        return self.answer.hits

    def groups(self) -> dict[str, list[Hit]]:
        """The hits by the root of their conversation, in the order of the first hit of each."""
        groups: dict[str, list[Hit]] = {}
        for hit in self.hits:
            conversation = self.conversations.get(hit.session_id)
            groups.setdefault(conversation.root_id if conversation is not None else hit.session_id, []).append(hit)
        return groups

    def rows(self, folds: Mapping[str, Fold] = MappingProxyType({})) -> FixedRows:
        """Titles, then each conversation with its hits; where nothing was found, what else would find something.

        Args:
            folds: How many hits of a conversation are shown, by its root, where it is not some.
        """
        groups = self.groups()
        # A conversation that stands below with its hits is not told by its title as well.
        rows: list[ListRow] = [ConversationRow(each) for each in self.titles if each.root_id not in groups]
        for root, hits in groups.items():
            conversation = self.conversations.get(hits[0].session_id)
            if conversation is not None:
                rows.append(ConversationRow(conversation, hits=len(hits)))
            shown = _shown(hits, folds.get(root, Fold.SOME))
            rows += [HitRow(hit, conversation) for hit in shown]
            if len(shown) < len(hits):
                rows.append(MoreRow(root, len(hits) - len(shown)))
        if not rows:
            rows.append(NoteRow(self._nothing()))
            rows += self.suggestions
            rows += map(NoteRow, self.notes)
        elif self.answer.more:
            rows.append(NoteRow(self._what_follows()))
        return FixedRows(rows)

    def _nothing(self) -> str:
        if self.of_list:
            return "No conversation is like this: Esc goes back to all."
        return "Nothing contains this." if self.answer.complete else "Nothing found until it was stopped."

    def _what_follows(self) -> str:
        if self.is_partial:
            return "scanning on …"
        if not self.answer.complete:
            return "stopped here: what follows was not looked at"
        first = {"relevance": "best"}.get(self.sort, self.sort)
        return f"the {first} {len(self.hits):,} hits are shown: end to read on"

    def completed(self, reader: Reader) -> Found:
        """The same with the messages of each conversation counted."""
        unique = {each.root_id: each for each in (*self.titles, *self.conversations.values())}
        counted = {each.root_id: each for each in with_details(reader, list(unique.values()))}
        conversations = {session: counted[each.root_id] for session, each in self.conversations.items()}
        return replace(self, titles=tuple(counted[each.root_id] for each in self.titles), conversations=conversations)

    @property
    def is_counted(self) -> bool:
        """Whether the number of hits is known, or has been counted as far as it will be."""
        answer = self.answer
        return self.total is not None or not (answer.at_least or (answer.more and answer.total is None))

    def detailed(self, completed: Found) -> Found:
        """The same with the details of another state of it."""
        return replace(self, titles=completed.titles, conversations=completed.conversations)

    def with_counts(self, shorter: Found) -> Found:
        """The same with what was counted for an earlier state of it."""
        return replace(self, total=shorter.total, roots=shorter.roots, coverage=shorter.coverage)

    def counted(self, counted: Counted) -> Found:
        """The same with what was counted."""
        return replace(
            self,
            total=counted.total or self.total,
            roots=counted.roots or self.roots,
            coverage=counted.coverage,
            suggestions=counted.suggestions,
            notes=counted.notes,
        )

    def _count(self) -> str:
        answer = self.answer
        roots = len({each.root_id for each in self.conversations.values()})
        if self.total is not None:
            plus, count = "+" if self.total.at_least else "", max(self.total.count, len(answer.hits))
            return f"{count:,}{plus} {_hits(count)} in {max(self.roots, roots):,}{plus}"
        count = max(answer.total or 0, len(answer.hits))
        plus = "" if self.is_counted else "+"
        # How many conversations further hits are in is not known before they have been counted.
        more = "+" if answer.more else ""
        return f"{count:,}{plus} {_hits(count)} in {roots:,}{more}"

    def status(self) -> str:
        """Hits, conversations, engine, time, and what was not covered."""
        answer = self.answer
        if self.of_list:
            return "0 conversations"
        parts = [self._count(), answer.engine, f"{answer.elapsed_ms:.0f} ms"]
        if not answer.complete:
            parts.append("stopped: not everything was looked at")
        if self.coverage is not None:
            parts.append(str(self.coverage))
        parts += answer.notes
        return " · ".join(parts)


def no_conversations(query: Query) -> Found:
    """What there is to show where only conversations are asked for, and none is like that."""
    return Found(query, Answer(query, (), "none", True, 0, False, 0.0), (), of_list=True)


def _hits(count: int) -> str:
    return "hit" if count == 1 else "hits"


def _titles(catalog: Catalog, query: Query, scope: Callable[[str], bool] | None) -> tuple[Conversation, ...]:
    """The newest conversations whose titles, or else ids, contain all that is asked for."""
    plan = make_plan(query, prefix_last=True)
    if not query.groups or query.in_reasoning or query.files:
        return ()
    words = [each.term.text for each in plan.groups[0]]
    roots = (root for root in catalog.named(words) if scope is None or scope(root))
    return tuple(catalog.conversation(root) for root in islice(roots, _MOST_TITLES))


def _joined(first: Answer, second: Answer) -> Answer:
    """Two answers as one; the first is through."""
    hits = (*first.hits, *second.hits)
    return replace(
        second,
        hits=hits,
        total=None if second.more else len(hits),
        at_least=False,
        elapsed_ms=first.elapsed_ms + second.elapsed_ms,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )


def run(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    *,
    catalog: Catalog,
    view: View,
    sort: str,
    now: float,
    deadline: float,
    earlier: Found | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda share: None,
    portion: Callable[[Found], None] = lambda found: None,
) -> Found:
    """Search, on a worker's thread.

    Args:
        reader: Open.
        query: Parsed; something to look for.
        conditions: Its filters.
        catalog: The whole store if it has been read, for views and filters.
        view: Where to look.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds.
        deadline: `time.monotonic()` at which a scan gives what it has.
        earlier: Read on after these.
        cancelled: Asked between statements: whether to give what there is.
        progress: Told which share of the rows has been scanned, from 0 to 1.
        portion: Given what a scan has found so far, each time that is more.
    """
    scope = scope_of(catalog, view, conditions)
    sessions = scope.sessions
    before = earlier.hits[-1].message_id if earlier is not None and earlier.hits else None
    titles = earlier.titles if earlier is not None else tuple(with_names(reader, _titles(catalog, query, sessions)))
    known = dict(earlier.conversations) if earlier is not None else {}
    # By relevance there is no "after this one": what has been shown is asked for again, and more.
    anew = earlier is None or sort == "relevance"
    shown = earlier.hits if earlier is not None and not anew else ()
    limit = PAGE + (len(earlier.hits) if earlier is not None and anew else 0)

    def meet(hits: Sequence[Hit]) -> None:
        wanted = [hit.session_id for hit in hits if hit.session_id not in known]
        known.update(_conversations(reader, catalog, wanted, now))

    def ask(asked: Scope, behind: int | None, ahead: tuple[Hit, ...] = shown) -> Answer:
        def told(hits: tuple[Hit, ...]) -> None:
            meet(hits)
            so_far = Answer(query, (*ahead, *hits), "scan", False, None, False, 0.0, more=True, matchers=matchers)
            portion(Found(query, so_far, titles, dict(known), sort=sort, is_partial=True))

        return search(
            reader,
            query,
            limit=limit,
            sort=sort,
            prefix_last=True,
            scope=asked,
            before=behind,
            cancelled=cancelled,
            deadline=deadline,
            progress=progress,
            portion=told,
        )

    matchers = tuple(make_plan(query, prefix_last=True).matchers)
    parts, past_edits = split_by_edits(query, conditions), earlier is not None and not anew and earlier.past_edits
    if parts is None:
        answer = ask(scope, None if anew else before)
    else:  # whoever asks for a file looks for where it was made; where it was talked about comes behind
        edits, mentions = (replace(scope, message=part.message) for part in parts)
        answer = ask(mentions if past_edits else edits, None if anew else before)
        if not past_edits and not answer.more:
            past_edits = True
            answer = _joined(answer, ask(mentions, None, (*shown, *answer.hits)))
    meet(answer.hits)
    if earlier is not None:
        answer = replace(answer, hits=(*shown, *answer.hits), total=earlier.answer.total)
    return Found(query, answer, titles, known, past_edits=past_edits, sort=sort)


def _conversations(reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float) -> dict[str, Conversation]:
    """The conversations of hits, with previews; those the catalog does not know are read."""
    wanted = list(dict.fromkeys(session_ids))
    unknown = [each for each in wanted if each not in catalog.forest.chain_of]
    around = read_neighbourhood(reader, unknown, now) if unknown else catalog
    found: dict[str, Conversation] = {}
    for each in wanted:
        conversation = (around if each in unknown else catalog).of_session(each)
        if conversation is not None:
            found[each] = conversation
    detailed = {
        each.root_id: each for each in with_names(reader, list({c.root_id: c for c in found.values()}.values()))
    }
    return {session: detailed[conversation.root_id] for session, conversation in found.items()}
