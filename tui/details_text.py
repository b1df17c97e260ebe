"""The card of a conversation in words: every field worth knowing that has a value, under a few headings."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_browse.store.details import Details, ModelUse
from hermes_browse.store.models import Conversation, Kind, Relation, Session, State, Status
from hermes_browse.store.text import one_line

from . import formats
from .styled import Line

BYTES_PER_TOKEN = 4
"""By which Hermes guesses as well (agent/model_metadata.py, 0.19: four characters)."""
_TITLE_SOURCES = {
    "user": "given by you",
    "llm": "found by a model",
    "derived": "from the first message",
}
_COST_STATUS = {
    "actual": "as billed",
    "estimated": "an estimate",
    "included": "included in a subscription",
    "unknown": "not known",
}
_COST_SOURCES = {
    "provider_cost_api": "from the provider's cost API",
    "provider_generation_api": "told by the provider with each answer",
    "provider_models_api": "by the provider's list of prices",
    "official_docs_snapshot": "by published prices Hermes knows",
    "user_override": "by your own prices",
    "custom_contract": "by your contract",
    "none": "no price known",
}
_STATUS = {Status.LIVE: "live", Status.OPEN: "open", Status.ENDED: "ended", Status.EMPTY: "no messages"}
LABEL = 14
"""Cells of the labels."""

Row = tuple[str, str]
"""A label and its value, both printable and on one line."""


def _when(moment: float | None, now: float) -> str:
    if moment is None:
        return ""
    ago = formats.age(moment, now)
    since = f" · {ago}{'' if ago in ('now', 'later') or ago[-1:].isdigit() else ' ago'}" if ago else ""
    return f"{formats.day(moment)}, {formats.clock(moment)}{since}"


def _ended(tip: Session, status: Status, now: float) -> str:
    reason = formats.end_reason(tip.end_reason)
    stored = f" ({one_line(tip.end_reason, 60)})" if tip.end_reason and reason != tip.end_reason else ""
    if tip.ended_at is None:
        return _STATUS[status] if not reason else f"{_STATUS[status]} · {reason}{stored}"
    return f"{_when(tip.ended_at, now)} · {reason or 'no reason given'}{stored}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _tokens(conversation: Conversation, details: Details) -> Iterator[Row]:
    tokens = conversation.tokens
    if tokens.total:
        yield "tokens", f"{tokens.total:,} in all"
        seen = tokens.input + tokens.cache_read + tokens.cache_write
        share = f" · {tokens.cache_read / seen:.0%} of what was sent" if seen and tokens.cache_read else ""
        yield "  sent", f"{tokens.input:,} anew · {tokens.cache_read:,} from cache{share}"
        if tokens.cache_write:
            yield "", f"{tokens.cache_write:,} written to cache"
        thought = f" · {tokens.reasoning:,} of them reasoning" if tokens.reasoning else ""
        yield "  written", f"{tokens.output:,}{thought}"
    if details.api_calls:
        yield "requests", f"{details.api_calls:,}"
    size = details.live_bytes + details.prompt_bytes
    images = f" and {_count(details.live_images, 'message')} with images" if details.live_images else ""
    yield (
        "live context",
        f"{_count(details.live_rows, 'message')}, {formats.size(size)}{images}: "
        f"about {formats.number(size / BYTES_PER_TOKEN)} tokens (guessed, {BYTES_PER_TOKEN} bytes each)",
    )


def _cost(conversation: Conversation, details: Details) -> Iterator[Row]:
    status, source = details.facts.get("cost_status", ""), details.facts.get("cost_source", "")
    words = [
        formats.money(conversation.cost_usd) or ("nothing" if conversation.cost_usd == 0 else "unknown"),
        _COST_STATUS.get(status, one_line(status, 40)),
        _COST_SOURCES.get(source, one_line(source, 40)),
    ]
    yield "cost", " · ".join(word for word in words if word)
    if details.actual_usd is not None and details.estimated_usd is not None:
        both = f"{formats.money(details.actual_usd) or '$0'} billed"
        yield "", f"{both} · {formats.money(details.estimated_usd) or '$0'} estimated"


def _origin(facts: dict[str, str]) -> Iterator[Row]:
    def named(name: str, number: str) -> str:
        texts = [one_line(facts[key], 80) for key in (name, number) if key in facts]
        return " · ".join(texts)

    chat = named("chat_name" if "chat_name" in facts else "display_name", "chat_id")
    if "chat_type" in facts and chat:
        chat += f" ({one_line(facts['chat_type'], 30)})"
    yield "chat", chat
    yield "person", named("user_name", "user_id")
    yield "topic", named("chat_topic", "thread_id")
    yield "platform", one_line(facts.get("platform", ""), 40)


def _model(use: ModelUse) -> str:
    words = [
        one_line(use.model, 60) or "unnamed",
        one_line(use.provider, 30),
        f"for {one_line(use.task, 40)}" if use.task else "",
        _count(use.calls, "request") if use.calls else "",
        f"{formats.number(use.tokens)} tok" if use.tokens else "",
        formats.money(use.cost_usd),
    ]
    return " · ".join(word for word in words if word)


def _messages(details: Details) -> Iterator[Row]:
    shown = sum(details.roles.values())
    parts = ", ".join(f"{count:,} {one_line(role, 20)}" for role, count in details.roles.items())
    yield "messages", f"{shown:,} shown" + (f": {parts}" if parts else "")
    left = [
        (details.states.get(State.COMPACTED, 0), "summarised away for the model"),
        (details.states.get(State.REWOUND, 0), "rewound"),
        (details.hidden, "hidden: bookkeeping, or for the model alone"),
        (details.repeated, "repeated by a compaction, shown once"),
    ]
    for count, words in left:
        if count:
            yield "", f"{count:,} {words}"


def _about(conversation: Conversation, details: Details, now: float) -> Iterator[Row]:
    facts, tip = details.facts, conversation.tip
    kind = {Kind.CHAT: "chat", Kind.AUTOMATION: "automation", Kind.SUBAGENT: "subagent"}[conversation.kind]
    relation = formats.relation(conversation.relation) if conversation.relation is not Relation.ROOT else ""
    marks = [
        kind,
        relation,
        "archived" if conversation.archived else "",
        "pinned" if conversation.pinned else "",
        "hidden by Hermes" if conversation.hidden else "",
        one_line(conversation.note, 80),
    ]
    yield "kind", " · ".join(mark for mark in marks if mark)
    if conversation.title:
        source = facts.get("title_source", "")
        yield "title", _TITLE_SOURCES.get(source, one_line(source, 40))
    yield "source", one_line(conversation.source, 40)
    yield "profile", one_line(facts.get("profile_name", ""), 40)
    yield "started", _when(conversation.root.started_at, now)
    yield "last active", _when(conversation.last_active, now)
    yield "ended" if tip.ended_at is not None else "state", _ended(tip, conversation.status, now)
    yield "doing", one_line(facts.get("last_activity_description", ""), 120)
    yield "directory", one_line(conversation.cwd or "", 200)
    yield "repository", one_line(facts.get("git_repo_root", ""), 200)
    yield "branch", one_line(conversation.git_branch or "", 100)
    yield (
        "family",
        ", ".join(
            _count(count, word)
            for count, word in ((conversation.branches, "branch"), (conversation.subagents, "subagent"))
            if count
        ).replace("branchs", "branches"),
    )


def _identity(conversation: Conversation) -> Iterator[Row]:
    for number, segment in enumerate(conversation.segments, 1):
        label = "id" if len(conversation.segments) == 1 else f"segment {number}"
        yield label, one_line(segment.id, 200) + ("  resumes here" if segment is conversation.tip else "")
    if conversation.tip.parent_id and len(conversation.segments) == 1:
        yield "parent", one_line(conversation.tip.parent_id, 200)
    yield "session key", one_line(conversation.tip.session_key or "", 200)


def details_lines(conversation: Conversation, details: Details, now: float, fate: str = "") -> list[Line]:
    """The card as lines, not wrapped.

    Args:
        conversation: Whose.
        details: Read for it.
        now: Unix seconds; for how long ago things were.
        fate: When Hermes deletes it by itself, or why it does not.
    """
    facts = details.facts
    route = [one_line(facts.get(name, ""), 120) for name in ("billing_provider", "billing_mode", "billing_base_url")]
    models = [
        ("model", one_line(conversation.model or "", 80)),
        ("provider", " · ".join(each for each in route if each)),
    ]
    models += [("used" if not number else "", _model(use)) for number, use in enumerate(details.models)]
    tools = [
        (one_line(tool.name, 40) or "unnamed", f"{_count(tool.results, 'result')} · {formats.size(tool.bytes)}")
        for tool in details.tools
    ]
    sections: list[tuple[str, list[Row]]] = [
        ("", [*_about(conversation, details, now), ("retention", one_line(fate, 200))]),
        ("Where it comes from", list(_origin(facts))),
        ("Model, tokens, cost", [*models, *_tokens(conversation, details), *_cost(conversation, details)]),
        ("Messages", list(_messages(details))),
        ("Tools", tools),
        ("Ids", list(_identity(conversation))),
    ]
    lines: list[Line] = []
    for title, rows in sections:
        kept = [(label, value) for label, value in rows if value]
        if not kept:
            continue
        if lines:
            lines.append([])
        if title:
            lines.append([(title, "heading")])
        lines += [[(formats.fit(label, max(LABEL, len(label) + 1)), "dim"), (value, "text")] for label, value in kept]
    return lines
