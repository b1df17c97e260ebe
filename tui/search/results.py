"""Results of a search as rows: titles that match first, then conversations with their hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.models import Hit
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.search import (
    Answer,
    Coverage,
    Query,
    Total,
)
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _, ngettext

from ..list.rows import ConversationRow, FixedRows, HitRow, ListRow, MoreRow, NoteRow, SuggestionRow

_FIRST = {
    "newest": N_("the newest {count:,} hits are shown: end to read on"),
    "oldest": N_("the oldest {count:,} hits are shown: end to read on"),
    "relevance": N_("the best {count:,} hits are shown: end to read on"),
}
SOME = 3
"""Hits of a conversation that are shown unless it is unfolded."""


class Fold(Enum):
    """How many hits of a conversation are shown."""

    BEST = "best"
    """The one that has most of what is looked for."""
    SOME = "some"
    ALL = "all"

    def step(self, by: int) -> Fold:
        """The fold `by` steps towards more hits; towards fewer when it is negative."""
        steps = list(Fold)
        return steps[min(max(steps.index(self) + by, 0), len(steps) - 1)]


def _shown(hits: Sequence[Hit], fold: Fold) -> list[Hit]:
    if fold is Fold.BEST:
        return [best(hits)]
    return list(hits if fold is Fold.ALL or len(hits) <= SOME + 1 else hits[:SOME])


def best(hits: Sequence[Hit]) -> Hit:
    """Return the best of some hits; of equally good ones the first.

    Args:
        hits: In the order of the search; at least one.
    """
    return max(hits, key=_worth)


def _worth(hit: Hit) -> tuple[int, bool]:
    """How good a hit is: how many different words its snippet has, then said rather than output of a tool."""
    return len({hit.snippet[start:end].casefold() for start, end in hit.match}), hit.role != "tool"


@dataclass(frozen=True)
class Counted:
    """What is found out about a search while the keyboard rests."""

    total: Total | None
    """None where the search itself gave all there is."""
    roots: int
    """Conversations the hits are in."""
    coverage: Coverage
    suggestions: tuple[SuggestionRow, ...] = ()
    """What else would find something, where nothing was found."""
    notes: tuple[str, ...] = ()
    """What could not be looked at."""


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
        """The hits, in the order they were found."""
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
                rows.append(MoreRow(root, len(hits) - len(shown), conversation))
        if not rows:
            rows.append(NoteRow(self._nothing()))
            rows += self.suggestions
            rows += map(NoteRow, self.notes)
        elif self.answer.more:
            rows.append(NoteRow(self._what_follows()))
        return FixedRows(rows)

    def _nothing(self) -> str:
        if self.of_list:
            return _("No conversation matches: Esc shows all.")
        if self.answer.stopped:
            return _("Nothing found until it was stopped.")
        return _("Nothing contains this.") if self.answer.complete else _("Nothing found in what was searched.")

    def _what_follows(self) -> str:
        if self.is_partial:
            return _("scanning on …")
        if self.answer.stopped:
            return _("stopped here: what follows was not looked at")
        return _(_FIRST[self.sort]).format(count=len(self.hits))

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
            return _hits(count, plus, f"{max(self.roots, roots):,}{plus}")
        count = max(answer.total or 0, len(answer.hits))
        plus = "" if self.is_counted else "+"
        # How many conversations further hits are in is not known before they have been counted.
        more = "+" if answer.more else ""
        return _hits(count, plus, f"{roots:,}{more}")

    def status(self, problems: Sequence[str] = ()) -> str:
        """Hits and conversations, then what is wrong or was not covered, then how; a narrow terminal cuts the end.

        Args:
            problems: What of the query could not be taken as meant.
        """
        answer, coverage = self.answer, self.coverage
        if self.of_list:
            return " · ".join([_("0 conversations"), *problems])
        parts = [self._count()]
        if answer.stopped:
            parts.append(_("stopped: not everything was looked at"))
        parts += problems
        if coverage is not None and coverage.reason:
            parts.append(coverage.reason)
        parts += [answer.engine, f"{answer.elapsed_ms:.0f} ms", *answer.notes]
        if coverage is not None and not coverage.reason:
            parts.append(str(coverage))
        return " · ".join(parts)


def no_conversations(query: Query) -> Found:
    """The result of a search for conversations that found none."""
    return Found(query, Answer(query, (), "none", True, 0, False, 0.0), (), of_list=True)


def _hits(count: int, plus: str, conversations: str) -> str:
    told = ngettext("{count}{plus} hit in {conversations}", "{count}{plus} hits in {conversations}", count)
    return told.format(count=f"{count:,}", plus=plus, conversations=conversations)
