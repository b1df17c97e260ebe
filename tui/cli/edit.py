"""Reversible changes of conversations: `rename`, `archive`, `unarchive`, `pin`, `unpin`; their tags:
`tag`, `untag` and `tags`."""

from __future__ import annotations

import shlex

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..text.formats import hashtags, joined
from .command_context import CommandContext, Subcommand
from .output import Number, TableColumn, fields_of_each, note, print_table, print_text
from .parser import ID, IDS, OneOf, Valued

_TITLE_WIDTH = 80


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
        document = {"id": before.id, "title": title, "typed": typed, "changed": is_changed}
        if not is_changed:
            context.give(
                document,
                note,
                _("It has no title.") if title is None else _("It has that title already."),
            )
            return
        was = _("it was {name}", name=_name(before)) if before.title else ""
        context.give(document, print_text, one_line(joined(renamed.change.sentence, was)))
        if renamed.differs and title is not None:
            context.remark(
                _(
                    "This differs from what you typed: Hermes removes control and invisible characters and "
                    "repeated spaces."
                )
            )


_MARKS = N_(
    {
        "archive": "archived {name} · `hermes-browse unarchive {id}` undoes it",
        "unarchive": "unarchived {name} · `hermes-browse archive {id}` undoes it",
        "pin": "pinned {name} · `hermes-browse unpin {id}` undoes it",
        "unpin": "unpinned {name} · `hermes-browse pin {id}` undoes it",
    }
)
"""What is printed of each changed conversation, by the name of the command, which is that of the
method of the store."""
_KEYS = {
    "archive": "archived",
    "unarchive": "unarchived",
    "pin": "pinned",
    "unpin": "unpinned",
}
"""JSON fields of the changed ids."""


class MarkCommand(Subcommand):
    """Set or clear a mark on whole lineages, all in one transaction."""

    arguments = (IDS,)

    def run(self, context: CommandContext) -> None:
        by_id = {each.id: each for each in context.find(context.arguments.ids)}
        context.store.close()
        command = context.arguments.command
        touched = set(getattr(context.store, command)(list(by_id)).session_ids)
        own = {tip: {*conversation.session_ids} for tip, conversation in by_id.items()}
        changed = [tip for tip in by_id if touched & own[tip]]
        unchanged = [tip for tip in by_id if tip not in changed]
        context.give(
            {_KEYS[command]: changed, "sessions": sorted(touched), "unchanged": unchanged},
            print_text,
            *(_mark_line(context, by_id[tip]) for tip in changed),
        )
        context.remark(
            *(
                _("{name} is unchanged: there was nothing to change.", name=_name(by_id[tip]))
                for tip in unchanged
            )
        )
        if others := len(touched.difference(*own.values())):
            # Hermes marks the branches and subagents of a compressed segment with it (0.17 to
            # 0.22).
            context.remark(
                ngettext(
                    "{count:,} more session of the same lineage went along, as in Hermes.",
                    "{count:,} more sessions of the same lineage went along, as in Hermes.",
                    others,
                )
            )


def _mark_line(context: CommandContext, conversation: Conversation) -> str:
    """Return what was done to a conversation, and what undoes it."""
    tip = conversation.id
    word = f"{'-- ' if tip.startswith('-') else ''}{shlex.quote(one_line(tip))}"
    text = _(_MARKS[context.arguments.command], name=_name(conversation), id=word)
    return one_line(context.advice(text))


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
        (after,) = context.find([before.id])
        words = hashtags(after.tags) or _("no tags")
        context.give({"conversation": after.id, "tags": after.tags}, print_text, words)
        if not done.session_ids:
            context.remark(_("Nothing had to be changed."))


class TagsCommand(Subcommand):
    """List the tags of a store; rename or remove one."""

    arguments = (
        OneOf(
            (
                Valued(
                    "--rename",
                    "give a tag another name, in all conversations",
                    ("OLD", "NEW"),
                    nargs=2,
                ),
                Valued("--remove", "remove a tag from all conversations", "NAME"),
            )
        ),
    )

    def run(self, context: CommandContext) -> None:
        store, arguments = context.store, context.arguments
        old, new = arguments.rename or (arguments.remove, None)
        if old is not None:
            done = store.rename_tag(old, new)
            context.remark(done.sentence or _("Nothing had to be changed."))
        counts = store.tags()
        context.give(
            {"tags": fields_of_each(counts, "name", "conversations")},
            print_table,
            _TAGS,
            counts,
        )
        if not counts:
            context.remark(context.advice(_("No tags yet: `hermes-browse tag ID NAME` sets one.")))


_TAGS = [
    TableColumn("tag", "name", is_flexible=True, form="#{}".format),
    Number("conversations", "conversations"),
]
