"""What a person sees of a hit: one line around the match, and the chat messages around it.

The arguments and the result of a tool are shown as text, `terminal: pytest -q`, not as the stored
JSON. Where only that JSON matches (the name of a field, an id), the line shows the JSON.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..messages.chat_message import Hit
from ..messages.decode import decode_tool_calls
from ..messages.transcript import read_messages_of
from ..text import one_line, text_of
from .rows import IS_JSON, SHOWN, StoredRow, rows_sql, unescaped
from .terms import Group, Span, fold

WIDTH = 160
"""Code points of a snippet."""
_BEFORE = 40
"""Code points of a snippet before the match."""
_LEAST_BEFORE = 12
"""The same after a long tool name."""
_CONTEXT_WIDTH = 200
_SPACE = re.compile(r"\s+")


def _splits_character(text: str, position: int) -> bool:
    """Whether a cut at the position would part a character from its marks or joiners."""
    here, before = text[position], text[position - 1]
    return bool(unicodedata.combining(here)) or here in "\u200d\ufe0f" or before == "\u200d"


def find_ranges(text: str, matchers: Group) -> list[Span]:
    """Return the half-open ranges of a text that match, in code points, in order, overlaps
    merged."""
    folded = fold(text)
    matches = [span for each in matchers for span in each.find(folded)]
    merged: list[Span] = []
    for start, end in sorted(matches):
        if merged and start <= merged[-1][1]:
            start, end = merged[-1][0], max(end, merged.pop()[1])
        merged.append((start, end))
    return merged


def _on_one_line(text: str) -> str:
    """Replace runs of white space by one space, at the ends too."""
    return _SPACE.sub(" ", text)


def _cut(text: str, first: int, matchers: Group, lead: str) -> tuple[str, tuple[Span, ...]]:
    """Return the line around a position, and the ranges of the terms in it.

    The text begins with the lead, and so does the line, even where the text between them is cut.
    """
    start = max(first - max(_BEFORE - 2 * len(lead), _LEAST_BEFORE), 0)
    if start <= len(lead):
        start, lead = 0, ""
    while start > 0 and (_splits_character(text, start) or text[start - 1].isspace()):
        start -= 1
    # The text just outside the cut decides whether a word at its edge is a whole one.
    outside = _on_one_line(text[max(start - _BEFORE, 0) : start]).lstrip()
    window = _on_one_line(text[start : start + WIDTH * 3])
    end = WIDTH
    while end < len(window) and _splits_character(window, end):
        end += 1
    body = window[:end].strip()
    before = len(outside) + window.startswith(" ")
    head = lead + ("…" if start else "")
    tail = "…" if len(window.rstrip()) > end or start + WIDTH * 3 < len(text) else ""
    ranges = find_ranges(lead, matchers)
    for match in find_ranges(outside + window, matchers):
        first, last = (len(head) + min(max(at - before, 0), len(body)) for at in match)
        if first < last:
            ranges.append((first, last))
    return head + body + tail, tuple(ranges)


_TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"?\s*(:)?|([^\s{}\[\],":]+)', re.DOTALL)
_NAMELESS = frozenset(("output", "content", "stdout", "result", "text", "diff"))
"""Fields with the output of a tool; their names say nothing."""
_USUAL = frozenset((("exit_code", "0"), ("success", "true"), ("error", "false")))
"""Fields that only say that nothing failed."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""Escape sequences that move a cursor or set a colour (ECMA-48): noise in the output of a tool."""
_LONGEST_NAME = 40
"""Code points of a tool name."""
_MOST_READ = 100_000
"""Code points of JSON that is shown as text; parsing more would delay the next keystroke."""


def _string(inner: str) -> str:
    """Return the value of a JSON string, given the text between its quotes."""
    if "\\" not in inner:
        return inner
    try:
        return text_of(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return unescaped(inner)


def _json_to_text(json_text: str, *, is_call: bool) -> str:
    """Return the fields of the JSON of a tool as text, also where it is cut short.

    The name of the first field of a call is left out.
    """
    fields: list[str] = []
    name = ""
    for token in _TOKEN.finditer(json_text):
        string, colon, word = token.groups()
        if colon:
            name = "" if string in _NAMELESS or (is_call and not fields) else unescaped(string)
            continue
        value = _string(string) if string is not None else word if word != "null" else ""
        if value and (name, value) not in _USUAL:
            fields.append(f"{name}: {value}" if name else value)
        name = ""
    return " · ".join(fields)


def _lead(tool: str) -> str:
    return f"{one_line(tool, _LONGEST_NAME)}: "


def _readable_texts(row: StoredRow) -> Iterator[tuple[str, str]]:
    """Yield what a person sees of a row: the lead with the name of a tool, and the text with it."""
    if row.role != "tool":
        yield "", row.spoken
    elif len(row.stored) <= _MOST_READ:
        lead = _lead(row.tool_name) if row.tool_name else ""
        is_json = IS_JSON.match(row.content)
        result = _json_to_text(row.content, is_call=False) if is_json else row.spoken
        yield lead, f"{lead}{_ESCAPES.sub('', result)}"
    if len(row.tool_calls) <= _MOST_READ:
        for call in decode_tool_calls(row.tool_calls):
            lead, arguments = _lead(call.name), call.arguments
            if IS_JSON.match(arguments):
                arguments = _json_to_text(arguments, is_call=True)
            yield lead, lead + arguments


def make_snippet(row: StoredRow, matchers: Group) -> tuple[str, tuple[Span, ...]]:
    """Return one line around the first match, and the half-open ranges of all matches in it; not
    yet printable.

    It is of the spoken text or the text of a tool if possible, else of the row as it is stored.
    """
    readable = [each for each in _readable_texts(row) if each[1]]
    stored = (("", text) for text in row.texts())
    for lead, text in chain(readable, stored):
        folded = fold(text)
        starts = [span[0] for each in matchers if (span := each.first(folded)) is not None]
        if starts:
            return _cut(text, min(starts), matchers, lead)
    text = readable[0][1] if readable else row.spoken or row.tool_name or row.tool_calls
    return _cut(text, 0, matchers, "")


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """Return the chat messages around a hit, itself included, in order: id, role, text to 200 code
    points.

    `count` is how many before and how many after; rewound and hidden rows do not count.
    """
    ids = [hit.message_id]
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        sql = (
            f"SELECT m.id FROM {rows_sql(reader.schema)} WHERE m.session_id = ? AND m.id {comparison} ? "
            f"AND {SHOWN} AND (m.active OR m.compacted) ORDER BY m.id {order} LIMIT ?"
        )
        rows = reader.rows(sql, [hit.session_id, hit.message_id, count])
        ids += [as_int(row[0]) for row in rows]
    messages = read_messages_of(reader, sorted(ids))
    return [(message.id, message.role, message.text[:_CONTEXT_WIDTH]) for message in messages]
