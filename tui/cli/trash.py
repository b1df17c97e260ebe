"""`delete`: move whole conversations to the trash; `trash`: list, restore or remove what is in
it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete import Deleted, delete
from hermes_browse.store.edit.delete_plan import (
    DeletePlan,
    affected_by_delete,
    long_lock_warning,
    plan_delete,
)
from hermes_browse.store.edit.restore import Restored, check_index, restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle, describe, drop, find, list_bundles
from hermes_browse.store.wording import _, ngettext, pgettext

from ..formats import counted, size, timestamp
from ..store_paths import sessions_folder, trash_folder
from .command_context import CommandContext, Subcommand, telling
from .output import (
    TableColumn,
    bundle_json,
    fields,
    no_title,
    note,
    print_json,
    print_table,
    print_text,
)
from .parser import add_ids, add_json, add_several, add_store_options, text_arg

_TITLE_WIDTH = 60


class DeleteCommand(Subcommand):
    """Move conversations to the trash as one bundle, all of them or none."""

    runs_there = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_ids(parser)
        parser.add_argument("--yes", action="store_true", help=_("do not ask"))

    def run(self, context: CommandContext) -> int:
        store = context.store
        ids = list(dict.fromkeys(map(store.resolve, context.arguments.ids)))
        plans = plan_delete(store.reader, store.catalog(context.now), ids, context.now)
        store.close()
        if warning := long_lock_warning(sum(plan.messages for plan in plans)):
            note(warning)
        if not context.arguments.yes:
            _confirm_delete(context, plans)
        deleted = delete(
            store.store,
            ids,
            trash_folder(context.location),
            now=context.now,
            sessions_folder=sessions_folder(context.location),
            stop=context.stop,
            tell=telling(),
        )
        for sentence in deleted.notes:
            note(sentence)
        if context.json:
            document = fields(deleted, "reparented", "conversations", "messages", "files", "notes")
            bundle = {"deleted": deleted.sessions, "bundle": bundle_json(deleted.bundle)}
            print_json(document | bundle)
        else:
            _print_deleted(deleted)
        return 0


def _confirm_delete(context: CommandContext, plans: Sequence[DeletePlan]) -> None:
    for plan in plans:
        conversation = plan.conversation
        note(f"{conversation.id} · {conversation.source} · {_title(conversation)}")
    going = {session for plan in plans for session in plan.sessions}
    orphans = {session.id: session for plan in plans for session in plan.orphaned}
    for session_id, session in orphans.items():
        if session_id not in going:
            name = f"{session_id} · {_title(session)}"
            note(_("{name} stays, without its parent.").format(name=name))
    what = _("delete {conversations}, {sessions}, {messages} to the trash").format(
        conversations=counted(len(plans), "conversation"),
        sessions=counted(len(going), "session"),
        messages=counted(sum(plan.messages for plan in plans), "message"),
    )
    context.confirm(len(plans), what)


def _title(named: Conversation | Session) -> str:
    return one_line(named.title or no_title(), _TITLE_WIDTH)


def _print_deleted(deleted: Deleted) -> None:
    sentence = _("{sentence} · `hermes-browse trash restore {name}` restores them")
    print_text(sentence.format(sentence=deleted.sentence, name=deleted.bundle.name))
    if count := len(deleted.reparented):
        sentence = ngettext(
            "{count:,} session stayed and lost a parent: {ids}",
            "{count:,} sessions stayed and lost a parent: {ids}",
            count,
        )
        ids = pgettext("list", ", ").join(deleted.reparented)
        note(sentence.format(count=count, ids=ids))


class TrashCommand(Subcommand):
    """List, restore or drop bundles of the trash; without an action they are listed."""

    runs_there = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title=_("actions"))
        parser.set_defaults(action="list")

        def add(name: str, summary: str) -> argparse.ArgumentParser:
            action = actions.add_parser(name, help=summary, description=summary)
            add_json(action, default=argparse.SUPPRESS)
            add_store_options(action)
            if name != "list":
                bundle_help = _("a name, or how it begins")
                action.add_argument(
                    "bundles", metavar="BUNDLE", nargs="+", type=text_arg, help=bundle_help
                )
            return action

        add("list", _("The bundles in the trash, newest first."))
        restoring = add("restore", _("Restore bundles to the store."))
        yes_help = _("also into another store than it is from")
        restoring.add_argument("--yes", action="store_true", help=yes_help)
        only_help = _("only this conversation of the bundle; repeatable")
        add_several(restoring, "--only", "ID", only_help)
        dropping = add("drop", _("Remove bundles for good."))
        dropping.add_argument("--yes", action="store_true", help=_("do not ask"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for `--only` with several bundles."""
        is_restore = arguments.action == "restore"
        is_ambiguous = is_restore and arguments.only and len(arguments.bundles) > 1
        return _("--only needs exactly one bundle") if is_ambiguous else ""

    def run(self, context: CommandContext) -> int:
        actions: Mapping[str, Callable[[CommandContext, Path], None]] = {
            "list": _list,
            "restore": _restore,
            "drop": _drop,
        }
        actions[context.arguments.action](context, trash_folder(context.location))
        return 0


