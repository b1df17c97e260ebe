"""A chat message as lines of the screen: head, text, tool calls with their results, reasoning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from rich.cells import cell_len

from hermes_browse.store.messages import split_summary, without_injections
from hermes_browse.store.models import ChatMessage, State, ToolCall
from hermes_browse.store.text import one_line, printable

from . import formats
from .entries import TranscriptModel
from .markdown import render_markdown
from .styled import Line, Span, indent, wrap_text
from .tool_text import as_shown

MARKDOWN_LIMIT = 16_000
"""Code points rendered as Markdown; a longer text is plain, for Markdown would take longer than a frame or two."""
TEXT_LIMIT = 60_000
"""Code points shown of a text before it is unfolded."""
_SHORT_LINES = 6
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
_ROLE_NAMES = {"user": "you", "session_meta": "gateway"}


class Tools(StrEnum):
    """How much of tool calls is shown."""

    OFF = "off"
    SHORT = "short"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Look:
    """How messages are shown: everything their lines depend on beside themselves and the width."""

    tools: Tools = Tools.SHORT
    reasoning: bool = False


def _printable(text: str) -> str:
    return printable(text.replace("\r\n", "\n")).replace("\t", "    ")


def _head(message: ChatMessage, width: int) -> Line:
    name = _ROLE_NAMES.get(message.role, one_line(message.role, 20))
    if message.role == "tool":
        name = f"tool {one_line(message.tool_name or '', 30)}".rstrip()
    look = message.role if message.role in ("user", "assistant") else "other"
    line: Line = [(f"{formats.clock(message.timestamp)}  ", "dim"), (name, f"{look} bold")]
    if message.state is not State.LIVE:
        line.append((f"  {message.state.value}", "note"))
    if message.display_kind and message.display_kind != "hidden":
        line.append((f"  {one_line(message.display_kind.replace('_', ' '), 30)}", "note"))
    if message.is_hidden:
        line.append(("  hidden", "note"))
    if message.finish_reason in ("length", "error", "content_filter"):
        line.append((f"  {message.finish_reason}", "error"))
    return line


def main_argument(call: ToolCall) -> str:
    """The argument that tells what a call is about, on one line."""
    try:
        loaded = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return one_line(call.arguments, 200)
    if not isinstance(loaded, dict):
        return one_line(call.arguments, 200)
    for key in (*_MAIN_ARGUMENTS, *loaded):
        value = loaded.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, 200)
    return one_line(", ".join(f"{key}={value}" for key, value in loaded.items()), 200)


def outcome(result: ChatMessage) -> str:
    """`error` when a result says so, else `ok`."""
    text = result.text.lstrip()
    if text.startswith("{"):
        try:
            loaded = json.loads(text[:200_000])
        except (ValueError, RecursionError):
            loaded = None
        if isinstance(loaded, dict):
            code = loaded.get("exit_code", loaded.get("returncode", 0))
            failed = bool(loaded.get("error")) or (isinstance(code, int) and code != 0)
            return "error" if failed or loaded.get("success") is False else "ok"
    if result.effect and "error" in result.effect.lower():
        return "error"
    return "error" if text.lower().startswith(("error", "traceback (most recent")) else "ok"


def _call_line(call: ToolCall, message: ChatMessage, result: ChatMessage | None, width: int, *, is_open: bool) -> Line:
    name = one_line(call.name, 40)
    tail: list[Span] = []
    if result is not None:
        failed = outcome(result) == "error"
        facts = [formats.size(len(result.text))]
        if message.timestamp is not None and result.timestamp is not None and result.timestamp > message.timestamp:
            facts.append(formats.duration(result.timestamp - message.timestamp))
        tail = [(f"  {' · '.join(facts)} · ", "dim"), ("error" if failed else "ok", "error" if failed else "dim")]
    else:
        tail = [("  no result", "dim")]
    taken = cell_len(name) + 4 + sum(cell_len(text) for text, _ in tail)
    argument = formats.clip(main_argument(call), max(width - taken, 0))
    return [("▾ " if is_open else "▸ ", "dim"), (name, "tool"), (f"  {argument}", "dim"), *tail]


def _output(text: str, width: int, *, full: bool) -> list[Line]:
    if len(text) > TEXT_LIMIT and not full:
        text = text[:4000]
    lines = wrap_text(_printable(as_shown(text)).rstrip("\n"), width - 2, "output")
    if not full and len(lines) > _SHORT_LINES:
        left = len(lines) - _SHORT_LINES
        lines = [*lines[:_SHORT_LINES], [(f"… {left:,} more lines · enter", "note")]]
    return indent(lines, ("│ ", "rule"))


def _tool_lines(message: ChatMessage, model: TranscriptModel, width: int, tools: Tools, *, is_open: bool) -> list[Line]:
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
            lines += _output(call.arguments, width, full=is_open)
            if result is not None:
                lines += [[("│ ", "rule"), ("→", "dim")], *_output(result.text, width, full=is_open)]
    return lines


def _body(message: ChatMessage, width: int, *, is_open: bool) -> list[Line]:
    text = without_injections(message.text) if message.role in ("user", "assistant") else message.text
    summary, said = split_summary(text) if message.role in ("user", "assistant") else ("", text)
    if message.is_summary and not summary:  # flagged as one by Hermes (0.22), without the usual opening
        summary, said = said, ""
    lines: list[Line] = []
    if summary:
        label = f"compaction summary · {formats.size(len(summary))}"
        lines.append([("▾ " if is_open else "▸ ", "dim"), (formats.clip(label, width - 2), "note")])
        if is_open:
            lines += indent(render_markdown(_printable(summary), width - 2, "dim"), ("┊ ", "rule"))
    if message.role == "tool":
        return lines + _output(said, width, full=is_open)
    images = [part for part in message.parts if part.kind == "image"]
    if images and message.parts:
        said = "\n".join(part.text for part in message.parts if part.kind != "image" and part.text)
    base = "struck" if message.state is State.REWOUND else "text"
    cut = said if is_open or len(said) <= TEXT_LIMIT else said[:TEXT_LIMIT]
    if cut.strip():
        safe = _printable(cut).strip("\n")
        lines += render_markdown(safe, width, base) if len(cut) <= MARKDOWN_LIMIT else wrap_text(safe, width, base)
    if len(cut) < len(said):
        lines.append([(f"… {formats.size(len(said) - len(cut))} more · enter", "note")])
    for part in images:
        size = f" {formats.size(part.size)}" if part.size else ""
        name = part.mime.rpartition("/")[2] or "image"
        shown = f"[image {name}{size}]" if not part.url else f"[image {one_line(part.url, 200)}]"
        lines.append([(formats.clip(shown, width), "note")])
    return lines


def is_foldable(message: ChatMessage) -> bool:
    """Whether Enter shows more or less of a message."""
    if message.tool_calls or message.role == "tool" or message.reasoning:
        return True
    return len(message.text) > TEXT_LIMIT or bool(split_summary(message.text)[0])


def message_lines(message: ChatMessage, model: TranscriptModel, width: int, look: Look, *, is_open: bool) -> list[Line]:
    """The lines of a message, the blank one that follows included; none when it is shown elsewhere.

    Args:
        message: What to show.
        model: Where results of its calls are found.
        width: Cells for everything.
        look: What is shown of tools and reasoning.
        is_open: Everything of it was asked for.
    """
    if model.is_paired(message):
        return []
    inner = max(width - 2, 10)
    lines: list[Line] = []
    if message.reasoning:
        if look.reasoning or is_open:
            thought = render_markdown(_printable(message.reasoning[:MARKDOWN_LIMIT]), inner - 2, "reasoning")
            lines += indent(thought, ("┊ ", "rule"))
        else:
            label = f"▸ reasoning · {formats.size(len(message.reasoning))}"
            lines.append([(formats.clip(label, inner), "reasoning")])
    lines += _body(message, inner, is_open=is_open)
    if message.tool_calls:
        lines += _tool_lines(message, model, inner, look.tools, is_open=is_open)
    if not lines:
        lines = [[("(empty)", "note")]]
    return [_head(message, width), *indent(lines, ("  ", "text")), []]


def rule_line(text: str, width: int) -> list[Line]:
    """A rule across the screen with words in it, and a blank line."""
    label = formats.clip(f" {text} ", max(width - 6, 1))
    right = max(width - 3 - cell_len(label), 0)
    return [[("── "[: max(width, 0)], "rule"), (label.strip() + " ", "note"), ("─" * right, "rule")], []]
