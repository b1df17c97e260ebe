"""Read a conversation: first an outline of all its rows, then messages in windows.

The outline lists the rows of all segments with their state, and those that repeat others; texts are
read only for a window. Rows are ordered by id within a segment, as in Hermes, not by time, because
clocks may step back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from ..compression.blocks import sent_of
from ..compression.compactions import read_history
from ..compression.history_rows import RowOrigin, read_rows
from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..connection.stored_values import as_int, as_time, write_json
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation, Relation, Session
from ..text import as_text, text_of
from .chat_message import STATES, Reading, RowInfo, State
from .decode import SLICE

END = -(2**62)
"""Key in `Outline.gaps` for the end of the conversation; no row has this id."""


class Outline(NamedTuple):
    """The rows of a conversation in a reading, root segment first."""

    session_ids: tuple[str, ...]
    rows: tuple[RowInfo, ...]
    gaps: Mapping[int, tuple[int, int]] = {}
    """Where rows are left out: id of the next row, or `END` → number of rewound, of compacted
    rows."""
    copies: Mapping[int, int] = {}
    """Rows that repeat another → that one; `Reading.SAID` leaves them out."""

    def index_of(self, message_id: int) -> int | None:
        """Return the position of a chat message, or of the row that repeats it; None if neither is
        in this reading."""
        places = {row.id: place for place, row in enumerate(self.rows)}
        return places.get(message_id, places.get(self.copies.get(message_id, END)))


def branched_off(reader: Reader, catalog: Catalog, conversation: Conversation) -> Iterator[int]:
    """Yield the first rows of a branch, as far as the conversation above has them too: it begins
    with a copy of them. Any other conversation has none."""
    above = catalog.parent_conversation(conversation)
    if conversation.relation is not Relation.BRANCHED or above is None:
        return
    (own,) = read_rows(reader, [conversation.root])
    theirs = chain.from_iterable(read_rows(reader, above.segments))
    # In order, as `in` takes all up to the one that it finds: a short answer may stand there several
    # times, and be given once more.
    rest = (row.fingerprint for row in theirs)
    yield from (row.id for row in takewhile(lambda row: row.fingerprint in rest, own))


def _find_copies(reader: Reader, session_id: str) -> dict[int, int]:
    """Find the rows of one session, hidden ones aside, that repeat another: compaction in place
    inserts the messages it keeps again.

    Rows of equal `display_order` (0.22) are one message. Without it, rows that differ only in
    their state are, and so are those that a compaction wrote and the ones they repeat.

    Returns:
        Copy → the row to show: the live row, else the newest (Hermes 0.22, display order). What a
        compaction carried over before its summary stays where it was first said.
    """
    history = read_history(reader, [Session(session_id, "")], with_gaps=False)
    rows = [row for row in sent_of(history.rows) if not row.is_hidden]
    firsts: dict[object, int] = {}
    originals: dict[int, int] = {}
    for row in rows:  # what a row repeats is before it
        same = row.summary_text or (row.timestamp, row.fingerprint)
        original = firsts.setdefault(same if row.order is None else row.order, row.id)
        if row.order is None and row.original is not None and not row.is_changed:
            original = row.original
        originals[row.id] = originals.get(original, original)
    live_last = sorted(rows, key=lambda row: row.state is State.LIVE)
    shown = {originals[row.id]: row.id for row in live_last}
    heads = [originals[row.id] for row in rows if row.why is RowOrigin.HEAD and not row.is_changed]
    shown |= {head: head for head in heads}
    return {row: shown[first] for row, first in originals.items() if row != shown[first]}


def _is_read(row: RowInfo, reading: Reading, tip: int) -> bool:
    """Tell whether a row is part of a reading, given the index of the last session.

    The model only receives the live rows of the tip, with a summary of earlier segments
    (`get_resume_conversations`, Hermes 0.19). It does see rows that are hidden from people, except
    bookkeeping.
    """
    if reading is Reading.LIVE:
        return row.segment == tip and row.state is State.LIVE and row.role != "session_meta"
    return row.is_said or reading is Reading.EVERYTHING


def read_outline(
    reader: Reader, segments: Sequence[Session], reading: Reading = Reading.SAID
) -> Outline:
    """Read the outline of a conversation from its segments, root first."""
    session_ids = tuple(session.id for session in segments)
    statement = (
        "SELECT m.id, m.role, m.timestamp, m.state, m.hidden FROM message_rows m "
        "WHERE m.session_id = ? AND"
    )
    copies: dict[int, int] = {}
    every: list[RowInfo] = []
    for index, session_id in enumerate(session_ids):
        rows = [
            RowInfo(as_int(key), index, text_of(role), as_time(at), STATES[state], bool(hidden))
            for some in reader.slices(statement, "m.id", SLICE, [session_id])
            for key, role, at, state, hidden in some
        ]
        if reading is not Reading.LIVE and any(row.state is State.COMPACTED for row in rows):
            copies |= _find_copies(reader, session_id)
        every += rows
    shown: list[RowInfo] = []
    gaps: dict[int, tuple[int, int]] = {}
    following, tip = END, len(session_ids) - 1
    for row in reversed(every):
        if reading is Reading.SAID and row.id in copies:
            continue
        if _is_read(row, reading, tip):
            shown.append(row)
            following = row.id
        elif not row.hidden:
            rewound, compacted = gaps.get(following, (0, 0))
            is_rewound = row.state is State.REWOUND
            gaps[following] = rewound + is_rewound, compacted + (not is_rewound)
    return Outline(session_ids, tuple(reversed(shown)), gaps, copies)


def read_system_prompt(reader: Reader, session_id: str) -> str | None:
    """Read the system prompt of a session; None if none is stored. Segments of a conversation may
    differ.

    Since 0.20 prompts are in a table of their own, by hash; older rows keep theirs.
    """
    prompt = "s.system_prompt"
    if "system_prompts" in reader.schema.tables:
        shared = "SELECT p.prompt FROM system_prompts p WHERE p.hash = s.system_prompt_hash"
        prompt = f"COALESCE(({shared}), s.system_prompt)"
    sql = f"SELECT {prompt} FROM session_rows s WHERE s.id = ?"
    return as_text(reader.value(sql, [session_id])) or None


def count_stored_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the rows of `messages` by session, shown or not, from an index; sessions without rows
    are left out."""
    statement = "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY 1"
    return {text_of(key): as_int(count) for key, count in reader.rows_in(statement, session_ids)}


