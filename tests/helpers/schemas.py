"""A family in any layout of the store."""

from __future__ import annotations

import pytest
from builders import T0, tool_call
from searching import count, search

from hermes_browse.store.cleanup.sizes import content_bytes
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.hermes.health import search_health, warnings_of
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.details import read_recap
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page, read_neighbourhood
from hermes_browse.store.sessions.lineage import read_lineage
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.sessions.session_rows import resolve_last, resolve_session, resolve_title

NOW = T0 + 86_400.0


SESSIONS: list[dict[str, object]] = [
    {
        "id": "root",
        "title": "Harbour",
        "end_reason": "compression",
        "ended_at": T0 + 30,
        "cwd": "/src",
        "model": "m",
    },
    {"id": "tip", "parent_session_id": "root", "title": "Harbour #2", "started_at": T0 + 31},
    {"id": "agent", "parent_session_id": "tip", "source": "subagent", "started_at": T0 + 40},
    {
        "id": "branch",
        "parent_session_id": "tip",
        "model_config": {"_branched_from": "tip"},
        "started_at": T0 + 50,
    },
    {"id": "job", "source": "cron", "started_at": T0 + 60},
]


MESSAGES: list[dict[str, object]] = [
    {"session_id": "root", "content": "the lantern of the harbour"},
    {
        "session_id": "root",
        "role": "assistant",
        "content": "",
        "tool_calls": [tool_call("terminal", {"command": "ls"})],
    },
    {
        "session_id": "root",
        "role": "tool",
        "content": "rope",
        "tool_name": "terminal",
        "tool_call_id": "call_1",
    },
    {"session_id": "tip", "content": [{"type": "text", "text": "灯台の光 lantern"}]},
    {"session_id": "tip", "role": "assistant", "content": "it shines", "reasoning": "light"},
    {"session_id": "agent", "content": "count the boats"},
    {"session_id": "branch", "content": "another lantern"},
    {"session_id": "job", "content": "nightly tide"},
]


def read_all(reader: Reader) -> tuple[int, int, int]:
    """Every reading function once, checked against each other.

    Returns:
        Conversations, chat messages of all kinds, and hits for every word there is.
    """
    catalog = read_catalog(reader, NOW)
    sessions = list(catalog.sessions)
    sizes = content_bytes(reader, sessions)
    for sort in Sort:
        assert len(catalog.order(View.ALL, sort=sort, amounts=sizes)) == catalog.counts()[View.ALL]
    conversations = with_details(reader, catalog.select(View.ALL))
    first = read_first_page(reader, NOW, view=View.ALL)
    assert set(first.sessions) <= set(sessions)
    for each in conversations:
        outline = read_outline(reader, each.segments)
        assert (
            each.message_count
            == len(outline.rows)
            == len(read_messages_of(reader, [row.id for row in outline.rows]))
        )
        read_outline(reader, each.segments, Reading.LIVE)
        read_recap(reader, each.segments)
        assert each.id in {node.session.id for node in read_lineage(reader, each.id, NOW).nodes}
        assert read_neighbourhood(reader, [each.id], NOW).of_session(each.id) is not None
        assert resolve_session(reader, each.id) == each.id
    messages = len(read_outline(reader, list(catalog.sessions.values()), Reading.EVERYTHING).rows)
    assert messages == reader.value("SELECT count(*) FROM messages")
    resolve_title(reader, "Harbour")
    resolve_last(reader)
    with pytest.raises(NotFoundError):
        resolve_session(reader, "no such session")
    hits = 0
    for text in (
        "docker",
        "lantern OR tide OR docker",
        "grep*",
        "灯台",
        "title:har",
        "source:cron is:automation nightly",
    ):
        query = parse(text)
        hits += len(search(reader, query, limit=0).hits)
        count(reader, query)
    list(warnings_of(reader))
    search_health(reader)
    return len(conversations), messages, hits
