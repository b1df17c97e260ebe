"""Rows of `messages` as a search reads them, and the line that is shown of a hit.

The expensive part of a row is its text: reading it from pages of its own, folding it, parsing the
JSON of a message with images. Each is done once while the store stays unchanged: the next keystroke
needs most of the same rows.

Of a hit one line around the match is shown, and the arguments and the result of a tool as text,
`terminal: pytest -q`, not as the stored JSON. Where only that JSON matches (the name of a field, an
id), the line shows the JSON.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_int, as_time
from ..messages.chat_message import STATES, Hit, split_summary
from ..messages.decode import (
    SENTINEL,
    decode_content,
    decode_tool_calls,
    reasoning_of_details,
)
from ..text import one_line, text_of
from .query import Query
from .terms import Group, find_ranges, fold

MOST_KEPT = 400
"""Rows that a connection keeps; with more, it begins anew."""
LONGEST_KEPT = 20_000
"""Code points of a row that is kept: stored and folded, all rows take at most 16 MB if they are in
ASCII."""
_TEXTS = "m.content, m.tool_name, m.tool_calls"
_REASONING = "COALESCE(NULLIF(m.reasoning, ''), m.reasoning_content, ''), '', m.reasoning_details"
IS_JSON = re.compile(r'\{\s*"|\[\s*["\[{]|"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescaped(json_text: str) -> str:
    """Return JSON text with the escapes in it resolved, also where it is cut short."""
    if "\\" not in json_text:  # the usual case
        return json_text

    def letter(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])

    text = _ESCAPE.sub(letter, json_text)
    # joins surrogate pairs
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class StoredRow:
    """A row of `messages` with the texts that are searched."""

    def __init__(self, row: Row) -> None:
        message_id, session_id, role, timestamp, state, *texts = row
        self.id = as_int(message_id)
        self.session_id = text_of(session_id)
        self.role = text_of(role)
        self.moment: float | None = as_time(timestamp)
        self.state = STATES[state]
        self.stored, self.tool_name, self.tool_calls = map(text_of, texts)

    @property
    def content(self) -> str:
        """The content as stored, without the mark of a multimodal one, which nobody wrote."""
        return self.stored.removeprefix(SENTINEL)

    @cached_property
    def spoken(self) -> str:
        """The content, or the texts in the parts of a multimodal one."""
        return decode_content(self.stored)[0].removeprefix(SENTINEL)

    @cached_property
    def _folded(self) -> str:
        """All searched texts."""
        return fold(" ".join(self.texts()))

    def texts(self) -> list[str]:
        """Return the searched texts: the spoken one first, then those stored, and the JSON of a
        tool's result and of its calls without escapes, where there are some."""
        texts = [self.spoken, self.content, self.tool_name, self.tool_calls]
        if IS_JSON.match(self.stored):
            texts.append(unescaped(self.stored))
        texts.append(unescaped(unescaped(self.tool_calls)))  # arguments are JSON in JSON
        return list(dict.fromkeys(texts))

    def is_accepted(self, query: Query) -> bool:
        """Whether the row contains the terms of a query, and none that it excludes."""
        groups = query.groups or ((),)
        is_in = any(all(each.first(self._folded) for each in group) for group in groups)
        return is_in and not any(each.first(self._folded) for each in query.excluded)


_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own
(0.22)."""


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether tool calls, as stored, change files and name a folded path."""
    return any(
        _CHANGES.search(call.name.lower()) and needle in fold(unescaped(call.arguments))
        for call in decode_tool_calls(tool_calls)
    )


def read_rows(reader: Reader, ids: Sequence[int], *, in_reasoning: bool) -> list[StoredRow]:
    """Return rows in the order of their ids; those that are kept are not read again.

    `in_reasoning` reads their reasoning instead of their texts.
    """
    kept = reader.kept.setdefault((StoredRow, in_reasoning), {})
    if len(kept) > MOST_KEPT:
        kept.clear()
    known = {key: kept[key] for key in ids if key in kept}
    texts = _REASONING if in_reasoning else _TEXTS
    sql = (
        f"SELECT m.id, m.session_id, m.role, m.timestamp, m.state, {texts} "
        "FROM message_rows m WHERE m.id IN ({keys})"
    )
    for values in reader.rows_in(sql, [key for key in ids if key not in known]):
        row = StoredRow(values)
        if in_reasoning:  # its details were read where the tool calls stand
            row.stored = row.stored or reasoning_of_details(row.tool_calls) or ""
            row.tool_calls = ""
        known[row.id] = row
        if len(row.stored) + len(row.tool_calls) <= LONGEST_KEPT:
            kept[row.id] = row
    return [known[key] for key in ids if key in known]