def count_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the chat messages that `read_outline` shows by default, by session; sessions without
    rows are left out.

    SQLite counts them. Rows of sessions that were compacted in place may repeat others.
    """
    rows = reader.rows_in(
        "SELECT m.session_id, sum(m.state <> 'rewound' AND NOT m.hidden), max(m.state = 'compacted') "
        "FROM message_rows m WHERE m.session_id IN ({keys}) GROUP BY 1",
        session_ids,
    )
    return {
        text_of(key): as_int(said) - (len(_find_copies(reader, text_of(key))) if compacted else 0)
        for key, said, compacted in rows
    }


def _plain(value: object) -> object:
    """Return a stored value for JSON; bytes as an object with their length and hex digits."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "hex": value.hex()}
    return as_text(value) if isinstance(value, str) else value


def read_raw(reader: Reader, message_id: int) -> str | None:
    """Read all columns of a message as indented JSON, in the order of the table; None if the row is
    missing.

    Texts are not decoded, even if they hold JSON.
    """
    names = reader.schema.message_columns
    rows = reader.rows(
        f"SELECT {', '.join(map(sql_name, names))} FROM messages WHERE id = ?", [message_id]
    )
    return write_json(dict(zip(names, map(_plain, rows[0]), strict=True)), 2) if rows else None
