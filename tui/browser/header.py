"""One-line texts of the main screen: titles, views and status, and what the status tells of the row
under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.chat_message import Reading, State
from hermes_browse.store.places import id_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import (
    Conversation,
    ConversationKind,
    Lineage,
    Status,
    View,
)
from hermes_browse.store.since import Attention
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ..text import formats, sentences
from ..text.formats import clip
from ..widgets.lines import clicked
from ..widgets.list_rows import ListRow
from .list.columns import view_labels, view_name
from .list.rows import ConversationRow, HitRow, JobRow, MoreRow, SuggestionRow, family, glyph


def store_name(location: Location) -> str:
    return one_line(location.name, 30)


def title(location: Location, attention: Attention, shown: str, width: int) -> Content:
    """Build the title: program, store, what asks for attention, and the counts of shown and hidden
    conversations, of which the last are left out where there is no room."""
    asks = Content.styled(_attention(attention), "bold $accent")
    left = Content.assemble(
        (" hermes-browse  ", "bold"),
        (store_name(location), "$accent"),
        asks.stylize(clicked("screen.do(\"show_screen('since')\")")),
    )
    room = width - left.cell_length - 1
    shown = formats.fitting(shown, room - 2)
    return Content.assemble(left, " " * max(room - cell_len(shown), 2), (shown, "dim"))


def _attention(attention: Attention) -> str:
    """Return what asks for attention, with the key that shows it; empty if nothing does."""
    waiting, failed, new = len(attention.waiting), attention.failures, len(attention.unread)
    facts = formats.joined(
        ngettext("{count:,} waits", "{count:,} wait", waiting) if waiting else "",
        ngettext("{count:,} job failed", "{count:,} jobs failed", failed) if failed else "",
        _("{count:,} new", count=new) if new else "",
    )
    return f"  A {facts}" if facts else ""


def views(
    catalog: Catalog, view: View | None, suffix: str, old: int, width: int, look: str = "dim"
) -> Content:
    """Build the line of views with their counts, which ends with a suffix of a look; the other
    arguments are those of `view_labels`."""
    parts: list[Content] = [Content(" ")]
    calls = [*(f"show_view('{each.value}')" for each in View), "show_screen('old')"]
    labels = view_labels(catalog, view, suffix, width, old)
    for (label, is_current), call in zip(labels, calls, strict=False):
        shown = Content.styled(f" {label} ", "bold reverse" if is_current else "dim")
        parts += [shown.stylize(clicked(f"screen.do({call!r})")), Content(" ")]
    return Content("").join([*parts, Content.styled(f"  {suffix}", look)])


def offers(choices: Sequence[str], width: int) -> Content:
    """Build the line of completions, as many as fit."""
    key = _("Tab takes") + " "
    parts, left = [Content.assemble("  ", (key, "dim"))], width - cell_len(key) - 3
    for number, choice in enumerate(choices):
        label = one_line(choice, 60).strip()
        left -= cell_len(label) + 2
        if left < 0:
            break
        parts += [Content.styled(label, "bold $accent" if number == 0 else "dim"), Content("  ")]
    return Content("").join(parts)


class StatusText(NamedTuple):
    """A sentence of the status line."""

    text: str = ""
    is_of_page: bool = False
    """It goes when the transcript shows another page."""
    is_failure: bool = False


def status(said: StatusText, about: str, progress: str, writing: str, width: int) -> Content:
    """Build the status line: what was said last, else what there is to tell of the row under the
    cursor; and what runs, else who writes, if there is room for it in the line of the sentence: it
    is not worth a line of its own. A failure stands alone."""
    if said.is_failure:
        return Content.styled(one_line(said.text, 400), "$error")
    text, look = (said.text, "") if said.text else (about, "dim")
    is_roomy = cell_len(text) + cell_len(writing) + len("  │  ") <= width
    state = progress or (writing if is_roomy else "")
    state = (" │ " if text and state else "") + one_line(state, 200)
    return Content.assemble((one_line(text, 400), look), (state, "dim"))


_TITLE = 32
"""Cells of a title that facts beside it leave free."""


def conversation_title(conversation: Conversation, width: int) -> Content:
    """Build the title of the transcript: name, source, model, number of messages."""
    model = one_line((conversation.model or "").rpartition("/")[2], 30)
    messages = formats.messages(conversation.message_count)
    if conversation.shown_count is None:
        messages = f"~{messages}"
    facts = [fact for fact in (one_line(conversation.source, 20), model, messages) if fact]
    name = one_line(formats.name(conversation), 300)
    while facts and width - 5 - cell_len(" · ".join(facts)) < min(cell_len(name), _TITLE):
        del facts[0]
    right = " · ".join(facts)
    name = clip(name, max(width - cell_len(right) - 5, 10))
    space = max(width - cell_len(name) - cell_len(right) - 3, 1)
    return Content.assemble("  ", (name, "bold"), " " * space, (right, "dim"))


def conversation_facts(
    conversation: Conversation, reading: Reading, width: int, here: str = ""
) -> Content:
    """Build the facts line: what the model saw at a message, state, resume target, directory,
    branch, tokens, cost."""
    state = sentences.status(conversation.status)
    if conversation.status is Status.ENDED:
        state = sentences.end_reason(conversation.tip.end_reason) or state
    count, total = len(conversation.segments), conversation.tokens.total
    readings = {
        Reading.SAID: "",
        Reading.LIVE: _("what the model still sees"),
        Reading.EVERYTHING: pgettext("reading", "everything"),
    }
    resumes = _(
        "resumes …{id} (newest of {count} parts)", id=id_of(conversation.id)[-6:], count=count
    )
    facts = formats.joined(
        here,
        readings[reading],
        one_line(conversation.note, 60),
        state,
        _("archived") if conversation.archived else "",
        _("pinned") if conversation.pinned else "",
        formats.hashtags(conversation.tags),
        resumes if count > 1 else "",
        one_line(conversation.cwd or "", 60),
        one_line(conversation.git_branch or "", 30),
        _("{count} tok", count=formats.number(total)) if total else "",
        formats.costs(conversation),
    )
    # Whole facts, as half of a cost would be another one.
    facts = clip(formats.fitting(facts, width - 3), width - 3)
    return Content.assemble("  ", (facts, "dim"))


def lineage_title(lineage: Lineage, compactions: int) -> Content:
    """Build the title of the tree: its size, and a warning if Hermes would resume another
    session."""
    count = len(lineage.nodes)
    label = ngettext("Lineage · 1 session", "Lineage · {count} sessions", count)
    if lineage.predicted != lineage.target:
        # The warning first: a narrow pane cuts the end.
        warning = _("Hermes would open {id} instead", id=one_line(lineage.predicted, 60))
        return Content.assemble((f"  {warning}", "$warning"), (f" · {label}", "bold"))
    is_chain = sum(node.on_path for node in lineage.nodes) > 1
    cost = formats.money(lineage.nodes[0].tree_cost_usd) if count > 1 else ""
    compressed = ngettext("compressed once", "compressed {count:,} times", compactions)
    facts = formats.joined(
        lineage.reason if is_chain else "",
        _("{cost} in all", cost=cost) if cost else "",
        compressed if compactions else "",
    )
    return Content.assemble((f"  {label}", "bold"), (f" · {facts}" if facts else "", "dim"))


_HIT_TEXTS = {
    "user": N_("said by you {ago} in “{title}”"),
    "assistant": N_("said by the assistant {ago} in “{title}”"),
    "tool": N_("a tool result {ago} in “{title}”"),
    "summary": N_("a compaction summary {ago} in “{title}”"),
}
_STATES = {
    State.LIVE: N_("the model still has it"),
    State.COMPACTED: N_("the model has a summary of it at most"),
    State.REWOUND: N_("rewound"),
}
_NAME = 24
"""Maximum cells of a title in a sentence."""


def about(row: ListRow | None, now: float, enter: str, room: int) -> str:
    """Describe a row; empty for notes and for rows of other screens.

    Args:
        now: Unix seconds.
        enter: Text on Enter for a conversation, with a field `id`; empty if it does nothing.
        room: Cells. A longer description leaves out what Enter does, then what is said before that:
            a line that grew with every other row would move the panes under the cursor.
    """
    facts = [*filter(None, _parts(row, now, enter))]  # a title in one may hold what joins them
    while len(facts) > 1 and cell_len(formats.joined(*facts)) > room:
        facts.pop()
    return formats.joined(*facts)


def _parts(row: ListRow | None, now: float, enter: str) -> Sequence[str]:
    if isinstance(row, ConversationRow):
        does = "" if row.hits else enter.format(id=row.conversation.id[-6:])
        return *_conversation(row, now), does
    if isinstance(row, JobRow):
        return _job(row, now)
    if isinstance(row, HitRow):
        text = _(
            _HIT_TEXTS.get(row.hit.speaker, N_("found {ago} in “{title}”")),
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
            title=_title(row.conversation),
        )
        return more, _("Enter shows them")
    if isinstance(row, SuggestionRow):
        return _suggestion(row)
    return ()


def _title(conversation: Conversation | None) -> str:
    return (
        "?" if conversation is None else formats.clip(one_line(formats.name(conversation)), _NAME)
    )


def _conversation(row: ConversationRow, now: float) -> list[str]:
    """Return what the signs of a row mean, each with its sign; `·` is left out, as it looks like a
    separator."""
    conversation, sign = row.conversation, glyph(row.conversation)[0]
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
        formats.counted(conversation.new_messages, "new message")
        if conversation.new_messages
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
        end=sentences.end_reason(conversation.tip.end_reason) or sentences.status(Status.ENDED),
    )


def _job(row: JobRow, now: float) -> Sequence[str]:
    count = len(row.runs)
    text = ngettext(
        "1 run of a cron job, {ago}",
        "{count:,} runs of a cron job, the newest {ago}",
        count,
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
