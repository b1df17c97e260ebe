"""What the ends of conversations show: which wait for the user, and which went wrong.

The newest row of each is read, and its last turn where that has to be looked at. Certain is what
Hermes stores: a `clarify` call without a result, a command that wants approval, a handoff that no
gateway took, an answer of a background agent that was not delivered, a turn that a restart of the
gateway cut off (0.19 to 0.22). Inferred is what words and failing tools mean. A conversation that
was ended waits for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..connection.reader import Reader
from ..connection.stored_values import (
    as_mapping,
    as_time,
    asks_for_approval,
    first_texts,
    has_failed,
    json_at_start,
)
from ..files import read_objects
from ..messages.chat_message import ChatMessage, State, ToolCall
from ..messages.decode import COLUMNS, to_message
from ..sessions.models import Conversation
from ..sessions.relations import is_stale
from ..text import as_text, one_line, text_of
from ..wording import N_, _, ngettext
from . import SinceItem

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
_STORED = {
    "async_delegations": (
        N_("the answer of a background agent comes with your next message"),
        "SELECT parent_session_id, completed_at FROM async_delegations "
        "WHERE delivery_state = 'pending' AND state NOT IN ('running', 'finalizing')",
    ),
    "gateway_routing": (
        N_("a restart of the gateway cut it off; your next message goes on"),
        "SELECT json_extract(entry_json, '$.session_id'), updated_at FROM gateway_routing "
        "WHERE CASE WHEN json_valid(entry_json) "
        "THEN json_type(entry_json, '$.resume_pending') IS 'true' ELSE 0 END",
    ),
}
"""What waits, by the table of Hermes that says so, with the session and the time."""
_CUT_OFF = frozenset({"length", "max_tokens", "content_filter", "error", "incomplete"})
"""Finish reasons of an answer that is not whole (0.14 to 0.19)."""
_IN_A_ROW = 3
"""As many failures at the end, or empty answers, stand out."""
_MOST = 60
"""Rows of a turn that are looked at, the newest."""
_BEGIN, _END = 8_000, 600
"""Code points of a text that are read: at the beginning of each of a turn, at the end
of the newest."""


Turn = Sequence[ChatMessage]
"""The last turn of a session, from the prompt on; without one, its newest rows."""


def _is_answer(row: ChatMessage) -> bool:
    """Whether it is what the assistant said to the user, and neither taken back nor compressed."""
    return row.role == "assistant" and row.state is State.LIVE and not row.tool_calls


def _columns(text: str) -> str:
    """Return the columns of a row, with a piece of its text and without what is long and not looked
    at."""
    columns = COLUMNS.replace("m.content", text)
    return re.sub(r"m\.(?:reasoning\w*|api_content)", "NULL", columns)


def read_turn(reader: Reader, session_id: str) -> Turn:
    """Read the last turn of a session, without rows that were taken back or compressed."""
    schema = reader.schema
    columns = _columns(f"substr(m.content, 1, {_BEGIN})")
    statement = (
        f"WITH newest AS MATERIALIZED (SELECT m.id, {schema.message('role')} AS role "
        f"FROM messages m WHERE m.session_id = ? AND {schema.active()} = 1 "
        f"ORDER BY +m.id DESC LIMIT {_MOST}) "
        f"SELECT {columns} FROM message_rows m WHERE m.id IN (SELECT id FROM newest WHERE id >= "
        "COALESCE((SELECT max(id) FROM newest WHERE role = 'user'), 0)) ORDER BY m.id"
    )
    return list(map(to_message, reader.rows(statement, [session_id])))


def _read_last_rows(
    reader: Reader, session_ids: Sequence[str]
) -> Mapping[str, tuple[ChatMessage, bool]]:
    """Read the newest row of each session, with the end of its text, and whether the row before it
    is the result of a tool; a row that was taken back counts only where there is no other."""
    any_row = "SELECT max(n.id) FROM message_rows n WHERE n.session_id = s.id AND NOT n.hidden"
    newest = f"COALESCE(({any_row} AND n.state = 'live'), ({any_row}))"
    before = "SELECT max(+p.id) FROM messages p WHERE p.session_id = s.id AND p.id < m.id"
    statement = (
        f"SELECT (SELECT b.role = 'tool' FROM messages b WHERE b.id = ({before})), "
        f"{_columns(f'substr(m.content, -{_END})')} "
        f"FROM sessions s CROSS JOIN message_rows m ON m.id = {newest} WHERE s.id IN ({{keys}})"
    )
    found = reader.rows_in(statement, session_ids)
    rows = [(to_message(tuple(columns)), bool(follows)) for follows, *columns in found]
    return {row.session_id: (row, follows) for row, follows in rows}


def pending(turn: Turn) -> list[ToolCall]:
    """Return the calls of a turn that have no result."""
    answered = {row.tool_call_id for row in turn if row.role == "tool"}
    return [call for row in turn for call in row.tool_calls if call.id not in answered]


def _results(turn: Turn) -> list[ChatMessage]:
    return [row for row in turn if row.role == "tool"]


def find_waiting(
    reader: Reader, conversations: Iterable[Conversation], now: float
) -> Iterator[tuple[str, SinceItem]]:
    """Yield what waits in conversations, at most one thing of each, after the root id of it.

    Args:
        reader: An open reader.
        conversations: With all their sessions; none of them has ended.
        now: Unix seconds.
    """
    chosen = {each.id: each for each in conversations}
    stored = {each.session_id: each for each in _stored(reader)}
    rows = _read_last_rows(reader, list(chosen))
    armed = _armed(reader) if rows else frozenset()
    for session_id, conversation in chosen.items():
        item = next(filter(None, map(stored.get, conversation.session_ids)), None)
        row, follows_tool = rows.get(session_id, (None, False))
        if item is None and row is not None and row.role != "user":
            is_old, is_answer = is_stale(conversation, now), _is_answer(row)
            if not is_answer or (follows_tool and not is_old):
                item = _asked(read_turn(reader, session_id))
            if item is None and is_answer and not (is_old or conversation.is_automation):
                item = _said(row, is_armed=session_id in armed)
        if item is not None:
            yield conversation.root_id, item


def _waiting(why: str, row: ChatMessage) -> SinceItem:
    return SinceItem("waiting", row.session_id, why, row.id, row.timestamp)


def _asked(turn: Turn) -> SinceItem | None:
    """Return the question or the approval that a turn waits for."""
    for call in pending(turn):
        if call.name == "clarify":
            asked = one_line(text_of(as_mapping(call.arguments).get("question")), _SHOWN)
            return _waiting(_("asks: “{text}”", text=asked), turn[-1])
    for last in _results(turn)[-1:]:
        result = json_at_start(last.text)
        if asks_for_approval(result):
            wanted = one_line(text_of(result.get("command")), _SHOWN)
            return _waiting(_("wants approval: {text}", text=wanted), last)
    return None


def _said(row: ChatMessage, *, is_armed: bool) -> SinceItem | None:
    """Return what the last words mean: a question, or a promise that nothing keeps."""
    end = row.text.rstrip().rpartition("\n")[2]
    promise = _PROMISE.search(end)
    if _QUESTION.search(end):
        why = _("ends with a question: “{text}”", text=one_line(end, _SHOWN))
    elif promise is not None and not is_armed:
        why = _("says it will “{text}”; nothing is armed", text=one_line(promise[0], _SHOWN))
    else:
        return None
    return _waiting(why, row)._replace(certain=False)


def _stored(reader: Reader) -> Iterator[SinceItem]:
    """Yield what Hermes stores as waiting."""
    for id, name in _handoffs(reader, "pending", "handoff_platform"):
        why = _("handed over to {name}, and not taken", name=one_line(name, 40))
        yield SinceItem("waiting", id, why)
    for table, (why, statement) in _STORED.items():
        if table in reader.schema.tables:
            for session, time in reader.rows(statement):
                yield SinceItem("waiting", text_of(session), _(why), at=as_time(time))


def _armed(reader: Reader) -> frozenset[str]:
    """Return the ids of sessions for which something of Hermes runs on: a process in the
    background, a job, a background agent."""
    home = reader.path.parent
    processes = read_objects(home / "processes.json")
    values = [each.get(key) for each in processes for key in ("task_id", "session_key")]
    jobs = read_objects(home / "cron" / "jobs.json", "jobs")
    origins = [job.get("origin") for job in jobs if job.get("enabled", True)]
    values += [value for each in origins if isinstance(each, dict) for value in each.values()]
    if "async_delegations" in reader.schema.tables:
        statement = "SELECT parent_session_id FROM async_delegations WHERE state IN ('running', 'finalizing')"
        values += first_texts(reader.rows(statement))
    keys = set(filter(None, map(as_text, values)))
    by_key = "SELECT s.id FROM session_rows s WHERE s.session_key IN ({keys})"
    return frozenset(keys.union(first_texts(reader.rows_in(by_key, sorted(keys)))))


def find_wrong(reader: Reader, conversations: Iterable[Conversation]) -> Iterator[SinceItem]:
    """Yield what went wrong in conversations, at most one thing of each."""
    handoffs = dict(_handoffs(reader, "failed", "handoff_error"))
    for tip in (conversation.tip for conversation in conversations):
        turn = read_turn(reader, tip.id)
        message_id, at = (turn[-1].id, turn[-1].timestamp) if turn else (None, tip.last_active)
        if tip.id in handoffs:
            error = one_line(handoffs[tip.id], _SHOWN)
            certain = _("the handover failed: {reason}", reason=error)
        elif is_error(tip.end_reason):
            certain = _("it was ended by: {reason}", reason=one_line(tip.end_reason or "", 60))
        else:
            certain = _by_answers(turn)
        why = certain or _by_tools(turn)
        if why:
            yield SinceItem("wrong", tip.id, why, message_id, at, bool(certain))


def is_error(reason: str | None) -> bool:
    """Tell whether an end reason is an error."""
    return reason is not None and _ERROR.search(reason) is not None


def _by_answers(turn: Turn) -> str:
    for last in turn[-1:]:
        if _is_answer(last) and last.finish_reason in _CUT_OFF:
            return _("the answer was cut off ({reason})", reason=last.finish_reason)
    newest = list(filter(_is_answer, turn))[-_IN_A_ROW:]
    if len(newest) == _IN_A_ROW and not any(answer.text.strip() for answer in newest):
        return _("the answer was empty {count} times", count=_IN_A_ROW)
    return ""


def _by_tools(turn: Turn) -> str:
    """Return what failing tools mean: no more than that they failed, so it is inferred."""
    newest = _results(turn)[-_IN_A_ROW:]
    are_telling = len(newest) == _IN_A_ROW or turn[-1:] == newest[-1:]
    if not newest or not are_telling or not all(has_failed(row.text) for row in newest):
        return ""
    return ngettext(
        "the last tool call failed",
        "the last {count} tool calls failed",
        len(newest),
    )


def _handoffs(reader: Reader, state: str, column: str) -> list[tuple[str, str]]:
    """Return the sessions that are handed over, in a state, with a column that tells about it."""
    statement = f"SELECT id, {column} FROM session_rows WHERE handoff_state = ?"
    return [(text_of(id), text_of(reason)) for id, reason in reader.rows(statement, [state])]
