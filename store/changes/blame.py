"""Which message wrote each line of a file, over all conversations of a store.

A line belongs to a message only if that message added its text, and nobody took it away. In a file
that was changed by hand since, only lines count whose text stands there once: of two equal lines it
is not known which one is older.
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
from ..sessions.models import Conversation, Relation, Session
from .edited_file import Edit, Line, split
from .replay import FILE_TOOLS, TrackedFile, replay_uses
from .tool_uses import ToolUse, read_tool_uses

_PLAIN = re.compile(r"[A-Za-z0-9_ .+-]*")
"""Text that stands in stored JSON as it is."""
_PROMPTS = 800
"""Messages of a user that are looked at, to find one that is no summary."""
_BATCH = 8
"""As many of them are read at a time."""
_TELLING = 3
"""Characters: a shorter line, a blank one or a bracket, may be written by hand, unless the lines
around it are those of the edit. In a file that is not known whole any line may."""
_DEPTH = 100
"""Sessions above another that are looked at."""


Owned = tuple[str, Edit | None]
"""A line, and the edit it comes from."""


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
    replay_uses(reader, files, uses, sessions, name)
    owners = _owners(files.get(path) or TrackedFile(path), text)

    @cache
    def prompt_of(edit: Edit | None) -> ChatMessage | None:
        return prompt_before(reader, edit.session_id, edit.message_id) if edit else None

    return [
        BlameLine(number, line.rstrip("\r\n"), edit, prompt_of(edit))
        for number, (line, edit) in enumerate(_numbered(owners), 1)
    ]


def _numbered(owners: Sequence[Owned]) -> Iterator[Owned]:
    """Yield the lines that an editor numbers: edits split at a form feed too, and at other signs."""
    text, edits = "", set[Edit | None]()
    for piece, edit in owners:
        text += piece
        edits.add(edit)
        if piece.endswith("\n"):
            yield text, edits.pop() if len(edits) == 1 else None
            text, edits = "", set()
    if text:
        yield text, edits.pop() if len(edits) == 1 else None


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
    telling: set[ToolUse] = set()
    for root, each in conversations.items():
        above = each.parent_root_id if each.relation is Relation.BRANCHED else None
        own = [
            use
            for use in _without_copies(by_root[root], by_root.get(above or "", ()))
            if use.name in ("terminal", *FILE_TOOLS) and any(n in use.arguments for n in names)
        ]
        telling.update(own, _shown_before(reader, each, own))
    return sorted(telling, key=attrgetter("order")), catalog.sessions


def _shown_before(
    reader: Reader, conversation: Conversation, own: Sequence[ToolUse]
) -> Iterator[ToolUse]:
    """Yield the programs whose output a conversation had seen when it wrote the whole file last: it
    may have copied lines."""
    writes = [use.order for use in own if use.name == "write_file"]
    if writes:
        for use in read_tool_uses(reader, [conversation]):
            if use.name in ("terminal", "execute_code") and use.order < max(writes):
                yield use


def _without_copies(uses: Sequence[ToolUse], above: Sequence[ToolUse]) -> Iterator[ToolUse]:
    """Leave out the first calls of a conversation, as far as the one above it has them too: a
    branch begins with a copy of it."""
    call = attrgetter("call_id", "name", "arguments")
    known = set(map(call, above))
    return dropwhile(lambda use: call(use) in known, uses)


def _owners(file: TrackedFile, text: str | None) -> list[Owned]:
    """Return each line of the file, and the edit it comes from."""
    left = [(line.text, _owner(line)) for line in file.last.lines if line.text is not None]
    if file.is_certain and text in (None, file.last.text()):
        return left
    texts = [line for line, _edit in left] if text is None else split(text)
    owners = _owners_by_text(file, texts)
    there = Counter(texts)
    return [
        (line, owners[line][0] if there[line] == len(owners[line]) == 1 else None) for line in texts
    ]


def _owner(line: Line) -> Edit | None:
    return None if line.is_copied else line.added_by


def _owners_by_text(file: TrackedFile, texts: Sequence[str]) -> defaultdict[str, list[Edit | None]]:
    """Return who wrote the lines with each text that were left; nobody where that is not sure."""
    around_there = _neighbours(texts)
    left: defaultdict[str, list[Edit | None]] = defaultdict(list)
    unsure: set[str] = set()
    for version in file.versions:
        own: defaultdict[str, list[Edit | None]] = defaultdict(list)
        for line in version.lines:
            own[line.text or ""].append(_owner(line))
        gone = {line.text or "" for line in version.before if line.removed_by is not None}
        is_whole = version.text() is not None
        if is_whole:
            gone |= left.keys() - own.keys()
        around = _neighbours([line.text for line in version.lines])
        unsure |= {
            text
            for text in own
            if not (is_whole and len(text.strip()) >= _TELLING)
            and around.get(text) != around_there.get(text)
        }
        for text in gone:
            left.pop(text, None)
        for text, owners in own.items():
            if text not in left or owners != [None]:  # a line from before may be one of these
                left[text] += owners
    for text in unsure:
        left[text] = []
    return left


def _neighbours(texts: Sequence[str | None]) -> dict[str | None, tuple[str | None, str | None]]:
    """Return the lines before and after each line; of equal ones, those around the last."""
    pairs = zip([None, *texts], [*texts[1:], None], strict=False)
    return dict(zip(texts, pairs, strict=False))


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
