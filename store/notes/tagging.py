"""Set, rename and remove tags of conversations, and undo it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from ..connection.connect import OWN, Store
from ..connection.reader import Reader, Row
from ..errors import NotFoundError, RefusedError
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation
from ..text import printable, text_of
from ..wording import _, ngettext
from .notes_file import NotesError, changing_notes, read_tags

_LONGEST = 40
"""Code points of a tag."""
_FORBIDDEN = frozenset(',"\\')
"""Characters with a meaning in a query."""
Pair = tuple[str, str]
"""A session and a tag."""


class TagChange(NamedTuple):
    """Tags that were set and removed."""

    sentence: str
    """What was done, in the past tense; empty if nothing was."""
    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Ids of the sessions whose tags changed."""
        return tuple(dict.fromkeys(session for session, _tag in (*self.added, *self.removed)))


class TagCount(NamedTuple):
    """A tag, and how many conversations have it."""

    name: str
    conversations: int


def clean_tag(typed: str) -> str:
    """Return a tag as it is kept: in lower case, without `#`, dashes for spaces.

    Raises:
        RefusedError: It is empty or too long, or has a character with a meaning in a query.
    """
    name = "-".join(typed.strip().lstrip("#").lower().split())
    if not name or len(name) > _LONGEST or _FORBIDDEN & set(name) or printable(name) != name:
        raise RefusedError(
            _(
                "“{tag}” is no tag: 1 to {count} characters, without commas and quotes.",
                tag=printable(typed),
                count=_LONGEST,
            ),
            is_unchanged=True,
        )
    return name


def tags_of(conversations: Iterable[Conversation]) -> tuple[TagCount, ...]:
    """Count conversations by tag, the most frequent tag first."""
    counts = Counter(tag for each in conversations for tag in each.tags)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each))
    return tuple(map(TagCount._make, ordered))


def count_tags(reader: Reader) -> tuple[TagCount, ...]:
    """Count the conversations of a store by tag, the most frequent tag first.

    Raises:
        NotesError: The tags cannot be read.
    """
    return tags_of(read_neighbourhood(reader, list(read_tags(reader)), time.time()).conversations())


def change_tags(
    store: Store, session_ids: Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()
) -> TagChange:
    """Set and remove tags of the conversations of sessions.

    Raises:
        NotFoundError: One of the sessions is not in the store.
        RefusedError: A tag is none.
        NotesError: They cannot be written.
    """
    names = list(dict.fromkeys(map(clean_tag, add)))
    unset = sorted(set(map(clean_tag, remove)))
    with store.reader() as reader:
        catalog = read_neighbourhood(reader, session_ids, time.time())
        chosen = {each.root_id: each for each in map(catalog.conversation, session_ids)}
        sessions = [id for each in chosen.values() for id in each.session_ids]
        done = _write(reader, product(sessions, names), product(sessions, unset))
    words = [f"#{name}" for name in names] + [f"−#{name}" for name in unset]
    sentence = ngettext(
        "tags of 1 conversation: {tags}",
        "tags of {count:,} conversations: {tags}",
        len(chosen),
        count=len(chosen),
        tags=" ".join(words),
    )
    return done._replace(sentence=sentence if done.session_ids else "")


def rename_tag(store: Store, tag: str, name: str | None) -> TagChange:
    """Give a tag another name wherever it is set, or remove it; errors as of `change_tags`."""
    before, after = clean_tag(tag), clean_tag(name) if name is not None else None
    if before == after:
        return TagChange("", (), ())
    with store.reader() as reader:
        sessions = [id for id, tags in read_tags(reader).items() if before in tags]
        if not sessions:
            raise NotFoundError(_("There is no tag #{tag}.", tag=before))
        added = product(sessions, [after] if after else [])
        done = _write(reader, added, product(sessions, [before]))
    sentence = _("tag #{old} is now #{new}") if after else _("tag #{old} removed")
    return done._replace(sentence=sentence.format(old=before, new=after))


def undo_tags(store: Store, done: TagChange) -> TagChange:
    """Undo a change of tags; errors as of `change_tags`."""
    with store.reader() as reader:
        back = _write(reader, done.removed, done.added)
    return back._replace(sentence=_("undone: {done}", done=done.sentence))


def keep_restored(store: Store, pairs: Iterable[Row], restored: Collection[str]) -> tuple[str, ...]:
    """Set the tags of restored sessions, as their deletion has them, unless others are set.

    Returns:
        A sentence if they cannot be written, or one is no tag, as anybody may have changed the file
        of a deletion: the sessions themselves are restored then.
    """
    try:
        wanted = [(text_of(session), clean_tag(text_of(tag))) for session, tag in pairs]
        with store.reader() as reader:
            known = read_tags(reader)
            missing = [each for each in wanted if each[0] in restored and each[0] not in known]
            if missing:
                _write(reader, missing, ())
    except (NotesError, RefusedError) as error:
        error.is_unchanged = False
        return (error.sentence,)
    return ()


def _write(reader: Reader, added: Iterable[Pair], removed: Iterable[Pair]) -> TagChange:
    """Set and remove pairs in one transaction; return those that this changed."""
    mine = f"FROM tags WHERE {OWN} AND session = ?3 AND tag = ?4"
    insert = f"INSERT INTO tags SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 {mine})"
    with changing_notes(reader) as run:
        gone = [pair for pair in removed if run(f"DELETE {mine}", *pair).rowcount]
        new = [pair for pair in added if run(insert, *pair).rowcount]
    return TagChange("", tuple(new), tuple(gone))