# The line that is shown of a hit

WIDTH = 160
"""Code points of a snippet."""
_CUT = "\U00013000"
"""A letter that nobody writes (a hieroglyph), where a line is cut within a word: the part of a word
beside it is no match."""
_BEFORE = 40
"""Code points of a snippet before the match."""
_LEAST_BEFORE = 12
"""The same after a long tool name."""
_SPACE = re.compile(r" \s+|[^\S ]\s*")
"""White space other than one space, which most is."""


def _splits_character(text: str, position: int) -> bool:
    """Whether a cut at the position would part a character from its marks or joiners."""
    here, before = text[position], text[position - 1]
    return bool(unicodedata.combining(here)) or here in "\u200d\ufe0f" or before == "\u200d"


def _cut(text: str, first: int, lead: str) -> str:
    """Return the line around a position, with `_CUT` or an ellipsis where more of the text is.

    The text begins with the lead, and so does the line, even where the text between them is cut.
    """
    start = max(first - max(_BEFORE - 2 * len(lead), _LEAST_BEFORE), 0)
    if start <= len(lead):
        start, lead = 0, ""
    while start > 0 and (_splits_character(text, start) or text[start - 1].isspace()):
        start -= 1
    window = _SPACE.sub(" ", text[start : start + WIDTH * 3])
    end = WIDTH
    while end < len(window) and _splits_character(window, end):
        end += 1
    head = lead + (_sign_of_cut(text, start) if start else "")
    is_cut = len(window.rstrip()) > end or start + WIDTH * 3 < len(text)
    return head + window[:end].strip() + (_sign_of_cut(window, end) if is_cut else "")


def _sign_of_cut(text: str, at: int) -> str:
    is_within_word = text[at - 1 : at].isalnum() and text[at : at + 1].isalnum()
    return _CUT if is_within_word else "…"


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


def _as_text(said: str, *, is_call: bool) -> str:
    """Return what a tool was given or has said as text: of JSON the fields, also where it is cut
    short.

    The name of the first field of a call is left out.
    """
    if not IS_JSON.match(said):
        return said
    fields: list[str] = []
    name = ""
    for token in _TOKEN.finditer(said):
        string, colon, word = token.groups()
        if colon:
            name = "" if string in _NAMELESS or (is_call and not fields) else unescaped(string)
        else:
            value = unescaped(string) if string is not None else word if word != "null" else ""
            if value and (name, value) not in _USUAL:
                fields.append(f"{name}: {value}" if name else value)
            name = ""
    return " · ".join(fields)


def _lead(tool: str) -> str:
    return f"{one_line(tool, _LONGEST_NAME)}: "


class _Text(NamedTuple):
    """One of the texts of a row."""

    text: str
    lead: str = ""
    """Its beginning, with the name of a tool."""
    is_summary: bool = False
    """Whether it is a compaction summary."""


def _texts_of(row: StoredRow) -> Iterator[_Text]:
    """Yield what a person sees of a row: what was said, a summary, or the text of a tool; then the
    row as it is stored."""
    is_summary = False
    if row.role != "tool":
        summary, said = split_summary(row.spoken)
        is_summary = not said and bool(summary)
        yield _Text(said)
        yield _Text(summary, is_summary=True)
    elif len(row.stored) <= _MOST_READ:
        lead = _lead(row.tool_name) if row.tool_name else ""
        result = _ESCAPES.sub("", _as_text(row.content, is_call=False))
        yield _Text(lead + result, lead)
    if len(row.tool_calls) <= _MOST_READ:
        for call in decode_tool_calls(row.tool_calls):
            lead = _lead(call.name)
            yield _Text(lead + _as_text(call.arguments, is_call=True), lead)
    yield from (_Text(text, is_summary=is_summary) for text in row.texts())


def make_hit(row: StoredRow, terms: Group) -> Hit:
    """Return a row with one line around its first match, and the half-open ranges of all matches in
    that line; not yet printable."""
    texts = [each for each in _texts_of(row) if each.text] or [_Text("")]
    for shown in texts:
        folded = fold(shown.text)
        starts = [span[0] for term in terms if (span := term.first(folded))]
        if starts:
            break
    else:
        shown, starts = texts[0], [0]
    line = _cut(shown.text, min(starts), shown.lead)
    return Hit(
        row.id,
        row.session_id,
        row.role,
        row.moment,
        line.replace(_CUT, "…"),
        tuple(find_ranges(line, terms)),
        row.state,
        shown.is_summary,
    )
