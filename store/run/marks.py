"""What stands out in a run: loops, falls of the cache share, gaps, the slowest and the dearest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ..ages import MINUTE, age_words
from ..changes.tool_uses import ToolUse, read_results
from ..connection.reader import Reader
from ..wording import _
from .run import Run, Stretch

_LOOP = 3
"""As many equal calls with equal results in one turn are a loop."""
_GAP = 1800.0
"""Seconds without a message."""
_MOST_GAPS = 3
_SLOW = 1.0
"""Seconds; releases that store a whole turn at once have no durations."""
_LEAST_SHARE = 0.1
"""A cache share below that has nowhere to fall."""


class RunMark(NamedTuple):
    """Something that stands out, in a sentence."""

    kind: str
    """`loop`, `cache`, `gap`, `slowest` or `dearest`."""
    message_id: int | None
    text: str


def find_marks(reader: Reader, run: Run) -> tuple[RunMark, ...]:
    """Find what stands out in a run; results are read where calls are repeated."""
    finders = _cache_falls, _gaps, _slowest, _dearest
    return (*_loops(reader, run), *(mark for find in finders for mark in find(run)))


def _loops(reader: Reader, run: Run) -> Iterator[RunMark]:
    turn_of = {row.id: row.turn for row in run.rows}
    calls: defaultdict[tuple[object, ...], list[ToolUse]] = defaultdict(list)
    for use in run.tools:
        if use.result_id is not None:
            calls[turn_of.get(use.message_id), use.name, use.arguments].append(use)
    for uses in calls.values():
        results = read_results(reader, uses) if len(uses) >= _LOOP else {}
        for result, count in Counter(results.values()).items():
            if count >= _LOOP:
                same = [use for use in uses if results.get(use.result_id) == result]
                text = _(
                    "{tool} was called {count} times with the same result",
                    tool=same[0].name,
                    count=count,
                )
                yield RunMark("loop", same[_LOOP - 1].message_id, text)


def _cache_falls(run: Run) -> Iterator[RunMark]:
    known = [(part.cache_share, part) for part in run.stretches if part.cache_share is not None]
    for (share, before), (left, after) in pairwise(known):
        if share >= _LEAST_SHARE and left <= share / 2:
            text = _(
                "the cache share fell from {before} % to {after} %: {reason}",
                before=round(100 * share),
                after=round(100 * left),
                reason=_reason(before, after),
            )
            yield RunMark("cache", after.first_message_id, text)


def _reason(before: Stretch, after: Stretch) -> str:
    """Say what changed from one stretch to the next."""
    found = []
    if before.model != after.model:
        names = {"before": before.model, "after": after.model}
        found.append(_("the model changed from {before} to {after}", **names))
    if before.prompt != after.prompt:
        found.append(_("the system prompt changed"))
    if before.tools != after.tools:
        found.append(_("the tools changed"))
    return ", ".join(found) or _("nothing that is stored explains it")


def _gaps(run: Run) -> Iterator[RunMark]:
    times = [(row.at, row) for row in run.rows if row.at is not None]
    gaps = [(later - earlier, row) for (earlier, _row), (later, row) in pairwise(times)]
    for seconds, row in sorted(gaps, key=lambda gap: -gap[0])[:_MOST_GAPS]:
        if seconds >= _GAP:
            is_prompt = row.role == "user"
            text = _("{time} until the next prompt") if is_prompt else _("{time} of silence")
            yield RunMark("gap", row.id, text.format(time=_span(seconds)))


def _slowest(run: Run) -> Iterator[RunMark]:
    slow = max(run.tools, key=_seconds, default=None)
    if slow is not None and _seconds(slow) >= _SLOW:
        text = _("the slowest call: {tool}, {time}", tool=slow.name, time=_span(_seconds(slow)))
        yield RunMark("slowest", slow.message_id, text)


def _seconds(use: ToolUse) -> float:
    """Return how long a call took, as far as stored."""
    return use.ended_at - use.at if use.ended_at is not None and use.at is not None else 0.0


def _dearest(run: Run) -> Iterator[RunMark]:
    counted: Counter[int] = Counter()
    for row in run.rows:
        counted[row.turn] += row.tokens
    known = +counted
    if len(known) > 1:
        ((turn, tokens),) = known.most_common(1)
        text = _("the most expensive turn: {count:,} tokens", count=tokens)
        yield RunMark("dearest", run.turns[turn].id, text)


def _span(seconds: float) -> str:
    if seconds >= 2 * MINUTE:
        return age_words(seconds)
    return _("{count} s", count=round(seconds))
