"""The lines a search shows of what it found: one around the match, lit where the terms stand, and those around it.

What a tool was asked and what it gave is shown as text, `terminal: pytest -q`, not as the JSON it is stored as. Where
the terms stand in nothing but that JSON (the name of a field, an id) the line is of the JSON.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from ..connection.connect import Reader
from ..messages.decode import decode_tool_calls, select, to_message
from ..messages.models import ChatMessage, Hit, State
from ..text import as_text, one_line
from .fold import fold, has_marks
from .rows import IS_JSON, RowText, unescaped
from .terms import Matcher

WIDTH = 160
"""Code points of a snippet."""

_BEFORE = 40
"""Code points of a snippet before the match."""
_LEAST_BEFORE = 12
"""The same behind the name of a long tool."""
_MOST_MATCHES = 50


def _starts_inside(text: str, position: int) -> bool:
    """Whether a cut at the position would part a character from its marks or joiners."""
    if not 0 < position < len(text):
        return False
    here, before = text[position], text[position - 1]
    return bool(unicodedata.combining(here)) or here in "\u200d\ufe0f" or before == "\u200d"


def _ranges(folded: str, matchers: Sequence[Matcher], most: int | None = _MOST_MATCHES) -> list[tuple[int, int]]:
    """Where the terms stand, in order, overlaps joined; `most` of each term, None for all."""
    found: list[tuple[int, int]] = []
    marked = has_marks(folded)
    for each in matchers:
        found += islice(each.find(folded, marked), most)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def find_ranges(text: str, matchers: Sequence[Matcher]) -> list[tuple[int, int]]:
    """Half-open ranges of a text in which the terms stand, code points; all of them.

    Args:
        text: Any text, e.g. of a message on screen.
        matchers: Of a plan.
    """
    return _ranges(fold(text), matchers, None)


def _on_one_line(text: str) -> str:
    """Runs of white space as one space, those at the ends too."""
    before, after = " " if text[:1].isspace() else "", " " if text[-1:].isspace() else ""
    return before + " ".join(text.split()) + (after if not text.isspace() else "")


def _cut(text: str, first: int, matchers: Sequence[Matcher], lead: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The line around a position, and where the terms stand in it; of one that begins with a lead that stays."""
    before = max(_BEFORE - 2 * len(lead), _LEAST_BEFORE)
    start = max(first - before, 0)
    if start <= len(lead):
        start, lead = 0, ""
    while start > 0 and (_starts_inside(text, start) or text[start - 1].isspace()):
        start -= 1
    # What stands just outside the cut decides whether a word at its edge is a whole one.
    outside = _on_one_line(text[max(start - _BEFORE, 0) : start]).lstrip()
    window = _on_one_line(text[start : start + WIDTH * 3])
    end = WIDTH
    while end < len(window) and _starts_inside(window, end):
        end += 1
    body = window[:end].rstrip()
    inner = len(body) - len(body.lstrip())
    body = body.lstrip()
    head = lead + ("…" if start else "")
    tail = "…" if len(window.rstrip()) > end or start + WIDTH * 3 < len(text) else ""
    shift = len(head) - len(outside) - inner
    ranges = _ranges(fold(lead), matchers)
    for first, last in _ranges(fold(outside + window), matchers):
        first, last = max(first + shift, len(head)), min(last + shift, len(head) + len(body))
        if first < last:
            ranges.append((first, last))
    return head + body + tail, tuple(ranges)


_TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"?\s*(:)?|([^\s{}\[\],":]+)', re.DOTALL)
_NAMELESS = frozenset(("output", "content", "stdout", "result", "text", "diff"))
"""Fields that hold the output of a tool: what they are called tells nobody anything."""
_USUAL = frozenset((("exit_code", "0"), ("success", "true"), ("error", "false")))
"""Fields that say no more than that nothing went wrong."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""What moves a cursor or sets a colour (ECMA-48): noise in the output of a tool."""
_LONGEST_NAME = 40
"""Code points of the name of a tool."""
_MOST_READ = 100_000
"""Code points of JSON that is told as text; to take apart more takes longer than one waits for a letter."""


