"""`trash list`, `trash restore` and `trash drop`: bundles of deleted conversations."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.edit.restore import Restored, check_index, restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.trash.shelf import Bundle, describe, drop, find, list_bundles
from hermes_browse.store.wording import _, ngettext, pgettext

from ..formats import size, timestamp
from ..store_paths import sessions_folder, trash_folder
from .command_context import CommandContext, Subcommand
from .output import bundle_json, no_title, note, print_json, print_table, print_text
from .parser import add_store_options, text_arg


class TrashCommand(Subcommand):
    """List, restore or drop bundles of the trash."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(
            dest="action", metavar="ACTION", title=_("actions"), required=True
        )
        for name, summary in (
            ("list", _("The bundles in the trash, newest first.")),
            ("restore", _("Restore bundles to the store.")),
            ("drop", _("Remove bundles for good.")),
        ):
            action = actions.add_parser(name, help=summary, description=summary)
            action.add_argument(
                "--json",
                action="store_true",
                default=argparse.SUPPRESS,
                help=_("one JSON document on standard output"),
            )
            add_store_options(action)
            if name != "list":
                action.add_argument(
                    "bundles",
                    metavar="BUNDLE",
                    nargs="+",
                    type=text_arg,
                    help=_("a name, or how it begins"),
                )
            if name == "drop":
                action.add_argument("--yes", action="store_true", help=_("do not ask"))
            if name == "restore":
                yes_help = _("also into another store than it is from")
                action.add_argument("--yes", action="store_true", help=yes_help)
                only_help = _("only this conversation of the bundle; repeatable")
                action.add_argument(
                    "--only",
                    action="append",
                    metavar="ID",
                    type=text_arg,
                    default=[],
                    help=only_help,
                )

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for `--only` with several bundles."""
        is_ambiguous = (
            arguments.action == "restore" and arguments.only and len(arguments.bundles) > 1
        )
        return _("--only needs exactly one bundle") if is_ambiguous else ""

    def run(self, context: CommandContext) -> int:
        return {"list": _list, "restore": _restore, "drop": _drop}[context.arguments.action](
            context
        )


def _list(context: CommandContext) -> int:
    trash = trash_folder(context.location)
    bundles = list_bundles(trash)
    if context.json:
        print_json({"bundles": [bundle_json(each) for each in bundles], "folder": str(trash)})
        return 0
    deleted, name = pgettext("column", "deleted"), pgettext("column", "name")
    headers = [deleted, _("sessions"), _("msgs"), _("size"), _("title"), name]
    print_table(
        headers, [_row(each) for each in bundles], right=(1, 2, 3), flexible=4, optional=(1, 2)
    )
    summary = ngettext(
        "{count:,} bundle, {size} in {folder}",
        "{count:,} bundles, {size} in {folder}",
        len(bundles),
    )
    note(
        summary.format(
            count=len(bundles), size=size(sum(each.bytes for each in bundles)), folder=trash
        )
    )
    return 0


def _row(bundle: Bundle) -> list[str]:
    title = bundle.title or no_title()
    if bundle.damage:
        title = _("damaged: {damage}").format(damage=bundle.damage)
    elif bundle.restored_at is not None:
        title = _("{title} (restored {time})").format(
            title=title, time=timestamp(bundle.restored_at)
        )
    return [
        timestamp(bundle.created_at),
        f"{len(bundle.sessions):,}",
        f"{bundle.messages:,}",
        size(bundle.bytes),
        title,
        bundle.name,
    ]


def _restore(context: CommandContext) -> int:
    trash = trash_folder(context.location)
    names = list(dict.fromkeys(find(trash, each).stem for each in context.arguments.bundles))
    results: list[Restored] = []
    only = _sessions_of(context, find(trash, names[0])) if context.arguments.only else None
    for name in names:
        try:
            result = restore(
                context.store,
                trash,
                name,
                now=context.now,
                sessions_folder=sessions_folder(context.location),
                any_store=context.arguments.yes,
                check=len(names) == 1,
                only=only,
            )
        except BrowseError:
            if results:
                for sentence in check_index(context.store):
                    note(sentence)
                bundles = pgettext("list", ", ").join(each.name for each in results)
                note(_("Restored before that: {bundles}.").format(bundles=bundles))
            raise
        results.append(result)
        for each in result.notes:
            note(each)
        if not context.json:
            is_new = not result.there.issuperset(result.sessions)
            sentence = _("{sentence} from {bundle}") if is_new else _("{bundle}: {sentence}")
            print_text(sentence.format(sentence=result.sentence, bundle=result.name))
    index_notes = check_index(context.store) if len(names) > 1 else ()
    for each in index_notes:
        note(each)
    if context.json:
        print_json(
            {
                "restored": [session for result in results for session in result.sessions],
                "messages": sum(result.messages for result in results),
                "verified": all(result.verified for result in results) and not index_notes,
                "files": sum(result.files for result in results),
                "bundles": [result.name for result in results],
                "notes": [*(each for result in results for each in result.notes), *index_notes],
            }
        )
    return 0


def _sessions_of(context: CommandContext, bundle: Path) -> tuple[str, ...]:
    """Return the sessions of the requested conversations: their segments and subagents."""
    with Store(bundle).reader() as reader:
        ids = [resolve_session(reader, each) for each in context.arguments.only]
        return affected_by_delete(read_catalog(reader, context.now), ids).sessions


def _drop(context: CommandContext) -> int:
    arguments, trash = context.arguments, trash_folder(context.location)
    bundles = [
        describe(path) for path in dict.fromkeys(find(trash, each) for each in arguments.bundles)
    ]
    if not arguments.yes:
        for each in bundles:
            note("  ".join(_row(each)))
        action = ngettext(
            "remove {count:,} bundle for good", "remove {count:,} bundles for good", len(bundles)
        )
        context.confirm(len(bundles), action.format(count=len(bundles)))
    for each in bundles:
        drop(trash, each.name)
        if not context.json:
            print_text(_("dropped {name}").format(name=each.name))
    if context.json:
        print_json({"dropped": [bundle_json(each) for each in bundles]})
    return 0
