"""`--all-profiles`: `list` and `search` over all profiles of a root; each row says its profile."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import RefusedError, StoreMissingError
from hermes_browse.store.homes import locate
from hermes_browse.store.preview import with_details
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from ..profiles import Everywhere, Found, read_everywhere, search_everywhere
from .columns import money, note, print_table, short_number, short_time
from .jsonform import Json, conversation_json, hit_json
from .naming import no_text, status_name
from .run import print_json


def _root(arguments: SimpleNamespace) -> Path:
    location = locate(home=arguments.home)
    if location.root is None:
        rootless = _("{path} belongs to no Hermes root, so it has no profiles.")
        raise RefusedError(rootless.format(path=location.path))
    return location.root


def _read(root: Path, now: float, view: View, sources: list[str]) -> Everywhere:
    everywhere = read_everywhere(root, now, view, sources=sources, named=0)
    for each in everywhere.broken:
        note(_("{name} cannot be read: {error}").format(name=each.name, error=each.error))
    if not everywhere.catalogs:
        raise StoreMissingError(_("No profile of {root} has a store that can be read.").format(root=root))
    return everywhere


def _broken(everywhere: Everywhere) -> list[Json]:
    return [{"profile": each.name, "path": str(each.location.path), "error": each.error} for each in everywhere.broken]


def _detailed(page: list[Found]) -> list[Conversation]:
    """The conversations of a page with previews and counts; each store is opened once."""
    detailed: dict[tuple[Path, str], Conversation] = {}
    for path in {each.location.path for each in page}:
        wanted = [each.conversation for each in page if each.location.path == path]
        with Store(path).reader() as reader:
            detailed.update({(path, each.root_id): each for each in with_details(reader, wanted)})
    return [detailed[each.location.path, each.conversation.root_id] for each in page]


def list_everywhere(arguments: SimpleNamespace) -> int:
    """`list --all-profiles`: one list by activity."""
    view = View(arguments.view)
    everywhere = _read(_root(arguments), time.time(), view, arguments.source)
    end = arguments.offset + arguments.limit if arguments.limit else None
    page = list(everywhere.found[arguments.offset : end])
    conversations = _detailed(page)
    total = sum(catalog.forest.counts()[View.ALL] for _where, catalog in everywhere.catalogs)
    if arguments.json:
        print_json(
            {
                "store": None,
                "profiles": [location.profile for location, _catalog in everywhere.catalogs],
                "broken": _broken(everywhere),
                "view": view.value,
                "shown": len(page),
                "total": total,
                "conversations": [
                    {"profile": found.profile} | conversation_json(each)
                    for found, each in zip(page, conversations, strict=True)
                ],
            }
        )
        return 0
    rows = [
        [
            found.profile,
            short_time(each.last_active),
            status_name(each.status.value),
            each.source,
            short_number(each.message_count),
            money(each.cost_usd),
            each.title or one_line(each.preview, 80) or no_text(),
            each.id,
        ]
        for found, each in zip(page, conversations, strict=True)
    ]
    if rows:
        headers = [
            _("profile"), _("last active"), _("status"), _("source"), _("msgs"), _("cost"), _("title"), _("id")
        ]  # fmt: skip
        print_table(headers, rows, right=(4, 5), flexible=6, optional=(5, 3, 2, 4, 1))
    told = _("{count:,} of {total:,} shown · {profiles:,} profiles")
    note(told.format(count=len(page), total=total, profiles=len(everywhere.catalogs)))
    return 0


def search_all(arguments: SimpleNamespace) -> int:
    """`search --all-profiles`: hits of all profiles, newest first."""
    now, text, begun = time.time(), " ".join(arguments.query), time.perf_counter()
    everywhere = _read(_root(arguments), now, View.ALL, [])
    limit = arguments.limit
    answer = search_everywhere(everywhere, text, now, limit=limit)
    hits = answer.found[:limit] if limit else answer.found
    took = (time.perf_counter() - begun) * 1000
    for sentence in answer.notes:
        note(sentence)
    if arguments.json:
        print_json(
            {
                "query": text,
                "engine": answer.engine,
                "complete": answer.complete,
                "more": answer.more or len(hits) < len(answer.found),
                "elapsed_ms": round(took, 3),
                "total": None if answer.more else len(answer.found),
                "hits": [
                    {"profile": each.profile} | hit_json(each.hit, each.conversation.id, None)
                    for each in hits
                    if each.hit is not None
                ],
                "suggestions": [],
                "notes": list(answer.notes),
                "broken": _broken(everywhere),
            }
        )
        return 0
    rows = [
        [
            each.profile,
            short_time(each.hit.timestamp),
            each.hit.role,
            one_line(each.conversation.title or "", 40),
            each.hit.snippet,
            each.hit.session_id,
        ]
        for each in hits
        if each.hit is not None
    ]
    if rows:
        print_table(
            [_("profile"), _("time"), _("role"), _("conversation"), pgettext("column", "text"), _("session")], rows
        )
    total = f"{len(answer.found):,}{'+' if answer.more else ''}"
    told = _("{count:,} of {total} hits · {profiles:,} profiles · {engine} · {took:.0f} ms")
    profiles = len(everywhere.catalogs)
    note(told.format(count=len(rows), total=total, profiles=profiles, engine=answer.engine, took=took))
    return 0
