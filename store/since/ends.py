"""What the ends of conversations show: which wait for the user, and which went wrong.

Certain is what Hermes stores: a `clarify` call without a result, a command that wants approval, a
handoff that no gateway took, an answer of a background agent that was not delivered, a turn that a
restart of the gateway cut off (0.19 to 0.22). Inferred is what words and failing tools mean. A
conversation that was ended waits for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_mapping, as_time
from ..files import read_objects
from ..sessions.models import Conversation
from ..sessions.relations import is_ended, is_stale
from ..text import as_text, one_line, text_of
from ..wording import _, ngettext
from .last_turn import LastRow, Turn, argument, read_last_rows, read_turn

_QUESTION = re.compile(r"[?？]['\"”’»)*_`\s]*\Z")
_PROMISE = re.compile(
    r"\b(?:wait(?:ing)? (?:for|until)|check(?:ing)? back|keep(?:ing)? an eye on|let you know (?:when|once))\b"
    r"[^.!?\n]*",
    re.IGNORECASE,
)
"""What an assistant says that means to go on by itself."""
_SHOWN = 120
"""Code points of what was said that a reason quotes."""
_ERROR = re.compile(r"error|fail|crash", re.IGNORECASE)
"""In an end reason, which is an open set."""
_CUT_OFF = frozenset({"length", "max_tokens", "content_filter", "error", "incomplete"})
"""Finish reasons of an answer that is not whole (0.14 to 0.19)."""
_IN_A_ROW = 3
"""As many failures at the end, or empty answers, stand out."""


class EndFact(NamedTuple):
    """What the end of a conversation shows: that it waits, or went wrong."""

    session_id: str
    message_id: int | None
    at: float | None
    why: str
    certain: bool = True
    """False if it is inferred from what was said or done."""


def find_waiting(
    reader: Reader, conversations: Iterable[Conversation], now: float
) -> Iterator[EndFact]:
    """Yield what waits in conversations, at most one thing of each.

    Args:
        reader: An open reader.
        conversations: With all their sessions.
        now: Unix seconds.
    """
    chosen = {each.id: each for each in conversations if not is_ended(each.segments)}
    stored = {each.session_id: each for each in _stored(reader)}
    rows = read_last_rows(reader, list(chosen))
    armed = _armed(reader) if rows else frozenset()
    for session_id, conversation in chosen.items():
        found = next((stored[part.id] for part in conversation.segments if part.id in stored), None)
        row = rows.get(session_id)
        if found is None and row is not None and row.role != "user":
            is_old = is_stale(conversation, now)
            if not row.is_answer or (row.follows_tool and not is_old):
                found = _asked(session_id, read_turn(reader, session_id))
            if found is None and row.is_answer and not (is_old or conversation.is_automation):
                found = _said(session_id, row, is_armed=session_id in armed)
        if found is not None:
            yield found


def _asked(session_id: str, turn: Turn) -> EndFact | None:
    """Return the question or the approval that a turn waits for."""
    for call in turn.pending:
        if call.name == "clarify":
            asked = one_line(argument(call, "question"), _SHOWN)
            last = turn.rows[-1]
            return EndFact(session_id, last.id, last.at, _("asks: “{text}”", text=asked))
    for last in turn.results[-1:]:
        if (wanted := last.wants_approval) is not None:
            why = _("wants approval: {text}", text=one_line(wanted, _SHOWN))
            return EndFact(session_id, last.id, last.at, why)
    return None


def _said(session_id: str, row: LastRow, *, is_armed: bool) -> EndFact | None:
    """Return what the last words mean: a question, or a promise that nothing keeps."""
    end = row.text.rstrip().rpartition("\n")[2]
    if _QUESTION.search(end):
        why = _("ends with a question: “{text}”", text=one_line(end, _SHOWN))
        return EndFact(session_id, row.id, row.at, why, certain=False)
    promise = _PROMISE.search(end)
    if promise is None or is_armed:
        return None
    why = _("says it will “{text}”; nothing is armed", text=one_line(promise[0], _SHOWN))
    return EndFact(session_id, row.id, row.at, why, certain=False)


def _stored(reader: Reader) -> Iterator[EndFact]:
    """Yield what Hermes stores as waiting."""
    schema = reader.schema
    if "handoff_state" in schema.session_columns:
        platform = schema.session("handoff_platform")
        statement = f"SELECT s.id, {platform} FROM sessions s WHERE s.handoff_state = 'pending'"
        for session, name in reader.rows(statement):
            why = _("handed over to {name}, and not taken", name=one_line(text_of(name), 40))
            yield EndFact(text_of(session), None, None, why)
    if "async_delegations" in schema.tables:
        for session, time in reader.rows(
            "SELECT parent_session_id, completed_at FROM async_delegations "
            "WHERE delivery_state = 'pending' AND state NOT IN ('running', 'finalizing')"
        ):
            why = _("the answer of a background agent comes with your next message")
            yield EndFact(text_of(session), None, as_time(time), why)
    if "gateway_routing" in schema.tables:
        for entry, time in reader.rows("SELECT entry_json, updated_at FROM gateway_routing"):
            routed = as_mapping(entry)
            if routed.get("resume_pending") is True:
                why = _("a restart of the gateway cut it off; your next message goes on")
                yield EndFact(text_of(routed.get("session_id")), None, as_time(time), why)


def _armed(reader: Reader) -> frozenset[str]:
    """Return the ids of sessions for which something of Hermes runs on: a process in the
    background, a job, a background agent."""
    home = reader.path.parent
    found: set[str | None] = set()
    for each in read_objects(home / "processes.json"):
        found |= {as_text(each.get(name)) for name in ("task_id", "session_key")}
    for job in read_objects(home / "cron" / "jobs.json", "jobs"):
        origin = job.get("origin")
        if isinstance(origin, dict) and job.get("enabled", True):
            found |= {as_text(value) for value in origin.values()}
    if "async_delegations" in reader.schema.tables:
        statement = "SELECT parent_session_id FROM async_delegations WHERE state IN ('running', 'finalizing')"
        found |= {as_text(session) for (session,) in reader.rows(statement)}
    keys = {each for each in found if each}
    by_key = (
        f"SELECT s.id FROM sessions s WHERE {reader.schema.session('session_key')} IN ({{keys}})"
    )
    return frozenset(keys | {text_of(row[0]) for row in reader.rows_in(by_key, sorted(keys))})


# What went wrong


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
