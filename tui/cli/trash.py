"""`delete`: move whole conversations to the trash; `trash`: list, restore or remove what is in
it."""

from __future__ import annotations

from argparse import SUPPRESS
from collections.abc import Mapping, Sequence

from hermes_browse.store.amounts import size
from hermes_browse.store.edit.delete_plan import DeletePlan, long_lock_warning
from hermes_browse.store.edit.restore import Restored, describe_restored, restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import sessions_folder
from hermes_browse.store.progress import Progress
from hermes_browse.store.sessions.models import Conversation, Session
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle, describe, find, remove_bundle
from hermes_browse.store.wording import N_, _, ngettext

from ..text.formats import counted, listed, timestamp
from .command import StoreCommand, telling
from .output import (
    Number,
    TableColumn,
    bundle_json,
    fields,
    note,
    print_table,
    print_text,
)
from .parser import IDS, JSON, Argument, Flag, Parser, Several, Valued, add_all, add_store_options

_BUNDLES = Valued("bundles", "a name, or how it begins", "DELETION", nargs="+")
_ACTIONS: dict[str, tuple[str, Sequence[Argument]]] = {
    "list": (N_("The deletions in the trash, newest first."), ()),
    "restore": (
        N_("Restore deletions to the store."),
        (
            _BUNDLES,
            Flag("--yes", "also into another store than it is from"),
            Several("--only", "only this conversation of the deletion; repeatable", "ID"),
        ),
    ),
    "drop": (N_("Delete them for good."), (_BUNDLES, Flag("--yes", "do not ask"))),
}


class DeleteCommand(StoreCommand):
    """Move conversations to the trash as one bundle, all of them or none."""

    arguments = IDS, Flag("--yes", "do not ask")

    def run(self) -> None:
        store = self.store
        ids = list(dict.fromkeys(map(store.resolve, self.given.ids)))
        plans = store.plan_delete(ids, self.now)
        store.close()
        if warning := long_lock_warning(sum(plan.messages for plan in plans)):
            note(warning)
        if not self.given.yes:
            self._confirm(plans)
        deleted = store.delete(ids, tell=telling())
        note(*map(self.advice, deleted.notes))
        bundle = deleted.bundle
        document = fields(deleted, "reparented files notes") | fields(
            bundle, "conversations messages deleted=sessions"
        )
        line = _(
            "{sentence} · `hermes-browse trash restore {name}` restores them",
            sentence=deleted.sentence,
            name=bundle.name,
        )
        self.give(document | {"bundle": bundle_json(bundle)}, print_text, self.advice(line))
        if count := len(deleted.reparented):
            self.remark(
                ngettext(
                    "{count:,} session stayed and lost a parent: {ids}",
                    "{count:,} sessions stayed and lost a parent: {ids}",
                    count,
                    ids=listed(*deleted.reparented),
                )
            )

    def _confirm(self, plans: Sequence[DeletePlan]) -> None:
        for plan in plans:
            conversation = plan.conversation
            note(f"{conversation.id} · {conversation.source} · {_title(conversation)}")
        going = {session for plan in plans for session in plan.session_ids}
        orphans = {session.id: session for plan in plans for session in plan.reparented}
        for session_id, session in orphans.items():
            if session_id not in going:
                note(
                    _(
                        "{name} stays, without its parent.",
                        name=f"{session_id} · {_title(session)}",
                    )
                )
        what = _(
            "delete {conversations}, {sessions}, {messages} to the trash",
            conversations=counted(len(plans), "conversation"),
            sessions=counted(len(going), "session"),
            messages=counted(sum(plan.messages for plan in plans), "message"),
        )
        self.confirm(len(plans), what)


def _title(titled: Conversation | Session) -> str:
    return one_line(titled.title or _("(no title)"), 60)


