"""Candidates judged: which rows really are hits, read in batches that stay as small as the question allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..connect import Reader, Row
from ..messages import is_hidden, state_of
from ..models import Hit, State
from ..text import as_text
from ..values import as_time
from .conditions import RowFacts
from .fold import fold
from .scope import Scope
from .snippet import make_snippet
from .streams import candidates
from .terms import Plan
from .walk import Passed, Walk, join_text

_BATCH, _MOST = 32, 512


def _text(value: object) -> str:
    return value if type(value) is str else as_text(value) or ""


@dataclass(frozen=True, slots=True)
class Found:
    """A row that is a hit."""

    id: int
    session_id: str
    role: str
    moment: float | None
    state: State
    texts: tuple[str, str, str] | None
    """Content, tool name and tool calls as stored; None when they were not needed to decide."""
    folded: str | None = None
    """The content as `fold` gives it, where that had to be done to decide."""

    def to_hit(self, plan: Plan) -> Hit:
        """The hit with its snippet."""
        content, tool_name, tool_calls = self.texts or ("", "", "")
        snippet, ranges = make_snippet(content, tool_name, tool_calls, plan.matchers, self.folded)
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

    @property
    def _is_decided(self) -> bool:
        return self.matched or self.plan.index_decides

    @property
    def _needs_texts(self) -> bool:
        return self.with_texts or self.scope.message is not None or not self._is_decided

    def judge(self, ids: Sequence[int]) -> list[Found]:
        """The rows among these ids that are hits, in the order of the ids."""
        if self._needs_texts and (self.scope.sessions is not None or self.scope.roles):
            # Texts are the dear part of a row: first see which rows are asked for at all.
            admitted = self._read(ids, with_texts=False)
            ids = [message_id for message_id in ids if message_id in admitted]
        found = self._read(ids, with_texts=self._needs_texts)
        return [found[message_id] for message_id in ids if message_id in found]

    def _read(self, ids: Sequence[int], *, with_texts: bool) -> dict[int, Found]:
        schema = self.reader.schema
        columns = ["session_id", "role", "timestamp", "display_kind", "display_metadata"]
        selected = [schema.message(column) for column in columns]
        selected += [schema.active(), schema.compacted()]
        if with_texts:
            selected += [schema.message(column) for column in ("content", "tool_name", "tool_calls")]
            thought = [schema.message(column, default="''") for column in ("reasoning", "reasoning_content")]
            selected.append(f"COALESCE({thought[0]}, '') <> '' OR COALESCE({thought[1]}, '') <> ''")  # not shown
            if self.plan.in_reasoning:
                selected.append(f"COALESCE(NULLIF({thought[0]}, ''), {thought[1]})")
        rows = self.reader.rows_in(
            f"SELECT m.id, {', '.join(selected)} FROM messages m WHERE m.id IN ({{keys}})", list(ids)
        )
        decided = (self._decide(row, with_texts) for row in rows)
        return {found.id: found for found in decided if found is not None}

    def _decide(self, row: Row, with_texts: bool) -> Found | None:
        message_id, session, role, stamp, kind, metadata, active, compacted, *rest = row
        who, session_id, scope = as_text(role) or "unknown", as_text(session) or "", self.scope
        if is_hidden(who, as_text(kind), metadata) or (scope.roles and who not in scope.roles):
            return None
        if scope.sessions is not None and not scope.sessions(session_id):
            return None
        moment, state = as_time(stamp), state_of(active, compacted)
        if not with_texts:
            return Found(int(str(message_id)), session_id, who, moment, state, None)
        content, tool_name, tool_calls = map(_text, rest[:3])
        if scope.message is not None and not scope.message.accepts(
            RowFacts(who, moment, state, content, tool_name, tool_calls, bool(rest[3]))
        ):
            return None
        # The index has decided for plain words: checking them again could only disagree with FTS5 about
        # what a letter is. Everything else is checked in the text.
        if self.plan.in_reasoning:
            content, tool_name, tool_calls = _text(rest[4]), "", ""
        folded = None
        if not self._is_decided:
            folded = fold(join_text(content, tool_name, tool_calls))
            if not self.plan.accepts_folded(folded):
                return None
            folded = folded[: len(content)]  # letter for letter: it begins with the content
        return Found(int(str(message_id)), session_id, who, moment, state, (content, tool_name, tool_calls), folded)

    def walk(self, walk: Walk, ids: Iterator[int] | None = None, *, batch: int = _BATCH) -> Iterator[Found]:
        """The hits of a run in its order; batches grow as long as nothing is found in them.

        Args:
            walk: The run.
            ids: The candidates, where they are not those of the run.
            batch: Rows read at a time, at first and as long as most are hits.
        """
        waiting: list[int] = []
        least = batch
        for message_id in candidates(walk) if ids is None else ids:
            if isinstance(message_id, Passed):  # a scan goes on for long: what it has found is not kept back
                yield from self.judge(waiting)
                waiting.clear()
                walk.passed()
                continue
            waiting.append(message_id)
            if len(waiting) >= batch:
                found = self.judge(waiting)
                yield from found
                batch = least if len(found) * 2 > len(waiting) else min(batch * 2, max(_MOST, least))
                waiting.clear()
                if walk.stop():
                    return
        yield from self.judge(waiting)
