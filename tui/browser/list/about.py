"""Describe the row under the cursor for the status line: the meaning of its signs, and what Enter
does."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Status
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ...text import formats
from ...widgets.list_rows import ListRow
from .rows import ConversationRow, HitRow, JobRow, MoreRow, SuggestionRow, family, glyph
from .views import view_name

_HIT_TEXTS = {
    "user": N_("said by you {ago} in “{title}”"),
    "assistant": N_("said by the assistant {ago} in “{title}”"),
    "tool": N_("a tool result {ago} in “{title}”"),
}
_STATES = {
    State.LIVE: N_("the model still has it"),
    State.COMPACTED: N_("the model has a summary of it at most"),
    State.REWOUND: N_("rewound"),
}
_TITLE = 24
"""Maximum cells of a title in a sentence."""


def about(row: ListRow | None, now: float, enter: str, room: int) -> str:
    """Describe a row; empty for notes and for rows of other screens.

    Args:
        now: Unix seconds.
        enter: Text on Enter for a conversation, with a field `id`; empty if it does nothing.
        room: Cells. A longer description leaves out what Enter does, then what is said before that:
            a line that grew with every other row would move the panes under the cursor.
    """
    parts = [part for part in _parts(row, now, enter) if part]
    while len(parts) > 1 and cell_len(" · ".join(parts)) > room:
        parts.pop()
    return " · ".join(parts)


def _parts(row: ListRow | None, now: float, enter: str) -> Sequence[str]:
    if isinstance(row, ConversationRow):
        return *_conversation(row, now), enter.format(
            id=row.conversation.id[-6:]
        ) if not row.hits else ""
    if isinstance(row, JobRow):
        return _job(row, now)
    if isinstance(row, HitRow):
        text = _(
            _HIT_TEXTS.get(row.hit.role, N_("found {ago} in “{title}”")),
            ago=formats.ago(row.hit.timestamp, now),
            title=_title(row.conversation),
        )
        was_compressed = row.conversation is not None and len(row.conversation.segments) > 1
        state = _(_STATES[row.state]) if row.state is not State.LIVE or was_compressed else ""
        return text, state, _("Enter reads on")
    if isinstance(row, MoreRow):
        more = ngettext(
            "1 more hit in “{title}”",
            "{count:,} more hits in “{title}”",
            row.hidden,
            count=row.hidden,
            title=_title(row.conversation),
        )
        return more, _("Enter shows them")
    if isinstance(row, SuggestionRow):
        return _suggestion(row)
    return ()


def _title(conversation: Conversation | None) -> str:
    return (
        formats.clip(one_line(formats.name(conversation)), _TITLE)
        if conversation is not None
        else "?"
    )


def _conversation(row: ConversationRow, now: float) -> list[str]:
    """Return what the signs of a row mean, each with its sign; `·` is left out, as it looks like a
    separator."""
    conversation = row.conversation
    sign = glyph(conversation)[0]
    kinds = {
        ConversationKind.SUBAGENT: _("a subagent's session"),
        ConversationKind.AUTOMATION: _("automation, nobody typed it"),
    }
    meanings = [
        ("?", _("waits for you: A shows why") if conversation.waits else ""),
        ("⊕↻", kinds.get(conversation.kind, "")),
        ("●○∅", _status(conversation, now)),
        ("★", _("pinned: never deleted by Hermes itself") if conversation.pinned else ""),
        ("▪", _("archived") if conversation.archived else ""),
    ]
    return [
        formats.counted(row.hits, "hit") if row.hits else "",
        formats.counted(row.conversation.new_messages, "new message")
        if row.conversation.new_messages
        else "",
        pgettext("list", ", ").join(
            f"{sign} {formats.counted(count, one)}" for sign, count, one in family(conversation)
        ),
        *(f"{sign} {text}" if text and sign in signs else text for signs, text in meanings),
        one_line(conversation.note, 80),
    ]


_STATUS_TEXTS = {
    Status.LIVE: N_("Hermes is writing in {source}"),
    Status.OPEN: N_("still open in {source}, last used {ago}"),
    Status.ENDED: N_("{end} in {source}, last used {ago}"),
    Status.EMPTY: N_("no messages, started in {source} {ago}"),
}


def _status(conversation: Conversation, now: float) -> str:
    return _(
        _STATUS_TEXTS[conversation.status],
        source=one_line(conversation.source, 20),
        ago=formats.ago(conversation.last_active, now) or _("at an unknown time"),
        end=formats.end_reason(conversation.tip.end_reason) or formats.status(Status.ENDED),
    )


def _job(row: JobRow, now: float) -> Sequence[str]:
    count = len(row.runs)
    text = ngettext(
        "1 run of a cron job, {ago}",
        "{count:,} runs of a cron job, the newest {ago}",
        count,
        count=count,
        ago=formats.ago(row.total.last_active, now),
    )
    enter = _("Enter folds them") if row.expanded else _("Enter shows them")
    return f"{'▾' if row.expanded else '▸'} {text}", _("the numbers are sums over all runs"), enter


def _suggestion(row: SuggestionRow) -> Sequence[str]:
    if row.profile:
        text = _("another search, in the profile {profile}", profile=one_line(row.profile, 40))
    else:
        text = _("another search, in {view}", view=view_name(row.view))
    return text, _("Enter takes it")
