"""Read the conversations of a tree, and their tool calls with the results, as far as they are
stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from ..compression.compactions import is_compressed, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_mapping, as_time
from ..messages.decode import SLICE, decode_content, decode_tool_calls
from ..sessions.catalog import Catalog
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation, Session
from ..text import text_of


class ToolUse(NamedTuple):
    """A tool call and where its result is."""

    message_id: int
    """The assistant message that has the call."""
    session_id: str
    name: str
    arguments: str
    """As stored: a JSON text, possibly cut short."""
    at: float | None
    result_id: int | None = None
    """The message that has the result; None if none is stored."""
    ended_at: float | None = None
    """When the result was stored."""

    def said(self, key: str) -> str:
        """Return an argument as text; empty if it has none of that name."""
        return str(as_mapping(self.arguments).get(key) or "")

    @property
    def text(self) -> str:
        """The command or the program that it runs."""
        return self.said("command") or self.said("code")

    @property
    def seconds(self) -> float:
        """How long it took, as far as stored."""
        return self.ended_at - self.at if self.ended_at is not None and self.at is not None else 0.0

    @property
    def order(self) -> int:
        """Sorts calls by their results, or else by themselves: rows are numbered as they are
        written."""
        return self.result_id or self.message_id


def find_tree(
    reader: Reader, session_id: str, now: float = 0.0
) -> tuple[Catalog, list[Conversation]]:
    """Read the conversation of a session, and all its subagents after those they work for.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog = read_neighbourhood(reader, [session_id], now)
    tree = [catalog.conversation(session_id)]
    for parent in tree:
        tree += [each for each in catalog.child_conversations(parent) if each.is_attached_subagent]
    return catalog, tree


def read_tool_uses(
    reader: Reader, conversations: Iterable[Conversation], naming: str = ""
) -> list[ToolUse]:
    """Read the tool calls of conversations in order, but for those that a compression wrote again.

    Args:
        reader: Of the store.
        conversations: With all their sessions.
        naming: A text that the calls contain, as it stands in JSON.
    """
    uses = (use for each in conversations for use in _read_uses(reader, each.segments, naming))
    return sorted(uses, key=attrgetter("order"))


def _read_uses(reader: Reader, segments: Sequence[Session], naming: str) -> Iterator[ToolUse]:
    copies = (
        read_history(reader, segments, with_gaps=False).copies
        if is_compressed(reader, segments)
        else {}
    )
    statement = (
        "SELECT id, role, tool_call_id, tool_calls, timestamp FROM message_rows "
        "WHERE (role = 'tool' OR instr(tool_calls, ?)) AND session_id = ? AND"
    )
    for segment in segments:
        waiting: dict[str, ToolUse] = {}
        slices = reader.slices(statement, "id", SLICE, [naming, segment.id])
        for message_id, kind, call_id, stored, time in chain.from_iterable(slices):
            id, at = as_int(message_id), as_time(time)
            if id in copies:
                continue
            use = waiting.pop(text_of(call_id), None) if kind == "tool" else None
            if use is not None:
                yield use._replace(result_id=id, ended_at=at)
            for call in decode_tool_calls(stored):
                if call.id in waiting:
                    yield waiting[call.id]
                waiting[call.id] = ToolUse(id, segment.id, call.name, call.arguments, at)
        yield from waiting.values()


def read_results(reader: Reader, uses: Sequence[ToolUse]) -> dict[int | None, str]:
    """Read the texts of results, by the id of their message."""
    rows = reader.rows_in(
        "SELECT id, content FROM message_rows WHERE id IN ({keys})",
        [use.result_id for use in uses],
    )
    return {as_int(message_id): decode_content(text)[0] for message_id, text in rows}
