"""Archive, pin, rename, and undo: set columns of sessions in one transaction and record the values
before and after.

As in Hermes (`set_session_archived`), a flag is set on every row of a compression lineage. Titles
follow Hermes' rules: which are allowed, and which session may have one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..connection.stored_values import first_texts
from ..errors import BrowseError, RefusedError, StoreRefusedError, WriteUnverifiedError, no_session
from ..text import as_text, one_line
from ..wording import N_, _, ngettext
from .transaction import Writer, writing

_SHOWN = 60
"""Letters of a title in a sentence."""
_UP = (
    "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT p.id FROM up "
    "JOIN sessions c ON c.id = up.id JOIN sessions p ON p.id = c.parent_session_id "
    "WHERE p.end_reason = 'compression')"
)
"""A session and the compressed sessions it continues. UNION ends a cycle of parents too."""
_LINEAGE = (
    f"{_UP}, down(id) AS (SELECT ?1 UNION SELECT c.id FROM down "
    "JOIN sessions p ON p.id = down.id JOIN sessions c ON c.parent_session_id = p.id "
    "WHERE p.end_reason = 'compression') SELECT id FROM up UNION SELECT id FROM down"
)
"""All sessions linked with one, up and down, by a compressed parent: with branches and subagents of
a compressed session, as in Hermes (0.17 to 0.22)."""
Values = Mapping[str, Any]
"""Stored values by column."""


class RowChange(NamedTuple):
    """Columns of one session before and after."""

    session_id: str
    before: Values
    after: Values


class Change(NamedTuple):
    """One write."""

    sentence: str
    """What was done, in the past tense; empty if nothing was."""
    rows: tuple[RowChange, ...]
    """In the order they were changed."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Ids of the changed sessions."""
        return tuple(row.session_id for row in self.rows)


def _change_rows(
    store: Store, work: Callable[[Writer], Iterable[RowChange]]
) -> tuple[RowChange, ...]:
    """Change sessions in one transaction, and read them back.

    Raises:
        RefusedError: The store must not be written to.
        StoreBusyError: Others did not release the store in time.
        WriteUnverifiedError: A row does not have the new values.
    """
    with writing(store, ["sessions"]) as writer:
        return writer.run(lambda tx: tuple(work(tx)), _check_changes)


def _read(source: Reader | Writer, session_id: str, columns: Values) -> Values | None:
    """Return columns of a session; None if it is gone."""
    rows = source.rows(f"SELECT {', '.join(columns)} FROM sessions WHERE id = ?", [session_id])
    return dict(zip(columns, rows[0], strict=True)) if rows else None


def _set_columns(tx: Writer, session_id: str, after: Values) -> Iterator[RowChange]:
    """Set those columns of one session that differ from `after`; yield the change if any does.

    Raises:
        NotFoundError: There is no such session.
        RefusedError: It has a blob or a text of invalid bytes, which an undo could not restore.
    """
    stored = _read(tx, session_id, after)
    if stored is None:
        raise no_session(session_id)
    before = {column: stored[column] for column in after if stored[column] != after[column]}
    if not before:
        return
    change = RowChange(session_id, before, {column: after[column] for column in before})
    assigned = ", ".join(f"{column} = ?" for column in before)
    same = " AND ".join(f"{column} IS ? AND typeof({column}) <> 'blob'" for column in before)
    values = [*change.after.values(), session_id, *before.values()]
    if not tx.execute(f"UPDATE sessions SET {assigned} WHERE id = ? AND {same}", values):
        raise RefusedError(
            _(
                "{session} stays as it is: its {columns} could not be brought back.",
                session=session_id,
                columns=", ".join(before),
            )
        )
    yield change


def _check_changes(reader: Reader, changes: Sequence[RowChange]) -> None:
    for session, _before, after in changes:
        if _read(reader, session, after) != after:
            raise WriteUnverifiedError(
                _("{session} was changed, but does not read back as it was left.", session=session),
                remedy=_("Another program may have written it at the same moment."),
            )


