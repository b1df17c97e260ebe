"""The sentences of the `--plain` dialogue: one thing in each line, in whole words, without columns or drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hermes_browse.store.messages.blocks import CALL, RESULT, SAID, SUMMARY, blocks_of
from hermes_browse.store.messages.models import ChatMessage, Hit, State
from hermes_browse.store.sessions.models import Conversation, Status, View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ..formats import counted, day_key, dollars, status, timestamp

HELP = N_("""\
A number opens the conversation or the hit with that number.
n: next page. p: previous page. l: the list again. q: leave.
/words: search, as in "/docker role:user". An empty / ends the search.
v chats, v automation, v archived, v all: another view.
In a conversation: n: later messages. p: earlier messages. b: from the beginning. e: the last messages.
t: tool output and summaries in full, or no longer. i: facts, the full id among them. c: the command that resumes it.
r: resume it in Hermes.
Archiving, deleting and exporting are commands: leave with q, then see hermes-browse --help.""")

_STATUS = {Status.LIVE: N_("live now"), Status.OPEN: N_("not ended"), Status.ENDED: "", Status.EMPTY: ""}


def ago(moment: float | None, now: float) -> str:
    """`3 hours ago`; a date for what is older than a month."""
    if moment is None:
        return _("at an unknown time")
    seconds = now - moment
    if seconds < 60:
        return _("just now")
    if seconds < 3600:
        count = int(seconds // 60)
        return ngettext("{count:,} minute ago", "{count:,} minutes ago", count).format(count=count)
    if seconds < 86_400:
        count = int(seconds // 3600)
        return ngettext("{count:,} hour ago", "{count:,} hours ago", count).format(count=count)
    if seconds < 30 * 86_400:
        count = int(seconds // 86_400)
        return ngettext("{count:,} day ago", "{count:,} days ago", count).format(count=count)
    return _("on {date}").format(date=day_key(moment) or _("an unknown day"))


def view_name(view: View) -> str:
    """What a view is called."""
    return {
        View.CHATS: pgettext("view", "chats"),
        View.AUTOMATION: pgettext("view", "automation"),
        View.ARCHIVED: pgettext("view", "archived"),
        View.ALL: pgettext("view", "all"),
    }[view]


def name_of(conversation: Conversation) -> str:
    """What it is called."""
    return one_line(conversation.title or conversation.preview or _("no text"), 120)


def conversation_line(conversation: Conversation, now: float) -> str:
    """A conversation in a sentence."""
    standing, segments, subagents = _STATUS[conversation.status], len(conversation.segments), conversation.subagents
    parts = [
        name_of(conversation).rstrip("."),
        ago(conversation.last_active, now),
        one_line(conversation.source, 20),
        counted(conversation.message_count, "message"),
        _(standing) if standing else "",
        status("pinned") if conversation.pinned else "",
        status("archived") if conversation.archived else "",
        counted(segments, "segment") if segments > 1 else "",
        counted(subagents, "subagent") if subagents else "",
    ]
    return _("{words}.").format(words=_clauses(parts))


def _clauses(parts: Iterable[str]) -> str:
    """Parts of a sentence in one; empty ones are left out."""
    return pgettext("clauses", ", ").join(part for part in parts if part)


def facts(conversation: Conversation, now: float) -> Iterator[str]:
    """What is known of it, a line each."""
    pairs = (
        (_("Title"), name_of(conversation)),
        (_("Id"), conversation.id),
        (_("Source"), conversation.source),
        (_("Model"), conversation.model),
        (_("Directory"), conversation.cwd),
        (pgettext("git", "Branch"), conversation.git_branch),
        (_("Started"), timestamp(conversation.root.started_at)),
        (_("Last active"), ago(conversation.last_active, now)),
        (_("Messages"), f"{conversation.message_count:,}"),
        (_("Cost"), dollars(conversation.cost_usd)),
    )
    line = _("{label}: {text}")
    yield from (line.format(label=label, text=one_line(text)) for label, text in pairs if text)


def message_lines(message: ChatMessage, *, is_full: bool) -> Iterator[str]:
    """A chat message: who and when, then the text.

    Args:
        message: Which.
        is_full: Tool output and compaction summaries in full.
    """
    who = {"user": _("You"), "assistant": _("Assistant")}.get(message.role, message.role.capitalize())
    if message.role == "tool":
        who = _("Output of {tool}").format(tool=message.tool_name or _("a tool"))
    blocks = list(blocks_of(message))
    kinds = {block.kind for block in blocks}
    if SUMMARY in kinds and SAID not in kinds:
        who = _("Compaction")
    state = {State.LIVE: "", State.COMPACTED: _("compacted"), State.REWOUND: _("taken back")}[message.state]
    yield one_line(_("{words}:").format(words=_clauses([who, timestamp(message.timestamp) or _("no time"), state])))
    for block in blocks:
        kind, body = block.kind, printable(block.body).strip()
        if kind.spoken is None:
            continue
        if kind is CALL:
            arguments = one_line(block.body, 0 if is_full else kind.spoken_limit)
            yield one_line(_(kind.spoken).format(tool=block.tool, arguments=arguments)).replace("…", "...")
        elif kind.spoken and not is_full and len(body) > kind.spoken_limit:
            begins, count = one_line(body, kind.spoken_limit).rstrip("…"), len(body if kind is RESULT else block.body)
            yield _(kind.spoken).format(text=begins, count=count)
        elif body:
            yield from body.split("\n")


def snippet_of(hit: Hit) -> str:
    """What matched, with a few words around it."""
    return one_line(hit.snippet, 200).replace("…", "...")


def is_said(hit: Hit, lines: Iterable[str]) -> bool:
    """Whether what matched stands in the lines that were said, rather than in a part that was left out.

    Args:
        hit: Which message, and what matched in it.
        lines: Of that message.
    """
    said = "\n".join(lines).casefold()
    return all(one_line(hit.snippet[start:end]).casefold() in said for start, end in hit.match)


def page_line(first: int, last: int, total: int, what: str) -> str:
    """Which part of a list was said.

    Args:
        first: Number of the first item, from 1.
        last: Number of the last one.
        total: How many there are.
        what: Their translated name.
    """
    if not total:
        return _("No {what}.").format(what=what)
    page = _("{what} {first:,} to {last:,} of {total:,}.")
    return page.format(what=what.capitalize(), first=first, last=last, total=total)


def choices(words: Sequence[str]) -> str:
    """The words that can be typed, in a sentence."""
    return _("Type {words} or {last}.").format(words=pgettext("list", ", ").join(words[:-1]), last=words[-1])
