"""`profiles` and `doctor`: what there is, and what is wrong with it."""

from __future__ import annotations

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import RefusedError, StoreError
from hermes_browse.store.health import Problem, hermes_version, problems_of, summarize
from hermes_browse.store.holders import holders
from hermes_browse.store.homes import Location, active_profile, profiles
from hermes_browse.store.index_health import SearchHealth, search_health
from hermes_browse.store.resume import find_hermes

from .columns import note, print_table, print_text, short_number
from .jsonform import Json, store_json
from .old import old_problems
from .run import Context, print_json
from .surroundings import disk_free, problems_around, terminal


def list_profiles(context: Context) -> int:
    """`profiles`: the root's own store and those of its profiles."""
    root = context.location.root
    if context.location.demo:
        raise RefusedError("The demo store belongs to no Hermes root, so it has no profiles.")
    if root is None:
        raise RefusedError(
            f"{context.location.path} belongs to no Hermes root, so it has no profiles.",
            remedy="Name a root with --home.",
        )
    active = active_profile(root) or "default"
    found = [_profile(location, active) for location in profiles(root)]
    if context.json:
        print_json({"root": str(root), "active": active, "profiles": found})
        return 0
    rows = [
        [
            ("* " if each["active"] else "  ") + str(each["name"]),
            "" if each["sessions"] is None else str(each["sessions"]),
            f"{short_number(float(str(each['bytes'])))}B",
            str(each["error"] or each["path"]),
        ]
        for each in found
    ]
    print_table(["profile", "sessions", "size", "store"], rows, right=(1, 2), flexible=3)
    return 0


def _profile(location: Location, active: str) -> Json:
    store = Store(location.path)
    sessions: int | None = None
    error: str | None = None
    try:
        with store.reader() as reader:
            sessions = summarize(reader, store, location).sessions
    except StoreError as problem:
        error = problem.sentence
    return {
        "name": location.profile,
        "path": str(location.path),
        "active": location.profile == active,
        "sessions": sessions,
        "bytes": store.sizes()[0],
        "error": error,
    }


def doctor(context: Context) -> int:
    """`doctor`: the store, its index, Hermes and the terminal; 3 when the store cannot be read."""
    executable = find_hermes()
    hermes = {"path": executable, "version": hermes_version(executable)} if executable is not None else None
    search = SearchHealth(False, False, 0, 0)
    code = 0
    try:
        with context.store.reader() as reader:
            summary = summarize(reader, context.store, context.location)
            search = search_health(reader)
            old = old_problems(context.location, reader)
        store = store_json(summary)
        problems = [*problems_of(summary, search, executable), *old]
    except StoreError as error:
        code = error.exit_code
        size, wal_size = context.store.sizes()
        unknown = dict.fromkeys(("schema_version", "journal_mode", "sessions", "messages"))
        store = {"path": str(context.location.path), "profile": context.location.profile, **unknown}
        store |= {"bytes": size, "wal_bytes": wal_size, "read_only": True, "warnings": [error.sentence]}
        problems = [Problem("error", error.code, error.sentence, error.remedy)]
    held = holders(context.location.path)
    free = disk_free(context.location.path)
    told = terminal()
    problems += problems_around(held or [], free, context.store.sizes()[0], told)
    if context.json:
        print_json(
            {
                "store": store,
                "search": {
                    "fts5": search.fts,
                    "trigram": search.trigram,
                    "indexed": search.indexed,
                    "messages": search.messages,
                },
                "hermes": hermes,
                "terminal": told,
                "holders": None if held is None else [each._asdict() for each in held],
                "disk": {"free_bytes": free},
                "problems": [
                    {"severity": each.severity, "code": each.code, "text": each.text, "remedy": each.remedy}
                    for each in problems
                ],
            }
        )
        return code
    for key, value in store.items():
        if key != "warnings" and value is not None:
            print_text(f"store {key.replace('_', ' ')}: {value}")
    print_text(f"search: {search.indexed:,} of {search.messages:,} messages indexed")
    print_text(f"hermes: {hermes['path']} {hermes['version'] or ''}".rstrip() if hermes else "hermes: not on PATH")
    print_text(f"terminal: {told['columns']} × {told['rows']}, {told['term']}, copies by {told['clipboard']}")
    if held is not None:
        print_text(f"open in: {', '.join(f'{each.name} ({each.pid})' for each in held) or 'no other process'}")
    if free is not None:
        print_text(f"disk: {short_number(float(free))}B free")
    for each in problems:
        note(f"{each.severity}: {each.text} {each.remedy}".rstrip())
    return code
