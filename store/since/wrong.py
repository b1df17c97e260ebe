"""Which conversations went wrong, by their ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..connection.reader import Reader
from ..sessions.models import Conversation
from ..text import one_line, text_of
from ..wording import _, ngettext
from .last_turn import EndFact, Turn, read_turn

_ERROR = re.compile(r"error|fail|crash", re.IGNORECASE)
"""In an end reason, which is an open set."""
_CUT_OFF = frozenset({"length", "max_tokens", "content_filter", "error", "incomplete"})
"""Finish reasons of an answer that is not whole (0.14 to 0.19)."""
_IN_A_ROW = 3
"""As many failures at the end, or empty answers, stand out."""
_SHOWN = 120


def find_wrong(reader: Reader, conversations: Iterable[Conversation]) -> Iterator[EndFact]:
    """Yield what went wrong in conversations, at most one thing of each."""
    handoffs = dict(_handoffs(reader))
    for conversation in conversations:
        tip = conversation.tip
        turn = read_turn(reader, tip.id)
        last = turn.rows[-1] if turn.rows else None
        message_id, at = (last.id, last.at) if last is not None else (None, tip.last_active)
        why = handoffs.get(tip.id) or _by_reason(tip.end_reason) or _by_answers(turn)
        certain = bool(why)
        why = why or _by_tools(turn)
        if why:
            yield EndFact(tip.id, message_id, at, why, certain)


def is_error(reason: str | None) -> bool:
    """Tell whether an end reason is an error."""
    return reason is not None and _ERROR.search(reason) is not None


def _by_reason(reason: str | None) -> str:
    if reason is None or not is_error(reason):
        return ""
    return _("it was ended by: {reason}", reason=one_line(reason, 60))


def _by_answers(turn: Turn) -> str:
    answers = turn.answers
    if answers and answers[-1] is turn.rows[-1] and answers[-1].finish_reason in _CUT_OFF:
        return _("the answer was cut off ({reason})", reason=answers[-1].finish_reason)
    newest = answers[-_IN_A_ROW:]
    if len(newest) == _IN_A_ROW and not any(answer.text.strip() for answer in newest):
        return _("the answer was empty {count} times", count=_IN_A_ROW)
    return ""


def _by_tools(turn: Turn) -> str:
    """Return what failing tools mean: no more than that they failed, so it is inferred."""
    newest = turn.results[-_IN_A_ROW:]
    is_end = bool(newest) and turn.rows[-1] is newest[-1]
    if not newest or not all(row.is_failure for row in newest):
        return ""
    if len(newest) < _IN_A_ROW and not is_end:
        return ""
    return ngettext(
        "the last tool call failed",
        "the last {count} tool calls failed",
        len(newest),
        count=len(newest),
    )


def _handoffs(reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield the sessions whose handover failed, and why."""
    schema = reader.schema
    if "handoff_state" not in schema.session_columns:
        return
    error = schema.session("handoff_error")
    statement = f"SELECT s.id, {error} FROM sessions s WHERE s.handoff_state = 'failed'"
    for session, reason in reader.rows(statement):
        why = _("the handover failed: {reason}", reason=one_line(text_of(reason), _SHOWN))
        yield text_of(session), why
