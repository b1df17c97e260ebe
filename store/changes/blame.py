"""Which message wrote each line of a file, over all conversations of a store.

A line belongs to a message only if that message wrote it, and nobody took it away. In a file that
was changed by hand since, or is not known whole, the lines before and after it must still be those
of the edit.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import dropwhile
from operator import attrgetter
from typing import NamedTuple

from ..connection.reader import Reader, chunks
from ..connection.stored_values import as_int, first_texts
from ..messages.chat_message import ChatMessage
from ..messages.transcript import read_messages_of
from ..search.engine import Search
from ..search.query import parse, query_word
from ..search.scope import make_scope
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Relation, Session
from .edited_file import Edit, split
from .replay import FILE_TOOLS, TrackedFile, replay_uses
from .tool_uses import ToolUse, read_tool_uses

_PLAIN = re.compile(r"[A-Za-z0-9_ .+-]*")
"""Text that stands in stored JSON as it is."""
_PROMPTS = 800
"""Messages of a user that are looked at, to find one that is no summary."""
_BATCH = 8
"""As many of them are read at a time."""
_DEPTH = 100
"""Sessions above another that are looked at."""


Owned = tuple[str, Edit | None]
"""A line, and the edit it comes from."""
Place = tuple[str | None, str | None, str | None]
"""A line between two others; None for one that is not known."""
Owners = dict[Place, Edit | None]


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
    uses, sessions = _read_uses(reader, name, now)
    files = {path: TrackedFile(path)}
    replay_uses(reader, files, uses, sessions)
    owners = _owners(files.get(path) or TrackedFile(path), text)

    @cache
    def prompt_of(edit: Edit | None) -> ChatMessage | None:
        return prompt_before(reader, edit.session_id, edit.message_id) if edit else None

    return [
        BlameLine(number, line.rstrip("\r\n"), edit, prompt_of(edit))
        for number, (line, edit) in enumerate(owners, 1)
    ]


def _read_uses(
    reader: Reader, name: str, now: float
) -> tuple[list[ToolUse], Mapping[str, Session]]:
    """Read the calls about files of a name, and the sessions of these calls and those above."""
    query = parse(f"file:{query_word(name)}")
    ids = Search(reader, query, make_scope(reader, query, now)).count(0).sessions
    naming = name if _PLAIN.fullmatch(name) else ""
    sql = (
        "SELECT DISTINCT session_id FROM message_rows "
        "WHERE instr(tool_calls, ?) AND session_id IN ({keys})"
    )
    session_ids = first_texts(reader.rows_in(sql, sorted(ids), [naming]))
    catalog = read_neighbourhood(reader, session_ids, now)
    conversations = {each.root_id: each for each in map(catalog.of_session, session_ids) if each}
    by_root = {root: read_tool_uses(reader, [each], naming) for root, each in conversations.items()}
    names = name, json.dumps(name)[1:-1]
    telling: list[ToolUse] = []
    for root, each in conversations.items():
        above = each.parent_root_id if each.relation is Relation.BRANCHED else None
        telling += [
            use
            for use in _without_copies(by_root[root], by_root.get(above or "", ()))
            if use.name in ("terminal", *FILE_TOOLS) and any(n in use.arguments for n in names)
        ]
    return sorted(telling, key=attrgetter("order")), catalog.sessions


def _without_copies(uses: Sequence[ToolUse], above: Sequence[ToolUse]) -> Iterator[ToolUse]:
    """Leave out the first calls of a conversation, as far as the one above it has them too: a
    branch begins with a copy of it."""
    call = attrgetter("call_id", "name", "arguments")
    known = set(map(call, above))
    return dropwhile(lambda use: call(use) in known, uses)


def _owners(file: TrackedFile, text: str | None) -> list[Owned]:
    """Return each line of the file, and the edit it comes from."""
    if text is None or (file.is_certain and text == file.last.text()):
        return [(line.text, line.added_by) for line in file.last.lines if line.text is not None]
    owners = _owners_by_places(file)
    texts = split(text)
    places = _places(texts)
    there = Counter(places)
    return [
        (line, owners.get(place) if there[place] == 1 else None)
        for line, place in zip(texts, places, strict=True)
    ]


def _owners_by_places(file: TrackedFile) -> Owners:
    """Return who wrote the lines that were left; nobody where that is not sure."""
    owners: Owners = {}
    for version in file.versions:
        found: defaultdict[Place, list[Edit | None]] = defaultdict(list)
        places = _places([line.text for line in version.lines])
        for line, place in zip(version.lines, places, strict=True):
            found[place].append(line.added_by)
        gone = {line.text for line in version.before if line.removed_by is not None}
        is_whole = version.text() is not None
        owners = {
            place: edit
            for place, edit in owners.items()
            if place[1] not in gone and (place in found or not is_whole)
        }
        for place, edits in found.items():
            if edits != [None] or place not in owners:  # one from before may be that of the owner
                owners[place] = edits[0] if len(set(edits)) == 1 else None
    return owners


def _places(texts: Sequence[str | None]) -> list[Place]:
    """Return each line with those before and after it; beyond the ends is no line."""
    return list(zip(["", *texts], texts, [*texts[1:], ""], strict=False))


def prompt_before(reader: Reader, session_id: str, message_id: int) -> ChatMessage | None:
    """Return the last message of the user before another, in its session or in those above."""
    role = reader.schema.message("role")  # the view computes it, which takes longer
    sql = (
        f"WITH RECURSIVE above(id, depth) AS (SELECT ?, 0 UNION ALL "
        f"SELECT parent_session_id, depth + 1 FROM above CROSS JOIN session_rows s "
        f"ON s.id = above.id WHERE depth < {_DEPTH}) "
        f"SELECT m.id FROM above CROSS JOIN messages m ON m.session_id = above.id "
        f"WHERE {role} = 'user' AND m.id < ? ORDER BY depth, m.id DESC LIMIT {_PROMPTS}"
    )
    ids = [as_int(id) for (id,) in reader.rows(sql, [session_id, message_id])]
    for some in chunks(ids, _BATCH):
        for message in read_messages_of(reader, some):
            if message.said and not message.is_hidden:
                return message
    return None
