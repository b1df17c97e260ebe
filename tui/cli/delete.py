"""`delete`: move whole conversations to the trash as one bundle, all of them or none."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hermes_browse.store.edit.delete import delete
from hermes_browse.store.edit.delete_plan import DeletePlan, long_lock_warning, plan_delete
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ..formats import counted
from ..store_paths import sessions_folder, trash_folder
from .command_context import CommandContext, Subcommand, telling
from .output import bundle_json, no_title, note, print_json, print_text
from .parser import text_arg

_TITLE_WIDTH = 60


class DeleteCommand(Subcommand):
    """Move conversations to the trash."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", nargs="+", type=text_arg)
        parser.add_argument("--yes", action="store_true", help=_("do not ask"))

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        with context.store.reader() as reader:
            ids = list(dict.fromkeys(resolve_session(reader, each) for each in arguments.ids))
            catalog = read_catalog(reader, context.now)
            plans = plan_delete(reader, catalog, ids, context.now)
        if warning := long_lock_warning(sum(plan.messages for plan in plans)):
            note(warning)
        if not arguments.yes:
            for gone in (plan.conversation for plan in plans):
                note(
                    f"{gone.id} · {gone.source} · {one_line(gone.title or no_title(), _TITLE_WIDTH)}"
                )
            going = {session for plan in plans for session in plan.sessions}
            orphans = {each.id: each for plan in plans for each in plan.orphaned}
            for orphan in (each for each in orphans.values() if each.id not in going):
                name = f"{orphan.id} · {one_line(orphan.title or no_title(), _TITLE_WIDTH)}"
                note(_("{name} stays, without its parent.").format(name=name))
            context.confirm(len(plans), _action_text(plans))
        deleted = delete(
            context.store,
            ids,
            trash_folder(context.location),
            now=context.now,
            sessions_folder=sessions_folder(context.location),
            stop=context.stop,
            tell=telling(),
        )
        for each in deleted.notes:
            note(each)
        if context.json:
            print_json(
                {
                    "deleted": list(deleted.sessions),
                    "reparented": list(deleted.reparented),
                    "bundle": bundle_json(deleted.bundle),
                    "conversations": list(deleted.conversations),
                    "messages": deleted.messages,
                    "files": list(deleted.files),
                    "notes": list(deleted.notes),
                }
            )
            return 0
        sentence = _("{sentence} · `hermes-browse trash restore {name}` restores them")
        print_text(sentence.format(sentence=deleted.sentence, name=deleted.bundle.name))
        if count := len(deleted.reparented):
            orphans_note = ngettext(
                "{count:,} session stayed and lost a parent: {ids}",
                "{count:,} sessions stayed and lost a parent: {ids}",
                count,
            )
            note(
                orphans_note.format(
                    count=count, ids=pgettext("list", ", ").join(deleted.reparented)
                )
            )
        return 0


def _action_text(plans: Sequence[DeletePlan]) -> str:
    return _("delete {conversations}, {sessions}, {messages} to the trash").format(
        conversations=counted(len(plans), "conversation"),
        sessions=counted(sum(len(plan.sessions) for plan in plans), "session"),
        messages=counted(sum(plan.messages for plan in plans), "message"),
    )
