"""Titles by the rules of Hermes: which texts are allowed, and which session may have one."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..connection.connect import Store
from ..errors import BrowseError, NotFoundError, RefusedError
from ..text import as_text, one_line
from ..trash.format import Encoded
from ..wording import _
from .flags import Change, RowChange, check_changes, set_columns
from .transaction import PATIENCE, Needs, Transaction, write

LONGEST = 100
"""Code points of a title (`MAX_TITLE_LENGTH`, 0.13 to 0.22)."""

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]")
_SPACES = re.compile(r"\s+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_RESERVED = "Bot Chat"  # not shown
"""A hidden session of this name belongs to the gateway, which looks it up by its title (0.20)."""


class TitleError(BrowseError):
    """A text that cannot be a title."""

    exit_code = 2
    code = "title"


class Checked(NamedTuple):
    """What a text would be as a title."""

    title: str | None
    """As it would be stored; None where it would clear the title, or is not allowed."""
    length: int
    """Code points, of `LONGEST`."""
    differs: bool
    """Whether what is stored differs from what was typed: characters are left out, or spaces joined."""
    problem: str
    """Why it is not allowed, in a sentence; empty when it is."""


class Renamed(NamedTuple):
    """What a rename did."""

    change: Change
    title: str | None
    """As it is stored; None where it was cleared."""
    differs: bool
    """Whether the stored title differs from what was typed: characters were left out, or spaces joined."""


def check_title(typed: str) -> Checked:
    """Clean a text as Hermes would (`sanitize_title`, 0.19); pure, so that it can run on every keystroke.

    Whether another session has the title is checked when it is written.

    Args:
        typed: Any text.
    """
    text = _SURROGATES.sub("\ufffd", typed)
    text = _SPACES.sub(" ", _INVISIBLE.sub("", _CONTROLS.sub("", text))).strip()
    length = len(text)
    if length > LONGEST:
        problem = _("A title has at most {most} characters; this one has {length}.")
        return Checked(None, length, True, problem.format(most=LONGEST, length=length))
    return Checked(text or None, length, text != typed, "")


def clean_title(typed: str) -> str | None:
    """Return the text as Hermes would store it.

    Args:
        typed: Any text.

    Returns:
        None for a text with nothing in it, which clears a title.

    Raises:
        TitleError: It is too long.
    """
    checked = check_title(typed)
    if checked.problem:
        raise TitleError(_("{sentence} Nothing was changed.").format(sentence=checked.problem))
    return checked.title


def _ancestors(tx: Transaction, session_id: str) -> set[str]:
    """Return the compressed sessions that a session continues; it may have their titles (0.17)."""
    rows = tx.rows(
        "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT p.id FROM up "
        "JOIN sessions c ON c.id = up.id JOIN sessions p ON p.id = c.parent_session_id "
        "WHERE p.end_reason = 'compression') SELECT id FROM up WHERE id <> ?1",
        [session_id],
    )
    return {str(row[0]) for row in rows}


def _yields(tx: Transaction, holder: str) -> bool:
    """Tell whether a session gives up its title: it has ended, has no message and is not hidden (0.22).

    Stricter than Hermes: a pinned session keeps it, and so does one that is continued by another.
    """
    if "auto_archived" not in tx.schema.session_columns:  # an older Hermes refuses, and so do we on its stores
        return False
    shown = " AND ".join(f"COALESCE({tx.schema.session(name)}, 0) = 0" for name in ("archived", "hidden", "pinned"))
    found = tx.rows(
        f"SELECT 1 FROM sessions s WHERE s.id = ? AND s.ended_at IS NOT NULL "
        f"AND s.end_reason IS NOT 'compression' AND {shown} "
        "AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)",
        [holder],
    )
    return bool(found)


def _after(tx: Transaction, title: str | None) -> dict[str, Encoded]:
    after: dict[str, Encoded] = {"title": title}
    if "title_source" in tx.schema.session_columns:
        # Without it Hermes' own titler takes the title for one of its own and overwrites it (0.22, observed).
        after["title_source"] = "user" if title is not None else None
    return after


def _check_session(tx: Transaction, session_id: str) -> None:
    hidden = tx.schema.session("hidden", default="0")
    found = tx.rows(f"SELECT s.title, {hidden} FROM sessions s WHERE s.id = ?", [session_id])
    if not found:
        raise NotFoundError(
            _("There is no session {session} in this store. Nothing was changed.").format(session=session_id)
        )
    if found[0][1] and found[0][0] == _RESERVED:
        raise RefusedError(
            _("The hidden “{title}” keeps its name: Hermes finds it by that. Nothing was changed.").format(
                title=_RESERVED
            )
        )


def rename(store: Store, session_id: str, typed: str, *, patience: float = PATIENCE) -> Renamed:
    """Give a session another title, or none.

    Args:
        store: The store.
        session_id: The session, usually the tip of a conversation.
        typed: The new title; a text with nothing in it clears it.
        patience: Seconds to wait for other writers.

    Raises:
        TitleError: The text is not allowed.
        NotFoundError: There is no such session.
        RefusedError: Another session has the title; nothing was changed.
        StoreBusyError: Others wrote all the time.
    """
    title = clean_title(typed)

    def work(tx: Transaction) -> tuple[RowChange, ...]:
        _check_session(tx, session_id)
        done: list[RowChange | None] = []
        if title is not None:
            ancestors = _ancestors(tx, session_id)
            holders = tx.rows("SELECT id FROM sessions WHERE title = ? AND id <> ?", [title, session_id])
            for holder in (as_text(row[0]) or "" for row in holders):
                if holder not in ancestors and not _yields(tx, holder):
                    raise RefusedError(
                        _("Another session has the title “{title}” already: {session}. Nothing was changed.").format(
                            title=title, session=holder
                        ),
                        remedy=_("Titles are unique in a store, archived and hidden sessions included."),
                    )
                done.append(set_columns(tx, holder, _after(tx, None)))  # first, or the two would have it at once
        done.append(set_columns(tx, session_id, _after(tx, title)))
        return tuple(row for row in done if row is not None)

    columns = frozenset(f"sessions.{name}" for name in ("title", "parent_session_id", "end_reason", "ended_at"))
    rows = write(store, work, check_changes, needs=Needs(frozenset({"sessions"}), columns), patience=patience)
    sentence = _("title cleared") if title is None else _("renamed to “{title}”").format(title=one_line(title))
    return Renamed(Change(sentence if rows else "", rows), title, (title or "") != typed)
