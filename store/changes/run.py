"""How a conversation went: turns, tool calls, parts and subagents on one axis of time, and what
stands out: loops, falls of the cache share, gaps, the slowest and the dearest.

Hermes stores tokens and cost per session, and since 0.18 per session and model; per message it
stores none, or a number of tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import compress, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from ..amounts import MINUTE, age_words
from ..compression.compactions import CompactionHistory, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_count, as_money, as_time
from ..messages.decode import with_names
from ..sessions.models import Conversation, Session
from ..text import text_of
from ..wording import _
from .tool_uses import ToolUse, find_tree, read_results, read_tool_uses

_STRETCHES = """
WITH used AS (SELECT * FROM usage_rows WHERE session_id = :id AND COALESCE(task, '') = '')
SELECT COALESCE(s.system_prompt_hash, s.system_prompt), s.tool_names, COALESCE(u.model, s.model),
  u.first_seen, CASE WHEN u.session_id IS NULL THEN :cost
    ELSE COALESCE(NULLIF(u.actual_cost_usd, 0), u.estimated_cost_usd) END,
  COALESCE(u.input_tokens, s.input_tokens), COALESCE(u.cache_read_tokens, s.cache_read_tokens),
  COALESCE(u.cache_write_tokens, s.cache_write_tokens)
