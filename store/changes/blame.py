"""Which message wrote each line of a file, over all conversations of a store.

A line belongs to a message only if that message wrote it, and nobody took it away. In a file that
was changed by hand since, or is not known whole, the lines before and after it must still be those
of the edit, and none may be like it. Lines of a whole text that a message wrote belong to nobody if
it may have copied them from what it was shown.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int, first_texts, json_at_start
from ..messages.chat_message import ChatMessage
from ..messages.decode import read_messages_of
from ..messages.transcript import branched_off
from ..search.engine import Search
from ..search.query import parse, query_word
from ..sessions.catalog import Catalog
from ..sessions.first_page import read_neighbourhood
from .edited_file import Edit, TrackedFile, split
from .replay import DEPTH, Replay
from .tool_uses import ToolUse, read_results, read_tool_uses

_AHEAD = re.compile(r"^(?:[-+]|(?:[^:\s]+:)? *\d+[|:\t])")
"""What a diff, a numbered text or a search shows ahead of a line."""


Triple = tuple[str | None, str | None, str | None]
"""A line between two others; None for one that is not known."""


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
    catalog, uses = _read_uses(reader, posixpath.basename(path), now)
    replay = Replay(catalog.sessions)
    replay.do_all(reader, uses)
    file = replay.files.get(path) or TrackedFile(path)
    _disown_copies(reader, file, uses, catalog)

    @cache
    def prompt_of(edit: Edit | None) -> ChatMessage | None:
        return prompt_before(reader, edit.session_id, edit.message_id) if edit else None

    return [
        BlameLine(number, line.rstrip("\r\n"), edit, prompt_of(edit))
        for number, (line, edit) in enumerate(_owners(file, text), 1)
    ]


def _read_uses(reader: Reader, name: str, now: float) -> tuple[Catalog, list[ToolUse]]:
    """Read the calls about files of a name, after the sessions of these calls and those above."""
    query = parse(f"file:{query_word(name)}")
    ids = Search(reader, query, now).count(0).sessions
    escaped = json.dumps(name)[1:-1]
    naming = name if name == escaped else ""
    sql = (
        "SELECT DISTINCT session_id FROM message_rows "
        "WHERE instr(tool_calls, ?) AND session_id IN ({keys})"
    )
    session_ids = first_texts(reader.rows_in(sql, sorted(ids), [naming]))
    catalog = read_neighbourhood(reader, session_ids, now)
    conversations = set(filter(None, map(catalog.of_session, session_ids)))
    copied = {id for each in conversations for id in branched_off(reader, catalog, each)}
    return catalog, [
        use
        for use in read_tool_uses(reader, conversations, naming)
        if use.message_id not in copied and (name in use.arguments or escaped in use.arguments)
    ]


def _disown_copies(
    reader: Reader, file: TrackedFile, uses: Sequence[ToolUse], catalog: Catalog
) -> None:
    """Let lines of a whole text that a message wrote belong to nobody if it may have copied them: it
    added them, and they had been shown before; or it left them, and a program had shown them since
    their edit, perhaps at another place."""
    writes = {edit for edit in file.edits if edit.tool.endswith("write_file")}
    writers = {catalog.conversation(edit.session_id) for edit in writes}
    programs = [
        use
        for use in read_tool_uses(reader, writers)
        if use.name in ("terminal", "execute_code")  # a command need not name the file
    ]
    last = max((edit.message_id for edit in writes), default=0)
    by_programs = {use.order for use in programs}
    shown = _shown(reader, [use for use in (*uses, *programs) if use.order < last])
    for version in file.versions:
        for line in version.lines:
            edit, shown_at = line.added_by, shown.get((line.text or "").strip())
            if edit is not None and shown_at:
                is_added = edit in writes and min(shown_at) < edit.message_id
                is_left = max(shown_at & by_programs, default=0) > edit.message_id
                line.added_by = None if is_added or is_left else edit


def _shown(reader: Reader, uses: Sequence[ToolUse]) -> Mapping[str, set[int]]:
    """Return for each line the messages whose results showed it."""
    results = read_results(reader, uses)
    shown: defaultdict[str, set[int]] = defaultdict(set)
    for use in uses:
        text = results.get(use.result_id, "")
        for value in (text, *json_at_start(text).values()):
            for line in split(str(value)):
                for content in (line.strip(), _AHEAD.sub("", line).strip()):
                    shown[content].add(use.order)
    return shown


def _owners(file: TrackedFile, text: str | None) -> Iterable[tuple[str, Edit | None]]:
    """Return each line of the file, and the edit it comes from."""
    left = file.last
    if text is None or (file.is_certain and text == left.text()):
        # The one line of a file that is not there has no text.
        return [(line.text, line.added_by) for line in left.lines if line.text]
    texts = split(text)
    triples = _triples(texts)
    return zip(texts, map(_owners_by_triple(file, triples).get, triples), strict=True)


def _owners_by_triple(file: TrackedFile, triples: Sequence[Triple]) -> dict[Triple, Edit | None]:
    """Return who wrote the lines that stand nowhere else, between the same others; nobody where that
    is not sure."""
    counts = Counter(triple[1] for triple in triples)
    owners = dict.fromkeys(triple for triple in triples if counts[triple[1]] == 1)
    for version in file.versions:
        texts = [line.text for line in version.lines]
        gone = [line.text for line in version.before if line.removed_by is not None]
        there = Counter([*texts, *gone])
        found = dict(zip(_triples(texts), version.lines, strict=True))
        is_whole = version.text() is not None
        for triple in owners:
            is_here = triple in found
            is_elsewhere = there[triple[1]] > is_here
            if is_elsewhere or (is_whole and not is_here):
                owners[triple] = None
            elif is_here:  # one from before may be that of the owner
                owners[triple] = found[triple].added_by or owners[triple]
    return owners


def _triples(texts: Sequence[str | None]) -> list[Triple]:
    """Return each line with those before and after it; beyond the ends is no line."""
    return list(zip(["", *texts], texts, [*texts[1:], ""], strict=False))


def prompt_before(reader: Reader, session_id: str, message_id: int) -> ChatMessage | None:
    """Return the last message of the user before another, in its session or in those above."""
    role = reader.schema.message("role")  # the view computes it, which takes longer
    sql = (
        f"WITH RECURSIVE above(id, depth) AS (SELECT ?, 0 UNION ALL "
        f"SELECT parent_session_id, depth + 1 FROM above CROSS JOIN session_rows s "
        f"ON s.id = above.id WHERE depth < {DEPTH}) "
        f"SELECT m.id FROM above CROSS JOIN messages m ON m.session_id = above.id "
        f"WHERE {role} = 'user' AND m.id < ? ORDER BY depth, m.id DESC "
        "LIMIT 800"  # enough to find one that is no summary
    )
    for (id,) in reader.rows(sql, [session_id, message_id]):
        for message in read_messages_of(reader, [as_int(id)]):
            if message.said and not message.is_hidden:
                return message
    return None
