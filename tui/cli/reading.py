"""A conversation as text for a pager, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hermes_browse.store.export.commonmark import fenced
from hermes_browse.store.messages import split_summary, without_injections
from hermes_browse.store.models import ChatMessage, State
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from .columns import short_number, short_time
from .naming import state_name

_NAMES = {"user": N_("you"), "assistant": N_("assistant")}


@dataclass(frozen=True, slots=True)
class Line:
    """Printable text of one kind; a body may hold several lines."""

    kind: str
    """`title`, `seam`, `user`, `assistant`, `other` (headings), `said` or `tool` (bodies)."""
    text: str
    indent: int = 0
    """Cells."""


def _name(conversation: Conversation) -> str:
    return one_line(conversation.title or conversation.preview or conversation.id)


def _heading(message: ChatMessage) -> str:
    name = _(_NAMES[message.role]) if message.role in _NAMES else message.role
    if message.role == "tool" and message.tool_name:
        name = _("tool {name}").format(name=message.tool_name)
    if message.state is not State.LIVE:
        name = _("{name} ({note})").format(name=name, note=state_name(message.state.value))
    return one_line(f"{short_time(message.timestamp, seconds=True)}  {name}")


def _body(message: ChatMessage) -> str:
    summary, said = split_summary(without_injections(message.text))
    lines = [_("[compaction summary left out]")] if summary else []
    if said:
        lines.append(said)
    lines += [f"→ {call.name} {call.arguments}" for call in message.tool_calls]
    return printable("\n".join(lines))


def as_lines(conversation: Conversation, messages: Sequence[ChatMessage]) -> Iterator[Line]:
    """The conversation as printable lines; seams where Hermes compressed."""
    yield Line("title", f"{_name(conversation)}  [{one_line(conversation.id)}]")
    yield Line("said", "")
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            seam = _("continued in {id}").format(id=one_line(segment))
            yield Line("seam", f"── {seam} ──")
            yield Line("said", "")
        yield Line(message.role if message.role in _NAMES else "other", _heading(message))
        body = _body(message)
        if body:
            yield Line("said" if message.role in _NAMES else "tool", body, 2)
        yield Line("said", "")


def as_text(conversation: Conversation, messages: Sequence[ChatMessage]) -> str:
    """The conversation as plain text."""
    lines: list[str] = []
    for line in as_lines(conversation, messages):
        # Not splitlines(): it would break at characters that are no line ends to anybody else.
        lines += [f"{' ' * line.indent}{part}".rstrip() for part in line.text.split("\n")]
    return "\n".join(lines).rstrip()


def as_markdown(conversation: Conversation, messages: Sequence[ChatMessage]) -> str:
    """The conversation as Markdown: a heading for each message, tool output in fences."""
    lines = [f"# {_name(conversation)}", ""]
    facts = [f"`{conversation.id}`", conversation.source, conversation.model or ""]
    messages_said = _("{count} messages").format(count=short_number(conversation.message_count))
    facts += [messages_said, short_time(conversation.root.started_at)]
    lines += [one_line(" · ".join(fact for fact in facts if fact)), ""]
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            seam = _("continued in `{id}`").format(id=one_line(segment))
            lines += ["---", "", f"*{seam}*", ""]
        lines += [f"### {_heading(message)}", ""]
        body = _body(message)
        if body:
            lines += [fenced(body) if message.role == "tool" else body, ""]
    return "\n".join(lines).rstrip()
