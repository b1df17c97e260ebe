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
from ..messages.transcript import read_messages_of
from ..search.candidates import Candidates
from ..search.filters import Condition
from ..search.query import compile_query, parse, query_word
from ..sessions.catalog import Catalog
from ..sessions.first_page import read_neighbourhood
from ..text import as_text
from .document import EditedFile, Line
from .edits import EDITORS, Edit, FileStep, FileStepKind, Paths, steps_of
from .tool_uses import ToolUse, copied_rows, json_at_start, read_results, read_tool_uses

_TOOLS = ("read_file", "terminal", "execute_code", *EDITORS)
_PROMPTS = 8
"""Rows of a user that are read at once, to find one that is no summary."""
_DEPTH = 100
"""Sessions above another that are looked at."""


class BlameLine(NamedTuple):
    """A line of a file, and where it comes from."""

    number: int
    """From 1."""
    text: str
    """Without its end."""
    message_id: int | None = None
    """The message that wrote it; None if no message of this store did, as far as is known."""
    session_id: str | None = None
    prompt_id: int | None = None
    """The message of the user that asked for it."""
    prompt: str | None = None


class Blame(NamedTuple):
    """A file by the messages that wrote it."""

    path: str
    on_disk: bool
    """Whether the lines are those on the disk; else those that were last left."""
    lines: tuple[BlameLine, ...]


def read_blame(reader: Reader, path: str, text: str | None, now: float = 0.0) -> Blame:
    """Read which messages wrote the lines of a file.

    Args:
        reader: Of the store.
        path: Absolute.
        text: The file as it stands on the disk; None if it is not there.
        now: Unix seconds.
    """
    path = posixpath.normpath(path)
    sessions = _sessions_naming(reader, posixpath.basename(path))
    documents = _replayed(reader, path, sessions, now)
    prompts = _Prompts(reader)
    owners = enumerate(_owners(documents, text), 1)
    lines = [_blame_line(number, line, edit, prompts) for number, (line, edit) in owners]
    return Blame(path, text is not None, tuple(lines))


def _owners(documents: Sequence[EditedFile], text: str | None) -> list[tuple[str, Edit | None]]:
    """Return each line of the file, and the edit it comes from."""
    last = documents[-1]
    left = [line for line in last.lines() if line.sign != "-" and line.text is not None]
    texts = [line.text or "" for line in left if last.exists]
    if text is not None:
        texts = text.splitlines(keepends=True)
    is_untouched = text in (None, last.text()) and not last.is_disturbed
    if is_untouched and len(documents) == 1:
        return list(zip(texts, map(_owner, left), strict=False))
    once = _owners_by_text(documents, texts)
    return [(each, once.get(each)) for each in texts]


def _owner(line: Line) -> Edit | None:
    return None if line.is_copied else line.edit


def _blame_line(number: int, text: str, edit: Edit | None, prompts: _Prompts) -> BlameLine:
    text = text.rstrip("\r\n")
    if edit is None:
        return BlameLine(number, text)
    prompt_id, prompt = prompts.before(edit.session_id, edit.message_id)
    return BlameLine(number, text, edit.message_id, edit.session_id, prompt_id, prompt)


def _owners_by_text(documents: Sequence[EditedFile], texts: Sequence[str]) -> dict[str, Edit]:
    """Return who wrote the lines that occur once in the file and once in what was left."""
    there = Counter(texts)
    left: dict[str, list[Edit | None]] = {}
    for document in documents:
        own = _owners_in(document)
        gone = {line.text for line in document.lines() if line.sign == "-"}
        is_whole = document.text() is not None
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
    }


def _owners_in(document: EditedFile) -> dict[str, list[Edit | None]]:
    """Return the edits behind the known lines of a document, by text."""
    owners: dict[str, list[Edit | None]] = {}
    for line in document.lines():
        if line.sign != "-" and line.text is not None:
            owners.setdefault(line.text, []).append(_owner(line))
    return owners


def _sessions_naming(reader: Reader, name: str) -> list[str]:
    """Return the sessions with an editing call that names a file, by the search index where there
    is one."""
    query = compile_query(parse(f"file:{query_word(name)}"))
    schema = reader.schema
    calls = schema.message("tool_calls")
    is_edit = " OR ".join(f"instr({calls}, '{tool}')" for tool in ("execute_code", *EDITORS))
    scope = Condition(f"COALESCE({calls}, '') <> '' AND ({is_edit})")
    sessions: dict[str, None] = {}
    for page in Candidates(reader, query, scope, oldest=True).pages():
        sessions |= dict.fromkeys(each.session_id for each in page)
    return list(sessions)


