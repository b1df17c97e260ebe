"""`delete` and `trash`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ..places import sessions_folder, trash_folder
from .asking import ask, on_a_terminal
from .carrying import telling
from .columns import note, print_table, print_text, short_number, short_time
from .jsonform import Json
from .naming import count_conversations, count_messages, count_sessions
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
        raise RefusedError(_("Not without --yes: this would {what}. Nothing was changed.").format(what=what))
    wanted = str(count) if count > 1 else "y"
    question = _("This will {what}. Type {wanted} to go on, anything else to leave: ")
    ask(question.format(what=what, wanted=wanted), wanted)


def _what(doomed: Doomed) -> str:
    return _("delete {conversations}, {sessions}, {messages} to the trash").format(
        conversations=count_conversations(len(doomed.conversations)),
        sessions=count_sessions(len(doomed.closure.sessions)),
        messages=count_messages(doomed.messages),
    )


def delete_conversations(context: Context) -> int:
    """`delete`: whole conversations into one bundle, all of them or none."""
    from hermes_browse.store.sessions.catalog import read_catalog
    from hermes_browse.store.sessions.resolve import resolve_session
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
            note(f"{gone.id} · {gone.source} · {one_line(gone.title or _no_title(), _TITLE)}")
        for orphan in doomed.closure.orphaned:
            note(_("{id} stays, and loses its parent.").format(id=orphan.id))
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
    told = _("{sentence} · `hermes-browse trash restore {name}` brings them back")
    print_text(told.format(sentence=done.sentence, name=done.bundle.name))
    if count := len(done.reparented):
        stayed = ngettext(
            "{count:,} session stayed and lost a parent: {ids}",
            "{count:,} sessions stayed and lost a parent: {ids}",
            count,
        )
        note(stayed.format(count=count, ids=pgettext("list", ", ").join(done.reparented)))
    return 0


def _list(context: Context) -> int:
    from hermes_browse.store.trash.shelf import list_bundles

    trash = trash_folder(context.location)
    bundles = list_bundles(trash)
    if context.json:
        print_json({"bundles": [bundle_json(each) for each in bundles], "folder": str(trash)})
        return 0
    if bundles:
        headers = [
            pgettext("column", "deleted"),
            _("sessions"),
            _("msgs"),
            _("size"),
            _("title"),
            pgettext("column", "name"),
        ]
        print_table(headers, [_row(each) for each in bundles], right=(1, 2, 3), flexible=4, optional=(1, 2))
    size = short_number(sum(each.bytes for each in bundles))
    told = ngettext("{count:,} bundle, {size}B in {folder}", "{count:,} bundles, {size}B in {folder}", len(bundles))
    note(told.format(count=len(bundles), size=size, folder=trash))
    return 0


def _no_title() -> str:
    return _("(no title)")


def _row(bundle: Bundle) -> list[str]:
    title = bundle.title or _no_title()
    if bundle.damage:
        title = _("damaged: {damage}").format(damage=bundle.damage)
    elif bundle.restored_at is not None:
        title = _("{title} (restored {time})").format(title=title, time=short_time(bundle.restored_at))
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
                before = pgettext("list", ", ").join(each.name for each in done)
                note(_("Restored before that: {bundles}.").format(bundles=before))
            raise
        done.append(one)
        for each in one.notes:
            note(each)
        if not context.json:
            print_text(_("{sentence} from {bundle}").format(sentence=one.sentence, bundle=one.name))
    said_of_all = check_index(context.store) if len(names) > 1 else ()
    for each in said_of_all:
        note(each)
    if context.json:
        print_json(
            {
                "restored": [session for one in done for session in one.sessions],
                "messages": sum(one.messages for one in done),
                "verified": all(one.verified for one in done) and not said_of_all,
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
        what = ngettext("remove {count:,} bundle for good", "remove {count:,} bundles for good", len(bundles))
        _confirm(len(bundles), what.format(count=len(bundles)), may_ask=on_a_terminal() and not context.json)
    for each in bundles:
        drop(trash, each.name)
        if not context.json:
            print_text(_("dropped {name}").format(name=each.name))
    if context.json:
        print_json({"dropped": [bundle_json(each) for each in bundles]})
    return 0


def trash(context: Context) -> int:
    """`trash list`, `trash restore` and `trash drop`."""
    actions = {"list": _list, "restore": _restore, "drop": _drop}
    return actions[context.arguments.action](context)
