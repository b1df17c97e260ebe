"""Tool calls with their results as lines: one for each call, arguments and result below it when they are wanted."""

from __future__ import annotations

import json
from enum import StrEnum

from rich.cells import cell_len

from hermes_browse.store.models import ChatMessage, ToolCall
from hermes_browse.store.outcomes import has_failed, load_json
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from . import formats
from .drawing import Draw, at_once
from .entries import TranscriptModel
from .styled import Line, Span, clip_line, indent, line_width
from .tool_blocks import Hint, hint_of, tool_text_lines

TEXT_LIMIT = 60_000
"""Code points shown of a text before it is unfolded."""
OPEN_LIMIT = 400_000
"""Code points shown of a text that is unfolded; to lay out more would take a second, and the pager has it all."""
_SHORT_LINES = 6
_SHORT_LIMIT = 16_000
"""Code points of a result that are laid out for its first lines; of a longer one only `_SHORT_TEXT` are."""
_SHORT_TEXT = 4000
_MAIN_ARGUMENTS = (
    "command",
    "cmd",
    "path",
    "file_path",
    "query",
    "url",
    "pattern",
    "goal",
    "task",
    "code",
    "name",
    "text",
)


class Tools(StrEnum):
    """How much of tool calls is shown."""

    OFF = "off"
    SHORT = "short"
    FULL = "full"


def main_argument(call: ToolCall) -> str:
    """The argument that tells what a call is about, on one line."""
    loaded = load_json(call.arguments)
    if not isinstance(loaded, dict):
        return one_line(call.arguments, 200)
    for key in (*_MAIN_ARGUMENTS, *loaded):
        value = loaded.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, 200)
    return one_line(", ".join(f"{key}={value}" for key, value in loaded.items()), 200)


def outcome(result: ChatMessage) -> str:
    """`error` when a result says so, else `ok`."""
    return "error" if has_failed(result.text, result.effect) else "ok"


def _call_line(call: ToolCall, message: ChatMessage, result: ChatMessage | None, width: int, *, is_open: bool) -> Line:
    name = one_line(call.name, 40)
    tail: list[Span] = []
    if result is not None:
        failed = outcome(result) == "error"
        facts = [formats.size(len(result.text))]
        if message.timestamp is not None and result.timestamp is not None and result.timestamp > message.timestamp:
            facts.append(formats.duration(result.timestamp - message.timestamp))
        came = (pgettext("tool", "error"), "error") if failed else (pgettext("tool", "ok"), "dim")
        tail = [(f"  {' · '.join(facts)} · ", "dim"), came]
    else:
        tail = [(f"  {_('no result')}", "dim")]
    room = max(width - 4 - line_width(tail), 0)
    name = formats.clip(name, max(room, 8))  # where there is little room, what came of it gives way to who did it
    argument = formats.clip(main_argument(call), max(room - cell_len(name), 0))
    line: Line = [("▾ " if is_open else "▸ ", "dim"), (name, "tool"), (f"  {argument}", "dim"), *tail]
    return clip_line(line, width)


def _beginning(text: str) -> tuple[str, int]:
    """The beginning of a long text, of each long field of an object, and how many code points are left out."""
    loaded = load_json(text)
    if not isinstance(loaded, dict):
        return text[:_SHORT_TEXT], len(text) - _SHORT_TEXT
    fields = {key: value[:_SHORT_TEXT] if isinstance(value, str) else value for key, value in loaded.items()}
    left = sum(
        len(value) - _SHORT_TEXT for value in loaded.values() if isinstance(value, str) and len(value) > _SHORT_TEXT
    )
    return json.dumps(fields, ensure_ascii=False), left


def output_lines(text: str, width: int, hint: Hint, draw: Draw = at_once, *, full: bool) -> list[Line]:
    """Arguments or a result below their call: the first lines of it, or all.

    Args:
        text: As stored.
        width: Cells.
        hint: What is known of it.
        draw: Lays it out.
        full: All of it was asked for.
    """
    text, rest = (text, 0) if full or len(text) <= _SHORT_LIMIT else _beginning(text)
    more = len(text) - OPEN_LIMIT
    lines = draw(tool_text_lines, text[:OPEN_LIMIT], width - 2, hint, full)
    if full and more > 0:
        said = _("… {size} more · O opens all").format(size=formats.size(more))
        lines.append([(formats.clip(said, width - 2), "note")])
    if not full and (rest or len(lines) > _SHORT_LINES):
        count = len(lines) - _SHORT_LINES
        if rest:
            said = _("… {size} more · enter").format(size=formats.size(rest))
        else:
            said = ngettext("… 1 more line · enter", "… {count:,} more lines · enter", count).format(count=count)
        lines = [*lines[:_SHORT_LINES], [(formats.clip(said, width - 2), "note")]]
    return indent(lines, ("│ ", "rule"))


def tool_lines(
    message: ChatMessage,
    model: TranscriptModel,
    width: int,
    tools: Tools,
    draw: Draw = at_once,
    *,
    is_open: bool,
) -> list[Line]:
    """The calls of a message.

    Args:
        message: Which calls tools.
        model: Where results are found.
        width: Cells.
        tools: How much is shown.
        draw: Lays out their texts.
        is_open: Everything was asked for.
    """
    lines: list[Line] = []
    if tools is Tools.OFF and not is_open:
        names = list(dict.fromkeys(one_line(call.name, 30) for call in message.tool_calls))
        count = len(message.tool_calls)
        return [[("▸ ", "dim"), (formats.clip(f"{count}× {', '.join(names)}", width - 2), "dim")]]
    for call in message.tool_calls:
        result = model.result(call.id) if call.id else None
        shown = is_open or tools is Tools.FULL
        lines.append(_call_line(call, message, result, width, is_open=shown))
        if shown:
            lines += output_lines(call.arguments, width, hint_of(call.arguments, is_result=False), draw, full=is_open)
            if result is not None:
                hint = hint_of(call.arguments, is_result=True)
                lines += [[("│ ", "rule"), ("→", "dim")], *output_lines(result.text, width, hint, draw, full=is_open)]
    return lines