def _replayed(
    reader: Reader, path: str, session_ids: Sequence[str], now: float
) -> list[EditedFile]:
    """Return the file after all edits; a new document begins where an edit does not fit to what is
    known, because somebody else has changed the file."""
    tracked = _Tracked(path)
    catalog = read_neighbourhood(reader, session_ids, now)
    name = posixpath.basename(path)
    uses = _uses(reader, catalog, session_ids, name)
    results = read_results(reader, uses)
    for use in uses:
        text = results.get(use.result_id) if use.result_id is not None else None
        if use.name == "terminal":
            tracked.show(text or "")
        steps, _is_failed = steps_of(use, text, Paths(_directory(catalog, use.session_id)))
        for step in steps:
            tracked.add(step)
    return tracked.documents


def _uses(reader: Reader, catalog: Catalog, session_ids: Sequence[str], name: str) -> list[ToolUse]:
    """Read the tool calls of sessions that may tell something about a file of this name."""
    conversations = {
        conversation.root_id: conversation
        for conversation in map(catalog.of_session, session_ids)
        if conversation is not None
    }
    uses: list[ToolUse] = []
    for conversation in conversations.values():
        copies = copied_rows(reader, conversation)
        ids = [segment.id for segment in conversation.segments]
        uses += read_tool_uses(reader, ids, copies, name)
    escaped = json.dumps(name)[1:-1]
    telling = [
        use
        for use in uses
        if use.name in _TOOLS and (name in use.arguments or escaped in use.arguments)
    ]
    return sorted(telling, key=lambda use: use.order)


def _directory(catalog: Catalog, session_id: str) -> str | None:
    """Return the directory of a session, or else that of the nearest one above it."""
    current: str | None = session_id
    for _step in range(_DEPTH):
        session = catalog.forest.sessions.get(current or "")
        if session is None:
            return None
        if session.cwd:
            return session.cwd
        current = session.parent_id
    return None


class _Tracked:
    """One file through the steps of conversations, also where it was moved."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.documents: list[EditedFile] = [EditedFile()]

    @property
    def _last(self) -> EditedFile:
        return self.documents[-1]

    def show(self, result: str) -> None:
        """Take down what a terminal printed: what a message writes after that may be a copy."""
        output = json_at_start(result).get("output")
        lines = str(output or "").splitlines()
        self._last.show([*lines, *(f"{line}\n" for line in lines)])

    def add(self, step: FileStep) -> None:
        """Do what a step says, if it is about this file."""
        is_here = step.path == self._path
        if step.kind is FileStepKind.MOVE and self._path in (step.path, step.to):
            self._begin()
        elif is_here and not self._last.apply(step):
            self._begin()
            self._last.apply(step)

    def _begin(self) -> None:
        shown = self._last.shown
        self.documents.append(EditedFile())
        self._last.shown = shown


class _Prompts:
    """Finds the message of the user that a message answers."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._found: dict[int, tuple[int | None, str | None]] = {}

    def before(self, session_id: str, message_id: int) -> tuple[int | None, str | None]:
        """Return the id and the text of the last prompt before a message, in its session or in
        those above."""
        if message_id not in self._found:
            self._found[message_id] = self._find(session_id, message_id)
        return self._found[message_id]

    def _find(self, session_id: str, message_id: int) -> tuple[int | None, str | None]:
        schema = self._reader.schema
        role, parent = schema.message("role"), schema.session("parent_session_id")
        rows = (
            f"SELECT m.id FROM messages m WHERE m.session_id = ? AND {role} = 'user' "
            f"AND m.id < ? ORDER BY m.id DESC LIMIT {_PROMPTS}"
        )
        current: str | None = session_id
        for _step in range(_DEPTH):
            ids = [as_int(row[0]) for row in self._reader.rows(rows, [current, message_id])]
            for message in read_messages_of(self._reader, ids):
                if message.said and not message.is_hidden:
                    return message.id, message.said
            above = f"SELECT {parent} FROM sessions s WHERE s.id = ?"
            current = as_text(self._reader.value(above, [current]))
            if current is None:
                break
        return None, None