def undo(store: Store, change: Change) -> Change:
    """Restore the values that a change has overwritten, all of them or none; the result can be
    undone in turn.

    Raises:
        RefusedError: A row has been changed again since, or another session has its title; nothing
            was changed.
        StoreBusyError: Others did not release the store in time.
    """

    def work(tx: Writer) -> Iterator[RowChange]:
        for session, before, after in reversed(change.rows):
            if _read(tx, session, after) != after:
                raise RefusedError(_("{session} has been changed since.", session=session))
            _free_title(tx, session, before.get("title"))
            yield from _set_columns(tx, session, before)

    if not change.rows:
        return change
    rows = _change_rows(store, work)
    before = change.rows[-1].before
    title = as_text(before.get("title"))
    if title:
        sentence = _("undone: the title is “{title}” again", title=one_line(title, _SHOWN))
    elif "title" in before:
        sentence = _("undone: it has no title again")
    else:
        sentence = _("undone: {done}", done=change.sentence)
    return Change(sentence, rows)


# Flags


def _name_conversations(tx: Writer, session_ids: Sequence[str]) -> str:
    """Return the title of a single conversation, or the number of them."""
    count = len(session_ids)
    if count != 1:
        return ngettext("1 conversation", "{count:,} conversations", count)
    titles = first_texts(tx.rows("SELECT title FROM sessions WHERE id = ?", session_ids))
    return f"“{one_line(titles[0], _SHOWN)}”" if any(titles) else session_ids[0]


def _set_flag(
    store: Store,
    session_ids: Sequence[str],
    column: str,
    value: int,
    sentence: str,
    spared: Collection[str] = (),
) -> Change:
    name = ""

    def work(tx: Writer) -> Iterator[RowChange]:
        nonlocal name
        columns = tx.schema.session_columns
        if column not in columns:
            raise StoreRefusedError(
                _(
                    "This store has no {name}, which this needs: its Hermes is too old.",
                    name=f"sessions.{column}",
                ),
                remedy=_("A newer Hermes adds it when it is started."),
            )
        name = _name_conversations(tx, list(dict.fromkeys(session_ids)))
        after: dict[str, object] = {column: value}
        if column == "archived" and "auto_archived" in columns:
            # Otherwise a resume undoes it as an archive of Hermes' own (0.22).
            after["auto_archived"] = 0
        if column == "pinned" and value and {"auto_archived", "hidden"} <= columns:
            after["hidden"] = 0  # since 0.22 a pin unhides
        for session_id in session_ids:
            for relative in first_texts(tx.rows(_LINEAGE, [session_id])):
                if relative not in spared:
                    yield from _set_columns(tx, relative, after)

    rows = _change_rows(store, work)
    return Change(_(sentence, conversation=name) if rows else "", rows)


def archive(store: Store, session_ids: Sequence[str], *, spared: Collection[str] = ()) -> Change:
    """Hide conversations from lists, in one transaction; `unarchive` shows them again.

    The sessions are any segments: the flag is set on their whole lineages, except on those members
    that are `spared`, though Hermes would archive these too.

    Raises:
        NotFoundError: There is no such session; nothing was changed.
        RefusedError: The store must not be written to, or has no archive (before 0.16).
        StoreBusyError: Others did not release the store in time.
    """
    return _set_flag(store, session_ids, "archived", 1, N_("archived {conversation}"), spared)


def unarchive(store: Store, session_ids: Sequence[str]) -> Change:
    """Show archived conversations in lists again; arguments and errors as of `archive`."""
    return _set_flag(store, session_ids, "archived", 0, N_("brought back {conversation}"))


def pin(store: Store, session_ids: Sequence[str]) -> Change:
    """Protect conversations from what Hermes deletes by itself (0.20); arguments and errors as of
    `archive`."""
    return _set_flag(store, session_ids, "pinned", 1, N_("pinned {conversation}"))


def unpin(store: Store, session_ids: Sequence[str]) -> Change:
    """Remove pins; arguments and errors as of `archive`."""
    return _set_flag(store, session_ids, "pinned", 0, N_("unpinned {conversation}"))


# Titles