def _string(inner: str) -> str:
    """What stands between the quotes of a JSON string."""
    if "\\" not in inner:
        return inner
    try:
        return as_text(json.loads(f'"{inner}"', strict=False)) or ""
    except ValueError:
        return unescaped(inner)


def _told(json_text: str, *, is_call: bool) -> str:
    """What a JSON text says, field after field; one that is cut short is read as well.

    Args:
        json_text: Of a tool.
        is_call: It is what a tool was asked: what the first field is called goes without saying.
    """
    said: list[str] = []
    name = ""
    for token in _TOKEN.finditer(json_text):
        string, colon, word = token.groups()
        if colon:
            name = "" if string in _NAMELESS or (is_call and not said) else unescaped(string)
            continue
        value = _string(string) if string is not None else word if word != "null" else ""
        if value and (name, value) not in _USUAL:
            said.append(f"{name}: {value}" if name else value)
        name = ""
    return " · ".join(said)


def _lead(tool: str) -> str:
    return f"{one_line(tool, _LONGEST_NAME)}: "


def _of_tools(said: RowText, is_result: bool) -> Iterator[tuple[str, str]]:
    """What a row says of tools as people read it: the name of the tool with a colon, and the text it begins."""
    if is_result and len(said.stored) <= _MOST_READ:
        lead = _lead(said.tool_name) if said.tool_name else ""
        text = _told(said.content, is_call=False) if IS_JSON.match(said.content) else said.spoken
        yield lead, f"{lead}{_ESCAPES.sub('', text)}"
    if len(said.tool_calls) <= _MOST_READ:
        for call in decode_tool_calls(said.tool_calls):
            lead = _lead(call.name)
            is_json = IS_JSON.match(call.arguments)
            yield lead, lead + (_told(call.arguments, is_call=True) if is_json else call.arguments)


def make_snippet(
    said: RowText, matchers: Sequence[Matcher], *, is_result: bool = False
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """One line around the first match: of what was said or of a tool, else of the row as it is stored.

    Args:
        said: What is searched of a row.
        matchers: Terms to light.
        is_result: The row is what a tool gave.

    Returns:
        The line (not yet printable) and the half-open ranges of the matches in it.
    """
    spoken = [] if is_result else [("", said.spoken)]
    told = [each for each in (*spoken, *_of_tools(said, is_result)) if each[1]]
    texts = ((lead, text, fold(text)) for lead, text in told)
    stored = (("", text, folded) for text, folded in said.parts())
    for lines in (texts, stored):
        for lead, text, folded in lines:
            marked = has_marks(folded)
            firsts = [span[0] for each in matchers if (span := each.first(folded, marked)) is not None] if text else []
            if firsts:
                return _cut(text, min(firsts), matchers, lead)
    text = told[0][1] if told else said.spoken or said.tool_name or said.tool_calls
    return _cut(text, 0, matchers, "")


_WIDTH = 200


def _is_said(message: ChatMessage) -> bool:
    return not message.is_hidden and message.state is not State.REWOUND


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """The chat messages around a hit, itself included, in order: id, role, text to 200 code points.

    Args:
        reader: An open reader.
        hit: One of an answer.
        count: How many before and how many after; rows that were taken back or are hidden do not count.
    """
    columns = select(reader.schema)
    here = reader.rows(f"SELECT {columns} FROM messages m WHERE m.id = ?", [hit.message_id])
    found = list(map(to_message, here))
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        beside: list[ChatMessage] = []
        last, chunk = hit.message_id, count + 4
        while len(beside) < count:
            rows = reader.rows(
                f"SELECT {columns} FROM messages m WHERE m.session_id = ? AND m.id {comparison} ? "
                f"ORDER BY m.id {order} LIMIT ?",
                [hit.session_id, last, chunk],
            )
            beside += filter(_is_said, map(to_message, rows))
            if len(rows) < chunk:
                break
            last = int(str(rows[-1][0]))
        found += beside[:count]
    found.sort(key=lambda message: message.id)
    return [(message.id, message.role, message.text[:_WIDTH]) for message in found]