FROM session_rows s LEFT JOIN used u ON (SELECT count(DISTINCT model) FROM used) > 1
WHERE s.id = :id ORDER BY u.first_seen
"""
"""A row for each model of a session, or one for the whole session. Auxiliary tasks, such as the title,
have a model and a cache of their own."""
_LOOP = 3
"""As many equal calls with equal results in one turn are a loop."""
GAP = 1800.0
"""Seconds without a message."""
_MOST_GAPS = 3
_SLOW = 1.0
"""Seconds; releases that store a whole turn at once have no durations."""
_LEAST_SHARE = 0.1
"""A cache share below that has nowhere to fall."""


class RunRow(NamedTuple):
    """A message without its text, or a place where none is."""

    session_id: str
    id: int | None = None
    at: float | None = None
    role: str = ""
    tokens: int = 0
    """0 if none are stored."""
    turn: int = 0
    """Index of its turn: a prompt and what follows it, up to the next one."""


Call = tuple[RunRow, ToolUse]
"""A tool call and the message that has it."""


class Stretch(NamedTuple):
    """A part of a conversation that was answered by one model."""

    first: RunRow
    model: str
    prompt: str
    """What identifies the system prompt; empty if none is stored."""
    tools: str
    """What identifies the set of tools (0.22); else empty."""
    cost_usd: float | None
    cache_share: float | None
    """Tokens of requests that came from the cache, of all that were sent; None if none are
    stored."""


class RunMark(NamedTuple):
    """Something to tell of a run, in a sentence."""

    kind: str
    """`loop`, `cache`, `gap`, `slowest` or `dearest` if it stands out; else `part` or
    `subagent`."""
    row: RunRow
    text: str
    cost_usd: float | None = None


class Run(NamedTuple):
    """A conversation in time. Times are Unix seconds, money is USD."""

    conversation: Conversation
    subagents: tuple[Conversation, ...]
    """Also those that a subagent delegated; the cost of each is without those below it."""
    rows: tuple[RunRow, ...]
    tools: tuple[ToolUse, ...]
    stretches: tuple[Stretch, ...]
    compressions: tuple[float, ...]
    """When it was compressed."""
    marks: tuple[RunMark, ...] = ()
    """What stands out."""

    @property
    def turns(self) -> list[RunRow]:
        """The first row of each turn."""
        return [next(rows) for _turn, rows in groupby(self.rows, lambda row: row.turn)]


def read_run(reader: Reader, session_id: str, now: float = 0.0) -> Run:
    """Read how the conversation of a session went.

    Raises:
        NotFoundError: There is no such session.
    """
    _catalog, (conversation, *subagents) = find_tree(reader, session_id, now)
    segments = conversation.segments
    history = read_history(reader, segments, with_gaps=False)
    rows = tuple(_rows(segments, history))
    run = Run(
        conversation,
        tuple(with_names(reader, subagents)),
        rows,
        tuple(read_tool_uses(reader, [conversation])),
        tuple(_stretches(reader, segments, rows)),
        tuple(done.at for done in history.compactions if done.at is not None),
    )
    by_id = {row.id: row for row in rows}
    calls = [(by_id[use.message_id], use) for use in run.tools if use.message_id in by_id]
    marks = (
        *_loops(reader, calls), *_cache_falls(run), *_gaps(run), *_slowest(calls), *_dearest(run),
    )  # fmt: skip
    return run._replace(marks=marks)


def _rows(segments: Sequence[Session], history: CompactionHistory) -> Iterator[RunRow]:
    left_out = {*history.copies, *(done.summary for done in history.compactions)}
    turn = -1
    for generation in history.generations:
        session_id = segments[generation.segment].id
        for row in generation.rows:
            if row.id not in left_out:
                is_prompt = row.role == "user" and not row.is_hidden
                turn += is_prompt or turn < 0  # what precedes the first prompt is one too
                yield RunRow(session_id, row.id, row.timestamp, row.role, row.tokens, turn)


def _stretches(
    reader: Reader, segments: Sequence[Session], rows: Sequence[RunRow]
) -> Iterator[Stretch]:
    for segment in segments:
        own = [row for row in rows if row.session_id == segment.id] or [RunRow(segment.id)]
        found = reader.rows(_STRETCHES, {"id": segment.id, "cost": segment.cost_usd})
        for prompt, tools, model, since, cost, *counted in found:
            begin = as_time(since) or 0.0
            sent, cached = sum(map(as_count, counted)), as_count(counted[1])
            yield Stretch(
                next((row for row in own if (row.at or 0.0) >= begin), own[0]),
                text_of(model),
                text_of(prompt),
                text_of(tools),
                as_money(cost),
                cached / sent if sent else None,
            )


def _loops(reader: Reader, calls: Sequence[Call]) -> Iterator[RunMark]:
    asked = [((row.turn, use.name, use.arguments), row, use) for row, use in calls]
    count = Counter(key for key, _row, _use in asked)
    results = read_results(reader, [use for key, _row, use in asked if count[key] >= _LOOP])
    alike: defaultdict[object, list[Call]] = defaultdict(list)
    for key, row, use in asked:
        if use.result_id in results:
            alike[key, results[use.result_id]].append((row, use))
    for same in alike.values():
        if len(same) >= _LOOP:
            row, use = same[_LOOP - 1]
            text = _(
                "{tool} was called {count} times with the same result",
                tool=use.name,
                count=len(same),
            )
            yield RunMark("loop", row, text)


def _cache_falls(run: Run) -> Iterator[RunMark]:
    known = [(part.cache_share, part) for part in run.stretches if part.cache_share is not None]
    for (share, before), (left, after) in pairwise(known):
        if share >= _LEAST_SHARE and left <= share / 2:
            text = _(
                "the cache share fell from {before}% to {after}%: {reason}",
                before=round(100 * share),
                after=round(100 * left),
                reason=_reason(before, after),
            )
            yield RunMark("cache", after.first, text)


def _reason(before: Stretch, after: Stretch) -> str:
    """Say what changed from one stretch to the next."""
    reasons = (
        _("the model changed from {before} to {after}", before=before.model, after=after.model),
        _("the system prompt changed"),
        _("the tools changed"),
    )
    # What is not stored may have been the same.
    known = (old and new and old != new for old, new in zip(before[1:4], after[1:4], strict=True))
    return ", ".join(compress(reasons, known)) or _("nothing that is stored explains it")


def _gaps(run: Run) -> Iterator[RunMark]:
    times = [(row.at, row) for row in run.rows if row.at is not None]
    worked = [(each.root.started_at, each.last_active) for each in run.subagents]
    gaps: list[tuple[float, RunRow]] = []
    for (earlier, _row), (later, row) in pairwise(times):
        if later - earlier >= GAP:
            ends = [end for begin, end in worked if begin and end and begin < later]
            gaps.append((later - max([earlier, *ends]), row))
    for seconds, row in nlargest(_MOST_GAPS, gaps, key=itemgetter(0)):
        if seconds >= GAP:
            is_prompt = row.role == "user"
            text = _("{time} until the next prompt") if is_prompt else _("{time} of silence")
            yield RunMark("gap", row, text.format(time=_span(seconds)))


def _slowest(calls: Sequence[Call]) -> Iterator[RunMark]:
    slow = max(calls, key=lambda call: call[1].seconds, default=None)
    if slow is not None and slow[1].seconds >= _SLOW:
        row, use = slow
        text = _("the slowest call: {tool}, {time}", tool=use.name, time=_span(use.seconds))
        yield RunMark("slowest", row, text)


def _dearest(run: Run) -> Iterator[RunMark]:
    counted: Counter[int] = Counter()
    for row in run.rows:
        counted[row.turn] += row.tokens
    known = +counted
    if len(known) > 1:
        ((turn, tokens),) = known.most_common(1)
        text = _("the most expensive turn: {count:,} tokens", count=tokens)
        yield RunMark("dearest", run.turns[turn], text)


def _span(seconds: float) -> str:
    if seconds >= 2 * MINUTE:
        return age_words(seconds)
    return _("{count} s", count=round(seconds))
