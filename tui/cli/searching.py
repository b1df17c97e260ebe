"""`search`: hits, what is around them, and what the search did not cover."""

from __future__ import annotations

import sys
from itertools import groupby

from hermes_browse.store.models import Hit
from hermes_browse.store.search import (
    Answer,
    Conditions,
    Scope,
    make_conditions,
    parse,
    read_context,
    read_coverage,
    unknown_filters,
)
from hermes_browse.store.search import search as run_search
from hermes_browse.store.search.suggest import Suggestion, suggest
from hermes_browse.store.sessions.catalog import Catalog, allowed_sessions, read_catalog, read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from .columns import note, print_table, short_time
from .jsonform import hit_json
from .naming import no_text
from .run import Context, print_json

Around = list[tuple[int, str, str]] | None
"""Id, role and text of the chat messages around a hit, itself included; None when not asked for."""


def _scope(catalog: Catalog | None, context: Context, conditions: Conditions, *, filters: bool = True) -> Scope:
    """Which rows may be hits: view, sources and roles asked for, and the filters of the query."""
    sessions = None
    if catalog is not None:
        view = View(context.arguments.view) if context.arguments.view else View.ALL
        condition = conditions.conversation if filters else None
        sessions = allowed_sessions(catalog, view, frozenset(context.arguments.source), condition).__contains__
    return Scope(sessions, frozenset(context.arguments.role), conditions.message if filters else None)


def search_messages(context: Context) -> int:
    """`search`: hits with their conversations; says what it did not cover."""
    wanted = context.arguments
    query = parse(" ".join(wanted.query))
    conditions = make_conditions(query, context.now)
    narrowed = bool(wanted.view or wanted.source or conditions.conversation)
    with context.store.reader() as reader:
        catalog = read_catalog(reader, context.now) if narrowed else None
        scope = _scope(catalog, context, conditions)
        answer = run_search(reader, query, limit=wanted.limit, sort=wanted.sort, scope=scope)
        suggestions: tuple[Suggestion, ...] = ()
        covered = ""
        if not answer.hits:
            # A suggestion widens the query, not the view, sources and roles asked for beside it.
            admitted = _scope(catalog, context, conditions, filters=False)
            suggestions = suggest(reader, query, sessions=admitted.sessions, roles=admitted.roles, now=context.now)
            covered = read_coverage(reader).reason if query.groups else ""
        if catalog is None:
            catalog = read_neighbourhood(reader, list({hit.session_id for hit in answer.hits}), context.now)
        found = {hit.session_id: catalog.of_session(hit.session_id) for hit in answer.hits}
        contexts = [read_context(reader, hit, wanted.context) if wanted.context else None for hit in answer.hits]
    told = (*answer.problems, *conditions.problems, *unknown_filters(query))
    problems = [problem.text for problem in told]
    if not query.text.strip():
        problems.append(_("The query is empty: nothing was looked for."))
    notes = [*problems, *answer.notes, *([covered] if covered else [])]
    for sentence in notes:
        note(sentence)
    if context.json:
        hits = []
        for hit, around in zip(answer.hits, contexts, strict=True):
            conversation = found[hit.session_id]
            hits.append(hit_json(hit, conversation.id if conversation is not None else hit.session_id, around))
        print_json(
            {
                "query": query.text,
                "engine": answer.engine,
                "complete": answer.complete,
                "more": answer.more,
                "elapsed_ms": round(answer.elapsed_ms, 3),
                "total": None if answer.at_least else answer.total,
                "hits": hits,
                "suggestions": [{"text": each.text, "query": each.query, "hits": each.hits} for each in suggestions],
                "notes": notes,
            }
        )
        return 0
    if answer.hits:
        (_print_groups if sys.stdout.isatty() else _print_columns)(answer, contexts, found)
    note(_summary(answer))
    for each in suggestions:
        found_so = f"{each.hits:,}{'+' if each.at_least else ''}"
        note(_("{label}: {text}").format(label=each.text, text=found_so))
    return 0


def _summary(answer: Answer) -> str:
    total = (
        f"{answer.total:,}{'+' if answer.at_least else ''}" if answer.total is not None else pgettext("total", "more")
    )
    line = _("{count:,} of {total} hits · {engine} · {took:.0f} ms")
    line = line.format(count=len(answer.hits), total=total, engine=answer.engine, took=answer.elapsed_ms)
    return line if answer.complete else _("{line} · not everything was searched").format(line=line)


def _name(conversation: Conversation | None) -> str:
    return one_line(conversation.title or "", 40) if conversation is not None else ""


def _rows(hit: Hit, around: Around) -> list[tuple[int, str, str, bool]]:
    """Message id, role, text, and whether it is the hit, in reading order."""
    if around is None:
        return [(hit.message_id, hit.role, hit.snippet, True)]
    return [
        (key, role, hit.snippet if key == hit.message_id else text, key == hit.message_id) for key, role, text in around
    ]


def _print_columns(answer: Answer, contexts: list[Around], found: dict[str, Conversation | None]) -> None:
    rows = []
    for hit, around in zip(answer.hits, contexts, strict=True):
        title = _name(found[hit.session_id])
        for key, role, text, is_hit in _rows(hit, around):
            time = short_time(hit.timestamp) if is_hit else ""
            rows.append([time, role, title if is_hit else "", text, hit.session_id, str(key)])
    headers = [_("time"), _("role"), _("conversation"), pgettext("column", "text"), _("session"), _("message")]
    print_table(headers, rows, right=(5,))


def _print_groups(answer: Answer, contexts: list[Around], found: dict[str, Conversation | None]) -> None:
    """Hits under the name of their conversation; those of one that follow each other share it."""
    from rich.text import Text

    from .terminal import lit, print_hit_group

    pairs = zip(answer.hits, contexts, strict=True)
    for session_id, group in groupby(pairs, key=lambda pair: pair[0].session_id):
        name = _name(found[session_id])
        rows = [
            (
                short_time(hit.timestamp) if is_hit else "",
                one_line(role, 9),
                lit(text, hit.match) if is_hit else Text(one_line(text) or no_text()),
                str(key),
                is_hit,
            )
            for hit, around in group
            for key, role, text, is_hit in _rows(hit, around)
        ]
        print_hit_group(f"{name} · {one_line(session_id)}" if name else one_line(session_id), rows)
