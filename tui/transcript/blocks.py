"""A chat message as lines of the screen: head, text, tool calls with their results, reasoning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from rich.cells import cell_len

from hermes_browse.store.messages import injected_context, split_summary, without_injections
from hermes_browse.store.models import ChatMessage, State, ToolCall
from hermes_browse.store.outcomes import has_failed, load_json
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _, ngettext, pgettext

from .. import formats
from ..shared.styled import Line, Span, clip_line, indent, line_width, wrap_text
from .layout_cache import Draw, at_once
from .markdown import render_markdown
from .model import TranscriptModel
from .tool_text import Hint, hint_of, tool_text_lines

MARKDOWN_LIMIT = 16_000
"""Code points rendered as Markdown; a longer text is plain, for Markdown would take longer than a frame or two."""
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


@dataclass(frozen=True, slots=True)
class Look:
    """How messages are shown: everything their lines depend on beside themselves and the width."""

    tools: Tools = Tools.SHORT
    reasoning: bool = False


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


def _printable(text: str) -> str:
    return printable(text.replace("\r\n", "\n")).replace("\t", "    ")


def _head(message: ChatMessage, width: int) -> Line:
    name = formats.role(message.role)
    if message.role == "tool":
        name = f"{name} {one_line(message.tool_name or '', 30)}".rstrip()
    look = message.role if message.role in ("user", "assistant") else "other"
    line: Line = [(f"{formats.clock(message.timestamp)}  ", "dim"), (name, f"{look} bold")]
    if message.state is not State.LIVE:
        line.append((f"  {formats.state(message.state)}", "note"))
    if message.display_kind and message.display_kind != "hidden":
        line.append((f"  {one_line(message.display_kind.replace('_', ' '), 30)}", "note"))
    if message.is_hidden:
        line.append((f"  {_('hidden')}", "note"))
    if message.finish_reason in ("length", "error", "content_filter"):
        line.append((f"  {message.finish_reason}", "error"))
    return clip_line(line, width)


def _injected(message: ChatMessage, width: int, draw: Draw, *, is_open: bool) -> list[Line]:
    """What the model was sent beside what was said, folded to a line."""
    added = injected_context(message.text, message.api_content)
    if not added:
        return []
    label = _("context Hermes put to it · {size}").format(size=formats.size(len(added)))
    lines: list[Line] = [[("▾ " if is_open else "▸ ", "dim"), (formats.clip(label, width - 2), "note")]]
    if is_open:
        lines += indent(draw(wrap_text, _printable(added), width - 2, "dim"), ("┊ ", "rule"))
    return lines


def _body(message: ChatMessage, width: int, draw: Draw, *, is_open: bool) -> list[Line]:
    text = without_injections(message.text) if message.role in ("user", "assistant") else message.text
    summary, said = split_summary(text) if message.role in ("user", "assistant") else ("", text)
    if message.is_summary and not summary:  # flagged as one by Hermes (0.22), without the usual opening
        summary, said = said, ""
    lines: list[Line] = []
    if summary:
        label = _("compaction summary · {size}").format(size=formats.size(len(summary)))
        lines.append([("▾ " if is_open else "▸ ", "dim"), (formats.clip(label, width - 2), "note")])
        if is_open:
            lines += indent(draw(render_markdown, _printable(summary), width - 2, "dim"), ("┊ ", "rule"))
    lines += _injected(message, width, draw, is_open=is_open)
    if message.role == "tool":
        return lines + output_lines(said, width, Hint(is_result=True), draw, full=is_open)
    images = [part for part in message.parts if part.kind == "image"]
    if images and message.parts:
        said = "\n".join(part.text for part in message.parts if part.kind != "image" and part.text)
    base = "struck" if message.state is State.REWOUND else "text"
    cut = said[: OPEN_LIMIT if is_open else TEXT_LIMIT]
    if cut.strip():
        safe = _printable(cut).strip("\n")
        lines += draw(render_markdown if len(cut) <= MARKDOWN_LIMIT else wrap_text, safe, width, base)
    if len(cut) < len(said):
        more = (_("… {size} more · O opens all") if is_open else _("… {size} more · enter")).format(
            size=formats.size(len(said) - len(cut))
        )
        lines.append([(formats.clip(more, width), "note")])
    for part in images:
        size = f" {formats.size(part.size)}" if part.size else ""
        name = one_line(part.mime.rpartition("/")[2], 30) or _("image")
        shown = _("[image {what}]").format(what=one_line(part.url, 200) if part.url else f"{name}{size}")
        lines.append([(formats.clip(shown, width), "note")])
    return lines


def _divider(message: ChatMessage, label: Line, width: int) -> Line:
    """The head of a summary: a rule, for it was said by nobody."""
    facts = [
        formats.clock(message.timestamp).strip(),
        "" if message.state is State.LIVE else formats.state(message.state),
    ]
    words = "".join(f" · {fact}" for fact in facts if fact)
    line = clip_line([("── ", "rule"), *label, (f"{words} ", "note")], width)
    return [*line, ("─" * (width - 1 - line_width(line)), "rule")]


def is_foldable(message: ChatMessage, model: TranscriptModel | None = None) -> bool:
    """Whether Enter shows more or less of a message."""
    if model is not None and model.twin(message.id) is not None:
        return True
    if message.tool_calls or message.role == "tool" or message.reasoning:
        return True
    if len(message.text) > TEXT_LIMIT or message.is_summary or split_summary(message.text)[0]:
        return True
    return bool(injected_context(message.text, message.api_content))


def plain_lines(message: ChatMessage, width: int) -> list[Line]:
    """A message until it has been laid out as what it is: its head, and what it says wrapped.

    Args:
        message: What to show.
        width: Cells for everything.
    """
    text = _printable(message.text[:MARKDOWN_LIMIT]).strip("\n")
    return [_head(message, width), *indent(wrap_text(text, max(width - 2, 10), "text"), ("  ", "text")), []]


def message_lines(
    message: ChatMessage, model: TranscriptModel, width: int, look: Look, draw: Draw = at_once, *, is_open: bool
) -> list[Line]:
    """The lines of a message, the blank one that follows included; none when it is shown elsewhere.

    Args:
        message: What to show.
        model: Where results of its calls are found.
        width: Cells for everything.
        look: What is shown of tools and reasoning.
        draw: Lays out its texts.
        is_open: Everything of it was asked for.
    """
    if model.is_paired(message):
        return []
    inner = max(width - 2, 10)
    lines: list[Line] = []
    twin = model.twin(message.id)
    if twin is not None and not is_open:
        label = formats.clip(_("repeated: the same as message {id}").format(id=twin), inner - 2)
        return [_head(message, width), [("  ", "text"), ("▸ ", "dim"), (label, "note")], []]
    if message.reasoning:
        if look.reasoning or is_open:
            safe = _printable(message.reasoning)
            is_short = len(safe) <= MARKDOWN_LIMIT
            thought = draw(render_markdown if is_short else wrap_text, safe, inner - 2, "reasoning")
            lines += indent(thought, ("┊ ", "rule"))
        else:
            label = "▸ " + _("reasoning · {size}").format(size=formats.size(len(message.reasoning)))
            lines.append([(formats.clip(label, inner), "reasoning")])
    body = _body(message, inner, draw, is_open=is_open)
    is_divider = message.is_summary and message.role in ("user", "assistant") and not lines and not message.tool_calls
    if is_divider and without_injections(message.text).strip():
        return [_divider(message, body[0], width), *indent(body[1:], ("  ", "text")), []]
    lines += body
    if message.tool_calls:
        lines += tool_lines(message, model, inner, look.tools, draw, is_open=is_open)
    if not lines:
        lines = [[(_("(empty)"), "note")]]
    return [_head(message, width), *indent(lines, ("  ", "text")), []]


def rule_line(text: str, width: int) -> list[Line]:
    """A rule across the screen with words in it, and a blank line."""
    label = formats.clip(f" {text} ", max(width - 6, 1))
    right = max(width - 3 - cell_len(label), 0)
    return [[("── "[: max(width, 0)], "rule"), (label.strip() + " ", "note"), ("─" * right, "rule")], []]
