"""`search`: hits with their context, and what the search did not cover; in one store or in all
profiles."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import groupby
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.search.coverage import read_coverage
from hermes_browse.store.search.engine import Answer, Search, Total
from hermes_browse.store.search.found import Suggestion, suggest
from hermes_browse.store.search.query import parse, unknown_filters
from hermes_browse.store.search.scope import compile_filters, make_scope
from hermes_browse.store.search.snippets import read_context
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..formats import timestamp
from ..profiles.read_profiles import search_everywhere
from .command_context import CommandContext, Subcommand
from .output import no_text, note, print_json
from .parser import add_all_hosts, add_view_options, count_arg, text_arg
from .profiles import broken_json, read_all_profiles, refuse_a_store_with_all_profiles
from .tables import print_hits

Around = list[tuple[int, str, str]] | None
"""Id, role and text of the messages around a hit, the hit included; None when not requested."""


class SearchCommand(Subcommand):
    """Search chat messages."""

    reads_old_transcripts = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "query",
            metavar="QUERY",
            nargs="+",
            type=text_arg,
            help=_(
                'words, "a phrase", OR, -word, prefix*, *part*, source:cli …; -is:rewound leaves out messages '
                "that were taken back"
            ),
        )
        parser.add_argument("--sort", choices=["newest", "relevance", "oldest"], default="newest")
        parser.add_argument(
            "--limit",
            type=count_arg,
            default=50,
            metavar="N",
            help=_("most hits, 0 for all (default 50)"),
        )
        context_help = _("messages before and after each hit")
        parser.add_argument("--context", type=count_arg, default=0, metavar="N", help=context_help)
        add_view_options(parser, None)
        parser.add_argument(
            "--all-profiles", action="store_true", help=_("in all profiles; newest hits first")
        )
        parser.add_argument(
            "--role",
            action="append",
            type=text_arg,
            default=[],
            metavar="R",
            help=_("only this role; repeatable"),
        )
        add_all_hosts(parser)

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for conflicting options, and for a filter without the number or date it
        needs.

        Such a filter is refused because the query without it would match everything.
        """
        if arguments.all_profiles:
            if sentence := refuse_a_store_with_all_profiles(arguments):
                return sentence
            has_scope = arguments.view or arguments.source or arguments.role
            if has_scope or arguments.sort != "newest" or arguments.context:
                return _(
                    "--all-profiles searches everything, newest first; say source: and role: in the query"
                )
        if arguments.all_hosts and arguments.sort == "relevance":
            return _("--all-hosts searches by time: relevance cannot be compared between stores")
        return parse(" ".join(arguments.query)).refusal

    def start(self, arguments: SimpleNamespace) -> int:
        """Search one store, or all profiles."""
        return (
            _search_all_profiles(arguments) if arguments.all_profiles else super().start(arguments)
        )

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        query = parse(" ".join(arguments.query))
        conditions = compile_filters(query, context.now)
        needs_catalog = bool(arguments.view or arguments.source or conditions.needs_catalog)
        view = View(arguments.view) if arguments.view else View.ALL
        sources, roles = frozenset(arguments.source), frozenset(arguments.role)
        with context.store.reader() as reader:
            catalog = read_catalog(reader, context.now) if needs_catalog else None
            scope = make_scope(reader, conditions, catalog, view, sources=sources, roles=roles)
            search = Search(reader, query, scope, sort=arguments.sort)
            answer = search.page(arguments.limit)
            total = _total(search, answer)
            suggestions: tuple[Suggestion, ...] = ()
            uncovered = ""
            if not answer.hits:
                # A suggestion widens the query, not the requested view, sources and roles.
                suggestions = suggest(
                    reader,
                    query,
                    catalog,
                    view,
                    context.now,
                    sources=sources,
                    roles=roles,
                    is_typed=False,
                )
                uncovered = read_coverage(reader).reason if query.groups else ""
            if catalog is None:
                catalog = read_neighbourhood(
                    reader, list({hit.session_id for hit in answer.hits}), context.now
                )
            conversations = {
                hit.session_id: catalog.of_session(hit.session_id) for hit in answer.hits
            }
            contexts = [
                read_context(reader, hit, arguments.context) if arguments.context else None
                for hit in answer.hits
            ]
        notes = [problem.text for problem in (*query.problems, *unknown_filters(query))]
        if not query.text.strip():
            notes.append(_("The query is empty: nothing was looked for."))
        notes += [*answer.notes, *([uncovered] if uncovered else [])]
        for sentence in notes:
            note(sentence)
        hits = []
        for hit, around in zip(answer.hits, contexts, strict=True):
            conversation = conversations[hit.session_id]
            conversation_id = conversation.id if conversation is not None else hit.session_id
            hits.append(_hit_json(hit, conversation_id, around))
        if context.json:
            print_json(
                {
                    "query": query.text,
                    "engine": answer.engine,
                    "complete": answer.complete,
                    "more": answer.more,
                    "elapsed_ms": round(answer.elapsed_ms, 3),
                    "total": total.count if total is not None and not total.at_least else None,
                    "hits": hits,
                    "suggestions": [
                        {"text": each.text, "query": each.query, "hits": each.hits}
                        for each in suggestions
                    ],
                    "notes": notes,
                }
            )
            return 0
        if sys.stdout.isatty():
            _print_groups(answer, contexts, conversations)
        else:
            names = [_name(conversations[hit.session_id]) for hit in answer.hits]
            named = zip(hits, names, strict=True)
            print_hits([hit | {"conversation": name} for hit, name in named])
        note(_summary(answer, total))
        for each in suggestions:
            number = f"{each.hits:,}{'+' if each.at_least else ''}"
            note(_("{label}: {text}").format(label=each.text, text=number))
        return 0


