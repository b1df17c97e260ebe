"""The hits of several places as one page, merged as they come."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages.chat_message import Hit
from ..search.engine import Answer
from ..search.found import Found
from ..search.query import Query
from ..sessions.models import FAR_PAST, Conversation
from .place import Place


class Hits:
    """Collects what places have found; the arguments are those of the search."""

    def __init__(
        self, query: Query, sort: str | None, limit: int | None, titles: int | None
    ) -> None:
        self._query, self._sort = query, sort or "newest"
        self._limit, self._titles = limit or 50, titles or 0
        self.answers: list[tuple[Place, Found]] = []

    def add(self, place: Place, found: Found) -> None:
        """Take what a place has found, with its own ids."""
        self.answers.append((place, found))

    def found(
        self, notes: Sequence[str] = (), *, is_partial: bool = False, is_stopped: bool = False
    ) -> Found:
        """Return the hits so far, with keys.

        Args:
            notes: Why places are missing.
            is_partial: More places are asked.
            is_stopped: The search was stopped.
        """
        answers = [found.answer for _place, found in self.answers]
        hits = self._ordered()
        is_cut = len(hits) > self._limit
        totals = [each.total for each in answers]
        is_counted = not (is_cut or is_partial or notes or None in totals)
        engines = {each.engine for each in answers} - {"none"}
        named = [
            f"{place.name}: {note}" for place, found in self.answers for note in found.answer.notes
        ]
        answer = Answer(
            self._query,
            tuple(hits[: self._limit]),
            engines.pop() if len(engines) == 1 else "mixed" if engines else "none",
            complete=not notes and not is_partial and all(each.complete for each in answers),
            total=sum(total or 0 for total in totals) if is_counted else None,
            elapsed_ms=max((each.elapsed_ms for each in answers), default=0.0),
            notes=(*notes, *dict.fromkeys(named)),
            stopped=is_partial or is_stopped or any(each.stopped for each in answers),
            more=is_cut or is_partial or any(each.more for each in answers),
            matchers=next((each.matchers for each in answers if each.matchers), ()),
        )
        return Found(answer, self._named(), self._conversations())

    def _ordered(self) -> list[Hit]:
        """Return all hits, in the order of the search; by relevance, the best of each first."""
        ranked = [
            (rank, place.keys.here(hit))
            for place, found in self.answers
            for rank, hit in enumerate(found.answer.hits)
        ]
        if self._sort == "relevance":
            ranked.sort(key=lambda each: each[0])
        else:
            ranked.sort(key=lambda each: each[1].timestamp or 0.0, reverse=self._sort == "newest")
        return [hit for _rank, hit in ranked]

    def _named(self) -> tuple[Conversation, ...]:
        named = [place.keys.here(each) for place, found in self.answers for each in found.titles]
        named.sort(key=lambda each: each.last_active or FAR_PAST, reverse=True)
        return tuple(named[: self._titles])

    def _conversations(self) -> dict[str, Conversation]:
        """Return the conversations of the hits by the key of the session."""
        return {
            place.keys.here([session_id])[0]: place.keys.here(conversation)
            for place, found in self.answers
            for session_id, conversation in found.conversations.items()
        }
