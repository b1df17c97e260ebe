"""Reversible changes of conversations: `rename`, `archive`, `unarchive`, `pin`, `unpin`; their tags:
`tag`, `untag` and `tags`."""

from __future__ import annotations

import shlex

from hermes_browse.store.edit.flags import clean_title
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..text.formats import hashtags, joined
from .command import StoreCommand
from .output import Number, TableColumn, fields, fields_of_each, note, print_table, print_text
from .parser import ID, IDS, OneOf, Valued


def _name(conversation: Conversation) -> str:
    if not conversation.title:
        return one_line(conversation.id)
    return f"“{one_line(conversation.title, 80)}”"


class RenameCommand(StoreCommand):
    """Change the title of the tip, which lists show."""

    arguments = ID, Valued("title", "its words", "TITLE", nargs="+")

    def run(self) -> None:
        typed = " ".join(self.given.title)
        before = self.conversation()
        self.store.close()
        renamed = self.store.rename(before.id, typed)
        title, is_changed = clean_title(typed) or None, bool(renamed.rows)
        document = {"id": before.id, "title": title, "typed": typed, "changed": is_changed}
        if is_changed:
            was = _("it was {name}", name=_name(before)) if before.title else ""
            self.give(document, print_text, one_line(joined(renamed.sentence, was)))
        else:
            same = _("It has no title.") if title is None else _("It has that title already.")
            self.give(document, note, same)
        if is_changed and title not in (typed, None):
            self.remark(
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


class FlagCommand(StoreCommand):
    """Set or clear a flag (archived, pinned) on whole lineages, all in one transaction."""

    arguments = (IDS,)

    def run(self) -> None:
        by_id = {each.id: each for each in self.find(self.given.ids)}
        self.store.close()
        command = self.given.command
        touched = set(getattr(self.store, command)(list(by_id)).session_ids)
        changed = [tip for tip in by_id if touched.intersection(by_id[tip].session_ids)]
        unchanged = [tip for tip in by_id if tip not in changed]
        self.give(
            {_KEYS[command]: changed, "sessions": sorted(touched), "unchanged": unchanged},
            print_text,
            *(self._line(by_id[tip]) for tip in changed),
        )
        self.remark(
            *(
                _("{name} is unchanged: there was nothing to change.", name=_name(by_id[tip]))
                for tip in unchanged
            )
        )
        if others := len(touched.difference(*(each.session_ids for each in by_id.values()))):
            # Hermes marks the branches and subagents of a compressed segment with it (0.17 to
            # 0.22).
            self.remark(
                ngettext(
                    "{count:,} more session of the same lineage went along, as in Hermes.",
                    "{count:,} more sessions of the same lineage went along, as in Hermes.",
                    others,
                )
            )

    def _line(self, conversation: Conversation) -> str:
        """Return what was done to a conversation, and what undoes it."""
        tip = conversation.id
        word = f"{'-- ' if tip.startswith('-') else ''}{shlex.quote(one_line(tip))}"
        text = _(_MARKS[self.given.command], name=_name(conversation), id=word)
        return one_line(self.advice(text))


class TagCommand(StoreCommand):
    """Set tags of a conversation, or remove some (`untag`)."""

    arguments = (
        ID,
        Valued("names", "names of tags: a word each; `#` in front is optional", "NAME", nargs="+"),
    )

    def run(self) -> None:
        before = self.conversation()
        names = self.given.names
        added, removed = (names, ()) if self.given.command == "tag" else ((), names)
        done = self.store.tag([before.id], added, removed)
        (after,) = self.find([before.id])
        words = hashtags(after.tags) or _("no tags")
        self.give(fields(after, "conversation=id tags"), print_text, words)
        if not done.session_ids:
            self.remark(_("Nothing had to be changed."))


class TagsCommand(StoreCommand):
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

    def run(self) -> None:
        old, new = self.given.rename or (self.given.remove, None)
        if old is not None:
            done = self.store.rename_tag(old, new)
            self.remark(done.sentence or _("Nothing had to be changed."))
        counts = self.store.tags()
        document = {"tags": fields_of_each(counts, "name conversations")}
        self.give(document, print_table, _TAGS, counts)
        if not counts:
            self.remark(self.advice(_("No tags yet: `hermes-browse tag ID NAME` sets one.")))


_TAGS = [
    TableColumn("tag", "name", is_flexible=True, form="#{}".format),
    Number("conversations", "conversations"),
]
