"""`list`, `show` and `lineage`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.health import summarize
from hermes_browse.store.models import Reading
from hermes_browse.store.old.finding import count_files
from hermes_browse.store.preview import with_details
from hermes_browse.store.sessions.catalog import read_catalog, read_neighbourhood, read_sizes
from hermes_browse.store.sessions.lineage import read_lineage
from hermes_browse.store.sessions.models import Conversation, Hidden, Lineage, Node, Sort, View
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.transcript import count_rows, read_messages, read_skeleton, read_system_prompt
from hermes_browse.store.wording import N_, _

from ..places import sessions_folder
from .columns import money, note, print_table, print_text, short_number, short_time
from .jsonform import conversation_json, hidden_json, lineage_json, message_json, store_json
from .naming import no_text, status_name
from .retention import prune_in_days, read_radar_of
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.connect import Reader


def list_conversations(context: Context) -> int:
    """`list`: a page of conversations, and what it leaves out."""
    wanted = context.arguments
    view, sort = View(wanted.view), Sort(wanted.sort)
    with context.store.reader() as reader:
        summary = summarize(reader, context.store, context.location)
        catalog = read_catalog(reader, context.now)
        sizes = read_sizes(reader, list(catalog.forest.sessions)) if sort is Sort.SIZE else {}
        chosen = catalog.order(view, sort=sort, reverse=wanted.reverse, sources=wanted.source, sizes=sizes)
        if sort is Sort.MESSAGES:  # the stored counters are hints: order by what is shown
            counts = count_rows(reader, list(catalog.forest.sessions))
            segments = {chain.root.id: chain.segments for chain in catalog.forest.in_view(view)}
            chosen = sorted(
                chosen,
                key=lambda root: sum(counts.get(segment.id, 0) for segment in segments[root]),
                reverse=not wanted.reverse,
            )
        end = wanted.offset + wanted.limit if wanted.limit else None
        page = with_details(reader, [catalog.conversation(root) for root in chosen[wanted.offset : end]])
        radar = read_radar_of(context, reader) if context.json else None
        old = count_files(sessions_folder(context.location), reader)
    if sizes:
        page = [each._replace(size=sum(sizes.get(segment.id, 0) for segment in each.segments)) for each in page]
    total, hidden = catalog.forest.counts()[View.ALL], catalog.hidden(view, len(page))
    if context.json:
        print_json(
            {
                "store": store_json(summary),
                "view": view.value,
                "shown": len(page),
                "total": total,
                "hidden": hidden_json(hidden),
                "old_transcripts": old.files,
                "conversations": [conversation_json(each, prune_in_days(radar, each)) for each in page],
            }
        )
        return 0
    for warning in summary.warnings:
        note(warning)
    rows = [_list_row(each) for each in page]
    if rows:
        headers = [_("last active"), _("status"), _("source"), _("msgs"), _("cost"), _("title"), _("id")]
        print_table(headers, rows, right=(3, 4), flexible=5, optional=(4, 2, 1, 3, 0))
    told = _("{count:,} old transcripts: --old").format(count=old.files) if old.files else ""
    note(" · ".join(part for part in (_shown_line(len(page), total, hidden), told) if part))
    return 0


def _list_row(each: Conversation) -> list[str]:
    state = "pinned" if each.pinned else "archived" if each.archived else each.status.value
    name = each.title or one_line(each.preview, 80) or no_text()
    if each.note:
        name = _("{name} ({note})").format(name=name, note=each.note)
    return [
        short_time(each.last_active),
        status_name(state),
        each.source,
        short_number(each.message_count),
        money(each.cost_usd),
        name,
        each.id,
    ]


def _shown_line(shown: int, total: int, hidden: Hidden) -> str:
    parts = [_("{count:,} of {total:,} shown").format(count=shown, total=total)]
    if hidden.automation:
        parts.append(_("{count:,} automation").format(count=hidden.automation))
    if hidden.archived:
        parts.append(_("{count:,} archived").format(count=hidden.archived))
    if hidden.other:
        others = _("{count:,} others (subagents, hidden, other sources or pages)")
        parts.append(others.format(count=hidden.other))
    return " · ".join(parts)


def _conversation(reader: Reader, text: str, now: float) -> tuple[str, Conversation]:
    session_id = resolve_session(reader, text)
    conversation = read_neighbourhood(reader, [session_id], now).of_session(session_id)
    if conversation is None:
        raise NotFoundError(_("There is no session {id} in this store.").format(id=session_id))
    return session_id, with_details(reader, [conversation])[0]


def show_conversation(context: Context) -> int:
    """`show`: every chat message of a conversation, or of one segment."""
    wanted = context.arguments
    with context.store.reader() as reader:
        session_id, conversation = _conversation(reader, wanted.id, context.now)
        segments = [each for each in conversation.segments if not wanted.segment or each.id == session_id]
        skeleton = read_skeleton(reader, segments, Reading(wanted.reading))
        messages = read_messages(reader, skeleton.bones)
        everything = Reading(wanted.reading) is Reading.EVERYTHING
        prompt = read_system_prompt(reader, segments[0].id) if everything else None
        radar = read_radar_of(context, reader) if context.json else None
    if context.json:
        print_json(
            {
                "conversation": conversation_json(conversation, prune_in_days(radar, conversation)),
                "messages": [message_json(message) for message in messages],
                "system_prompt": prompt,
            }
        )
        return 0
    from .reading import as_lines, as_markdown, as_text

    if wanted.markdown:
        print_text(as_markdown(conversation, messages))
    elif sys.stdout.isatty():
        from .terminal import print_lines

        print_lines(as_lines(conversation, messages))
    else:
        print_text(as_text(conversation, messages))
    return 0


_RELATED = {
    "root": "",
    "continued": N_("continued: {line}"),
    "branched": N_("branch: {line}"),
    "delegated": N_("subagent: {line}"),
    "reset": N_("after a reset: {line}"),
    "unknown": N_("child: {line}"),
    "orphan": N_("parent gone: {line}"),
}


def show_lineage(context: Context) -> int:
    """`lineage`: the family tree, what to resume, and what Hermes would open."""
    with context.store.reader() as reader:
        lineage = read_lineage(reader, resolve_session(reader, context.arguments.id), context.now)
    if context.json:
        print_json(lineage_json(lineage))
        return 0
    depths: dict[str, int] = {}
    for node in lineage.nodes:
        above = depths.get(node.parent_id, 0) if node.parent_id is not None else -1
        # A continuation stands beside what it continues, not below it.
        depths[node.session.id] = max(above, 0) if node.relation.value == "continued" and node.note == "" else above + 1
        _print_indented(2 * depths[node.session.id], one_line(_node_line(node, lineage)))
    if lineage.predicted != lineage.resume.id:
        careful = _("Careful: `hermes --resume={id}` would open {other}.")
        note(careful.format(id=lineage.resume.id, other=lineage.predicted))
    return 0


def _print_indented(indent: int, line: str) -> None:
    if sys.stdout.isatty():
        from .reading import Line
        from .terminal import print_lines

        print_lines([Line("said", line, indent)])
    else:
        print(" " * indent + line)


def _node_line(node: Node, lineage: Lineage) -> str:
    session = node.session
    rows = _("{count} msgs").format(count=node.rows)
    words = [session.id, session.title or "", rows, session.source, status_name(node.status.value)]
    line = " · ".join(word for word in words if word)
    if related := _RELATED[node.relation.value]:
        line = _(related).format(line=line)
    if node.note:
        line = _("{name} ({note})").format(name=line, note=node.note)
    if session.id == lineage.resume.id:
        line += "  " + _("← resumes here ({reason})").format(reason=lineage.resume.reason)
    return line
