"""`rename`, `archive`, `unarchive`, `pin` and `unpin`: what changes a conversation and can be taken back."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags, titles
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .context import Command, Context
from .output import note, print_json, print_text
from .parser import text

_TITLE = 80


def _find(context: Context, *words: str) -> dict[str, Conversation]:
    """The conversations meant, by their tips."""
    with context.store.reader() as reader:
        return {each.id: each for _session, each in context.find(reader, words)}


def _name(conversation: Conversation) -> str:
    return f"“{one_line(conversation.title, _TITLE)}”" if conversation.title else one_line(conversation.id)


def _argument(session_id: str) -> str:
    """An id as it is typed into a shell."""
    return f"{'-- ' if session_id.startswith('-') else ''}{shlex.quote(one_line(session_id))}"


class RenameCommand(Command):
    """Change the title of the tip, which is what lists show."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text)
        parser.add_argument("title", metavar="TITLE", nargs="+", type=text, help=_("its words"))

    def run(self, context: Context) -> int:
        typed = " ".join(context.arguments.title)
        ((tip, before),) = _find(context, context.arguments.id).items()
        done = titles.rename(context.store, tip, typed)
        if context.json:
            print_json({"id": tip, "title": done.title, "typed": typed, "changed": bool(done.change.rows)})
            return 0
        if not done.change.rows:
            note(_("It has that title already.") if done.title is not None else _("It has no title."))
            return 0
        was = _("it was {name}").format(name=_name(before)) if before.title else ""
        print_text(one_line(" · ".join(part for part in (done.change.sentence, was) if part)))
        if done.differs and done.title is not None:
            note(
                _(
                    "This differs from what you typed: Hermes removes control and invisible characters and "
                    "repeated spaces."
                )
            )
        return 0


class _MarkCommand(Command):
    """Set or clear a mark on whole lineages, all in one transaction."""

    key = ""
    """Of what was changed, in the JSON document."""
    done = ""
    """What is said of each that was changed."""
    work: Callable[[Store, list[str]], Change]
    """Writes it."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", nargs="+", type=text)

    def run(self, context: Context) -> int:
        found = _find(context, *context.arguments.ids)
        touched = frozenset(self.work(context.store, list(found)).session_ids)
        mine = {tip: {segment.id for segment in each.segments} for tip, each in found.items()}
        changed = [tip for tip in found if touched & mine[tip]]
        unchanged = [tip for tip in found if tip not in changed]
        if context.json:
            print_json({self.key: changed, "sessions": sorted(touched), "unchanged": unchanged})
            return 0
        for tip in changed:
            print_text(one_line(_(self.done).format(name=_name(found[tip]), id=_argument(tip))))
        for tip in unchanged:
            note(_("{name} is unchanged: there was nothing to change.").format(name=_name(found[tip])))
        others = len(touched - frozenset().union(*mine.values()))
        if others:
            # Hermes marks the branches and subagents of a compressed segment with it (0.17 to 0.22).
            along = ngettext(
                "{count:,} more session of the same lineage went along, as in Hermes.",
                "{count:,} more sessions of the same lineage went along, as in Hermes.",
                others,
            )
            note(along.format(count=others))
        return 0


class ArchiveCommand(_MarkCommand):
    """Hide conversations from lists."""

    key, work = "archived", staticmethod(flags.archive)
    done = N_("archived {name} · `hermes-browse unarchive {id}` undoes it")


class UnarchiveCommand(_MarkCommand):
    """Show archived conversations in lists again."""

    key, work = "unarchived", staticmethod(flags.unarchive)
    done = N_("unarchived {name} · `hermes-browse archive {id}` undoes it")


class PinCommand(_MarkCommand):
    """Keep conversations from Hermes' own clean-up."""

    key, work = "pinned", staticmethod(flags.pin)
    done = N_("pinned {name} · `hermes-browse unpin {id}` undoes it")


class UnpinCommand(_MarkCommand):
    """Let Hermes' own clean-up have conversations again."""

    key, work = "unpinned", staticmethod(flags.unpin)
    done = N_("unpinned {name} · `hermes-browse pin {id}` undoes it")
