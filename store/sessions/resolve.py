"""Find a session by its full id, a unique prefix, or its title, as Hermes does."""

from __future__ import annotations

import re

from ..connection.reader import Reader
from ..connection.stored_values import first_texts
from ..errors import Advice, AmbiguousError, NotFoundError
from ..text import as_text, text_of
from ..wording import _
from .session_rows import newest_message_sql

_CANDIDATES = 10


def resolve_title(reader: Reader, title: str) -> str | None:
    """Return the id of the newest session titled "title #2", "title #3" …, else the one titled
    "title" (0.13 to 0.22).

    As in Hermes, only the match of the plain title is case-sensitive.
    """
    schema = reader.schema
    if "title" not in schema.session_columns:
        return None
    title = text_of(title)  # a lone surrogate (from an argument that is not UTF-8) cannot be bound
    pattern = re.sub(r"([\\%_])", r"\\\1", title) + " #%"
    numbered = "SELECT s.id FROM sessions s WHERE s.title LIKE ? ESCAPE '\\' "
    numbered += f"ORDER BY {schema.session('started_at')} DESC LIMIT 1"
    plain = "SELECT s.id FROM sessions s WHERE s.title = ? LIMIT 1"
    found = [*reader.rows(numbered, [pattern]), *reader.rows(plain, [title])]
    return next(iter(first_texts(found)), None)


def resolve_session(reader: Reader, text: str) -> str:
    """Return the id of the session that a user means by a full id, a unique prefix of one, or a
    title.

    Raises:
        NotFoundError: Nothing matches.
        AmbiguousError: It is a prefix of several ids, and not a title.
    """
    text = text_of(text)
    if reader.rows("SELECT 1 FROM sessions WHERE id = ?", [text]):
        return text
    ids: list[str] = []
    if text:
        # Not LIKE, which ignores the case of ASCII letters.
        sql = "SELECT s.id FROM sessions s WHERE s.id >= ?1 AND substr(s.id, 1, length(?1)) = ?1"
        sql += f" ORDER BY {reader.schema.session('started_at')} DESC LIMIT {_CANDIDATES + 1}"
        ids = first_texts(reader.rows(sql, [text]))
        found = ids[0] if len(ids) == 1 else resolve_title(reader, text)
        if found is not None:
            return found
    if ids:
        named = ", ".join(ids[:_CANDIDATES]) + (", …" if len(ids) > _CANDIDATES else "")
        raise AmbiguousError(
            _("Several sessions begin with “{text}”.", text=text),
            remedy=_("Give more of the id. Candidates: {ids}", ids=named),
        )
    raise NotFoundError(
        _("No session has the id, prefix or title “{text}”.", text=text),
        advice=Advice.LIST_OR_SEARCH,
    )


def resolve_last(reader: Reader, source: str = "cli") -> str | None:
    """Return the id of the session that `hermes -c` continues: the last active one of a source, in
    any state (0.19).

    Hermes takes the source `cli`, or `tui` in its terminal interface.
    """
    schema = reader.schema
    if "source" not in schema.session_columns:
        return None
    newest = newest_message_sql(schema)
    started = schema.session("started_at")
    order = f"COALESCE({newest}, {started}) DESC, {started} DESC"
    sql = f"SELECT s.id FROM sessions s WHERE s.source = ? ORDER BY {order}"
    return as_text(reader.value(f"{sql}, s.id DESC LIMIT 1", [as_text(source)]))
