"""The details of a conversation as lines: labels and values, in sections."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from hermes_browse.store.connection.stored_values import as_time
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.messages.details import Details, ModelUse
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Status
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ...text import formats
from ...text.styled import Line

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

Row = tuple[str, str]
"""A label and its value, both printable, on one line."""


def _when(moment: float | None, now: float) -> str:
    if moment is None:
        return ""
    ago = formats.ago(moment, now)
    time = _("{day}, {time}", day=formats.day(moment), time=formats.clock(moment))
    return f"{time} · {ago}" if ago else time


def _words(texts: dict[str, str], code: str, limit: int = 40) -> str:
    """Return the words for a code; an unknown code as stored, in at most `limit` code points."""
    return _(texts[code]) if code in texts else one_line(code, limit)


def _status(status: Status) -> str:
    return _("no messages") if status is Status.EMPTY else formats.status(status)


def _ended(tip: Session, status: Status, now: float) -> str:
    reason = formats.end_reason(tip.end_reason)
    stored = (
        f" ({one_line(tip.end_reason, 60)})" if tip.end_reason and reason != tip.end_reason else ""
    )
    if tip.ended_at is None:
        return f"{_status(status)} · {reason}{stored}" if reason else _status(status)
    return f"{_when(tip.ended_at, now)} · {reason or _('no reason given')}{stored}"


def _tokens(conversation: Conversation, details: Details) -> Iterator[Row]:
    tokens = conversation.tokens
    if tokens.total:
        yield _("tokens"), _("{count:,} in all", count=tokens.total)
        seen = tokens.input + tokens.cache_read + tokens.cache_write
        sent = [
            _("{count:,} uncached", count=tokens.input),
            _("{count:,} from cache", count=tokens.cache_read),
        ]
        if seen and tokens.cache_read:
            sent.append(_("{share:.0%} of what was sent", share=tokens.cache_read / seen))
        yield f"  {_('sent')}", " · ".join(sent)
        if tokens.cache_write:
            yield "", _("{count:,} written to cache", count=tokens.cache_write)
        reasoning = (
            _("{count:,} of them reasoning", count=tokens.reasoning) if tokens.reasoning else ""
        )
        yield (
            f"  {pgettext('tokens', 'written')}",
            f"{tokens.output:,}{f' · {reasoning}' if reasoning else ''}",
        )
    if details.api_calls:
        yield _("requests"), f"{details.api_calls:,}"
    size = details.live_bytes + details.prompt_bytes
    if details.live_images:
        sentence = ngettext(
            "{messages}, {size} and 1 message with images: about {tokens} tokens (guessed, {bytes} bytes each)",
            "{messages}, {size} and {count:,} messages with images: "
            "about {tokens} tokens (guessed, {bytes} bytes each)",
            details.live_images,
        )
    else:
        sentence = _("{messages}, {size}: about {tokens} tokens (guessed, {bytes} bytes each)")
    yield (
        _("live context"),
        sentence.format(
            messages=formats.counted(details.live_rows, "message"),
            size=formats.size(size),
            count=details.live_images,
            tokens=formats.number(size / formats.BYTES_PER_TOKEN),
            bytes=formats.BYTES_PER_TOKEN,
        ),
    )


def _cost(conversation: Conversation, details: Details) -> Iterator[Row]:
    status, source = details.facts.get("cost_status", ""), details.facts.get("cost_source", "")
    words = [
        formats.costs(conversation)
        or (
            pgettext("cost", "nothing")
            if conversation.cost_usd == 0
            else pgettext("cost", "unknown")
        ),
        _words(_COST_STATUS, status),
        _words(_COST_SOURCES, source),
    ]
    yield _("cost"), " · ".join(word for word in words if word)
    if details.actual_usd is not None and details.estimated_usd is not None:
        billed, estimated = (
            formats.money(each) or "$0" for each in (details.actual_usd, details.estimated_usd)
        )
        yield (
            "",
            _("{billed} billed · {estimated} estimated", billed=billed, estimated=estimated),
        )


def _origin(facts: dict[str, str]) -> Iterator[Row]:
    def named(name: str, number: str) -> str:
        return " · ".join(one_line(facts[key], 80) for key in (name, number) if key in facts)

    chat = named("chat_name" if "chat_name" in facts else "display_name", "chat_id")
    if "chat_type" in facts and chat:
        chat += f" ({one_line(facts['chat_type'], 30)})"
    yield _("chat"), chat
    yield _("person"), named("user_name", "user_id")
    yield _("topic"), named("chat_topic", "thread_id")
    yield _("platform"), one_line(facts.get("platform", ""), 40)


def _model(use: ModelUse) -> str:
    words = [
        one_line(use.model, 60) or _("unnamed"),
        one_line(use.provider, 30),
        _("for {task}", task=one_line(use.task, 40)) if use.task else "",
        formats.counted(use.calls, "request") if use.calls else "",
        _("{count} tok", count=formats.number(use.tokens)) if use.tokens else "",
        formats.money(use.cost_usd),
    ]
    return " · ".join(word for word in words if word)


def _messages(conversation: Conversation, details: Details) -> Iterator[Row]:
    shown = sum(details.roles.values())
    parts = _(", ").join(
        f"{count:,} {formats.role(each, 'kind')}" for each, count in details.roles.items()
    )
    sentence = _("{count:,} shown: {parts}") if parts else _("{count:,} shown")
    yield _("messages"), sentence.format(count=shown, parts=parts)
    not_shown = [
        (details.states.get(State.COMPACTED, 0), _("{count:,} summarised away for the model")),
        (details.states.get(State.REWOUND, 0), _("{count:,} rewound")),
        (details.hidden, _("{count:,} hidden: bookkeeping, or for the model alone")),
        (details.repeated, _("{count:,} repeated by a compaction, shown once")),
    ]
    for count, words in not_shown:
        if count:
            yield "", words.format(count=count)
    if conversation.size is not None:
        told = (
            _("{size}: what deleting it frees, with its subagents")
            if conversation.subagents
            else "{size}"
        )
        yield _("size"), told.format(size=formats.size(conversation.size))


def _about(conversation: Conversation, details: Details, now: float) -> Iterator[Row]:
    facts, tip = details.facts, conversation.tip
    marks = [
        _(_KINDS[conversation.kind]),
        formats.relation(conversation.relation),
        _("archived") if conversation.archived else "",
        _("pinned") if conversation.pinned else "",
        _("hidden by Hermes") if conversation.hidden else "",
        one_line(conversation.note, 80),
    ]
    yield _("kind"), " · ".join(mark for mark in marks if mark)
    if conversation.title:
        yield _("title"), _words(_TITLE_SOURCES, facts.get("title_source", ""))
    yield _("source"), one_line(conversation.source, 40)
    yield _("profile"), one_line(facts.get("profile_name", ""), 40)
    yield _("started"), _when(conversation.root.started_at, now)
    yield _("last active"), _when(conversation.last_active, now)
    yield _("read in Hermes"), _when(as_time(facts.get("last_read_at")), now)
    yield (
        pgettext("session", "ended") if tip.ended_at is not None else pgettext("session", "state"),
        _ended(tip, conversation.status, now),
    )
    yield _("doing"), one_line(facts.get("last_activity_description", ""), 120)
    yield _("directory"), one_line(conversation.cwd or "", 200)
    yield _("repository"), one_line(facts.get("git_repo_root", ""), 200)
    yield _("branch"), one_line(conversation.git_branch or "", 100)
    yield (
        _("family"),
        _(", ").join(
            formats.counted(count, word)
            for count, word in (
                (conversation.branches, "branch"),
                (conversation.subagents, "subagent"),
            )
            if count
        ),
    )


def _identity(conversation: Conversation) -> Iterator[Row]:
    for number, segment in enumerate(conversation.segments, 1):
        label = "id" if len(conversation.segments) == 1 else _("part {number}", number=number)
        yield (
            label,
            one_line(segment.id, 200)
            + (f"  {_('resumes here')}" if segment is conversation.tip else ""),
        )
    if conversation.tip.parent_id and len(conversation.segments) == 1:
        yield pgettext("session", "parent"), one_line(conversation.tip.parent_id, 200)
    yield _("session key"), one_line(conversation.tip.session_key or "", 200)


def details_lines(
    conversation: Conversation, details: Details, now: float, forecast: str = ""
) -> list[Line]:
    """Return the lines of the card, not wrapped; `forecast` says when Hermes deletes the conversation,
    or why not."""
    facts = details.facts
    route = [
        one_line(facts.get(name, ""), 120)
        for name in ("billing_provider", "billing_mode", "billing_base_url")
    ]
    models = [
        (_("model"), one_line(conversation.model or "", 80)),
        (_("provider"), " · ".join(each for each in route if each)),
    ]
    models += [
        (_("used") if not number else "", _model(use)) for number, use in enumerate(details.models)
    ]
    tools = [
        (
            one_line(tool.name, 40) or _("unnamed"),
            f"{formats.counted(tool.results, 'result')} · {formats.size(tool.bytes)}",
        )
        for tool in details.tools
    ]
    sections = [
        ("", [*_about(conversation, details, now), (_("retention"), one_line(forecast, 200))]),
        (_("Where it comes from"), list(_origin(facts))),
        (
            _("Model, tokens, cost"),
            [*models, *_tokens(conversation, details), *_cost(conversation, details)],
        ),
        (_("Messages"), list(_messages(conversation, details))),
        (_("Tools"), tools),
        (_("Ids"), list(_identity(conversation))),
    ]
    lines: list[Line] = []
    for title, rows in sections:
        rows = [(label, value) for label, value in rows if value]
        if not rows:
            continue
        if lines:
            lines.append([])
        if title:
            lines.append([(title, "heading")])
        lines += [
            [(formats.fit(label, max(_LABEL, cell_len(label) + 1)), "dim"), (value, "text")]
            for label, value in rows
        ]
    return lines
