"""`show`: a whole conversation, or one segment of it, as text, Markdown or JSON."""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterable, Iterator, Sequence

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import chunks
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.messages.block_kinds import SEAM
from hermes_browse.store.messages.chat_message import ChatMessage, Reading, State, blocks_of
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import (
    read_messages_of,
    read_outline,
    read_system_prompt,
)
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import fenced, one_line, printable
from hermes_browse.store.wording import _

from ..formats import long_number, role, state, timestamp
from .command_context import CommandContext, Subcommand
from .output import OutputLine, conversation_json, print_json_in_portions, print_lines, print_texts
from .parser import text_arg

_AT_ONCE = 400
"""Messages."""
_LONGEST_NAME = 400
"""Code points; Hermes takes titles of 100."""

_SPEAKERS = ("user", "assistant")


class ShowCommand(Subcommand):
    """Print the chat messages of a conversation."""

    reads_old_transcripts = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)
        reading = parser.add_mutually_exclusive_group()
        for name, summary in (
            ("said", _("what was said: live and compacted messages (default)")),
            ("live", _("what the model still sees")),
            ("everything", _("rewound and hidden messages too")),
        ):
            reading.add_argument(
                f"--{name}",
                dest="reading",
                action="store_const",
                const=name,
                default="said",
                help=summary,
            )
        parser.add_argument("--segment", action="store_true", help=_("that one session alone"))
        parser.add_argument("--markdown", action="store_true", help=_("as Markdown"))

    def run(self, context: CommandContext) -> int:
        arguments, reading = context.arguments, Reading(context.arguments.reading)
        with context.store.reader() as reader:
            ((session_id, conversation),) = context.find(reader, [arguments.id])
            conversation = with_details(reader, [conversation])[0]
            segments = [
                each
                for each in conversation.segments
                if not arguments.segment or each.id == session_id
            ]
            ids = array("q", (row.id for row in read_outline(reader, segments, reading).rows))
            prompt = (
                read_system_prompt(reader, segments[0].id)
                if reading is Reading.EVERYTHING
                else None
            )
            rules = context.retention_rules(reader) if context.json else None
        messages = _read_in_portions(context.store, ids)
        if context.json:
            print_json_in_portions(
                {
                    "conversation": conversation_json(conversation, rules),
                    "messages": (message_json(message) for message in messages),
                    "system_prompt": prompt,
                }
            )
        elif arguments.markdown:
            print_texts(_as_markdown(conversation, messages))
        else:
            print_lines(as_lines(conversation, messages))
        return 0


def _read_in_portions(store: Store, ids: Sequence[int]) -> Iterator[ChatMessage]:
    """Yield chat messages by id, a portion at a time; rows deleted meanwhile are left out.

    The store is closed while a portion is printed: a pager may keep it waiting for hours.
    """
    for some in chunks(ids, _AT_ONCE):
        with store.reader() as reader:
            portion = read_messages_of(reader, some)
        yield from portion


def message_json(message: ChatMessage) -> Json:
    """Build a MESSAGE of the JSON contract."""
    return {
        "id": message.id,
        "session_id": message.session_id,
        "role": message.role,
        "text": message.text,
        "parts": [
            {
                "type": part.kind,
                "text": part.text,
                "mime": part.mime,
                "url": part.url,
                "bytes": part.size,
            }
            for part in message.parts
        ],
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "reasoning": message.reasoning,
        "timestamp": message.timestamp,
        "finish_reason": message.finish_reason,
        "state": message.state.value,
        "is_summary": message.is_summary,
        "is_hidden": message.is_hidden,
    }


def _name(conversation: Conversation) -> str:
    return one_line(conversation.title or conversation.preview or conversation.id, _LONGEST_NAME)


def heading(message: ChatMessage) -> str:
    """Return the heading of a message: time, role, and state unless it is live."""
    name = role(message.role)
    if message.role == "tool" and message.tool_name:
        name = _("tool {name}").format(name=message.tool_name)
    if message.state is not State.LIVE:
        name = _("{name} ({note})").format(name=name, note=state(message.state))
    return one_line(f"{timestamp(message.timestamp, seconds=True)}  {name}")


def body_of(message: ChatMessage) -> str:
    """Return the printable text of a message; empty if it shows nothing."""
    lines: list[str] = []
    for block in blocks_of(message):
        if block.kind.shown:
            lines.append(_(block.kind.shown).format(tool=block.tool, arguments=block.body))
        elif block.kind.shown is not None and block.body:
            lines.append(block.body)
    return printable("\n".join(lines))


def as_lines(conversation: Conversation, messages: Iterable[ChatMessage]) -> Iterator[OutputLine]:
    """Yield the conversation as printable lines, with a seam between segments."""
    yield OutputLine("title", f"{_name(conversation)}  [{one_line(conversation.id)}]")
    yield OutputLine("said", "")
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            seam = _(SEAM.shown or "").format(id=one_line(segment))
            yield OutputLine("seam", f"── {seam} ──")
            yield OutputLine("said", "")
        yield OutputLine(message.role if message.role in _SPEAKERS else "other", heading(message))
        if body := body_of(message):
            yield OutputLine("said" if message.role in _SPEAKERS else "tool", body, 2)
        yield OutputLine("said", "")


def _as_markdown(conversation: Conversation, messages: Iterable[ChatMessage]) -> Iterator[str]:
    """Yield the conversation as Markdown: a heading for each message, tool output in fences."""
    yield from (f"# {_name(conversation)}", "")
    facts = [f"`{conversation.id}`", conversation.source, conversation.model or ""]
    facts.append(_("{count} messages").format(count=long_number(conversation.message_count)))
    facts.append(timestamp(conversation.root.started_at))
    yield from (one_line(" · ".join(fact for fact in facts if fact)), "")
    segment = conversation.root_id
    for message in messages:
        if message.session_id != segment:
            segment = message.session_id
            seam = _("continued in `{id}`").format(id=one_line(segment))
            yield from ("---", "", f"*{seam}*", "")
        yield from (f"### {heading(message)}", "")
        if body := body_of(message):
            yield from (fenced(body) if message.role == "tool" else body, "")
