"""Rename sessions by the rules of Hermes: which titles are allowed, and which session may have
one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.stored_values import first_texts
from ..errors import BrowseError, RefusedError
from ..text import one_line
from ..wording import _
from .flags import (
    COMPRESSED_ANCESTORS,
    Change,
    RowChange,
    change_rows,
    set_columns,
    title_holders,
    title_taken,
)
from .transaction import Writer

LONGEST_TITLE = 100
"""Code points of a title (`MAX_TITLE_LENGTH`, 0.13 to 0.22)."""
_LEFT_OUT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]"
)
"""Control characters and invisible ones."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_RESERVED = "Bot Chat"
"""Title of a hidden session by which the gateway finds it (0.20)."""


class TitleError(BrowseError):
    """A text that cannot be a title."""

    exit_code = 2


class Checked(NamedTuple):
    """A typed text as a title."""

    title: str | None
    """As it would be stored; None if it clears the title or is not allowed."""
    length: int
    """Code points, of `LONGEST_TITLE`."""
    differs: bool
    """Whether the stored title differs from the typed text: characters left out, or spaces
    joined."""
    problem: str
    """A sentence why it is not allowed; empty if it is."""


def check_title(typed: str) -> Checked:
    """Clean a text as Hermes would (`sanitize_title`, 0.19), without access to a store.

    `rename` checks whether another session has the title.
    """
    text = " ".join(_LEFT_OUT.sub("", _SURROGATES.sub("\ufffd", typed)).split())
    length = len(text)
    if length <= LONGEST_TITLE:
        return Checked(text or None, length, text != typed, "")
    problem = _(
        "A title has at most {most} characters; this one has {length}.",
        most=LONGEST_TITLE,
        length=length,
    )
    return Checked(None, length, True, problem)


def _gives_up_title(tx: Writer, holder: str) -> bool:
    """Tell whether another session may take the title: the holder has ended, is empty and not
    hidden (0.22).

    Stricter than Hermes: a pinned session keeps its title, and so does one that is continued by
    another.
    """
    if "auto_archived" not in tx.schema.session_columns:  # an older Hermes refuses
        return False
    return bool(
        tx.rows(
            "SELECT 1 FROM sessions s WHERE s.id = ? AND s.ended_at IS NOT NULL "
            "AND s.end_reason IS NOT 'compression' AND COALESCE(s.archived, 0) = 0 "
            "AND COALESCE(s.hidden, 0) = 0 AND COALESCE(s.pinned, 0) = 0 "
            "AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)",
            [holder],
        )
    )


def _set_title(tx: Writer, session_id: str, title: str | None) -> RowChange | None:
    after = {"title": title}
    if "title_source" in tx.schema.session_columns:
        # Otherwise Hermes' titler takes the title for one of its own and overwrites it (0.22,
        # observed).
        after["title_source"] = "user" if title is not None else None
    return set_columns(tx, session_id, after)


def rename(store: Store, session_id: str, typed: str) -> Change:
    """Set the title of a session, usually the tip of a conversation; a blank text clears it.

    Raises:
        TitleError: The text is not allowed.
        NotFoundError: There is no such session.
        RefusedError: Another session has the title; nothing was changed.
        StoreBusyError: Others did not release the store in time.
    """
    title, _length, _differs, problem = check_title(typed)
    if problem:
        raise TitleError(problem, is_unchanged=True)

    def work(tx: Writer) -> Iterator[RowChange | None]:
        hidden = tx.schema.session("hidden")
        reserved = f"SELECT 1 FROM sessions s WHERE s.id = ? AND s.title = ? AND {hidden}"
        if tx.rows(reserved, [session_id, _RESERVED]):
            raise RefusedError(
                _("The hidden “{title}” keeps its name: Hermes finds it by that.", title=_RESERVED)
            )
        up = f"WITH RECURSIVE {COMPRESSED_ANCESTORS} SELECT id FROM up"
        ancestors = first_texts(tx.rows(up, [session_id]))  # it may take their titles (0.17)
        for holder in title_holders(tx, session_id, title):
            if holder not in ancestors and not _gives_up_title(tx, holder):
                raise title_taken(title, holder)
            # First, because titles may have a unique index.
            yield _set_title(tx, holder, None)
        yield _set_title(tx, session_id, title)

    rows = change_rows(store, work)
    sentence = (
        _("title cleared") if title is None else _("renamed to “{title}”", title=one_line(title))
    )
    return Change(sentence if rows else "", rows)
