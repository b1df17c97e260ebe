"""`list`: a page of conversations and a count of the hidden ones; of one store or of all
profiles."""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace

from hermes_browse.store.cleanup.sizes import content_bytes
from hermes_browse.store.hermes.health import summarize
from hermes_browse.store.legacy.transcript_files import count_files
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import count_rows
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import Hidden, Sort, View
from hermes_browse.store.wording import _

from ..profiles.read_profiles import complete_all
from ..store_paths import sessions_folder
from .command_context import CommandContext, Subcommand
from .output import (
    conversation_json,
    note,
    print_json,
    store_json,
)
from .parser import add_all_hosts, add_view_options, count_arg
from .profiles import broken_json, read_all_profiles, refuse_a_store_with_all_profiles
from .tables import print_conversations


class ListCommand(Subcommand):
    """List a page of conversations."""

    reads_old_transcripts = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_view_options(parser, View.CHATS.value)
        parser.add_argument(
            "--sort", choices=[sort.value for sort in Sort], default=Sort.ACTIVITY.value
        )
        parser.add_argument("--reverse", action="store_true", help=_("the other way round"))
        parser.add_argument(
            "--limit",
            type=count_arg,
            default=50,
            metavar="N",
            help=_("most rows, 0 for all (default 50)"),
        )
        parser.add_argument(
            "--all-profiles",
            action="store_true",
            help=_("of all profiles, as one list by activity"),
        )
        parser.add_argument(
            "--offset", type=count_arg, default=0, metavar="N", help=_("rows to leave out first")
        )
        add_all_hosts(parser)

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for options that `--all-profiles` does not take; it has a single
        order."""
        if not arguments.all_profiles:
            return ""
        if arguments.sort != Sort.ACTIVITY.value or arguments.reverse:
            return refuse_a_store_with_all_profiles(arguments) or _(
                "--all-profiles lists by activity, newest first"
            )
        return refuse_a_store_with_all_profiles(arguments)

    def start(self, arguments: SimpleNamespace) -> int:
        """List one store, or all profiles."""
        return _list_all_profiles(arguments) if arguments.all_profiles else super().start(arguments)

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        view, sort = View(arguments.view), Sort(arguments.sort)
        with context.store.reader() as reader:
            summary = summarize(reader, context.store, context.location)
            catalog = read_catalog(reader, context.now)
            session_ids = list(catalog.sessions)
            sizes = content_bytes(reader, session_ids) if sort is Sort.SIZE else {}
            # The message counters of sessions may be stale: sort by the counts that are shown.
            counts = count_rows(reader, session_ids) if sort is Sort.MESSAGES else sizes
            amounts = {
                chain.root.id: sum(counts.get(segment.id, 0) for segment in chain.segments)
                for chain in catalog.select(view)
                if counts
            }
            roots = catalog.order(
                view,
                sort=sort,
                reverse=arguments.reverse,
                sources=arguments.source,
                amounts=amounts,
            )
            page = with_details(
                reader, [catalog.conversation(root) for root in roots[_page(arguments)]]
            )
            rules = context.retention_rules(reader) if context.json else None
            old_files = count_files(sessions_folder(context.location), reader)
        if sizes:
            page = [
                each._replace(size=sum(sizes.get(segment.id, 0) for segment in each.segments))
                for each in page
            ]
        total, hidden = catalog.counts()[View.ALL], catalog.hidden(view, len(page))
        if context.json:
            print_json(
                {
                    "store": store_json(summary),
                    "view": view.value,
                    "shown": len(page),
                    "total": total,
                    "hidden": hidden._asdict(),
                    "old_transcripts": old_files.files,
                    "conversations": [conversation_json(each, rules) for each in page],
                }
            )
            return 0
        for warning in summary.warnings:
            note(warning.text)
        print_conversations([conversation_json(each) for each in page])
        old_note = (
            _("{count:,} old transcripts: --old").format(count=old_files.files)
            if old_files.files
            else ""
        )
        note(" · ".join(part for part in (_shown_line(len(page), total, hidden), old_note) if part))
        return 0


def _page(arguments: SimpleNamespace) -> slice:
    """Return the requested slice of an ordered list."""
    return slice(arguments.offset, arguments.offset + arguments.limit if arguments.limit else None)


def _shown_line(shown: int, total: int, hidden: Hidden) -> str:
    phrases = [_("{count:,} of {total:,} shown").format(count=shown, total=total)]
    if hidden.automation:
        phrases.append(_("{count:,} automation").format(count=hidden.automation))
    if hidden.archived:
        phrases.append(_("{count:,} archived").format(count=hidden.archived))
    if hidden.other:
        others = _("{count:,} others (subagents, hidden, other sources or pages)")
        phrases.append(others.format(count=hidden.other))
    return " · ".join(phrases)


def _list_all_profiles(arguments: SimpleNamespace) -> int:
    """Run `list --all-profiles`: one list by activity, each row with its profile."""
    view = View(arguments.view)
    everywhere = read_all_profiles(arguments.home, time.time(), view, arguments.source)
    page = everywhere.found[_page(arguments)]
    details = complete_all(page, strict=True)
    conversations = [
        {"profile": each.profile} | conversation_json(details[each.place]) for each in page
    ]
    total = everywhere.conversations
    if arguments.json:
        print_json(
            {
                "store": None,
                "profiles": [location.profile for location, _catalog in everywhere.catalogs],
                "broken": broken_json(everywhere),
                "view": view.value,
                "shown": len(page),
                "total": total,
                "conversations": conversations,
            }
        )
        return 0
    print_conversations(conversations)
    summary = _("{count:,} of {total:,} shown · {profiles:,} profiles")
    note(summary.format(count=len(page), total=total, profiles=len(everywhere.catalogs)))
    return 0
