"""Rows of the list of all profiles, and the preview of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from .. import formats
from ..list.conversation_rows import glyph
from ..shared.columns import Column, Columns
from ..shared.styled import Span
from .read_profiles import ProfileMatch, short_reason

_PROFILE = 12
"""Cells for the name of a profile."""


class FoundRow(NamedTuple):
    """A conversation or a hit, with its profile."""

    found: ProfileMatch

    @property
    def key(self) -> str:
        """By store, and root or message of a hit, as ids of two profiles can be equal."""
        found = self.found
        own = found.conversation.root_id if found.hit is None else found.hit.message_id
        return f"{'f' if found.hit is None else 'h'}{found.location.path} {own}"

    def spans(self, width: int, now: float) -> list[Span]:
        found, conversation = self.found, self.found.conversation
        shown = _CONVERSATION_COLUMNS if found.hit is None else _HIT_COLUMNS
        columns = shown.text(found, width, now)
        mark, look = glyph(conversation)
        profile = formats.fit(one_line(found.profile, 60), _PROFILE)
        room = max(width - 3 - _PROFILE - 1 - cell_len(columns) - 2, 4)
        name = one_line(formats.name(conversation), 400)
        title = "title" if conversation.title else "plain"
        lead: list[Span] = [(f" {mark} ", look), (f"{profile} ", "accent")]
        if found.hit is None:
            return [*lead, (formats.fit(name, room), title), (f" {columns} ", "dim")]
        part = min(cell_len(name), room // 3)
        return [
            *lead,
            (formats.fit(formats.clip(name, part), part), title),
            *snippet_spans(found.hit, room - part),
            (f" {columns} ", "dim"),
        ]


class AwayRow(NamedTuple):
    """A host that has not answered."""

    host: Host
    reason: str

    @property
    def key(self) -> str:
        return f"a{self.host.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        name = formats.fit(f"@{self.host.name}", _PROFILE)
        return [
            (" ! ", "note"),
            (f"{name} ", "accent"),
            (formats.fit(self.reason, width - 4 - _PROFILE), "note"),
        ]


def _is_bare(found: ProfileMatch) -> bool:
    """Whether nothing but the id of the conversation is known so far."""
    return found.location.host is not None and found.conversation.rows is None


def _messages(found: ProfileMatch) -> str:
    count = found.conversation.message_count
    return formats.number(count) if count or not _is_bare(found) else ""


def _columns(least: int) -> Columns[ProfileMatch]:
    """Return the columns; `least` are the cells of the narrowest row that shows more than one."""
    return Columns(
        Column(N_("when"), formats.AGE_WIDTH, lambda found, now: formats.age(found.moment, now)),
        Column(
            N_("source"),
            7,
            lambda found, now: formats.source(found.conversation.source),
            least=least,
            lead=1,
        ),
        Column(N_("msgs"), 5, lambda found, now: _messages(found), least=least),
    )


_CONVERSATION_COLUMNS = _columns(60)
_HIT_COLUMNS = _columns(90)
"""Hits need room for their text."""


def head(width: int, place: str, *, hits: bool) -> str:
    """Return the names of the columns, in exactly `width` cells; `place` is that of the
    profiles."""
    columns = (_HIT_COLUMNS if hits else _CONVERSATION_COLUMNS).head(width)
    profile = formats.fit(place, _PROFILE)
    room = max(width - 3 - _PROFILE - 1 - cell_len(columns) - 2, 4)
    return f"   {profile} {formats.fit(_('title'), room)} {columns} "


_AROUND = 4
"""Messages before and after a hit in its preview."""
_BEFORE = 16
"""Maximum cells of text before a match."""


def snippet_spans(hit: Hit, width: int) -> list[Span]:
    """Format the snippet around its first match, which is highlighted, in exactly `width` cells."""
    start, end = hit.match[0] if hit.match else (0, 0)
    before = one_line(hit.snippet[max(start - 200, 0) : start])
    if before and hit.snippet[start - 1 : start].isspace():
        before += " "
    match = formats.clip(one_line(hit.snippet[start:end]), max(width - 2, 0))
    room = max(min(_BEFORE, width - 2 - cell_len(match)), 0)
    while cell_len(before) > room:  # the match is what was looked for
        before = "…" + before[2:].lstrip("…") if len(before) > 2 and room else ""
    before = formats.clip(f"  {before}", width)
    match = formats.clip(match, width - cell_len(before))
    after = one_line(hit.snippet[end : end + 400])
    gap = " " if after and hit.snippet[end : end + 1].isspace() else ""
    rest = formats.fit(gap + after, width - cell_len(before) - cell_len(match))
    return [(before, "plain"), (match, "hit"), (rest, "plain")]


class Preview(NamedTuple):
    """The preview of a row, or why it cannot be read."""

    found: ProfileMatch
    """With its messages counted, unless there is an error."""
    lines: tuple[tuple[str, str, bool], ...] = ()
    """Role, text, and whether it is the hit: the messages around a hit, else the recap of
    Hermes."""
    error: str = ""
    note: str = ""
    """What there is instead of messages, such as that they are being read."""


def read_preview_of(
    found: ProfileMatch, store: Store, opened: Callable[[OpenStore], object] | None = None
) -> Preview:
    """Read the preview of a row: the messages around a hit, else the recap of Hermes.

    Its store is opened for this only; `opened` is called with it, to interrupt it.
    """
    hit = found.hit
    try:
        with OpenStore(store, found.location) as lease:
            if opened is not None:
                opened(lease)
            detailed = found._replace(conversation=lease.with_details([found.conversation])[0])
            if hit is None:
                recap = lease.recap(found.conversation.segments)
                return Preview(detailed, tuple((line.role, line.text, False) for line in recap))
            around = lease.messages_around(hit, _AROUND)
    except StoreError as error:
        return Preview(found, error=short_reason(error, found.location))
    lines = [
        (role, hit.snippet if key == hit.message_id else text, key == hit.message_id)
        for key, role, text in around
    ]
    return Preview(detailed, tuple(lines))


def preview(shown: Preview, now: float) -> Content:
    """Format a preview for the pane next to the list; `now` is in Unix seconds."""
    found, conversation = shown.found, shown.found.conversation
    facts = (
        (
            one_line(found.profile, 60),
            one_line(conversation.source, 20),
            one_line(conversation.model or "", 40),
        ),
        (
            formats.counted(conversation.message_count, "message"),
            formats.age(conversation.last_active, now),
            formats.costs(conversation),
        ),
        (one_line(conversation.cwd or "", 200),),
    )
    lines = [Content.styled(one_line(formats.name(conversation), 300), "bold")]
    joined = (" · ".join(part for part in parts if part) for parts in facts)
    lines += [Content.styled(line, "dim") for line in joined if line]
    if shown.error:
        return Content("\n").join(
            [*lines, Content(""), Content.styled(one_line(shown.error, 300), "$error")]
        )
    if shown.note:
        lines += [Content(""), Content.styled(shown.note, "dim")]
    for role, text, is_hit in shown.lines:
        lines.append(Content(""))
        if role != "earlier":
            look = _LOOKS.get(role, "dim")
            lines.append(Content.styled(formats.role(role), look))
        if is_hit and found.hit is not None:
            lines.append(_highlighted(found.hit))
        else:
            lines.append(Content(printable(text).strip()))
    return Content("\n").join(lines)


_LOOKS = {"user": "bold $accent", "assistant": "bold $success"}


def _highlighted(hit: Hit) -> Content:
    """Format the snippet of a hit with its matches highlighted."""
    parts: list[str | tuple[str, str]] = []
    position = 0
    for start, end in hit.match:
        match = printable(hit.snippet[start:end])
        parts += [printable(hit.snippet[position:start]), (match, "bold reverse")]
        position = end
    return Content.assemble(*parts, printable(hit.snippet[position:]))
