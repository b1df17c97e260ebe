"""Results of a search as rows: titles that match first, then conversations with their hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hermes_browse.store.catalog import Catalog, allowed_sessions, read_neighbourhood
from hermes_browse.store.connect import Reader
from hermes_browse.store.models import Conversation, Hit, View
from hermes_browse.store.preview import with_details, with_names
from hermes_browse.store.search import Answer, Conditions, Query, Scope, make_plan, search
from hermes_browse.store.search.suggest import Suggestion, suggest

from .rows import ConversationRow, FixedRows, HitRow, ListRow, NoteRow

PAGE = 32
"""Hits read at a time: more than a screen shows, and each costs its snippet."""
_MOST_TITLES = 8


@dataclass(frozen=True)
class Found:
    """What a search gave, ready to be shown."""

    query: Query
    answer: Answer
    titles: tuple[Conversation, ...]
    """Conversations whose title or id matches."""
    conversations: dict[str, Conversation] = field(default_factory=dict)
    """By session id, for the hits."""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """In the order found."""
        return self.answer.hits

    def rows(self) -> FixedRows:
        """Titles, then each conversation with its hits, in the order of the first hit of each."""
        rows: list[ListRow] = [ConversationRow(each) for each in self.titles]
        seen = {each.root_id for each in self.titles}
        groups: dict[str, list[Hit]] = {}
        for hit in self.hits:
            conversation = self.conversations.get(hit.session_id)
            groups.setdefault(conversation.root_id if conversation is not None else hit.session_id, []).append(hit)
        for root, hits in groups.items():
            conversation = self.conversations.get(hits[0].session_id)
            if conversation is not None:
                if root in seen:  # it stands above already, by its title: say so with its hits
                    rows = [row for row in rows if row.key != f"c{root}"]
                rows.append(ConversationRow(conversation, hits=len(hits)))
            rows += [HitRow(hit, conversation) for hit in hits]
        if not rows:
            rows.append(NoteRow("Nothing contains this."))
            rows += [
                NoteRow(f"  {each.text}: {each.hits:,}{'+' if each.at_least else ''} for  {each.query}")
                for each in self.suggestions
            ]
        elif self.answer.more:
            rows.append(NoteRow(f"the newest {len(self.hits):,} hits are shown: end to read on"))
        return FixedRows(rows)

    def completed(self, reader: Reader) -> Found:
        """The same with the messages of each conversation counted."""
        unique = {each.root_id: each for each in (*self.titles, *self.conversations.values())}
        counted = {each.root_id: each for each in with_details(reader, list(unique.values()))}
        conversations = {session: counted[each.root_id] for session, each in self.conversations.items()}
        return replace(self, titles=tuple(counted[each.root_id] for each in self.titles), conversations=conversations)

    def status(self) -> str:
        """Engine, hits, conversations, time, and what was not covered."""
        answer = self.answer
        count = f"{len(answer.hits):,}"
        if answer.total is not None and answer.total > len(answer.hits):
            count = f"{answer.total:,}"
        plus = "+" if answer.at_least or (answer.more and answer.total is None) else ""
        roots = {each.root_id for each in self.conversations.values()}
        parts = [f"{count}{plus} hits in {len(roots):,}", answer.engine, f"{answer.elapsed_ms:.0f} ms"]
        if not answer.complete:
            parts.append("stopped early: not everything was looked at")
        parts += [problem.text for problem in answer.problems]
        parts += answer.notes
        return " · ".join(parts)


def _titles(catalog: Catalog, query: Query, scope: Callable[[str], bool] | None) -> tuple[Conversation, ...]:
    """The newest conversations whose titles, or else ids, contain all that is asked for."""
    plan = make_plan(query, prefix_last=True)
    if not plan.groups:
        return ()
    words = [each.term.text.casefold() for each in plan.groups[0]]
    found = []
    for text, root in catalog.names():
        if all(word in text for word in words) and (scope is None or scope(root)):
            found.append(catalog.conversation(root))
    found.sort(key=lambda each: each.last_active or 0.0, reverse=True)
    return tuple(found[:_MOST_TITLES])


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
    """
    narrowed = view is not View.ALL or conditions.conversation is not None
    allowed = allowed_sessions(catalog, view, (), conditions.conversation) if narrowed else None
    sessions = allowed.__contains__ if allowed is not None else None
    scope = Scope(sessions, frozenset(), conditions.message)
    before = earlier.hits[-1].message_id if earlier is not None and earlier.hits else None
    answer = search(
        reader, query, limit=PAGE, sort=sort, prefix_last=True, scope=scope, before=before, deadline=deadline
    )
    titles = earlier.titles if earlier is not None else _titles(catalog, query, sessions)
    known = dict(earlier.conversations) if earlier is not None else {}
    known |= _conversations(
        reader, catalog, [hit.session_id for hit in answer.hits if hit.session_id not in known], now
    )
    if earlier is not None:
        answer = replace(answer, hits=(*earlier.hits, *answer.hits), total=earlier.answer.total)
    named = with_names(reader, titles) if earlier is None else list(titles)
    empty = not answer.hits and not named
    return Found(query, answer, tuple(named), known, suggest(reader, query) if empty else ())


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
