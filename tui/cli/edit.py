"""`rename`, `archive`, `unarchive`, `pin` and `unpin`: reversible changes of conversations."""

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

from .command_context import CommandContext, Subcommand
from .output import note, print_json, print_text
from .parser import text_arg

_TITLE_WIDTH = 80


def _find(context: CommandContext, *words: str) -> dict[str, Conversation]:
    """Find conversations; return them by the id of their tip."""
    with context.store.reader() as reader:
        return {each.id: each for _session, each in context.find(reader, words)}


def _name(conversation: Conversation) -> str:
    return (
        f"“{one_line(conversation.title, _TITLE_WIDTH)}”"
        if conversation.title
        else one_line(conversation.id)
    )


def _shell_argument(session_id: str) -> str:
    """Quote an id for a shell."""
    return f"{'-- ' if session_id.startswith('-') else ''}{shlex.quote(one_line(session_id))}"


class RenameCommand(Subcommand):
    """Change the title of the tip, which lists show."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)
        parser.add_argument("title", metavar="TITLE", nargs="+", type=text_arg, help=_("its words"))

    def run(self, context: CommandContext) -> int:
        typed = " ".join(context.arguments.title)
        ((tip, before),) = _find(context, context.arguments.id).items()
        renamed = titles.rename(context.store, tip, typed)
        if context.json:
            print_json(
                {
                    "id": tip,
                    "title": renamed.title,
                    "typed": typed,
                    "changed": bool(renamed.change.rows),
                }
            )
            return 0
        if not renamed.change.rows:
            note(
                _("It has that title already.")
                if renamed.title is not None
                else _("It has no title.")
            )
            return 0
        old_title = _("it was {name}").format(name=_name(before)) if before.title else ""
        print_text(
            one_line(" · ".join(part for part in (renamed.change.sentence, old_title) if part))
        )
        if renamed.differs and renamed.title is not None:
            note(
                _(
                    "This differs from what you typed: Hermes removes control and invisible characters and "
                    "repeated spaces."
                )
            )
        return 0


class _MarkCommand(Subcommand):
    """Set or clear a mark on whole lineages, all in one transaction."""

    key = ""
    """JSON field of the changed ids."""
    done = ""
    """Sentence printed for each changed conversation."""
    work: Callable[[Store, list[str]], Change]
    """Writes the change."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", nargs="+", type=text_arg)

    def run(self, context: CommandContext) -> int:
        conversations = _find(context, *context.arguments.ids)
        touched = frozenset(self.work(context.store, list(conversations)).session_ids)
        own_ids = {
            tip: {segment.id for segment in each.segments} for tip, each in conversations.items()
        }
        changed = [tip for tip in conversations if touched & own_ids[tip]]
        unchanged = [tip for tip in conversations if tip not in changed]
        if context.json:
            print_json({self.key: changed, "sessions": sorted(touched), "unchanged": unchanged})
            return 0
        for tip in changed:
            print_text(
                one_line(
                    _(self.done).format(name=_name(conversations[tip]), id=_shell_argument(tip))
                )
            )
        for tip in unchanged:
            note(
                _("{name} is unchanged: there was nothing to change.").format(
                    name=_name(conversations[tip])
                )
            )
        others = len(touched - frozenset().union(*own_ids.values()))
        if others:
            # Hermes marks the branches and subagents of a compressed segment with it (0.17 to
            # 0.22).
            sentence = ngettext(
                "{count:,} more session of the same lineage went along, as in Hermes.",
                "{count:,} more sessions of the same lineage went along, as in Hermes.",
                others,
            )
            note(sentence.format(count=others))
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
    """Exempt conversations from Hermes' own clean-up."""

    key, work = "pinned", staticmethod(flags.pin)
    done = N_("pinned {name} · `hermes-browse unpin {id}` undoes it")


class UnpinCommand(_MarkCommand):
    """End the exemption of conversations from Hermes' own clean-up."""

    key, work = "unpinned", staticmethod(flags.unpin)
    done = N_("unpinned {name} · `hermes-browse pin {id}` undoes it")
