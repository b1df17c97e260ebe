"""Cards that show a text: the details of a conversation, and a message as stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from rich.cells import cell_len

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import added
from hermes_browse.store.connection.stored_values import as_time
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.messages.details import Details, ToolCount
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Status, Tokens
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ...settings.keys.screen_commands import DETAILS, RAW
from ...text import formats, sentences
from ...text.styled import Line, line_text
from ...widgets.card import LinesCard
from ..panes import Panes

_TITLE_SOURCES = {
    "user": N_("given by you"),
    "llm": N_("written by a model"),
    "derived": N_("from the first message"),
}
_COST_STATUS = {
    "actual": N_("as billed"),
    "estimated": N_("an estimate"),
    "included": N_("included in a subscription"),
    "unknown": N_("not known"),
}
_COST_SOURCES = {
    "provider_cost_api": N_("from the provider's cost API"),
    "provider_generation_api": N_("told by the provider with each answer"),
    "provider_models_api": N_("by the provider's list of prices"),
    "official_docs_snapshot": N_("by published prices Hermes knows"),
    "user_override": N_("by your own prices"),
    "custom_contract": N_("by your contract"),
    "none": N_("no price known"),
}
_KINDS = {
    ConversationKind.CHAT: N_("chat"),
    ConversationKind.AUTOMATION: N_("automation"),
    ConversationKind.SUBAGENT: N_("subagent"),
}
_LABEL = 14
"""Cells of the labels."""
_MOST = 300
"""Code points of a value."""

Row = tuple[str, ...]
"""A label, a value as stored, and perhaps a printable note behind it; without a value it is left
out."""


def _when(moment: float | None, now: float) -> str:
    if moment is None:
        return ""
    time = _("{day}, {time}", day=formats.day(moment), time=formats.clock(moment))
    return formats.joined(time, formats.ago(moment, now))


def _if_any(words: str, count: int) -> str:
    """Fill in a count; without one there are no words."""
    return words.format(count=count) if count else ""


def _words(texts: Mapping[str, str], code: str) -> str:
    """Return the words for a code; an unknown code as stored."""
    return _(texts[code]) if code in texts else code


def _state(conversation: Conversation, now: float) -> Row:
    tip, status = conversation.tip, conversation.status
    reason = why = sentences.end_reason(tip.end_reason)
    if tip.end_reason and reason != tip.end_reason:
        why += f" ({tip.end_reason})"
    if tip.ended_at is not None:
        ended = _when(tip.ended_at, now)
        return pgettext("session", "ended"), formats.joined(ended, why or _("no reason given"))
    state = _("no messages") if status is Status.EMPTY else sentences.status(status)
    return pgettext("session", "state"), formats.joined(state, why if reason else "")


def _about(conversation: Conversation, facts: Mapping[str, str], now: float) -> list[Row]:
    kind = formats.joined(
        # Kind and relation of a subagent are the same word.
        *dict.fromkeys((_(_KINDS[conversation.kind]), sentences.relation(conversation.relation))),
        _("archived") if conversation.archived else "",
        _("pinned") if conversation.pinned else "",
        _("hidden by Hermes") if conversation.hidden else "",
        conversation.note,
    )
    title = _words(_TITLE_SOURCES, facts["title_source"]) if conversation.title else ""
    family = {"branch": conversation.branches, "subagent": conversation.subagents}
    return [
        (_("kind"), kind),
        (_("title"), title),
        (_("tags"), formats.hashtags(conversation.tags)),
        (_("source"), conversation.source),
        (_("profile"), facts["profile_name"]),
        (_("started"), _when(conversation.root.started_at, now)),
        (_("last active"), _when(conversation.last_active, now)),
        (_("read in Hermes"), _when(as_time(facts["last_read_at"]), now)),
        _state(conversation, now),
        (_("doing"), facts["last_activity_description"]),
        (_("directory"), conversation.cwd or ""),
        (_("repository"), facts["git_repo_root"]),
        (_("branch"), conversation.git_branch or ""),
        (_("family"), sentences.counts_line(family)),
    ]


def _origin(facts: Mapping[str, str]) -> list[Row]:
    chat = formats.joined(facts["chat_name"] or facts["display_name"], facts["chat_id"])
    if facts["chat_type"] and chat:
        chat += f" ({facts['chat_type']})"
    return [
        (_("chat"), chat),
        (_("person"), formats.joined(facts["user_name"], facts["user_id"])),
        (_("topic"), formats.joined(facts["chat_topic"], facts["thread_id"])),
        (_("platform"), facts["platform"]),
    ]


def _models(conversation: Conversation, details: Details) -> list[Row]:
    route = ("billing_provider", "billing_mode", "billing_base_url")
    uses = [
        formats.joined(
            use.model or _("unnamed"),
            use.provider,
            _("for {task}", task=use.task) if use.task else "",
            formats.counted(use.calls, "request") if use.calls else "",
            _("{count} tok", count=formats.number(use.tokens)) if use.tokens else "",
            formats.money(use.cost_usd),
        )
        for use in details.models
    ]
    return [
        (_("model"), conversation.model or ""),
        (_("provider"), formats.joined(*(details.facts[each] for each in route))),
        *zip([_("used"), *[""] * len(uses)], uses, strict=False),
    ]


def _tokens(tokens: Tokens) -> list[Row]:
    if not tokens.total:
        return []
    seen = tokens.input + tokens.cache_read + tokens.cache_write
    share = tokens.cache_read / seen if seen else 0.0
    of_it = _if_any(_("{count:,} of them reasoning"), tokens.reasoning)
    sent = formats.joined(
        _("{count:,} uncached", count=tokens.input),
        _("{count:,} from cache", count=tokens.cache_read),
        _("{share:.0%} of what was sent", share=share) if share else "",
    )
    return [
        (_("tokens"), _("{count:,} in all", count=tokens.total)),
        (f"  {_('sent')}", sent),
        ("", _if_any(_("{count:,} written to cache"), tokens.cache_write)),
        (f"  {pgettext('tokens', 'written')}", formats.joined(f"{tokens.output:,}", of_it)),
    ]


def _context(details: Details) -> str:
    """Say what the model has in its context."""
    size = details.live_bytes + details.prompt_bytes
    values = {
        "messages": formats.counted(details.live_rows, "message"),
        "size": formats.size(size),
        "tokens": formats.number(size / formats.BYTES_PER_TOKEN),
        "bytes": formats.BYTES_PER_TOKEN,
    }
    if details.live_images:
        return ngettext(
            "{messages}, {size} and 1 message with images: about {tokens} tokens (guessed, {bytes} bytes each)",
            "{messages}, {size} and {count:,} messages with images: "
            "about {tokens} tokens (guessed, {bytes} bytes each)",
            details.live_images,
            **values,
        )
    return _("{messages}, {size}: about {tokens} tokens (guessed, {bytes} bytes each)", **values)


def _cost(conversation: Conversation, details: Details) -> list[Row]:
    free = conversation.cost_usd == 0
    nothing = pgettext("cost", "nothing") if free else pgettext("cost", "unknown")
    cost = formats.joined(
        formats.costs(conversation) or nothing,
        _words(_COST_STATUS, details.facts["cost_status"]),
        _words(_COST_SOURCES, details.facts["cost_source"]),
    )
    both = ""
    if details.actual_usd is not None and details.estimated_usd is not None:
        both = _(
            "{billed} billed · {estimated} estimated",
            billed=formats.amount(details.actual_usd, "cost"),
            estimated=formats.amount(details.estimated_usd, "cost"),
        )
    return [(_("cost"), cost), ("", both)]


def _messages(conversation: Conversation, details: Details) -> list[Row]:
    roles = (f"{count:,} {sentences.role(each, 'kind')}" for each, count in details.roles.items())
    parts = formats.listed(*roles)
    sentence = N_("{count:,} shown: {parts}") if parts else N_("{count:,} shown")
    states = Counter(details.states)
    size = formats.size(conversation.size) if conversation.size is not None else ""
    if size and conversation.subagents:
        size = _("{size}: what deleting it frees, with its subagents", size=size)
    return [
        (_("messages"), _(sentence, count=sum(details.roles.values()), parts=parts)),
        ("", _if_any(_("{count:,} summarised away for the model"), states[State.COMPACTED])),
        ("", _if_any(_("{count:,} rewound"), states[State.REWOUND])),
        ("", _if_any(_("{count:,} hidden: bookkeeping, or for the model alone"), details.hidden)),
        ("", _if_any(_("{count:,} repeated by a compaction, shown once"), details.repeated)),
        (_("size"), size),
    ]


def _tool(tool: ToolCount) -> Row:
    facts = formats.joined(formats.counted(tool.results, "result"), formats.size(tool.bytes))
    return one_line(tool.name, 40) or _("unnamed"), facts


def _identity(conversation: Conversation) -> list[Row]:
    segments, tip = conversation.segments, conversation.tip
    is_one = len(segments) == 1
    rows: list[Row] = []
    for number, segment in enumerate(segments, 1):
        label = "id" if is_one else _("part {number}", number=number)
        rows.append((label, segment.id, f"  {_('resumes here')}" if segment is tip else ""))
    return [
        *rows,
        (pgettext("session", "parent"), (tip.parent_id or "") if is_one else ""),
        (_("session key"), tip.session_key or ""),
    ]


def details_lines(
    conversation: Conversation, details: Details, now: float, forecast: str = ""
) -> list[Line]:
    """Return the lines of the card, not wrapped; `forecast` says when Hermes deletes the conversation,
    or why not."""
    facts = defaultdict(str, details.facts)
    details = details._replace(facts=facts)
    sections: dict[str, list[Row]] = {
        "": [*_about(conversation, facts, now), (_("retention"), forecast)],
        _("Where it comes from"): _origin(facts),
        _("Model, tokens, cost"): [
            *_models(conversation, details),
            *_tokens(conversation.tokens),
            (_("requests"), _if_any("{count:,}", details.api_calls)),
            (_("live context"), _context(details)),
            *_cost(conversation, details),
        ],
        _("Messages"): _messages(conversation, details),
        _("Tools"): list(map(_tool, details.tools)),
        _("Ids"): _identity(conversation),
    }
    lines: list[Line] = []
    for title, rows in sections.items():
        known = [row for row in rows if row[1]]
        if known and title:
            lines += [[], [(title, "heading")]]
        for label, value, *note in known:
            name = formats.fit(label, max(_LABEL, cell_len(label) + 1))
            lines.append([(name, "dim"), ("".join([one_line(value, _MOST), *note]), "text")])
    return lines


class RawCard(LinesCard):
    """A chat message as stored: its JSON, and the same as lines with colours."""

    KEYS = RAW
    VIEW = "raw"


class DetailsCard(LinesCard):
    """The lines of `details_lines`; its result is the name of a screen about the conversation, or
    None."""

    KEYS = DETAILS
    VIEW = "details"
    HAS_LABELS = True


def read_card(
    store: OpenStore, catalog: Catalog, conversation: Conversation, now: float
) -> DetailsCard:
    """Read what is missing of a conversation, and make its card; on a reading thread."""
    if conversation.shown_count is None:
        (conversation,) = store.with_details([conversation])
    if conversation.size is None and catalog.of_session(conversation.id) is not None:
        sizes = store.sizes_of(affected_by_delete(catalog, conversation.id).sessions)
        conversation = conversation._replace(size=added(sizes.values()).total)
    words = ""
    if not store.source.is_several:  # each has rules of its own
        forecast = store.retention(now).forecast(conversation)
        days, words = forecast.prune_in_days, forecast.reason
        if days is not None:
            words = ngettext(
                "in 1 day ({reason})",
                "in {days:,} days ({reason})",
                round(days),
                days=round(days),
                reason=words,
            )
    lines = details_lines(conversation, store.details(conversation), now, words)
    title = one_line(formats.name(conversation), 200)
    return DetailsCard(title, "\n".join([title, "", *map(line_text, lines)]), lines)


async def show_details(main: Panes, conversation: Conversation) -> None:
    now, catalog = main.clock(), main.catalog
    card = await main.read(lambda store: read_card(store, catalog, conversation, now))
    screen = await main.ask(card, main)
    if screen is not None:
        main.open_screen(screen, conversation)
