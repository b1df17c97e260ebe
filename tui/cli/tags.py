"""`tag`, `untag` and `tags`: the short names that the user gives to conversations."""

from __future__ import annotations

from hermes_browse.store.notes.tagging import TagCount
from hermes_browse.store.wording import _

from ..text.formats import hashtags
from .command_context import CommandContext, Subcommand
from .output import TableColumn, fields, note, print_table, print_text
from .parser import ID, Parser, Valued, add_all

_CHANGES = (
    Valued("--rename", "give a tag another name, in all conversations", ("OLD", "NEW"), nargs=2),
    Valued("--remove", "remove a tag from all conversations", "NAME"),
)


class TagCommand(Subcommand):
    """Set tags of a conversation, or remove some (`untag`)."""

    arguments = (
        ID,
        Valued("names", "names of tags: a word each; `#` in front is optional", "NAME", nargs="+"),
    )

    def run(self, context: CommandContext) -> int:
        before = context.conversation()
        names = context.arguments.names
        added, removed = (names, ()) if context.arguments.command == "tag" else ((), names)
        done = context.store.tag([before.id], added, removed)
        after = context.store.neighbourhood([before.id], context.now).conversation(before.id)
        context.store.close()
        if context.json:
            context.print_json({"conversation": after.id, "tags": list(after.tags)})
            return 0
        print_text(hashtags(after.tags) or _("no tags"))
        if not done.session_ids:
            note(_("Nothing had to be changed."))
        return 0


class TagsCommand(Subcommand):
    """List the tags of a store; rename or remove one."""

    def add_arguments(self, parser: Parser) -> None:
        add_all(parser.add_mutually_exclusive_group(), _CHANGES)

    def run(self, context: CommandContext) -> int:
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
            return 0
        if done is not None:
            note(done.sentence or _("Nothing had to be changed."))
        print_table(_COLUMNS, list(counts))
        if not counts:
            note(context.advice(_("No tags yet: `hermes-browse tag ID NAME` sets one.")))
        return 0


_COLUMNS: list[TableColumn[TagCount]] = [
    TableColumn("tag", "name", is_flexible=True, form="#{}".format),
    TableColumn("conversations", "conversations", True, form="{:,}".format),
]
