"""Rows of a search: hits, those that are not shown, and other searches that have results."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, ngettext

from .. import formats
from ..shared.styled import Span


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
        state = f"{formats.state(hit.state)} " if hit.state is not State.LIVE else ""
        role = formats.role(hit.role, "short")
        lead = f"   {formats.fit(role, 4)} "
        time = formats.fit(formats.age(hit.timestamp, now), formats.AGE_WIDTH, right=True)
        room = width - cell_len(lead) - cell_len(state) - cell_len(time) - 2
        spans: list[Span] = [(lead, "dim"), (state, "note")]
        used, position = 0, 0
        snippet = hit.snippet
        # Start near the match if it would be cut off otherwise.
        if hit.match and hit.match[0][1] > room - 4:
            start = max(hit.match[0][0] - room // 3, 0)
            position = start if start > 10 else 0
            if position:
                spans.append(("…", "dim"))
                used = 1
        for start, end in [*hit.match, (len(snippet), len(snippet))]:
            for text, look in (
                (snippet[position : max(start, position)], "plain"),
                (snippet[max(start, position) : end], "hit"),
            ):
                safe = printable(text).replace("\n", " ").replace("\t", " ")
                piece = formats.clip(safe, room - used)
                if piece:
                    spans.append((piece, look))
                    used += cell_len(piece)
                if piece != safe:  # cut off: no room for the next piece
                    room = used
            position = max(end, position)
        spans.append(
            (
                " " * max(width - cell_len(lead) - cell_len(state) - cell_len(time) - 2 - used, 0),
                "plain",
            )
        )
        spans.append((f" {time} ", "dim"))
        return spans


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
        more = ngettext("1 more hit", "{count:,} more hits", self.hidden).format(count=self.hidden)
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
