"""Rows of the list: conversations and cron jobs with as many columns as fit; hits of a search, those
that are not shown, and other searches that have results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Status, View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats, sentences
from ...text.styled import Span, line_width, slice_spans, tailed, with_hits
from ...widgets.list_rows import ListRow
from .columns import ListLayout

if TYPE_CHECKING:
    from hermes_browse.store.search.suggestions import Suggestion

_DEFAULT = ListLayout()
TAG_COLOURS = 3
"""Looks of tags, of which each has one by its name, the same in every list."""


def glyph(conversation: Conversation) -> Span:
    """Return the state's sign in one cell, distinguishable without colour, and its look: the first
    that holds."""
    status, kind = conversation.status, conversation.kind
    signs = {
        ("?", "accent"): conversation.waits,
        ("●", "live"): status is Status.LIVE,
        ("★", "accent"): conversation.pinned,
        ("▪", "dim"): conversation.archived,
        ("⊕", "dim"): kind is ConversationKind.SUBAGENT,
        ("↻", "dim"): kind is ConversationKind.AUTOMATION,
        ("○", "dim"): status is Status.OPEN,
        ("∅", "dim"): status is Status.EMPTY,
    }
    return next((sign for sign, holds in signs.items() if holds), ("·", "dim"))


def family(conversation: Conversation) -> list[tuple[str, int, str]]:
    """Return the numbers of segments if several, branches and subagents, without zeros: sign,
    number, noun.

    The noun is one of `formats.counted`.
    """
    parts = len(conversation.segments)
    counts = [
        ("≡", parts if parts > 1 else 0, "part"),
        ("⑂", conversation.branches, "branch"),
        ("⊕", conversation.subagents, "subagent"),
    ]
    return [each for each in counts if each[1]]


def badges(conversation: Conversation) -> str:
    """Return the family in signs: `≡3 ⑂1 ⊕2`."""
    return " ".join(f"{sign}{count}" for sign, count, _noun in family(conversation))


def family_heading(rows: Iterable[object]) -> str:
    """Return the heading of the badges; empty if none of the rows has any."""
    if any(isinstance(row, ConversationRow) and badges(row.conversation) for row in rows):
        return _("family")
    return ""


def _new(conversation: Conversation) -> list[Span]:
    """Return the number of new messages, if there are any."""
    if not conversation.new_messages:
        return []
    return [(f" +{formats.number(conversation.new_messages)}", "accent")]


class ConversationRow(NamedTuple):
    """A conversation; in a search it is above its hits, which `hits` counts."""

    conversation: Conversation
    hits: int = 0
    best: int | None = None
    """The message id of its best hit."""
    is_named: bool = False
    """Whether a search found it by its title or id."""
    matches: Sequence[tuple[int, int]] = ()
    """Start and end of what matched in its title."""
    enter: str = N_("read")

    @property
    def key(self) -> str:
        """By root, which stays when a chain grows; found by its title, it may be in the list
        twice."""
        return f"{'t' if self.is_named else 'c'}{self.conversation.root_id}"

    def spans(self, width: int, now: float, layout: ListLayout = _DEFAULT) -> list[Span]:
        conversation, new = self.conversation, _new(self.conversation)
        columns = layout.text(conversation, width, now)
        extra = formats.counted(self.hits, "hit") if self.hits else badges(conversation)
        room = width - 5 - cell_len(columns)
        extra = f" {extra}" if extra and cell_len(extra) <= room // 2 else ""
        room -= cell_len(extra) + line_width(new)
        # A tag that does not fit is an ellipsis of two cells.
        most = room - 2 if conversation.tags else room
        name = formats.clip(one_line(formats.name(conversation), 400), most)
        left = with_hits(name, self.matches, "title" if conversation.title else "plain")
        for tag in conversation.tags:
            label = f"  #{one_line(tag)}"
            if cell_len(label) >= room - line_width(left) - 2:
                left.append((" …", "dim"))
                break
            left.append((label, f"tag-{sum(map(ord, tag)) % TAG_COLOURS}"))
        free = room - line_width(left)
        note = formats.clip(one_line(conversation.note), free - 2) if free > 12 else ""
        if note:
            left.append((f"  {note}", "note"))
        mark, look = glyph(conversation)
        return [
            (f" {mark} ", look),
            *left,
            (" " * (room - line_width(left)), "plain"),
            *new,
            (extra, "accent" if self.hits else "dim"),
            (f" {columns} ", "dim"),
        ]


def is_live(row: object) -> bool:
    """Return whether Hermes is writing the conversation of a row."""
    return isinstance(row, ConversationRow) and row.conversation.status is Status.LIVE


class JobRow(NamedTuple):
    """All runs of one cron job."""

    job: str
    """Its id."""
    runs: Sequence[Conversation]
    """In the order of the list."""
    total: Conversation
    """Of all runs: sums of messages, tokens, cost and bytes; the rest is that of the newest run."""
    expanded: bool = False
    title: str = ""
    """Printable."""
    enter: str = N_("open")

    @property
    def key(self) -> str:
        return f"j{self.job}"

    def spans(self, width: int, now: float, layout: ListLayout = _DEFAULT) -> list[Span]:
        columns = layout.text(self.total, width, now)
        count = formats.counted(len(self.runs), "run")
        arrow = "▾" if self.expanded else "▸"
        new = _new(self.total)
        room = width - 6 - cell_len(columns) - cell_len(count) - line_width(new)
        return [
            (f" {arrow} ", "dim"),
            (formats.fit(one_line(self.title or self.job), room), "title"),
            *new,
            (f" {count}", "accent" if not new else "dim"),
            (f" {columns} ", "dim"),
        ]


class HitRow(NamedTuple):
    """A matching chat message, below its conversation."""

    hit: Hit
    conversation: Conversation | None
    enter: str = N_("read")

    @property
    def key(self) -> str:
        return f"h{self.hit.message_id}"

    @property
    def state(self) -> State:
        """The state of the message; compacted also where a compression ended its session, as with
        `is:forgotten`."""
        segments = self.conversation.segments if self.conversation is not None else ()
        if self.hit.state is State.LIVE and self.hit.session_id in [
            each.id for each in segments[:-1]
        ]:
            return State.COMPACTED
        return self.hit.state

    def spans(self, width: int, now: float) -> list[Span]:
        hit = self.hit
        state = f"{sentences.state(hit.state)} " if hit.state is not State.LIVE else ""
        lead = f"   {formats.fit(sentences.role(hit.speaker, 'short'), 4)} "
        time = formats.ago(hit.timestamp, now)  # a bare age would read as a count below `msgs`
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
    enter: str = N_("open")

    @property
    def key(self) -> str:
        return f"m{self.root_id}"

    def spans(self, width: int, now: float) -> list[Span]:
        more = ngettext("1 more hit", "{count:,} more hits", self.hidden)
        return [(formats.fit(f"   ▸ {more}", width), "dim")]


class SuggestionRow(NamedTuple):
    """Another search that has results, offered when this one has none."""

    found: Suggestion
    """The query, and what it finds."""
    text: str
    """Its description in a few words."""
    view: View
    """The view it searches."""
    profile: str = ""
    """The profile it searches; empty for this one."""
    enter: str = N_("open")

    @property
    def key(self) -> str:
        return f"s{self.view.value} {self.profile} {self.found.query}"

    def spans(self, width: int, now: float) -> list[Span]:
        hits, plus = self.found.hits, "+" if self.found.at_least else ""
        count = formats.fit(f"{hits:,}{plus}", 8, right=True)
        room = max(width - cell_len(count) - 3, 0)
        where = one_line(self.text, 300)
        what = ngettext("hit {where}", "hits {where}", hits, where=where)
        if self.found.counts_conversations:
            what = ngettext("conversation {where}", "conversations {where}", hits, where=where)
        return [(f" {count}", "accent"), (f"  {formats.fit(what, room)}", "plain")]


def spans_of(row: ListRow, width: int, now: float, layout: ListLayout) -> list[Span]:
    """Return the parts of a row, as `ListRow.spans`; those of conversations have the columns of a
    layout."""
    if isinstance(row, ConversationRow | JobRow):
        return row.spans(width, now, layout)
    return row.spans(width, now)


def conversations_of(row: ListRow | None) -> Sequence[Conversation]:
    """Return the conversations of a row: all runs of a job, that of a hit; none for a note."""
    if isinstance(row, JobRow):
        return row.runs
    conversation: Conversation | None = getattr(row, "conversation", None)
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
