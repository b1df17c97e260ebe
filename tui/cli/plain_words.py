"""What the linear mode says: one thing a line, in whole words, no columns, no drawing, nothing told by its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from hermes_browse.store.messages import split_summary, without_injections
from hermes_browse.store.models import ChatMessage, Conversation, State, Status
from hermes_browse.store.text import one_line, printable

from .columns import money

HELP = """\
A number opens the conversation or the hit with that number.
n: next page. p: previous page. l: the list again. q: leave.
/words: search, as in "/docker role:user". An empty / ends the search.
v chats, v automation, v archived, v all: another view.
In a conversation: n: later messages. p: earlier messages. b: from the beginning. e: the last messages.
t: tool output in full, or no longer. i: facts, the full id among them. c: the command that resumes it.
r: resume it in Hermes.
Archiving, deleting and exporting are commands: leave with q, then see hermes-browse --help."""

_STATUS = {Status.LIVE: "live now", Status.OPEN: "not ended", Status.ENDED: "", Status.EMPTY: ""}
_TOOL_LETTERS = 200
"""Letters of a tool's output that are read out, unless all of it is asked for."""


def count_of(number: int, one: str) -> str:
    """`1 message`, `1,204 messages`."""
    return f"{number:,} {one}" + ("" if number == 1 else "s")


def ago(moment: float | None, now: float) -> str:
    """`3 hours ago`; a date for what is older than a month."""
    if moment is None:
        return "at an unknown time"
    seconds = now - moment
    if seconds < 60:
        return "just now"
    for size, name, most in ((60, "minute", 3600), (3600, "hour", 86_400), (86_400, "day", 30 * 86_400)):
        if seconds < most:
            return f"{count_of(int(seconds // size), name)} ago"
    return f"on {_date(moment)}"


def _date(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "an unknown day"


def _clock(moment: float | None) -> str:
    try:
        return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M") if moment is not None else ""
    except (ValueError, OverflowError, OSError):
        return ""


def name_of(conversation: Conversation) -> str:
    """What it is called."""
    return one_line(conversation.title or conversation.preview or "no text", 120)


def conversation_line(conversation: Conversation, now: float) -> str:
    """A conversation in a sentence."""
    parts = [
        name_of(conversation).rstrip("."),
        ago(conversation.last_active, now),
        one_line(conversation.source, 20),
        count_of(conversation.message_count, "message"),
        _STATUS[conversation.status],
        "pinned" if conversation.pinned else "",
        "archived" if conversation.archived else "",
        count_of(len(conversation.segments), "segment") if len(conversation.segments) > 1 else "",
        count_of(conversation.subagents, "subagent") if conversation.subagents else "",
    ]
    return ", ".join(part for part in parts if part) + "."


def facts(conversation: Conversation, now: float) -> Iterator[str]:
    """What is known of it, a line each."""
    yield f"Title: {name_of(conversation)}"
    yield f"Id: {one_line(conversation.id)}"
    pairs = (
        ("Source", conversation.source),
        ("Model", conversation.model),
        ("Directory", conversation.cwd),
        ("Branch", conversation.git_branch),
        ("Started", _clock(conversation.root.started_at)),
        ("Last active", ago(conversation.last_active, now)),
        ("Messages", f"{conversation.message_count:,}"),
        ("Cost", money(conversation.cost_usd)),
    )
    yield from (f"{label}: {one_line(text)}" for label, text in pairs if text)


def message_lines(message: ChatMessage, *, is_full: bool) -> Iterator[str]:
    """A chat message: who and when, then the text.

    Args:
        message: Which.
        is_full: Tool output in full.
    """
    who = {"user": "You", "assistant": "Assistant"}.get(message.role, message.role.capitalize())
    if message.role == "tool":
        who = f"Output of {message.tool_name or 'a tool'}"
    state = {State.LIVE: "", State.COMPACTED: ", compacted", State.REWOUND: ", taken back"}[message.state]
    yield one_line(f"{who}, {_clock(message.timestamp) or 'no time'}{state}:")
    summary, said = split_summary(without_injections(message.text))
    if summary:
        yield "A compaction summary stands here and is left out."
    said = printable(said).strip()
    if message.role == "tool" and not is_full and len(said) > _TOOL_LETTERS:
        yield f"{one_line(said, _TOOL_LETTERS).rstrip('…')} ... {len(said):,} letters in all, t reads them."
    elif said:
        yield from said.split("\n")
    for call in message.tool_calls:
        arguments = one_line(call.arguments, 0 if is_full else _TOOL_LETTERS)
        yield one_line(f"Calls {call.name} with {arguments}").replace("…", "...")


def page_line(first: int, last: int, total: int, what: str) -> str:
    """Where one is."""
    return f"{what.capitalize()} {first:,} to {last:,} of {total:,}." if total else f"No {what}."


def choices(words: Sequence[str]) -> str:
    """What can be typed, in a sentence."""
    return "Type " + ", ".join(words[:-1]) + f" or {words[-1]}."