class TrashCommand(StoreCommand):
    """List, restore or drop bundles of the trash; without an action they are listed."""

    def add_arguments(self, parser: Parser) -> None:
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title=_("actions"))
        parser.set_defaults(action="list")
        for name, (summary, arguments) in _ACTIONS.items():
            action = actions.add_parser(name, help=_(summary), description=_(summary))
            add_all(action, [JSON], default=SUPPRESS)
            add_store_options(action)
            add_all(action, arguments)

    def contradictions(self) -> Mapping[str, object]:
        """`--only` is of one bundle."""
        given = self.given
        is_several = given.action == "restore" and given.only and len(given.bundles) > 1
        return {_("--only needs exactly one deletion"): is_several}

    def runs_there(self) -> bool:
        """Nothing is dropped there by a call, nor restored from another store."""
        if self.given.action == "drop" or getattr(self.given, "yes", False):
            return True
        return super().runs_there()

    def run(self) -> None:
        actions = {"list": self._list, "restore": self._restore, "drop": self._drop}
        actions[self.given.action]()

    def _list(self) -> None:
        bundles, trash = self.store.deletions(), self.store.trash_path()
        self.give(
            {"bundles": list(map(bundle_json, bundles)), "folder": str(trash)},
            print_table,
            _COLUMNS,
            bundles,
        )
        self.remark(
            ngettext(
                "{count:,} deletion, {size} in {folder}",
                "{count:,} deletions, {size} in {folder}",
                len(bundles),
                size=size(sum(bundle.bytes for bundle in bundles)),
                folder=trash,
            )
        )

    def _restore(self) -> None:
        store, given = self.store, self.given
        names = list(dict.fromkeys(map(store.find_deletion, given.bundles)))
        only = store.find_in_deletion(names[0], given.only) if given.only else None
        results: list[Restored] = []
        try:
            for name in names:
                results.append(self._restored(name, only, check=name == names[-1]))
        except KeyboardInterrupt:
            note(
                _(
                    "Stopped. What was restored so far is in the store; the same command restores the rest."
                )
            )
            raise
        except BrowseError:
            if results:
                restored = listed(*(result.name for result in results))
                note(_("Restored before that: {bundles}.", bundles=restored))
                note(*map(self.advice, store.check_index()))
            raise
        if self.given.json:
            self.print_json(
                {
                    "restored": [session for result in results for session in result.sessions],
                    "messages": sum(result.messages for result in results),
                    "verified": all(result.verified for result in results),
                    "files": sum(result.files for result in results),
                    "bundles": [result.name for result in results],
                    "notes": [text for result in results for text in result.notes],
                }
            )

    def _restored(self, name: str, only: Sequence[str] | None, *, check: bool) -> Restored:
        """Restore a bundle, and say so; with `--yes`, which no call allows, also into another store.
        The search index is compared with the rows after the last one."""
        store = self.store
        store.close()
        if self.given.yes:
            result = restore(
                store.source,
                store.trash,
                name,
                sessions_folder=sessions_folder(store.location),
                any_store=True,
                check=check,
                only=only,
                progress=Progress(tell=telling()),
            )
        else:
            result = store.restore(name, only, check=check, tell=telling())
        note(*map(self.advice, result.notes))
        if not self.given.json:
            sentence = _("{sentence} from {bundle}")
            if result.present.issuperset(result.sessions):
                sentence = _("{bundle}: {sentence}")
            restored = describe_restored([result])
            print_text(sentence.format(sentence=restored, bundle=result.name))
        return result

    def _drop(self) -> None:
        paths = dict.fromkeys(find(self.store.trash, name) for name in self.given.bundles)
        bundles = [describe(path) for path in paths]
        if not self.given.yes:
            note(*("  ".join(column.cell(each) for column in _COLUMNS) for each in bundles))
            self.confirm(
                len(bundles),
                ngettext(
                    "delete {count:,} deletion for good",
                    "delete {count:,} deletions for good",
                    len(bundles),
                ),
            )
        for bundle in bundles:
            remove_bundle(bundle.path)
            if not self.given.json:
                print_text(_("deleted {name} for good", name=bundle.name))
        if self.given.json:
            self.print_json({"dropped": list(map(bundle_json, bundles))})


def _bundle_title(bundle: Bundle) -> str:
    title = bundle.title or _("(no title)")
    if bundle.damage:
        return _("damaged: {damage}", damage=bundle.damage)
    if bundle.restored_at is None:
        return title
    return _("{title} (restored {time})", title=title, time=timestamp(bundle.restored_at))


_COLUMNS = [
    TableColumn("deleted", "created_at", context="column", form=timestamp),
    TableColumn("sessions", "sessions", right=True, dropped=1, form=len),
    Number("msgs", "messages", dropped=2),
    TableColumn("size", "bytes", right=True, form=size),
    TableColumn("title", _bundle_title, is_flexible=True),
    TableColumn("name", "name", context="column"),
]
