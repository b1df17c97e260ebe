"""Reversible changes of conversations: `rename`, `archive`, `unarchive`, `pin`, `unpin`; their tags:
`tag`, `untag` and `tags`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext

from ..text.formats import hashtags
from .command_context import CommandContext, Subcommand
from .output import TableColumn, fields, note, print_table, print_text
from .parser import ID, IDS, Parser, Valued, add_all

if TYPE_CHECKING:  # `tags` needs nothing of it
    from hermes_browse.store.edit.flags import Change

_TITLE_WIDTH = 80
_TAG_CHANGES = (
    Valued("--rename", "give a tag another name, in all conversations", ("OLD", "NEW"), nargs=2),
    Valued("--remove", "remove a tag from all conversations", "NAME"),
)


def _name(conversation: Conversation) -> str:
    if not conversation.title:
        return one_line(conversation.id)
    return f"“{one_line(conversation.title, _TITLE_WIDTH)}”"


class RenameCommand(Subcommand):
    """Change the title of the tip, which lists show."""

    arguments = ID, Valued("title", "its words", "TITLE", nargs="+")

    def run(self, context: CommandContext) -> None:
        typed = " ".join(context.arguments.title)
        before = context.conversation()
        context.store.close()
        renamed = context.store.rename(before.id, typed)
        title, is_changed = renamed.title, bool(renamed.change.rows)
        if context.json:
            document = {"id": before.id, "title": title, "typed": typed, "changed": is_changed}
            context.print_json(document)
        elif not is_changed:
            note(_("It has no title.") if title is None else _("It has that title already."))
        else:
            was = _("it was {name}", name=_name(before)) if before.title else ""
            print_text(one_line(" · ".join(filter(None, (renamed.change.sentence, was)))))
            if renamed.differs and title is not None:
                note(
                    _(
                        "This differs from what you typed: Hermes removes control and invisible characters and "
                        "repeated spaces."
                    )
                )


class _Mark(NamedTuple):
    """A mark that is set or cleared."""

    key: str
    """JSON field of the changed ids."""
    work: Callable[[OpenStore, list[str]], Change]
    """Writes the change."""
    done: str
    """In English, the sentence printed for each changed conversation."""


_MARKS = {
    "archive": _Mark(
        "archived",
        OpenStore.archive,
        "archived {name} · `hermes-browse unarchive {id}` undoes it",
    ),
    "unarchive": _Mark(
        "unarchived",
        OpenStore.unarchive,
        "unarchived {name} · `hermes-browse archive {id}` undoes it",
    ),
    "pin": _Mark("pinned", OpenStore.pin, "pinned {name} · `hermes-browse unpin {id}` undoes it"),
    "unpin": _Mark(
        "unpinned", OpenStore.unpin, "unpinned {name} · `hermes-browse pin {id}` undoes it"
    ),
}
"""By the name of the command."""


class MarkCommand(Subcommand):
    """Set or clear a mark on whole lineages, all in one transaction."""

    arguments = (IDS,)

    def run(self, context: CommandContext) -> None:
        found = {
            conversation.id: conversation
            for _session, conversation in context.find(context.arguments.ids)
        }
        context.store.close()
        mark = _MARKS[context.arguments.command]
        touched = set(mark.work(context.store, list(found)).session_ids)
        own = {
            tip: {part.id for part in conversation.segments} for tip, conversation in found.items()
        }
        changed = [tip for tip in found if touched & own[tip]]
        unchanged = [tip for tip in found if tip not in changed]
        if context.json:
            context.print_json(
                {mark.key: changed, "sessions": sorted(touched), "unchanged": unchanged}
            )
            return
        for tip in changed:
            word = f"{'-- ' if tip.startswith('-') else ''}{shlex.quote(one_line(tip))}"
            line = context.advice(_(mark.done, name=_name(found[tip]), id=word))
            print_text(one_line(line))
        for tip in unchanged:
            note(_("{name} is unchanged: there was nothing to change.", name=_name(found[tip])))
        if others := len(touched.difference(*own.values())):
            # Hermes marks the branches and subagents of a compressed segment with it (0.17 to
            # 0.22).
            note(
                ngettext(
                    "{count:,} more session of the same lineage went along, as in Hermes.",
                    "{count:,} more sessions of the same lineage went along, as in Hermes.",
                    others,
                    count=others,
                )
            )


class TagCommand(Subcommand):
    """Set tags of a conversation, or remove some (`untag`)."""

    arguments = (
        ID,
        Valued("names", "names of tags: a word each; `#` in front is optional", "NAME", nargs="+"),
    )

    def run(self, context: CommandContext) -> None:
        before = context.conversation()
        names = context.arguments.names
        added, removed = (names, ()) if context.arguments.command == "tag" else ((), names)
        done = context.store.tag([before.id], added, removed)
        after = context.store.neighbourhood([before.id], context.now).conversation(before.id)
        context.store.close()
        if context.json:
            context.print_json({"conversation": after.id, "tags": list(after.tags)})
            return
        print_text(hashtags(after.tags) or _("no tags"))
        if not done.session_ids:
            note(_("Nothing had to be changed."))


class TagsCommand(Subcommand):
    """List the tags of a store; rename or remove one."""

    def add_arguments(self, parser: Parser) -> None:
        add_all(parser.add_mutually_exclusive_group(), _TAG_CHANGES)

    def run(self, context: CommandContext) -> None:
        store, arguments = context.store, context.arguments
        done = None
        if arguments.rename is not None:
            done = store.rename_tag(*arguments.rename)
        elif arguments.remove is not None:
            done = store.rename_tag(arguments.remove, None)
        counts = store.tags()
        context.store.close()
        if context.json:
            context.print_json({"tags": [fields(each, "name", "conversations") for each in counts]})
            return
        if done is not None:
            note(done.sentence or _("Nothing had to be changed."))
        print_table(_TAGS, list(counts))
        if not counts:
            note(context.advice(_("No tags yet: `hermes-browse tag ID NAME` sets one.")))


_TAGS = [
    TableColumn("tag", "name", is_flexible=True, form="#{}".format),
    TableColumn("conversations", "conversations", True, form="{:,}".format),
]
