"""What is fuzzed: the decoders of rows, the parser and planner of queries, the renderer of pages
and rows.

Each is one function of one drawn value; Hypothesis draws a fixed number of examples, the same ones
every time. A function returns how much there was in what it was given, which Hypothesis tries to
make larger.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from any_text import LOOK, PIECES, TEXT, cannot_act, read
from hypothesis import strategies as st
from rich.cells import cell_len
from search_stores import write_store
from searching import search
from transcripts import drawn

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.stored_values import (
    as_count,
    as_flag,
    as_mapping,
    as_money,
    as_time,
)
from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.messages.decode import (
    COLUMNS,
    decode_content,
    decode_data_url,
    decode_tool_calls,
    has_failed,
    suffix_of,
    to_message,
)
from hermes_browse.store.messages.summaries import injected_context
from hermes_browse.store.search.query import compile_query, parse
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.sessions import session_rows
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Relation, Status
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import as_text, one_line, printable, text_of
from hermes_browse.tui.browser.list.conversation_rows import ConversationRow
from hermes_browse.tui.browser.list.hit_rows import HitRow
from hermes_browse.tui.browser.transcript.find import needle
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.text.styled import line_text, line_width

NOW = 1_767_258_000.0
_NARROWEST = 19
"""Cells of a row of the list on a terminal of 20 columns."""

_KEYS = (
    "type", "text", "image_url", "url", "source", "data", "media_type", "id", "call_id", "function", "name",
    "arguments", "output", "exit_code", "error", "success", "model_only", "content", "path", "_branched_from",
)  # fmt: skip
_WORDS = (
    "text",
    "image",
    "image_url",
    "tool_use",
    "data:image/png;base64,iVBORw0KGgo=",
    "data:,%",
    "terminal",
    "patch",
)
_LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(_WORDS) | TEXT
JSON = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(_KEYS) | TEXT, inner, max_size=4)
    ),
    max_leaves=12,
)
"""What a JSON column may hold, by the names Hermes uses."""
_WRITTEN = JSON.map(json.dumps)
_CUT = st.tuples(_WRITTEN, st.integers(0, 60)).map(lambda both: both[0][: -both[1] or None])
_DEEP = st.tuples(st.sampled_from(["[", '{"a":', '[{"function":']), st.integers(0, 3000)).map(
    lambda both: both[0] * both[1]
)
_STORED = _WRITTEN | _CUT | _DEEP | TEXT
VALUE = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.binary(max_size=60),
    _STORED,
    _STORED.map(lambda text: "\x00json:" + text),
    _STORED.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [
            "user",
            "assistant",
            "tool",
            "session_meta",
            "hidden",
            "error",
            "-5",
            "2026-01-01T09:00:00Z",
        ]
    ),
)
"""What SQLite may give for any column, whatever its type is said to be."""


def _row(length: int) -> st.SearchStrategy[tuple[object, ...]]:
    """A row in which a few columns hold anything, the first of them an id, and the others
    nothing."""
    some = st.dictionaries(st.integers(0, length - 1), VALUE, max_size=6)
    return some.map(
        lambda filled: tuple(({0: "s"} | filled).get(number) for number in range(length))
    )


MESSAGE_ROW = _row(len(COLUMNS) + 2)
SESSION_ROW = _row(5 + len(session_rows._DECODERS))


def _session(row: tuple[object, ...]) -> Session:
    """The session of a row; none is read without an id, which is the sixth column."""
    return session_rows._session((*row[:5], text_of(row[5], "s"), *row[6:]), frozenset(), {})


_FILTERS = (
    "role:", "is:", "title:", "on:", "before:", "after:", "tool:", "in:", "model:", "source:", "cost:", "file:",
    "messages:", "-", "not:", "branch:", "id:",
)  # fmt: skip
_VALUES = (
    "assistant", "live", "2026-01-01", "7d", ">5", "<=1e308", "9" * 400, "0x", "reasoning", "docker", "café", "大别山",
    "don't", "src/main.py", "🚀", "**", "..", "%", "_", "\x00",
)  # fmt: skip
_SIGNS = (
    " ",
    '"',
    "(",
    ")",
    " OR ",
    " AND ",
    " NOT ",
    "*",
    ":",
    "^",
    "{",
    "}",
    "NEAR(",
    ",",
    "+",
    "\\",
    "'",
)
QUERY = st.one_of(
    st.lists(st.sampled_from((*_FILTERS, *_VALUES, *_SIGNS)), max_size=14).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.text(max_size=60),
)
"""What may be typed into the search box."""
PAGE = st.tuples(MESSAGE_ROW, SESSION_ROW, VALUE, LOOK, st.booleans(), st.integers(14, 140), TEXT)
"""A message, a session, the result of its calls; how they are shown."""


def _is_clean(text: str | None) -> bool:
    """Whether a text can be written anywhere: it is UTF-8."""
    return text is None or bool(text.encode("utf-8")) or not text


def decoders(given: tuple[tuple[object, ...], tuple[object, ...]]) -> int:
    """Any values as a row of `messages` and one of `sessions`: never an error, every field of its
    type."""
    row, other = given
    message = to_message(row)
    assert all(
        _is_clean(each)
        for each in (message.text, message.role, message.session_id, message.reasoning)
    )
    assert message.timestamp is None or math.isfinite(message.timestamp)
    for call in message.tool_calls:
        assert _is_clean(call.id + call.name + call.arguments)
    for part in message.parts:
        assert _is_clean(part.text) and part.size >= 0
    assert isinstance(has_failed(message.text, message.effect), bool)
    assert _is_clean(injected_context(message.text, message.api_content))
    found = len(message.parts) + len(message.tool_calls)
    for value in (*row, *other):
        text = as_text(value)
        assert _is_clean(text)
        shown = printable(text or "")
        assert printable(shown) == shown and cannot_act(re.sub("[\t\n]", "", shown))
        assert "\n" not in one_line(text or "", 40) and len(one_line(text or "", 40)) <= 40
        assert (
            as_count(value) >= 0
            and isinstance(as_flag(value), bool)
            and isinstance(as_mapping(value), dict)
        )
        for number in (as_time(value), as_money(value)):
            assert number is None or math.isfinite(number)
        found += len(decode_content(value)[1]) + len(decode_tool_calls(value))
        data = decode_data_url(text or "")
        assert data is None or isinstance(suffix_of(data[:16]), str)
    session = _session(other)
    assert _is_clean(session.id) and _is_clean(session.title)
    assert session.started_at is None or math.isfinite(session.started_at)
    assert session.message_count >= 0
    return found


@cache
def _store() -> Store:
    """A small store to search in; see `remove_store`."""
    folder = tempfile.mkdtemp(prefix="hermes-browse-fuzz-")
    texts = [
        "the docker deploy failed, don't retry",
        "src/main.py:12 café CAFÉ",
        "大别山项目 🚀",
        "a b c",
        "x\x00y",
    ]
    return Store(write_store(Path(folder) / "state.db", texts * 3))


def remove_store() -> None:
    """Remove the store, if there is one; the next search makes another."""
    if _store.cache_info().currsize:
        shutil.rmtree(_store().path.parent)
        _store.cache_clear()


def query(given: str) -> int:
    """Anything typed is a query: what is odd about it is named at a place in it, it can be planned,
    and searched."""
    parsed = parse(given, now=NOW)
    for problem in parsed.problems:
        assert 0 <= problem.start <= problem.end <= len(parsed.text)
    compile_filters(parsed, NOW)
    for prefix_last in (False, True):
        compile_query(parsed, prefix_last=prefix_last)
        with _store().reader() as reader:
            answer = search(reader, parsed, limit=0, prefix_last=prefix_last)
        assert answer.complete
        for hit in answer.hits:
            assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.match)
    return len(parsed.filters) + len(parsed.problems) + sum(map(len, parsed.groups))


def page(given: tuple[Any, ...]) -> int:
    """Rows as they are stored, laid out: no control character, each line as wide as it says and no
    wider than asked."""
    row, other, result, look, is_open, width, wanted = given
    message = to_message(row)._replace(id=0, is_hidden=False)
    laid = Page()
    laid.open(read(message, as_text(result) or ""))
    laid.resize(width, 50)
    laid.look, laid.opened = look, {0, 1} if is_open else set()
    light = needle(wanted)
    seen = 0
    for terms in ((), (light,)) if light is not None else ((),):
        laid.light(terms)
        for line in drawn(laid):
            text = line_text(line)
            assert cannot_act(text), text
            assert line_width(line) == cell_len(text) <= width
            seen += 1
    session = _session(other)
    snippet = one_line(message.text, 60)
    chat = Conversation(
        (session,),
        Relation.ROOT,
        ConversationKind.CHAT,
        Status.ENDED,
        session.title,
        session.started_at,
        preview=message.text,
    )
    hit = Hit(
        1,
        session.id,
        message.role,
        message.timestamp,
        snippet,
        ((0, len(snippet)),),
        State.LIVE,
    )
    for listed in (ConversationRow(chat, hits=3), HitRow(hit, chat)):
        cells = max(width, _NARROWEST)
        spans = listed.spans(cells, NOW)
        text = line_text(spans)
        assert cannot_act(text), text
        assert line_width(spans) == cells
    return seen


TARGETS: dict[str, tuple[Callable[[Any], int], st.SearchStrategy[Any]]] = {
    "decoders": (decoders, st.tuples(MESSAGE_ROW, SESSION_ROW)),
    "query": (query, QUERY),
    "page": (page, PAGE),
}
"""By name: what is called, and what it is given."""
