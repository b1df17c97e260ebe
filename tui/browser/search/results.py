"""A search as rows: matching titles, then conversations with their hits. A conversation may stand in
both, so that the titles stay where they are while hits arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hermes_browse.store.messages.chat_message import Hit, HitOrder
from hermes_browse.store.search.coverage import Coverage
from hermes_browse.store.search.engine import Answer, Total
from hermes_browse.store.search.terms import find_ranges
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...text.formats import counted, joined
from ...widgets.list_rows import HeadRow, ListRow, NoteRow
from ..list.list_model import NamedRows, RowDetails
from ..list.rows import ConversationRow, HitRow, MoreRow, SuggestionRow

_FIRST = {
    HitOrder.NEWEST: N_("the newest {count:,} hits are shown: end to read on"),
    HitOrder.OLDEST: N_("the oldest {count:,} hits are shown: end to read on"),
    HitOrder.RELEVANCE: N_("the best {count:,} hits are shown: end to read on"),
}
FOLD_BEST, FOLD_SOME, FOLD_ALL = range(3)
"""How much of a conversation to show: the hit that matches most words, the first few, all."""
_FEW = 3
"""Hits shown per conversation unless it is unfolded."""


def _shown(hits: Sequence[Hit], fold: int) -> list[Hit]:
    if fold == FOLD_BEST:
        return [best(hits)]
    return list(hits if fold == FOLD_ALL or len(hits) <= _FEW + 1 else hits[:_FEW])


def best(hits: Sequence[Hit]) -> Hit:
    """Return the best of some hits, at least one; the first of equally good ones."""
    return max(hits, key=_worth)


def _worth(hit: Hit) -> tuple[int, bool]:
    """Sort key of hits: the number of different words matched in the snippet, then text before tool
    output."""
    return len({hit.snippet[start:end].casefold() for start, end in hit.match}), hit.role != "tool"


def _count_roots(conversations: Mapping[str, Conversation]) -> int:
    return len({each.root_id for each in conversations.values()})


@dataclass(frozen=True)
class SearchResults:
    """The results of a search so far."""

    answer: Answer
    titles: tuple[Conversation, ...] = ()
    """The newest conversations whose title or id matches."""
    title_count: int = 0
    """How many there are."""
    conversations: dict[str, Conversation] = field(default_factory=dict)
    """By session id, for the hits."""
    total: Total | None = None
    """All hits; None until they are counted, or if the search itself returned all."""
    roots: int = 0
    """Number of conversations with hits, as counted; 0 before."""
    coverage: Coverage | None = None
    """Coverage of the index; None until it is read."""
    suggestions: tuple[SuggestionRow, ...] = ()
    """Other searches that have hits, if this one has none."""
    notes: tuple[str, ...] = ()
    """Messages about profiles that could not be searched."""
    of_list: bool = False
    """The search is for conversations only, and none matches."""
    order: HitOrder = HitOrder.NEWEST
    is_partial: bool = False
    """The scan goes on."""
    problems: Sequence[str] = ()
    """Messages about parts of the query that could not be understood."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.answer.hits

    @property
    def goes_on(self) -> bool:
        """Whether there may be further hits to read; a stopped search is not resumed."""
        return self.answer.more and not self.answer.stopped

    def renewed(self, before: Catalog, catalog: Catalog) -> SearchResults:
        """Return them with the conversations of a newer catalog, without those that are gone: a
        search also finds what neither catalog has yet."""
        if not catalog.exact:
            return self

        def newer(each: Conversation) -> Conversation | None:
            known = catalog.of_session(each.root_id)
            if known is not None:
                return known._replace(preview=each.preview)
            return each if before.of_session(each.root_id) is None else None

        every = {id: newer(each) for id, each in self.conversations.items()}
        conversations = {id: each for id, each in every.items() if each is not None}
        gone = every.keys() - conversations.keys()
        hits = tuple(hit for hit in self.hits if hit.session_id not in gone)
        titles = tuple(filter(None, map(newer, self.titles)))
        lost = len(self.hits) - len(hits)
        total = self.total
        return replace(
            self,
            answer=replace(self.answer, hits=hits),
            titles=titles,
            title_count=self.title_count - (len(self.titles) - len(titles)),
            conversations=conversations,
            total=total and replace(total, count=total.count - lost),
            roots=self.roots - (_count_roots(self.conversations) - _count_roots(conversations)),
        )

    def groups(self) -> dict[str, list[Hit]]:
        """Return the hits by root id of their conversation, ordered by the first hit of each."""
        groups: dict[str, list[Hit]] = {}
        for hit in self.hits:
            conversation = self.conversations.get(hit.session_id)
            groups.setdefault(
                conversation.root_id if conversation is not None else hit.session_id, []
            ).append(hit)
        return groups

    def rows(self, folds: Mapping[str, int], details: RowDetails) -> NamedRows:
        """Build the rows: titles, then each conversation with its hits; or suggestions if there are
        none.

        Args:
            folds: By root id `FOLD_BEST`, `FOLD_SOME` or `FOLD_ALL`; `FOLD_SOME` for others.
            details: What has been read of conversations.
        """
        groups = self.groups()
        rows: list[ListRow] = []
        if self.titles:
            rows.append(HeadRow(self._title_count()))
            rows += [self._title_row(each, groups.get(each.root_id)) for each in self.titles]
        if groups:
            rows.append(HeadRow(self._count()))
        for root, hits in groups.items():
            conversation = self.conversations.get(hits[0].session_id)
            if conversation is not None:
                rows.append(ConversationRow(conversation, len(hits), best=best(hits).message_id))
            unfolded = _shown(hits, folds.get(root, FOLD_SOME))
            rows += [HitRow(hit, conversation) for hit in unfolded]
            if len(unfolded) < len(hits):
                rows.append(MoreRow(root, len(hits) - len(unfolded), conversation))
        if not rows:
            rows.append(NoteRow(self._nothing()))
            rows += self.suggestions
            rows += map(NoteRow, self.notes)
        elif self.answer.more:
            rows.append(NoteRow(self._what_follows()))
        return NamedRows(rows, details)

    def _title_count(self) -> str:
        count, shown = self.title_count, len(self.titles)
        if shown < count:
            return _("{shown} of {count:,} titles or ids", shown=shown, count=count)
        return ngettext("1 title or id", "{count:,} titles or ids", count)

    def _title_row(self, conversation: Conversation, hits: Sequence[Hit] | None) -> ConversationRow:
        title = one_line(conversation.title or "", 400)
        return ConversationRow(
            conversation,
            best=best(hits).message_id if hits else None,
            is_named=True,
            matches=find_ranges(title, self.answer.matchers),
        )

    def _nothing(self) -> str:
        if self.of_list:
            return _("No conversation matches: Esc shows all.")
        if self.answer.stopped:
            return _("Nothing found until it was stopped.")
        if not self.answer.complete:
            return _("Nothing found in what was searched.")
        return _("Nothing contains this.") if self.answer.matchers else _("No message matches.")

    def _what_follows(self) -> str:
        if self.is_partial:
            return _("scanning on …")
        if self.answer.stopped:
            return _("stopped here: what follows was not looked at")
        return _(_FIRST[self.order], count=len(self.hits))

    def number_of(self, hit: Hit) -> str:
        """Return which of the hits it is, as they are listed: `3/7`, or `3/50+` if more follow."""
        listed = [each for hits in self.groups().values() for each in hits]
        count, is_least = self._hit_count()
        return f"{listed.index(hit) + 1:,}/{count:,}{'+' if is_least else ''}"

    def _hit_count(self) -> tuple[int, bool]:
        """Return how many hits are known, and whether there may be more."""
        answer, total = self.answer, self.total
        if total is not None:
            return max(total.count, len(answer.hits)), total.at_least
        return len(answer.hits), answer.more

    def _count(self) -> str:
        count, is_least = self._hit_count()
        conversations = max(self.roots, _count_roots(self.conversations))
        where = counted(conversations, "conversation")
        if is_least:  # the conversations of further hits are not counted yet
            where = _("{count:,}+ conversations", count=conversations)
        return ngettext(
            "{count}{plus} hit in {conversations}",
            "{count}{plus} hits in {conversations}",
            count,
            count=f"{count:,}",
            plus="+" if is_least else "",
            conversations=where,
        )

    @property
    def shortfall(self) -> str:
        """The status if they are incomplete or the query has problems; else empty."""
        is_covered = self.coverage is None or not self.coverage.reason
        is_whole = self.answer.complete and not self.answer.stopped and is_covered
        return "" if is_whole and not self.problems else self.status()

    def status(self) -> str:
        """Return the status: counts, then problems and coverage, then engine and time; narrow
        terminals cut the end."""
        answer, coverage = self.answer, self.coverage
        if self.of_list:
            return joined(_("0 conversations"), *self.problems)
        lack = indexed = ""
        if coverage is not None:
            lack = coverage.reason
            indexed = "" if lack else _("all {count:,} messages indexed", count=coverage.messages)
        return joined(
            self._title_count() if self.titles else "",
            self._count(),
            _("stopped: not everything was looked at") if answer.stopped else "",
            *self.problems,
            lack,
            answer.engine,
            f"{answer.elapsed_ms:.0f} ms",
            *answer.notes,
            indexed,
        )
