"""Lay out a chat message as lines: head, text, tool calls with their results, reasoning."""

from __future__ import annotations

import json

from rich.cells import cell_len

from hermes_browse.store.messages.block_kinds import REASONING, RESULT, SAID, SUMMARY, Block
from hermes_browse.store.messages.chat_message import ChatMessage, State, ToolCall
from hermes_browse.store.messages.decode import has_failed, load_json
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from .. import formats
from ..shared.styled import Line, clip_line, indent, line_width, safe_text, wrap_text
from .entries import TEXT_LIMIT, Look, Tools, TranscriptModel
from .layout_cache import CALL_LIMIT, Draw, at_once
from .markdown_layout import render_markdown
from .tool_text import Hint, hint_of, tool_text_lines

MARKDOWN_LIMIT = 16_000
"""Code points; a longer text is not rendered as Markdown, which would take several frames."""
OPEN_LIMIT = 400_000
"""Code points shown of an unfolded text; laying out more takes a second, and the pager shows all of
it."""
_SHORT_LINES = 6
_SHORT_LIMIT = 16_000
"""Code points; the first lines of a longer result are laid out from `_SHORT_TEXT` code points."""
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


def main_argument(call: ToolCall) -> str:
    """Return the most informative argument of a call, on one line."""
    loaded = load_json(call.arguments)
    if not isinstance(loaded, dict):
        return one_line(call.arguments, 200)
    for key in (*_MAIN_ARGUMENTS, *loaded):
        value = loaded.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, 200)
    return one_line(", ".join(f"{key}={value}" for key, value in loaded.items()), 200)


def _call_line(
    call: ToolCall, message: ChatMessage, result: ChatMessage | None, width: int, *, is_open: bool
) -> Line:
    name = one_line(call.name, 40)
    tail: Line = [(f"  {_('no result')}", "dim")]
    if result is not None:
        facts = [formats.size(len(result.text))]
        if (
            message.timestamp is not None
            and result.timestamp is not None
            and result.timestamp > message.timestamp
        ):
            facts.append(formats.duration(result.timestamp - message.timestamp))
        failed = has_failed(result.text, result.effect)
        outcome = (
            (pgettext("tool", "error"), "error") if failed else (pgettext("tool", "ok"), "dim")
        )
        tail = [(f"  {' · '.join(facts)} · ", "dim"), outcome]
    room = max(width - 4 - line_width(tail), 0)
    name = formats.clip(name, max(room, 8))  # with little room the tail is clipped before the name
    argument = formats.clip(main_argument(call), max(room - cell_len(name), 0))
    line: Line = [
        ("▾ " if is_open else "▸ ", "dim"),
        (name, "tool"),
        (f"  {argument}", "dim"),
        *tail,
    ]
    return clip_line(line, width)


def _beginning(text: str) -> tuple[str, int]:
    """Return the beginning of a long text, or of each long field of an object, and the code points
    left out."""
    loaded = load_json(text)
    if not isinstance(loaded, dict):
        return text[:_SHORT_TEXT], len(text) - _SHORT_TEXT
    fields = {
        key: value[:_SHORT_TEXT] if isinstance(value, str) else value
        for key, value in loaded.items()
    }
    left = sum(
        len(value) - _SHORT_TEXT
        for value in loaded.values()
        if isinstance(value, str) and len(value) > _SHORT_TEXT
    )
    return json.dumps(fields, ensure_ascii=False), left


def output_lines(
    text: str, width: int, hint: Hint, draw: Draw = at_once, *, full: bool
) -> list[Line]:
    """Lay out stored arguments or a result in `width` cells, as shown below the call: `full`, or
    the first lines."""
    text, rest = (text, 0) if full or len(text) <= _SHORT_LIMIT else _beginning(text)
    more = len(text) - OPEN_LIMIT
    lines = draw(tool_text_lines, text[:OPEN_LIMIT], width - 2, hint, full)
    if full and more > 0:
        note = _("… {size} more · O opens all").format(size=formats.size(more))
        lines.append([(formats.clip(note, width - 2), "note")])
    if not full and (rest or len(lines) > _SHORT_LINES):
        count = len(lines) - _SHORT_LINES
        if rest:
            note = _("… {size} more · Enter").format(size=formats.size(rest))
        else:
            note = ngettext(
                "… 1 more line · Enter", "… {count:,} more lines · Enter", count
            ).format(count=count)
        lines = [*lines[:_SHORT_LINES], [(formats.clip(note, width - 2), "note")]]
    return indent(lines, ("│ ", "rule"))


def _tool_lines(
    message: ChatMessage,
    model: TranscriptModel,
    width: int,
    tools: Tools,
    draw: Draw,
    *,
    is_open: bool,
) -> list[Line]:
    if tools is Tools.OFF and not is_open:
        first = dict.fromkeys(call.name for call in message.tool_calls[:CALL_LIMIT])
        names = ", ".join(one_line(name, 30) for name in first)
        return [
            [("▸ ", "dim"), (formats.clip(f"{len(message.tool_calls)}× {names}", width - 2), "dim")]
        ]
    lines: list[Line] = []
    shown = is_open or tools is Tools.FULL
    for call in message.tool_calls[:CALL_LIMIT]:
        result = model.result(call.id)
        lines.append(_call_line(call, message, result, width, is_open=shown))
        if shown:
            lines += output_lines(
                call.arguments, width, hint_of(call.arguments, is_result=False), draw, full=is_open
            )
            if result is not None:
                hint = hint_of(call.arguments, is_result=True)
                lines += [
                    [("│ ", "rule"), ("→", "dim")],
                    *output_lines(result.text, width, hint, draw, full=is_open),
                ]
    more = len(message.tool_calls) - CALL_LIMIT
    if more > 0:
        note = ngettext(
            "… 1 more call · O opens all",
            "… {count:,} more calls · O opens all",
            more,
        ).format(count=more)
        lines.append([(formats.clip(note, width), "note")])
    return lines


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


