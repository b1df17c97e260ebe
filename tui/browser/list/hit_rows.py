"""Rows of a search: hits, those that are not shown, and other searches that have results; and the
conversations of any row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, ngettext

from ...text import formats, sentences
from ...text.styled import Span, slice_spans, tailed, with_hits
from ...widgets.list_rows import ListRow
from .conversation_rows import ConversationRow, JobRow


class HitRow(NamedTuple):
    """A matching chat message, below its conversation."""

    hit: Hit
    conversation: Conversation | None

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"h{self.hit.message_id}"

    @property
    def state(self) -> State:
        """The state of the message; compacted also where a compression ended its session, as with
        `is:forgotten`."""
        segments = self.conversation.segments if self.conversation is not None else ()
        is_before = any(each.id == self.hit.session_id for each in segments[:-1])
        return State.COMPACTED if is_before and self.hit.state is State.LIVE else self.hit.state

    def spans(self, width: int, now: float) -> list[Span]:
        hit = self.hit
        state = f"{sentences.state(hit.state)} " if hit.state is not State.LIVE else ""
        lead = f"   {formats.fit(sentences.role(hit.role, 'short'), 4)} "
        time = formats.fit(formats.age(hit.timestamp, now), formats.AGE_WIDTH, right=True)
        room = width - cell_len(lead) - cell_len(state) - cell_len(time) - 2
        first, end = hit.match[0] if hit.match else (0, 0)
        # Start near the match if it would be cut off otherwise.
        start = first - room // 3 if end > room - 4 else 0
        start = start if start > 10 else 0
        text = with_hits(hit.snippet, hit.match, "plain")
        line = [(lead, "dim"), (state, "note"), ("…" if start else "", "dim")]
        for part, look in slice_spans(text, [(start, len(hit.snippet))])[0]:
            line.append((printable(part).replace("\n", " ").replace("\t", " "), look))
        return tailed(line, f" {time} ", width)


class MoreRow(NamedTuple):
    """Placeholder for the hidden hits of a conversation."""

    root_id: str
    hidden: int
    conversation: Conversation | None = None

    @property
    def enter(self) -> str:
        return N_("open")

    @property
    def key(self) -> str:
        return f"m{self.root_id}"

    def spans(self, width: int, now: float) -> list[Span]:
        more = ngettext("1 more hit", "{count:,} more hits", self.hidden, count=self.hidden)
        return [(formats.fit(f"   ▸ {more}", width), "dim")]


class SuggestionRow(NamedTuple):
    """Another search that has results, offered when this one has none."""

    text: str
    """Its description in a few words."""
    query: str
    view: View
    """The view it searches."""
    hits: int
    at_least: bool = False
    of_list: bool = False
    """Whether `hits` counts conversations."""
    profile: str = ""
    """The profile it searches; empty for this one."""

    @property
    def enter(self) -> str:
        return N_("open")

    @property
    def key(self) -> str:
        return f"s{self.view.value} {self.profile} {self.query}"

    def spans(self, width: int, now: float) -> list[Span]:
        count = formats.fit(f"{self.hits:,}{'+' if self.at_least else ''}", 8, right=True)
        room = max(width - cell_len(count) - 3, 0)
        if self.of_list:
            what = ngettext("conversation {where}", "conversations {where}", self.hits)
        else:
            what = ngettext("hit {where}", "hits {where}", self.hits)
        text = formats.fit(what.format(where=one_line(self.text, 300)), room)
        return [(f" {count}", "accent"), (f"  {text}", "plain")]


def conversations_of(row: ListRow | None) -> Sequence[Conversation]:
    """Return the conversations of a row: all runs of a job, that of a hit; none for a note."""
    if isinstance(row, JobRow):
        return row.runs
    conversation = row.conversation if isinstance(row, ConversationRow | HitRow | MoreRow) else None
    return (conversation,) if conversation is not None else ()


def conversation_of(row: ListRow | None) -> Conversation | None:
    """Return the conversation that panes show for a row: the first run of a job; None for a
    note."""
    return next(iter(conversations_of(row)), None)


def is_marked(row: ListRow, marks: Collection[str]) -> bool:
    """Return whether to draw a row as marked: all of its conversations are, given by root ids."""
    if not marks or isinstance(row, HitRow | MoreRow):
        return False
    # Called for each row of a frame, and a job may have thousands of runs: skip jobs with more
    # runs than there are marks, and stop at the first unmarked run.
    conversations = conversations_of(row)
    return 0 < len(conversations) <= len(marks) and all(
        each.root_id in marks for each in conversations
    )