def _total(search: Search, answer: Answer) -> Total | None:
    """Return the number of hits where it is known or quickly counted."""
    if answer.total is not None:
        return Total(answer.total, False)
    if not answer.more:
        return Total(len(answer.hits), True)
    return search.count() if search.counts_quickly and not answer.stopped else None


def _hit_json(hit: Hit, conversation_id: str, context: Around) -> Json:
    """Build a HIT of the JSON contract, with its context when requested."""
    document: Json = {
        "message_id": hit.message_id,
        "session_id": hit.session_id,
        "conversation_id": conversation_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "match": [list(span) for span in hit.match],
        "state": hit.state.value,
    }
    if context is not None:
        document["context"] = [
            {"message_id": message_id, "role": role, "text": content}
            for message_id, role, content in context
        ]
    return document


def _summary(answer: Answer, total: Total | None) -> str:
    if total is None:
        line = _("hits shown: {count:,}, there are more · {engine} · {took:.0f} ms")
        line = line.format(count=len(answer.hits), engine=answer.engine, took=answer.elapsed_ms)
    else:
        number = f"{total.count:,}{'+' if total.at_least else ''}"
        line = _("{count:,} of {total} hits · {engine} · {took:.0f} ms")
        line = line.format(
            count=len(answer.hits), total=number, engine=answer.engine, took=answer.elapsed_ms
        )
    return line if answer.complete else _("{line} · not everything was searched").format(line=line)


def _name(conversation: Conversation | None) -> str:
    return one_line(conversation.title or "", 40) if conversation is not None else ""


def _rows(hit: Hit, around: Around) -> list[tuple[int, str, str, bool]]:
    """Return message id, role, text, and whether it is the hit, in reading order."""
    if around is None:
        return [(hit.message_id, hit.role, hit.snippet, True)]
    return [
        (
            message_id,
            role,
            hit.snippet if message_id == hit.message_id else content,
            message_id == hit.message_id,
        )
        for message_id, role, content in around
    ]


def _print_groups(
    answer: Answer, contexts: list[Around], conversations: dict[str, Conversation | None]
) -> None:
    """Print hits under the name of their conversation; consecutive hits of one conversation share a
    heading."""
    from .terminal import print_hit_group  # start time: output into a pipe goes without Rich

    pairs = zip(answer.hits, contexts, strict=True)
    for session_id, group in groupby(pairs, key=lambda pair: pair[0].session_id):
        name = _name(conversations[session_id])
        rows = [
            (
                timestamp(hit.timestamp) if is_hit else "",
                one_line(role, 9),
                content if is_hit else one_line(content) or no_text(),
                hit.match if is_hit else None,
                str(message_id),
            )
            for hit, around in group
            for message_id, role, content, is_hit in _rows(hit, around)
        ]
        print_hit_group(f"{name} · {one_line(session_id)}" if name else one_line(session_id), rows)


def _search_all_profiles(arguments: SimpleNamespace) -> int:
    """Run `search --all-profiles`: hits of all profiles, newest first, each row with its
    profile."""
    now, query, begun = time.time(), " ".join(arguments.query), time.perf_counter()
    everywhere = read_all_profiles(arguments.home, now, View.ALL)
    answer = search_everywhere(everywhere, query, now, limit=arguments.limit)
    shown = answer.found[: arguments.limit] if arguments.limit else answer.found
    hits = [
        {"profile": each.profile} | _hit_json(each.hit, each.conversation.id, None)
        for each in shown
        if each.hit is not None
    ]
    names = [_name(each.conversation) for each in shown if each.hit is not None]
    took = (time.perf_counter() - begun) * 1000
    for sentence in answer.notes:
        note(sentence)
    if arguments.json:
        print_json(
            {
                "query": query,
                "engine": answer.engine,
                "complete": answer.complete,
                "more": answer.more or len(shown) < len(answer.found),
                "elapsed_ms": round(took, 3),
                "total": None if answer.more else len(answer.found),
                "hits": hits,
                "suggestions": [],
                "notes": list(answer.notes),
                "broken": broken_json(everywhere),
            }
        )
        return 0
    named = zip(hits, names, strict=True)
    print_hits([hit | {"conversation": name} for hit, name in named])
    total = f"{len(answer.found):,}{'+' if answer.more else ''}"
    summary = _("{count:,} of {total} hits · {profiles:,} profiles · {engine} · {took:.0f} ms")
    profiles = len(everywhere.catalogs)
    note(
        summary.format(
            count=len(hits), total=total, profiles=profiles, engine=answer.engine, took=took
        )
    )
    return 0
