"""Which conversations wait for the user: what is certain, and what is inferred from words.

Certain is what Hermes stores: a `clarify` call without a result, a command that wants approval, a
handoff that no gateway took, an answer of a background agent that was not delivered, a turn that a
restart of the gateway cut off (0.19 to 0.22). A conversation that was ended waits for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..connection.reader import Reader
from ..connection.stored_values import as_mapping, as_time
from ..files import read_objects
from ..sessions.models import Conversation
from ..sessions.relations import is_ended, is_stale
from ..text import as_text, one_line, text_of
from ..wording import _
from .last_turn import EndFact, LastRow, Turn, argument, read_last_rows, read_turn

_QUESTION = re.compile(r"[?？]['\"”’»)*_`\s]*\Z")
_PROMISE = re.compile(
    r"\b(?:wait(?:ing)? (?:for|until)|check(?:ing)? back|keep(?:ing)? an eye on|let you know (?:when|once))\b"
    r"[^.!?\n]*",
    re.IGNORECASE,
)
"""What an assistant says that means to go on by itself."""
_SHOWN = 120
"""Code points of what was said that a reason quotes."""


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
    return _approval(session_id, turn)


def _approval(session_id: str, turn: Turn) -> EndFact | None:
    last = turn.results[-1] if turn.results else None
    wanted = last.wants_approval if last is not None else None
    if last is None or wanted is None:
        return None
    command = one_line(wanted, _SHOWN)
    return EndFact(session_id, last.id, last.at, _("wants approval: {text}", text=command))


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
