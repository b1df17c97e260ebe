"""Conversations read a window at a time, each by a connection of its own, and told as blocks of printable text.

The reader of an export may be slow (a pager, a full pipe). Hermes 0.22 refuses to tidy up while anybody holds the store
open, so no connection is open while text is handed on, and fifty thousand messages are never in memory at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, NamedTuple

from ..connection.connect import Store
from ..messages.decode import split_summary, without_injections
from ..messages.models import ChatMessage, Reading, State
from ..messages.transcript import read_messages, read_skeleton
from ..sessions.models import Conversation
from ..text import one_line, printable
from ..wording import N_, _
from .redact import Redactor

WINDOW = 200
"""Chat messages read at once."""

_TITLES = {"summary": N_("Compaction summary"), "reasoning": N_("Reasoning")}
_NAMES = {"user": N_("You"), "assistant": N_("Assistant"), "system": N_("System")}
_STATES = {State.COMPACTED: N_("compacted"), State.REWOUND: N_("rewound")}
_WEEKDAYS = (
    N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"), N_("Friday"), N_("Saturday"), N_("Sunday"),
)  # fmt: skip


class Day(NamedTuple):
    """A new day begins, in the time zone of this machine."""

    date: date


class Seam(NamedTuple):
    """Hermes compressed here and went on in another session."""

    session_id: str


class Block(NamedTuple):
    """A part of a chat message; all formats show the same ones in the same order."""

    kind: Literal["summary", "reasoning", "result", "said", "call"]
    text: str
    """Printable, without secrets: of a call its arguments, of a tool its output, which may be empty."""
    name: str = ""
    """The tool, of a call and its result."""

    def title(self, limit: int = 0) -> str:
        """The line that stands for a folded block; of a call its name and arguments, cut to a number of letters."""
        if self.kind == "call":
            return f"{self.name} {one_line(self.text, limit)}".rstrip()
        return _(_TITLES[self.kind])


class Telling(NamedTuple):
    """A chat message as it is told."""

    message: ChatMessage
    tool: str
    """The tool a result is from, else empty."""
    blocks: tuple[Block, ...]


Event = Day | Seam | Telling


@dataclass
class Tally:
    """Counts of an export; filled while it is written."""

    sessions: int = 0
    messages: int = 0
    not_live: Counter[State] = field(default_factory=Counter)
    """Rewound rows, and in JSON lines compacted ones: left out, or written where everything was asked for."""


@dataclass
class Source:
    """A conversation to be told.

    Args:
        store: Where it is.
        conversation: With details.
        redactor: Takes the secrets out.
        tally: Counts along.
        reading: Which messages to tell.
    """

    store: Store
    conversation: Conversation
    redactor: Redactor
    tally: Tally
    reading: Reading

    @property
    def name(self) -> str:
        """The title, else the first words, else the id; on one line."""
        each = self.conversation
        return one_line(self.redactor.text(each.title or each.preview or each.id))

    def facts(self) -> list[tuple[str, str]]:
        """Facts beside the name, each a word for the program and a line for people."""
        each = self.conversation
        count = len(each.segments)
        pairs = [
            ("id", each.id),
            ("source", each.source),
            ("model", self.redactor.text(each.model or "")),
            ("folder", self.redactor.text(each.cwd or "")),
            ("branch", self.redactor.text(each.git_branch or "")),
            ("messages", _("{count:,} messages").format(count=each.message_count)),
            ("segments", _("{count:,} segments").format(count=count) if count > 1 else ""),
        ]
        return [(label, one_line(text)) for label, text in pairs if text]

    def _messages(self) -> Iterator[ChatMessage]:
        with self.store.reader() as reader:
            skeleton = read_skeleton(reader, self.conversation.segments, self.reading)
        bones = skeleton.bones
        rewound = sum(gap[0] for gap in skeleton.gaps.values()) + sum(bone.state is State.REWOUND for bone in bones)
        if rewound:
            self.tally.not_live[State.REWOUND] += rewound
        for start in range(0, len(bones), WINDOW):
            with self.store.reader() as reader:
                window = read_messages(reader, bones[start : start + WINDOW])
            yield from window

    def _clean(self, text: str | None) -> str:
        return printable(self.redactor.text(text)) if text else ""

    def _tell(self, message: ChatMessage) -> Telling:
        """A chat message in blocks, every text of it without secrets and printable."""
        summary, said = split_summary(without_injections(message.text))
        if message.is_summary and not summary:
            summary, said = said, ""
        blocks = [Block("summary", self._clean(summary)), Block("reasoning", self._clean(message.reasoning))]
        tool = ""
        if message.role == "tool":
            tool = one_line(self.redactor.text(message.tool_name or "")) or "tool"
            blocks.append(Block("result", opened_up(printable(self.redactor.json_text(said))), tool))
        else:
            blocks.append(Block("said", self._clean(said)))
        for call in message.tool_calls:
            name, arguments = one_line(self.redactor.text(call.name)), self.redactor.json_text(call.arguments)
            blocks.append(Block("call", printable(arguments), name))
        return Telling(message, tool, tuple(each for each in blocks if each.text or each.kind in ("result", "call")))

    def events(self) -> Iterator[Event]:
        """The conversation in reading order, with a `Day` where the date changes and a `Seam` where the session does.

        Raises:
            StoreError: The store cannot be read any more.
        """
        self.tally.sessions += len(self.conversation.segments)
        day: date | None = None
        session = self.conversation.root_id
        for message in self._messages():
            self.tally.messages += 1
            if message.session_id != session:
                session = message.session_id
                yield Seam(one_line(session))
            moment = local_time(message.timestamp)
            if moment is not None and moment.date() != day:
                day = moment.date()
                yield Day(day)
            yield self._tell(message)


def local_time(moment: float | None) -> datetime | None:
    """A moment in the zone of this machine, None for none."""
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(moment).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def laid_out(arguments: str) -> str | None:
    """Arguments of a call as indented JSON; None when they are none. Printable: what escapes stand for may not be."""
    try:
        return printable(json.dumps(json.loads(arguments), ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return None


def opened_up(result: str) -> str:
    """The printable result of a tool as a person reads it.

    Most are JSON objects whose texts hold the real output with its line ends escaped; others stay as they are.
    """
    if not result.startswith("{"):
        return result
    try:
        loaded = json.loads(result)
        if not isinstance(loaded, dict):
            return result
        lines: list[str] = []
        for name, value in loaded.items():
            if isinstance(value, str):
                lines.append(f"{name}:\n{value.rstrip()}" if "\n" in value else f"{name}: {value}")
            else:
                deep = isinstance(value, dict | list) and bool(value)
                lines.append(f"{name}: {json.dumps(value, ensure_ascii=False, indent=2 if deep else None)}")
    except (ValueError, RecursionError):
        return result
    return printable("\n".join(lines)) or result


def speaker(telling: Telling) -> str:
    """The speaker on one line: a person, a model, a tool, or a role as it is stored."""
    if telling.tool:
        return one_line(_("Tool {name}").format(name=telling.tool))
    role = telling.message.role
    return _(_NAMES[role]) if role in _NAMES else one_line(role)


def state_word(state: State) -> str:
    """A word for the state of a message, empty for one that the model sees."""
    return _(_STATES[state]) if state in _STATES else ""


def day_name(day: date) -> str:
    """`Thursday, 2026-01-01`, in the language that is spoken, whatever the locale of dates."""
    return _("{weekday}, {date}").format(weekday=_(_WEEKDAYS[day.weekday()]), date=day.isoformat())