def _list(context: CommandContext, trash: Path) -> None:
    bundles = list_bundles(trash)
    if context.json:
        print_json({"bundles": list(map(bundle_json, bundles)), "folder": str(trash)})
        return
    print_table(_columns(), bundles)
    summary = ngettext(
        "{count:,} bundle, {size} in {folder}",
        "{count:,} bundles, {size} in {folder}",
        len(bundles),
    )
    total = size(sum(bundle.bytes for bundle in bundles))
    note(summary.format(count=len(bundles), size=total, folder=trash))


def _columns() -> list[TableColumn[Bundle]]:
    return [
        TableColumn(pgettext("column", "deleted"), lambda bundle: timestamp(bundle.created_at)),
        TableColumn(_("sessions"), lambda bundle: f"{len(bundle.sessions):,}", True, dropped=1),
        TableColumn(_("msgs"), lambda bundle: f"{bundle.messages:,}", True, dropped=2),
        TableColumn(_("size"), lambda bundle: size(bundle.bytes), True),
        TableColumn(_("title"), _bundle_title, is_flexible=True),
        TableColumn(pgettext("column", "name"), lambda bundle: bundle.name),
    ]


def _bundle_title(bundle: Bundle) -> str:
    title = bundle.title or no_title()
    if bundle.damage:
        return _("damaged: {damage}").format(damage=bundle.damage)
    if bundle.restored_at is None:
        return title
    time = timestamp(bundle.restored_at)
    return _("{title} (restored {time})").format(title=title, time=time)


def _restore(context: CommandContext, trash: Path) -> None:
    store, arguments = context.store.store, context.arguments
    names = list(dict.fromkeys(find(trash, name).stem for name in arguments.bundles))
    only = (
        _sessions_in(find(trash, names[0]), arguments.only, context.now) if arguments.only else None
    )
    context.store.close()
    results: list[Restored] = []
    try:
        for name in names:
            result = restore(
                store,
                trash,
                name,
                now=context.now,
                sessions_folder=sessions_folder(context.location),
                any_store=arguments.yes,
                check=len(names) == 1,
                only=only,
            )
            results.append(result)
            _tell_restored(result, as_text=not context.json)
    except BrowseError:
        if results:
            _check(store)
            restored = pgettext("list", ", ").join(result.name for result in results)
            note(_("Restored before that: {bundles}.").format(bundles=restored))
        raise
    index_notes = _check(store) if len(names) > 1 else ()
    if context.json:
        print_json(
            {
                "restored": [session for result in results for session in result.sessions],
                "messages": sum(result.messages for result in results),
                "verified": all(result.verified for result in results) and not index_notes,
                "files": sum(result.files for result in results),
                "bundles": [result.name for result in results],
                "notes": [*(text for result in results for text in result.notes), *index_notes],
            }
        )


def _check(store: Store) -> tuple[str, ...]:
    """Check the search index after several restores; return what is wrong, which is noted."""
    notes = check_index(store)
    for sentence in notes:
        note(sentence)
    return notes


def _tell_restored(result: Restored, *, as_text: bool) -> None:
    for sentence in result.notes:
        note(sentence)
    if as_text:
        is_new = not result.there.issuperset(result.sessions)
        sentence = _("{sentence} from {bundle}") if is_new else _("{bundle}: {sentence}")
        print_text(sentence.format(sentence=result.sentence, bundle=result.name))


def _sessions_in(bundle: Path, words: list[str], now: float) -> tuple[str, ...]:
    """Return the sessions of the requested conversations: their segments and subagents."""
    with OpenStore(Store(bundle)) as store:
        ids = [store.resolve(word) for word in words]
        return affected_by_delete(store.catalog(now).forest, ids).sessions


def _drop(context: CommandContext, trash: Path) -> None:
    paths = dict.fromkeys(find(trash, name) for name in context.arguments.bundles)
    bundles = [describe(path) for path in paths]
    if not context.arguments.yes:
        for bundle in bundles:
            note("  ".join(column.text(bundle) for column in _columns()))
        action = ngettext(
            "remove {count:,} bundle for good", "remove {count:,} bundles for good", len(bundles)
        )
        context.confirm(len(bundles), action.format(count=len(bundles)))
    for bundle in bundles:
        drop(trash, bundle.name)
        if not context.json:
            print_text(_("dropped {name}").format(name=bundle.name))
    if context.json:
        print_json({"dropped": list(map(bundle_json, bundles))})