LONGEST_TITLE = 100
"""Code points of a title (`MAX_TITLE_LENGTH`, 0.13 to 0.22)."""
_LEFT_OUT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]"
)
"""Control characters and invisible ones."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_RESERVED = "Bot Chat"
"""Title of a hidden session by which the gateway finds it (0.20)."""
_GIVES_UP = (
    "s.ended_at IS NOT NULL AND s.end_reason IS NOT 'compression' AND COALESCE(s.archived, 0) = 0 "
    "AND COALESCE(s.hidden, 0) = 0 AND COALESCE(s.pinned, 0) = 0 "
    "AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)"
)
"""Whether another session may take the title of `s`: it has ended, is empty and not hidden (0.22).

Stricter than Hermes: a pinned session keeps its title, and so does one that is continued by
another."""


class TitleError(BrowseError):
    """A text that cannot be a title."""

    exit_code = 2


def clean_title(typed: str) -> str:
    """Clean a text as Hermes would (`sanitize_title`, 0.19); an empty one clears the title."""
    return " ".join(_LEFT_OUT.sub("", _SURROGATES.sub("\ufffd", typed)).split())


def why_no_title(title: str) -> str:
    """Return a sentence why a cleaned text cannot be a title; empty if it can.

    `rename` checks whether another session has it.
    """
    if len(title) <= LONGEST_TITLE:
        return ""
    return _(
        "A title has at most {most} characters; this one has {length}.",
        most=LONGEST_TITLE,
        length=len(title),
    )


def _free_title(tx: Writer, session_id: str, title: object, gives_up: str = "0") -> list[str]:
    """Return the other sessions that have a title, and give it up by this condition on `s`; not
    every store has a unique index on titles.

    Raises:
        RefusedError: One of them does not.
    """
    holders = tx.rows(
        f"{_UP} SELECT s.id, {gives_up} FROM sessions s WHERE s.title = ?2 AND s.id <> ?1",
        [session_id, title],
    )
    for holder, is_given_up in holders:
        if not is_given_up:
            raise RefusedError(
                _(
                    "Another session has the title “{title}” already: {session}.",
                    title=as_text(title),
                    session=as_text(holder),
                ),
                remedy=_("Titles are unique in a store, archived and hidden sessions included."),
            )
    return first_texts(holders)


def _set_title(tx: Writer, session_id: str, title: str | None) -> Iterator[RowChange]:
    after = {"title": title}
    if "title_source" in tx.schema.session_columns:
        # Otherwise Hermes' titler takes the title for one of its own and overwrites it (0.22,
        # observed).
        after["title_source"] = "user" if title is not None else None
    return _set_columns(tx, session_id, after)


def rename(store: Store, session_id: str, typed: str) -> Change:
    """Set the title of a session, usually the tip of a conversation; a blank text clears it.

    Raises:
        TitleError: The text is not allowed.
        NotFoundError: There is no such session.
        RefusedError: Another session has the title; nothing was changed.
        StoreBusyError: Others did not release the store in time.
    """
    title = clean_title(typed) or None
    if problem := why_no_title(title or ""):
        raise TitleError(problem, is_unchanged=True)

    def work(tx: Writer) -> Iterator[RowChange]:
        hidden = tx.schema.session("hidden")
        reserved = f"SELECT 1 FROM sessions s WHERE s.id = ? AND s.title = ? AND {hidden}"
        if tx.rows(reserved, [session_id, _RESERVED]):
            raise RefusedError(
                _("The hidden “{title}” keeps its name: Hermes finds it by that.", title=_RESERVED)
            )
        # A session may take the titles of those it continues (0.17).
        gives_up = "s.id IN (SELECT id FROM up)"
        if "auto_archived" in tx.schema.session_columns:  # an older Hermes refuses
            gives_up = f"{gives_up} OR {_GIVES_UP}"
        for holder in _free_title(tx, session_id, title, gives_up):
            # First, because titles may have a unique index.
            yield from _set_title(tx, holder, None)
        yield from _set_title(tx, session_id, title)

    rows = _change_rows(store, work)
    done = _("renamed to “{title}”", title=one_line(title)) if title else _("title cleared")
    return Change(done if rows else "", rows)
