"""The sentences of the `--plain` dialogue: one fact per line, in whole words, without columns or
drawing characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hermes_browse.store.messages.block_kinds import CALL, RESULT, SAID, SUMMARY
from hermes_browse.store.messages.chat_message import ChatMessage, Hit, State, blocks_of
from hermes_browse.store.sessions.models import Conversation, Status, View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ..formats import costs, counted, day_key, dollars, status, timestamp

HELP = N_("""\
A number opens the conversation or the hit with that number.
n: next page. p: previous page. l: the list again. q: leave.
/words: search, as in "/docker role:user". An empty / ends the search.
v chats, v automation, v archived, v all: another view.
In a conversation: n: later messages. p: earlier messages. b: from the beginning. e: the last messages.
t: tool output and summaries in full, or no longer. i: facts, the full id among them. c: the command that resumes it.
r: resume it in Hermes.
Archiving, deleting and exporting are commands: leave with q, then see hermes-browse --help.""")

_STATUS = {
    Status.LIVE: N_("live now"),
    Status.OPEN: N_("not ended"),
    Status.ENDED: "",
    Status.EMPTY: "",
}


def ago(moment: float | None, now: float) -> str:
    """Format an age as `3 hours ago`, or as a date when it is 30 days or more."""
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
    """Translate the name of a view."""
    return {
        View.CHATS: pgettext("view", "chats"),
        View.AUTOMATION: pgettext("view", "automation"),
        View.ARCHIVED: pgettext("view", "archived"),
        View.ALL: pgettext("view", "all"),
    }[view]


def name_of(conversation: Conversation) -> str:
    """Return the display name of a conversation, on one line."""
    return one_line(conversation.title or conversation.preview or _("no text"), 120)


def conversation_line(conversation: Conversation, now: float) -> str:
    """Describe a conversation in one sentence."""
    standing, segments, subagents = (
        _STATUS[conversation.status],
        len(conversation.segments),
        conversation.subagents,
    )
    parts = [
        name_of(conversation).rstrip("."),
        ago(conversation.last_active, now),
        one_line(conversation.source, 20),
        counted(conversation.message_count, "message"),
        _(standing) if standing else "",
        status("pinned") if conversation.pinned else "",
        status("archived") if conversation.archived else "",
        counted(segments, "part") if segments > 1 else "",
        counted(subagents, "subagent") if subagents else "",
    ]
    return _("{words}.").format(words=_clauses(parts))


def _clauses(parts: Iterable[str]) -> str:
    """Join the parts of a sentence; empty ones are skipped."""
    return pgettext("clauses", ", ").join(part for part in parts if part)


def facts(conversation: Conversation, now: float) -> Iterator[str]:
    """Yield the facts about a conversation, one per line."""
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
        (_("Cost"), costs(conversation, dollars)),
    )
    line = _("{label}: {text}")
    yield from (line.format(label=label, text=one_line(text)) for label, text in pairs if text)


def message_lines(message: ChatMessage, *, is_full: bool) -> Iterator[str]:
    """Yield a chat message: role and time, then the text; tool output and compaction summaries are
    cut unless full."""
    speaker = {"user": _("You"), "assistant": _("Assistant")}.get(
        message.role, message.role.capitalize()
    )
    if message.role == "tool":
        speaker = _("Output of {tool}").format(tool=message.tool_name or _("a tool"))
    blocks = list(blocks_of(message))
    kinds = {block.kind for block in blocks}
    if SUMMARY in kinds and SAID not in kinds:
        speaker = _("Compaction")
    state = {State.LIVE: "", State.COMPACTED: _("compacted"), State.REWOUND: _("taken back")}[
        message.state
    ]
    yield one_line(
        _("{words}:").format(
            words=_clauses([speaker, timestamp(message.timestamp) or _("no time"), state])
        )
    )
    for block in blocks:
        kind, body = block.kind, printable(block.body).strip()
        if kind.spoken is None:
            continue
        if kind is CALL:
            arguments = one_line(block.body, 0 if is_full else kind.spoken_limit)
            yield one_line(_(kind.spoken).format(tool=block.tool, arguments=arguments)).replace(
                "…", "..."
            )
        elif kind.spoken and not is_full and len(body) > kind.spoken_limit:
            beginning = one_line(body, kind.spoken_limit).rstrip("…")
            yield _(kind.spoken).format(
                text=beginning, count=len(body if kind is RESULT else block.body)
            )
        elif body:
            yield from body.split("\n")


def snippet_of(hit: Hit) -> str:
    """Return the matched text of a hit with a few words of context."""
    return one_line(hit.snippet, 200).replace("…", "...")


def is_said(hit: Hit, lines: Iterable[str]) -> bool:
    """Return whether the printed lines of a message contain its match, which may be in a part left
    out."""
    text = "\n".join(lines).casefold()
    return all(one_line(hit.snippet[start:end]).casefold() in text for start, end in hit.match)


def page_line(first: int, last: int, total: int, what: str) -> str:
    """Describe which part of a list was printed: items `first`, from 1, to `last`, whose translated
    name is `what`."""
    if not total:
        return _("No {what}.").format(what=what)
    page = _("{what} {first:,} to {last:,} of {total:,}.")
    return page.format(what=what.capitalize(), first=first, last=last, total=total)


def choices(words: Sequence[str]) -> str:
    """List the accepted inputs in a sentence."""
    return _("Type {words} or {last}.").format(
        words=pgettext("list", ", ").join(words[:-1]), last=words[-1]
    )
