"""`delete`: whole conversations into one bundle of the trash, all of them or none."""

from __future__ import annotations

import argparse

from hermes_browse.store.edit.delete import delete
from hermes_browse.store.edit.delete_plan import Doomed, hold_up, plan_delete, refuse_protected
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ..formats import counted
from ..store_paths import sessions_folder, trash_folder
from .context import Command, Context, telling
from .output import bundle_json, no_title, note, print_json, print_text
from .parser import text

_TITLE = 60


class DeleteCommand(Command):
    """Move conversations to the trash."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", nargs="+", type=text)
        parser.add_argument("--yes", action="store_true", help=_("do not ask"))

    def run(self, context: Context) -> int:
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
                note(f"{gone.id} · {gone.source} · {one_line(gone.title or no_title(), _TITLE)}")
            for orphan in doomed.affected.orphaned:
                name = f"{orphan.id} · {one_line(orphan.title or no_title(), _TITLE)}"
                note(_("{name} is kept and becomes standalone.").format(name=name))
            context.confirm(len(doomed.conversations), _what(doomed))
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
        told = _("{sentence} · `hermes-browse trash restore {name}` restores them")
        print_text(told.format(sentence=done.sentence, name=done.bundle.name))
        if count := len(done.reparented):
            stayed = ngettext(
                "{count:,} session stayed and lost a parent: {ids}",
                "{count:,} sessions stayed and lost a parent: {ids}",
                count,
            )
            note(stayed.format(count=count, ids=pgettext("list", ", ").join(done.reparented)))
        return 0


def _what(doomed: Doomed) -> str:
    return _("delete {conversations}, {sessions}, {messages} to the trash").format(
        conversations=counted(len(doomed.conversations), "conversation"),
        sessions=counted(len(doomed.affected.sessions), "session"),
        messages=counted(doomed.messages, "message"),
    )
