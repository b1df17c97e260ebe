"""`profiles` and `doctor`: what there is, and what is wrong with it."""

from __future__ import annotations

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import RefusedError, StoreError
from hermes_browse.store.health import summarize
from hermes_browse.store.homes import Location, active_profile, profiles
from hermes_browse.store.wording import _

from .columns import note, print_table, print_text, short_number
from .jsonform import Json, store_json
from .naming import severity_name
from .run import Context, print_json


def list_profiles(context: Context) -> int:
    """`profiles`: the root's own store and those of its profiles."""
    root = context.location.root
    if context.location.demo:
        raise RefusedError(_("The demo store belongs to no Hermes root, so it has no profiles."))
    if root is None:
        raise RefusedError(
            _("{path} belongs to no Hermes root, so it has no profiles.").format(path=context.location.path),
            remedy=_("Name a root with --home."),
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
    print_table([_("profile"), _("sessions"), _("size"), _("store")], rows, right=(1, 2), flexible=3)
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
    from ..checkup import examine, facts

    found = examine(context.store, context.location)
    if not context.json:
        line = _("{label}: {text}")
        for name, text in facts(found):
            print_text(line.format(label=name, text=text))
        for each in found.problems:
            note(line.format(label=severity_name(each.severity), text=f"{each.text} {each.remedy}".rstrip()))
        return found.exit_code
    search, held = found.search, found.holders
    print_json(
        {
            "store": store_json(found.summary),
            "search": {
                "fts5": search.fts,
                "trigram": search.trigram,
                "indexed": search.indexed,
                "messages": search.messages,
            },
            "hermes": {"path": found.hermes, "version": found.hermes_version} if found.hermes is not None else None,
            "terminal": found.terminal,
            "holders": None if held is None else [each._asdict() for each in held],
            "disk": {"free_bytes": found.free},
            "files": {"configuration": str(found.configuration.path), "log": str(found.log)},
            "problems": [
                {"severity": each.severity, "code": each.code, "text": each.text, "remedy": each.remedy}
                for each in found.problems
            ],
        }
    )
    return found.exit_code
