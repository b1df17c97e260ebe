"""A conversation as text for a pager, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_browse.store.messages import split_summary, without_injections
from hermes_browse.store.models import ChatMessage, Conversation

from .columns import short_number, short_time

_NAMES = {"user": "you", "assistant": "assistant"}


def _heading(message: ChatMessage) -> str:
    name = _NAMES.get(message.role, message.role)
    if message.role == "tool" and message.tool_name:
        name = f"tool {message.tool_name}"
    state = "" if message.state.value == "live" else f" ({message.state.value})"
    return f"{short_time(message.timestamp, seconds=True)}  {name}{state}".strip()


def _body(message: ChatMessage) -> str:
    summary, said = split_summary(without_injections(message.text))
    lines = ["[compaction summary left out]"] if summary else []
    if said:
        lines.append(said)
    lines += [f"→ {call.name} {call.arguments}" for call in message.tool_calls]
    return "\n".join(lines)


def as_text(conversation: Conversation, messages: Sequence[ChatMessage]) -> str:
    """The conversation as plain text; seams where Hermes compressed."""
    lines = [f"{conversation.title or conversation.preview or conversation.id}  [{conversation.id}]", ""]
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            lines += [f"── continued in {segment} ──", ""]
        lines += [_heading(message), *(f"  {line}" for line in _body(message).splitlines()), ""]
    return "\n".join(lines).rstrip()


def as_markdown(conversation: Conversation, messages: Sequence[ChatMessage]) -> str:
    """The conversation as Markdown: a heading for each message, tool output in fences."""
    lines = [f"# {conversation.title or conversation.preview or conversation.id}", ""]
    facts = [f"`{conversation.id}`", conversation.source, conversation.model or ""]
    facts += [f"{short_number(conversation.message_count)} messages", short_time(conversation.root.started_at)]
    lines += [" · ".join(fact for fact in facts if fact), ""]
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            lines += ["---", "", f"*continued in `{segment}`*", ""]
        lines += [f"### {_heading(message)}", ""]
        body = _body(message)
        if body:
            lines += [_fenced(body) if message.role == "tool" else body, ""]
    return "\n".join(lines).rstrip()


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