def _folded(block: Block, width: int, draw: Draw, *, is_open: bool) -> list[Line]:
    """Lay out the label of a block, and the block itself if it is open."""
    label = _(block.kind.label).format(size=formats.size(len(block.body)))
    lines: list[Line] = [
        [("▾ " if is_open else "▸ ", "dim"), (formats.clip(label, width - 2), "note")]
    ]
    if is_open:
        make = render_markdown if block.kind.is_markdown else wrap_text
        lines += indent(draw(make, safe_text(block.body), width - 2, "dim"), ("┊ ", "rule"))
    return lines


def _reasoning(block: Block, width: int, draw: Draw, *, is_open: bool) -> list[Line]:
    """Lay out the label of reasoning, or the reasoning itself if it is open."""
    if not is_open:
        label = "▸ " + _(block.kind.label).format(size=formats.size(len(block.body)))
        return [[(formats.clip(label, width), "reasoning")]]
    safe = safe_text(block.body)
    make = render_markdown if len(safe) <= MARKDOWN_LIMIT else wrap_text
    return indent(draw(make, safe, width - 2, "reasoning"), ("┊ ", "rule"))


def _text(message: ChatMessage, text: str, width: int, draw: Draw, *, is_open: bool) -> list[Line]:
    """Lay out the text of a message without images, which `_images` shows below it."""
    if any(part.kind == "image" for part in message.parts):
        text = "\n".join(part.text for part in message.parts if part.kind != "image" and part.text)
    lines: list[Line] = []
    cut = text[: OPEN_LIMIT if is_open else TEXT_LIMIT]
    if cut.strip():
        make = render_markdown if len(cut) <= MARKDOWN_LIMIT else wrap_text
        lines += draw(
            make,
            safe_text(cut).strip("\n"),
            width,
            "struck" if message.state is State.REWOUND else "text",
        )
    if len(cut) < len(text):
        more = _("… {size} more · O opens all") if is_open else _("… {size} more · Enter")
        lines.append(
            [(formats.clip(more.format(size=formats.size(len(text) - len(cut))), width), "note")]
        )
    return lines


def _images(message: ChatMessage, width: int) -> list[Line]:
    lines: list[Line] = []
    for part in message.parts:
        if part.kind != "image":
            continue
        size = f" {formats.size(part.size)}" if part.size else ""
        name = one_line(part.mime.rpartition("/")[2], 30) or _("image")
        shown = _("[image {what}]").format(
            what=one_line(part.url, 200) if part.url else f"{name}{size}"
        )
        lines.append([(formats.clip(shown, width), "note")])
    return lines


def _divider(message: ChatMessage, label: Line, width: int) -> Line:
    """Draw the head of a summary: a rule instead of a role."""
    facts = [
        formats.clock(message.timestamp).strip(),
        "" if message.state is State.LIVE else formats.state(message.state),
    ]
    words = "".join(f" · {fact}" for fact in facts if fact)
    line = clip_line([("── ", "rule"), *label, (f"{words} ", "note")], width)
    return [*line, ("─" * (width - 1 - line_width(line)), "rule")]


def plain_lines(message: ChatMessage, width: int) -> list[Line]:
    """Lay out a message without formatting, to be shown until the layout is ready: its head and its
    wrapped text."""
    text = safe_text(message.text[:MARKDOWN_LIMIT]).strip("\n")
    return [
        _head(message, width),
        *indent(wrap_text(text, max(width - 2, 10), "text"), ("  ", "text")),
        [],
    ]


def message_lines(
    message: ChatMessage,
    model: TranscriptModel,
    width: int,
    look: Look,
    draw: Draw = at_once,
    *,
    is_open: bool,
) -> list[Line]:
    """Lay out a message in `width` cells, and the blank line after it; no lines for a result shown
    with its call."""
    if model.is_paired(message):
        return []
    inner = max(width - 2, 10)
    original = model.outline.copies.get(message.id)
    if original is not None and not is_open:
        label = formats.clip(_("repeated: the same as message {id}").format(id=original), inner - 2)
        return [_head(message, width), [("  ", "text"), ("▸ ", "dim"), (label, "note")], []]
    lines: list[Line] = []
    blocks = message.blocks
    for block in blocks:
        if block.kind is REASONING:
            lines += _reasoning(block, inner, draw, is_open=is_open or look.reasoning)
        elif block.kind is RESULT:
            lines += output_lines(block.body, inner, Hint(is_result=True), draw, full=is_open)
        elif block.kind is SAID:
            lines += _text(message, block.body, inner, draw, is_open=is_open)
        else:
            lines += _folded(block, inner, draw, is_open=is_open)
    if message.role != "tool":
        lines += _images(message, inner)
    is_divider = bool(blocks) and blocks[0].kind is SUMMARY and bool(blocks[0].body.strip())
    if message.is_summary and is_divider and not message.tool_calls:
        return [_divider(message, lines[0], width), *indent(lines[1:], ("  ", "text")), []]
    if message.tool_calls:
        lines += _tool_lines(message, model, inner, look.tools, draw, is_open=is_open)
    if not lines:
        lines = [[(_("(empty)"), "note")]]
    return [_head(message, width), *indent(lines, ("  ", "text")), []]
