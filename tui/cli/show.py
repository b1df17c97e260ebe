"""`show`: a whole conversation, or one segment of it, as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter

from hermes_browse.store.api import OpenStore
from hermes_browse.store.call import read_in_portions
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.export.markdown import code, message_markdown, plain
from hermes_browse.store.export.source import rendered
from hermes_browse.store.messages.chat_message import (
    CALL,
    SEAM,
    SUMMARY,
    ChatMessage,
    Reading,
    State,
    blocks_of,
)
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _

from ..text.formats import joined, name, number, timestamp
from ..text.sentences import role, state
from .command import StoreCommand
from .output import (
    BLANK,
    OutputLine,
    conversation_json,
    fields,
    fields_of_each,
    print_lines,
    print_text,
)
from .parser import ID, Argument, Flag, OneOf

_AT_ONCE = 400
"""Messages."""
SPEAKERS = ("user", "assistant")
_Reading = partial(Argument, action="store_const", dest="reading", default="said")


class ShowCommand(StoreCommand):
    """Print the chat messages of a conversation."""

    arguments = (
        ID,
        OneOf(
            (
                _Reading(
                    "--said", "what was said: live and compacted messages (default)", const="said"
                ),
                _Reading("--live", "what the model still sees", const="live"),
                _Reading("--everything", "rewound and hidden messages too", const="everything"),
            )
        ),
        Flag("--segment", "that one session alone"),
        Flag("--markdown", "as Markdown"),
    )

    def run(self) -> None:
        given, store = self.given, self.store
        reading = Reading(given.reading)
        conversation = self.conversation()
        segments = conversation.segments
        if given.segment:
            alone = store.resolve(given.id)
            segments = tuple(segment for segment in segments if segment.id == alone)
        rows = store.outline(segments, reading).rows
        messages = _read_in_portions(store, [row.id for row in rows])
        if self.given.json:
            whole = reading is Reading.EVERYTHING
            document = {
                "conversation": conversation_json(conversation, store.retention(self.now)),
                "system_prompt": store.system_prompt(segments[0].id) if whole else None,
            }
            self.print_json(document, "messages", map(message_json, messages))
        elif given.markdown:
            for text in _as_markdown(conversation, messages):  # one at a time
                print_text(text)
        else:
            print_lines(as_lines(conversation, messages))


def _read_in_portions(store: OpenStore, ids: Sequence[int]) -> Iterator[ChatMessage]:
    """Yield chat messages by id, read a portion at a time; rows deleted meanwhile are left out.

    The store is closed while a portion is printed: a pager may keep it waiting for hours.
    """

    def read(some: Sequence[int]) -> list[ChatMessage]:
        messages = store.messages(some)
        store.close()
        return messages

    return read_in_portions(read, ids, _AT_ONCE)


def message_json(message: ChatMessage) -> Json:
    """Build a MESSAGE of the JSON contract."""
    document = fields(
        message,
        "id session_id role text tool_call_id tool_name reasoning timestamp "
        "finish_reason state is_summary is_hidden",
    )
    return document | {
        "parts": fields_of_each(message.parts, "text mime url type=kind bytes=size"),
        "tool_calls": fields_of_each(message.tool_calls, "id name arguments"),
    }


def heading(message: ChatMessage) -> str:
    """Return the heading of a message: time, role, and state unless it is live."""
    speaker = role(message.role)
    if message.role == "tool" and message.tool_name:
        speaker = _("tool {name}", name=message.tool_name)
    if message.state is not State.LIVE:
        speaker = _("{name} ({note})", name=speaker, note=state(message.state))
    return one_line(f"{timestamp(message.timestamp, seconds=True)}  {speaker}")


def body_of(message: ChatMessage, *, call: str = "", with_summary: bool = False) -> str:
    """Return the printable text of a message; empty if it shows nothing.

    Args:
        call: The form of a call, with `{tool}` and `{arguments}`; by default that of `show`.
        with_summary: Print the text of a summary.
    """
    lines: list[str] = []
    for block in blocks_of(message):
        form = "" if block.kind is SUMMARY and with_summary else block.kind.shown
        if block.kind is CALL:
            form = call or form
        if form:
            lines.append(_(form, tool=block.tool, arguments=block.body))
        elif form is not None and block.body:
            lines.append(block.body)
    return printable("\n".join(lines))


def name_of(conversation: Conversation) -> str:
    """Return the name of a conversation for the head of what is printed of it."""
    return one_line(name(conversation), 400)


def title_line(conversation: Conversation) -> OutputLine:
    """Return the head of what is printed of a conversation."""
    return OutputLine("title", f"{name_of(conversation)}  [{one_line(conversation.id)}]")


def as_lines(conversation: Conversation, messages: Iterable[ChatMessage]) -> Iterator[OutputLine]:
    """Yield the conversation as printable lines, with a seam between segments."""
    yield title_line(conversation)
    for session_id, of_segment in groupby(messages, attrgetter("session_id")):
        if session_id != conversation.root_id:
            yield BLANK
            yield OutputLine("seam", f"── {_(SEAM.shown or '', id=one_line(session_id))} ──")
        for message in of_segment:
            yield BLANK
            yield OutputLine(
                message.role if message.role in SPEAKERS else "other", heading(message)
            )
            if body := body_of(message):
                yield OutputLine("said" if message.role in SPEAKERS else "tool", body, "  ")


def _as_markdown(conversation: Conversation, messages: Iterable[ChatMessage]) -> Iterator[str]:
    """Yield the conversation as Markdown, a message at a time."""
    facts = joined(
        conversation.source,
        conversation.model or "",
        _("{count} messages", count=number(conversation.message_count)),
        timestamp(conversation.root.started_at),
    )
    line = plain(one_line(facts))
    yield f"# {plain(name_of(conversation))}\n\n{code(one_line(conversation.id))} · {line}\n"
    for session_id, of_segment in groupby(messages, attrgetter("session_id")):
        if session_id != conversation.root_id:
            seam = _("continued in {id}", id=code(one_line(session_id)))
            yield f"---\n\n*{seam}*\n"
        yield from map(message_markdown, map(rendered, of_segment))
