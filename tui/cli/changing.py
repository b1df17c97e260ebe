"""`rename`, `archive`, `unarchive`, `pin` and `unpin`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.sessions.catalog import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext
from hermes_browse.store.write import flags, titles

from .columns import note, print_text
from .run import Context, print_json

_MARKS = {
    "archive": (flags.archive, "archived", N_("archived {name} · `hermes-browse unarchive {id}` takes it back")),
    "unarchive": (flags.unarchive, "unarchived", N_("unarchived {name} · `hermes-browse archive {id}` takes it back")),
    "pin": (flags.pin, "pinned", N_("pinned {name} · `hermes-browse unpin {id}` takes it back")),
    "unpin": (flags.unpin, "unpinned", N_("unpinned {name} · `hermes-browse pin {id}` takes it back")),
}
"""By command: what does it, its key in JSON, and what is said when it is done."""

_TITLE = 80


def _conversations(context: Context, words: Sequence[str]) -> dict[str, Conversation]:
    """The conversations meant, by their tips; all are found before anything is written."""
    with context.store.reader() as reader:
        ids = [resolve_session(reader, word) for word in words]
        catalog = read_neighbourhood(reader, ids, context.now)
        found: dict[str, Conversation] = {}
        for session_id in ids:
            conversation = catalog.of_session(session_id)
            if conversation is None:
                raise NotFoundError(_("There is no session {id} in this store.").format(id=session_id))
            found[conversation.id] = conversation
    return found


def _name(conversation: Conversation) -> str:
    return f"“{one_line(conversation.title, _TITLE)}”" if conversation.title else one_line(conversation.id)


def _argument(session_id: str) -> str:
    """An id as it is typed into a shell."""
    return f"{'-- ' if session_id.startswith('-') else ''}{shlex.quote(one_line(session_id))}"


def mark(context: Context) -> int:
    """`archive`, `unarchive`, `pin` and `unpin`: whole lineages, all in one transaction."""
    work, key, done = _MARKS[context.arguments.command]
    found = _conversations(context, context.arguments.ids)
    touched = frozenset(work(context.store, list(found)).session_ids)
    mine = {tip: {segment.id for segment in each.segments} for tip, each in found.items()}
    changed = [tip for tip in found if touched & mine[tip]]
    unchanged = [tip for tip in found if tip not in changed]
    if context.json:
        print_json({key: changed, "sessions": sorted(touched), "unchanged": unchanged})
        return 0
    for tip in changed:
        print_text(one_line(_(done).format(name=_name(found[tip]), id=_argument(tip))))
    for tip in unchanged:
        note(_("{name} stays as it was: there was nothing to change.").format(name=_name(found[tip])))
    others = len(touched - frozenset().union(*mine.values()))
    if others:
        # Hermes marks what hangs on a compressed segment with it, branches and subagents included (0.17 to 0.22).
        along = ngettext(
            "{count:,} more session of the same lineage went along, as in Hermes.",
            "{count:,} more sessions of the same lineage went along, as in Hermes.",
            others,
        )
        note(along.format(count=others))
    return 0


def rename(context: Context) -> int:
    """`rename`: the tip of a conversation, which is what lists show."""
    typed = " ".join(context.arguments.title)
    ((tip, before),) = _conversations(context, [context.arguments.id]).items()
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
        note(_("Not quite what was typed: Hermes keeps no control or invisible characters, and single spaces only."))
    return 0
