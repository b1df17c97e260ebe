"""Conversations read a window at a time, each by a connection of its own.

Whoever receives an export may be slow (a pager, a full pipe), and a connection held open meanwhile
makes us a holder of the store, for whose sake Hermes 0.22 refuses to tidy up. So nothing is open
while something is written, and fifty thousand messages are never in memory at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from ..connect import Store
from ..messages import split_summary, without_injections
from ..models import ChatMessage, Reading, State
from ..sessions.models import Conversation
from ..text import one_line, printable
from ..transcript import read_messages, read_skeleton
from ..wording import N_, _
from .redact import Redactor

WINDOW = 200
"""Chat messages read at once."""


class Day(NamedTuple):
    """From here on it is another day, in the zone of this machine."""

    date: date


class Seam(NamedTuple):
    """Here Hermes compressed and went on in another session."""

    session_id: str


class Telling(NamedTuple):
    """A chat message as it is told: printable, without secrets, its texts apart."""

    message: ChatMessage
    said: str
    summary: str
    """The compaction summary in it, else empty."""
    reasoning: str
    tool: str
    """The tool a result is from, else empty."""
    calls: tuple[tuple[str, str], ...]
    """Name and arguments of each call."""


Event = Day | Seam | Telling


@dataclass
class Tally:
    """What went into an export; filled while it is written."""

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
    tally: Tally = field(default_factory=Tally)
    reading: Reading = Reading.SAID

    def clean(self, text: str | None) -> str:
        """A stored text without secrets and printable; empty for none."""
        return printable(self.redactor.text(text)) if text else ""

    @property
    def name(self) -> str:
        """What the conversation is called, on one line."""
        each = self.conversation
        return one_line(self.redactor.text(each.title or each.preview or each.id))

    def facts(self) -> list[tuple[str, str]]:
        """What is told of it besides its name: what it is, for the program, and the text, on one line each."""
        each = self.conversation
        count = len(each.segments)
        segments = _("{count:,} segments").format(count=count) if count > 1 else ""
        pairs = [
            ("id", each.id),
            ("source", each.source),
            ("model", self.redactor.text(each.model or "")),
            ("folder", self.redactor.text(each.cwd or "")),
            ("branch", self.redactor.text(each.git_branch or "")),
            ("messages", _("{count:,} messages").format(count=each.message_count)),
            ("segments", segments),
        ]
        return [(label, one_line(text)) for label, text in pairs if text]

    def messages(self) -> Iterator[ChatMessage]:
        """What is to be told, in reading order, root segment first.

        Raises:
            StoreError: The store cannot be read any more.
        """
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

    def tell(self, message: ChatMessage) -> Telling:
        """A chat message made ready: every text of it without secrets and printable."""
        summary, said = split_summary(without_injections(message.text))
        if message.is_summary and not summary:
            summary, said = said, ""
        json_text = self.redactor.json_text
        calls = ((one_line(self.redactor.text(call.name)), json_text(call.arguments)) for call in message.tool_calls)
        return Telling(
            message=message,
            said=opened_up(printable(json_text(said))) if message.role == "tool" else self.clean(said),
            summary=self.clean(summary),
            reasoning=self.clean(message.reasoning),
            tool=one_line(self.redactor.text(message.tool_name or "")) or "tool" if message.role == "tool" else "",
            calls=tuple((name, printable(arguments)) for name, arguments in calls),
        )

    def events(self) -> Iterator[Event]:
        """The conversation with its days and seams, in reading order."""
        yield from with_days(map(self.tell, self._counted()), self.conversation.root_id)

    def _counted(self) -> Iterator[ChatMessage]:
        self.tally.sessions += len(self.conversation.segments)
        for message in self.messages():
            self.tally.messages += 1
            yield message


def local_time(moment: float | None) -> datetime | None:
    """A moment in the zone of this machine, None for none."""
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(moment).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def with_days(messages: Iterable[Telling], root_id: str) -> Iterator[Event]:
    """Messages with a `Day` where the date changes and a `Seam` where the session does.

    Args:
        messages: In reading order.
        root_id: The session the conversation begins with.
    """
    day: date | None = None
    session = root_id
    for telling in messages:
        if telling.message.session_id != session:
            session = telling.message.session_id
            yield Seam(one_line(session))
        moment = local_time(telling.message.timestamp)
        if moment is not None and moment.date() != day:
            day = moment.date()
            yield Day(day)
        yield telling


def laid_out(arguments: str) -> str | None:
    """Arguments of a call as indented JSON, printable; None when they are none.

    Args:
        arguments: Printable, which what their escapes stand for need not be.
    """
    try:
        return printable(json.dumps(json.loads(arguments), ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return None


def opened_up(result: str) -> str:
    """The result of a tool to be read: most are JSON objects whose texts hold the real output, line ends escaped.

    Args:
        result: Printable; given back as it is when it is no object.
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


_NAMES = {"user": N_("You"), "assistant": N_("Assistant"), "system": N_("System")}
_STATES = {State.COMPACTED: N_("compacted"), State.REWOUND: N_("rewound")}
_WEEKDAYS = (
    N_("Monday"),
    N_("Tuesday"),
    N_("Wednesday"),
    N_("Thursday"),
    N_("Friday"),
    N_("Saturday"),
    N_("Sunday"),
)


def speaker(telling: Telling) -> str:
    """Who said it, on one line: a person, a model, a tool, or a role as it is stored."""
    if telling.tool:
        return one_line(_("Tool {name}").format(name=telling.tool))
    role = telling.message.role
    return _(_NAMES[role]) if role in _NAMES else one_line(role)


def state_word(state: State) -> str:
    """How a message stands, empty for one that the model sees."""
    return _(_STATES[state]) if state in _STATES else ""


def day_name(day: date) -> str:
    """`Thursday, 2026-01-01`, in the language that is spoken, whatever the locale of dates."""
    return _("{weekday}, {date}").format(weekday=_(_WEEKDAYS[day.weekday()]), date=day.isoformat())
