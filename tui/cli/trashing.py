"""`delete` and `trash`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.text import one_line

from ..places import sessions_folder, trash_folder
from .asking import ask, on_a_terminal
from .carrying import telling
from .columns import note, print_table, print_text, short_number, short_time
from .jsonform import Json
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.trash.shelf import Bundle
    from hermes_browse.store.write.delete import Doomed
    from hermes_browse.store.write.restore import Restored

_TITLE = 60


def bundle_json(bundle: Bundle) -> Json:
    """A BUNDLE."""
    return {
        "name": bundle.name,
        "created_at": bundle.created_at,
        "sessions": list(bundle.sessions),
        "messages": bundle.messages,
        "bytes": bundle.bytes,
        "title": bundle.title,
        "conversations": list(bundle.conversations),
        "store": bundle.store or None,
        "restored_at": bundle.restored_at,
        "damage": bundle.damage or None,
    }


def _confirm(count: int, what: str, *, may_ask: bool) -> None:
    """Go on only after a yes; where several things go, after their number.

    Raises:
        RefusedError: No yes, or nobody to ask.
    """
    if not may_ask:
        raise RefusedError(f"Not without --yes: this would {what}. Nothing was changed.")
    wanted = str(count) if count > 1 else "y"
    ask(f"This will {what}. Type {wanted} to go on, anything else to leave: ", wanted)


def _counted(number: int, one: str) -> str:
    return f"{number:,} {one}" + ("" if number == 1 else "s")


def _what(doomed: Doomed) -> str:
    parts = [
        f"delete {_counted(len(doomed.conversations), 'conversation')}",
        _counted(len(doomed.closure.sessions), "session"),
        f"{_counted(doomed.messages, 'message')} to the trash",
    ]
    return ", ".join(parts)


def delete_conversations(context: Context) -> int:
    """`delete`: whole conversations into one bundle, all of them or none."""
    from hermes_browse.store.catalog import read_catalog
    from hermes_browse.store.resolve import resolve_session
    from hermes_browse.store.write.delete import delete, hold_up, plan_delete, refuse_protected

    wanted = context.arguments
    with context.store.reader() as reader:
        ids = list(dict.fromkeys(resolve_session(reader, each) for each in wanted.ids))
        catalog = read_catalog(reader, context.now)
        doomed = plan_delete(reader, catalog, ids, context.now)
    refuse_protected(catalog, doomed)
    if warning := hold_up(doomed.messages):
        note(warning)
    if not wanted.yes:
        for gone in doomed.conversations:
            note(f"{gone.id} · {gone.source} · {one_line(gone.title or '(no title)', _TITLE)}")
        for orphan in doomed.closure.orphaned:
            note(f"{orphan.id} stays, and loses its parent.")
        asks = on_a_terminal() and not context.json
        _confirm(len(doomed.conversations), _what(doomed), may_ask=asks)
    done = delete(
        context.store,
        ids,
        trash_folder(context.location),
        now=context.now,
        sessions_folder=sessions_folder(context.location),
        tell=telling(),
    )
    for each in done.notes:
        note(each)
    if context.json:
        print_json(
            {
                "deleted": list(done.sessions),
                "reparented": list(done.reparented),
                "bundle": bundle_json(done.bundle),
                "conversations": list(done.conversations),
                "messages": done.messages,
                "files": list(done.files),
                "notes": list(done.notes),
            }
        )
        return 0
    print_text(f"{done.sentence} · `hermes-browse trash restore {done.bundle.name}` brings them back")
    if done.reparented:
        note(f"{_counted(len(done.reparented), 'session')} stayed and lost a parent: {', '.join(done.reparented)}")
    return 0


def _list(context: Context) -> int:
    from hermes_browse.store.trash.shelf import list_bundles

    trash = trash_folder(context.location)
    bundles = list_bundles(trash)
    if context.json:
        print_json({"bundles": [bundle_json(each) for each in bundles], "folder": str(trash)})
        return 0
    if bundles:
        headers = ["deleted", "sessions", "msgs", "size", "title", "name"]
        print_table(headers, [_row(each) for each in bundles], right=(1, 2, 3), flexible=4, optional=(1, 2))
    size = short_number(sum(each.bytes for each in bundles))
    note(f"{_counted(len(bundles), 'bundle')}, {size}B in {trash}")
    return 0


def _row(bundle: Bundle) -> list[str]:
    title = bundle.title or "(no title)"
    if bundle.damage:
        title = f"damaged: {bundle.damage}"
    elif bundle.restored_at is not None:
        title += f" (restored {short_time(bundle.restored_at)})"
    return [
        short_time(bundle.created_at),
        f"{len(bundle.sessions):,}",
        f"{bundle.messages:,}",
        f"{short_number(bundle.bytes)}B",
        title,
        bundle.name,
    ]


def _restore(context: Context) -> int:
    from hermes_browse.store.trash.shelf import find
    from hermes_browse.store.write.restore import check_index, restore

    trash = trash_folder(context.location)
    names = list(dict.fromkeys(find(trash, each).name for each in context.arguments.bundles))
    done: list[Restored] = []
    for name in names:
        try:
            one = restore(
                context.store,
                trash,
                name,
                now=context.now,
                sessions_folder=sessions_folder(context.location),
                any_store=context.arguments.yes,
                check=len(names) == 1,
            )
        except BrowseError:
            if done:
                for said in check_index(context.store):
                    note(said)
                note(f"Restored before that: {', '.join(each.name for each in done)}.")
            raise
        done.append(one)
        for each in one.notes:
            note(each)
        if not context.json:
            print_text(f"{one.sentence} from {one.name}")
    said_of_all = check_index(context.store) if len(names) > 1 else ()
    for each in said_of_all:
        note(each)
    if context.json:
        print_json(
            {
                "restored": [session for one in done for session in one.sessions],
                "messages": sum(one.messages for one in done),
                "verified": all(one.verified for one in done),
                "files": sum(one.files for one in done),
                "bundles": [one.name for one in done],
                "notes": [*(each for one in done for each in one.notes), *said_of_all],
            }
        )
    return 0


def _drop(context: Context) -> int:
    from hermes_browse.store.trash.shelf import describe, drop, find

    wanted = context.arguments
    trash = trash_folder(context.location)
    bundles = [describe(folder) for folder in dict.fromkeys(find(trash, each) for each in wanted.bundles)]
    if not wanted.yes:
        for each in bundles:
            note("  ".join(_row(each)))
        what = f"remove {_counted(len(bundles), 'bundle')} for good"
        _confirm(len(bundles), what, may_ask=on_a_terminal() and not context.json)
    for each in bundles:
        drop(trash, each.name)
        if not context.json:
            print_text(f"dropped {each.name}")
    if context.json:
        print_json({"dropped": [bundle_json(each) for each in bundles]})
    return 0


def trash(context: Context) -> int:
    """`trash list`, `trash restore` and `trash drop`."""
    actions = {"list": _list, "restore": _restore, "drop": _drop}
    return actions[context.arguments.action](context)
