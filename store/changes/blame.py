"""Which message wrote each line of a file, over all conversations of a store.

A line belongs to a message only if that message added its text, and nobody took it away. In a file
that was changed by hand since, only lines count whose text stands there once: of two equal lines it
is not known which one is older.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..messages.chat_message import ChatMessage
from ..messages.transcript import read_messages_of
from ..search.engine import Search
from ..search.query import parse, query_word
from ..search.scope import compile_filters, make_scope
from ..sessions.first_page import read_neighbourhood
from ..text import as_text
from .edited_file import Edit, EditedFile, Line, split
from .edits import FILE_TOOLS, replay_uses
from .replay import Replay
from .tool_uses import read_tool_uses

_PROMPTS = 8
"""Rows of a user that are read at once, to find one that is no summary."""
_TELLING = 12
"""Characters: a shorter line may well stand among the unknown ones too, unless the lines around it
are those of the edit."""
_DEPTH = 100
"""Sessions above another that are looked at."""


class BlameLine(NamedTuple):
    """A line of a file, and where it comes from."""

    number: int
    """From 1."""
    text: str
    """Without its end."""
    edit: Edit | None
    """None if no message of this store wrote it, as far as is known."""
    prompt: ChatMessage | None
    """The message of the user that asked for it."""


def read_blame(reader: Reader, path: str, text: str | None, now: float = 0.0) -> list[BlameLine]:
    """Read which messages wrote the lines of a file.

    Args:
        reader: Of the store.
        path: Absolute.
        text: The file as it stands on the disk; None if it is not there, then the lines are those
            that were last left.
        now: Unix seconds.
    """
    path = posixpath.normpath(path)
    name = posixpath.basename(path)
    query = parse(f"file:{query_word(name)}")
    scope = make_scope(reader, compile_filters(query, now), None)
    session_ids = sorted(Search(reader, query, scope).count(0).sessions)
    catalog = read_neighbourhood(reader, session_ids, now)
    conversations = {catalog.of_session(id): None for id in session_ids}
    known = [conversation for conversation in conversations if conversation is not None]
    escaped = json.dumps(name)[1:-1]
    telling = [
        use
        for use in read_tool_uses(reader, known, name)
        if use.name in ("terminal", *FILE_TOOLS)
        if name in use.arguments or escaped in use.arguments
    ]
    replay = Replay(name)
    replay.file(path)
    replay_uses(reader, replay, telling, catalog.sessions)
    owners = _owners(replay.file(path).versions, text)
    prompts = {
        edit: prompt_before(reader, edit.session_id, edit.message_id)
        for _line, edit in owners
        if edit is not None
    }
    return [
        BlameLine(number, line.rstrip("\r\n"), edit, prompts[edit] if edit is not None else None)
        for number, (line, edit) in enumerate(owners, 1)
    ]


def _owners(versions: Sequence[EditedFile], text: str | None) -> list[tuple[str, Edit | None]]:
    """Return each line of the file, and the edit it comes from."""
    last = versions[-1]
    left = [(line.text, _owner(line)) for line in last.lines if line.text is not None]
    if len(versions) == 1 and last.is_certain and text in (None, last.text()):
        return left
    texts = [line for line, _edit in left] if text is None else split(text)
    once = _owners_by_text(versions, texts)
    return [(line, once.get(line)) for line in texts]


def _owner(line: Line) -> Edit | None:
    return None if line.is_copied else line.added_by


def _owners_by_text(versions: Sequence[EditedFile], texts: Sequence[str]) -> dict[str, Edit]:
    """Return who wrote the lines that occur once in the file and once in what was left."""
    there, around_there = Counter(texts), _neighbours(texts)
    left: dict[str, list[Edit | None]] = {}
    unsure: set[str] = set()
    for version in versions:
        own: dict[str, list[Edit | None]] = {}
        for line in version.lines:
            own.setdefault(line.text or "", []).append(_owner(line))
        gone = {line.text for line in version.before if line.removed_by is not None}
        is_whole = version.text() is not None
        if not is_whole:
            around = _neighbours([line.text for line in version.lines])
            unsure |= {
                text
                for text in own
                if len(text.strip()) < _TELLING and around.get(text) != around_there.get(text)
            }
        left = {
            text: owners
            for text, owners in left.items()
            if text not in gone and (text in own or not is_whole)
        }
        for text, owners in own.items():
            if text not in left or owners != [None]:  # a line from before may be one of these
                left[text] = [*left.get(text, ()), *owners]
    return {
        text: owners[0]
        for text, owners in left.items()
        if there[text] == 1 and len(owners) == 1 and owners[0] is not None
        if text not in unsure
    }


def _neighbours(texts: Sequence[str | None]) -> dict[str | None, tuple[str | None, str | None]]:
    """Return the lines before and after each line; of equal ones, those around the last."""
    lines = [None, *texts, None]
    return {
        line: (before, after) for before, line, after in zip(lines, texts, lines[2:], strict=False)
    }


def prompt_before(reader: Reader, session_id: str, message_id: int) -> ChatMessage | None:
    """Return the last message of the user before another, in its session or in those above."""
    schema = reader.schema
    role, parent = schema.message("role"), schema.session("parent_session_id")
    prompts = (
        f"SELECT m.id FROM messages m WHERE m.session_id = ? AND {role} = 'user' "
        f"AND m.id < ? ORDER BY m.id DESC LIMIT {_PROMPTS}"
    )
    above = f"SELECT {parent} FROM sessions s WHERE s.id = ?"
    at: str | None = session_id
    for _step in range(_DEPTH):
        ids = [as_int(row[0]) for row in reader.rows(prompts, [at, message_id])]
        for message in read_messages_of(reader, ids):
            if message.said and not message.is_hidden:
                return message
        at = as_text(reader.value(above, [at]))
        if at is None:
            break
    return None
