"""Lay out a chat message as paragraphs: head, text, tool calls with their results, reasoning."""

from __future__ import annotations

from functools import partial

from rich.cells import cell_len

from hermes_browse.store.connection.stored_values import has_failed, load_json
from hermes_browse.store.messages.chat_message import (
    REASONING,
    RESULT,
    SAID,
    SPEAKERS,
    Block,
    ChatMessage,
    ContentPart,
    State,
    ToolCall,
)
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ...text import formats, sentences
from ...text.styled import (
    Line,
    Paragraph,
    TextLayout,
    fixed,
    indent,
    line_width,
    plain,
    ruled,
    safe_text,
)
from .entries import CALL_LIMIT, TEXT_LIMIT, ShownMessage, Tools
from .markdown_layout import render_markdown
from .tool_text import OPEN_LIMIT, language_of, more, tool_text

MARKDOWN_LIMIT = 16_000
"""Code points; a longer text is not rendered as Markdown, which would take several frames."""
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


def lay_out(shown: ShownMessage) -> TextLayout:
    """Lay out a message; on any thread."""
    return TextLayout([*_message(shown), Paragraph([])], shown.width)


def lay_out_plain(shown: ShownMessage) -> TextLayout:
    """Lay out the beginning without formatting, to be shown until the layout is ready."""
    text = safe_text(shown.message.text[:MARKDOWN_LIMIT]).strip("\n")
    body = indent(plain(text, "text"), ("  ", "text"))
    return TextLayout([_head(shown), *body, Paragraph([])], shown.width)


def _message(shown: ShownMessage) -> list[Paragraph]:
    message = shown.message
    head, margin = _head(shown), ("  ", "text")
    if shown.repeats is not None and not shown.is_open:
        label = _("repeated: the same as message {number:,}", number=shown.repeats)
        return [head, fixed(margin, ("▸ ", "dim"), (label, "note"))]
    paragraphs = [paragraph for block in message.blocks for paragraph in _block(shown, block)]
    if message.role != "tool":
        paragraphs += _images(message)
    is_more = message.reasoning or message.tool_calls
    if message.is_summary and message.summary.strip() and not is_more:
        divider = _divider(message, paragraphs[0].spans, shown.width)
        return [divider, *indent(paragraphs[1:], margin)]
    if message.tool_calls:
        paragraphs += _calls(shown)
    return [head, *indent(paragraphs or [fixed((_("(empty)"), "note"))], margin)]


def _state(message: ChatMessage) -> str:
    """Return the state unless it is live."""
    return "" if message.state is State.LIVE else sentences.state(message.state)


def _head(shown: ShownMessage) -> Paragraph:
    message = shown.message
    name = sentences.role(message.role)
    if message.role == "tool":
        name = f"{name} {one_line(message.tool_name or '', 30)}".rstrip()
    look = message.role if message.role in SPEAKERS else "other"
    line = [(f"{formats.clock(message.timestamp)}  ", "dim"), (name, f"{look} bold")]
    kind = (message.display_kind or "").replace("_", " ")
    kind = one_line(kind, 30) if kind != "hidden" else ""
    notes = _state(message), kind, _("hidden") if message.is_hidden else ""
    line += [(f"  {note}", "note") for note in notes if note]
    if message.finish_reason in ("length", "error", "content_filter"):
        line.append((f"  {message.finish_reason}", "error"))
    number = f"{shown.number:,}"
    space = shown.width - line_width(line) - len(number) - 1
    if space > 1:
        line.append((f"{' ' * space}{number} ", "dim"))
    return fixed(*line)


def _divider(message: ChatMessage, label: Line, width: int) -> Paragraph:
    """Return the head of a summary: a rule instead of a role."""
    facts = formats.joined(formats.clock(message.timestamp).strip(), _state(message))
    words = f" · {facts}" if facts else ""
    return ruled([*label, (f"{words} ", "note")], width)


# Blocks


def _block(shown: ShownMessage, block: Block) -> list[Paragraph]:
    if block.kind is SAID:
        return _text(shown, block.body)
    if block.kind is RESULT:
        return tool_text(block.body, shown.inner, is_result=True, full=shown.is_open)
    is_reasoning = block.kind is REASONING
    look = "reasoning" if is_reasoning else "dim"
    label = _(block.kind.label, size=formats.size(len(block.body)))
    head = [
        fixed(("▾ " if shown.is_open else "▸ ", look), (label, look if is_reasoning else "note"))
    ]
    if not shown.is_open and not (is_reasoning and shown.look.reasoning):
        return head
    body = (
        _markdown(block.body, shown.inner - 2, look)
        if block.kind.exported is not None
        else plain(safe_text(block.body), look)
    )
    return [*([] if is_reasoning else head), *indent(body, ("┊ ", "rule"))]


def _markdown(text: str, width: int, look: str) -> list[Paragraph]:
    """Lay out stored Markdown; a very long one as plain text."""
    safe = safe_text(text).strip("\n")
    return render_markdown(safe, width, look) if len(safe) <= MARKDOWN_LIMIT else plain(safe, look)


def _text(shown: ShownMessage, text: str) -> list[Paragraph]:
    """Lay out the text of a message without images, which `_images` shows below it."""
    message = shown.message
    if any(part.kind == "image" for part in message.parts):
        text = "\n".join(part.text for part in message.parts if part.kind != "image" and part.text)
    cut = text[: OPEN_LIMIT if shown.is_open else TEXT_LIMIT]
    look = "struck" if message.state is State.REWOUND else "text"
    paragraphs = _markdown(cut, shown.inner, look) if cut.strip() else []
    return [*paragraphs, *more(len(text) - len(cut), shown.is_open)]


def image_name(part: ContentPart) -> str:
    """Return the type and the size of an embedded image."""
    kind = one_line(part.mime.rpartition("/")[2], 30) or _("image")
    return f"{kind} {formats.size(part.size)}" if part.size else kind


def _images(message: ChatMessage) -> list[Paragraph]:
    parts = (part for part in message.parts if part.kind == "image")
    names = (one_line(part.url, 200) or image_name(part) for part in parts)
    return [fixed((_("[image {what}]", what=name), "note")) for name in names]


# Tool calls


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


def _calls(shown: ShownMessage) -> list[Paragraph]:
    calls = shown.message.tool_calls
    if shown.look.tools is Tools.OFF and not shown.is_open:
        first = dict.fromkeys(call.name for call in calls[:CALL_LIMIT])
        names = ", ".join(one_line(name, 30) for name in first)
        return [fixed(("▸ ", "dim"), (f"{len(calls)}× {names}", "dim"))]
    paragraphs = []
    for call, result in zip(calls, shown.results, strict=False):
        paragraphs.append(_call(shown, call, result))
        if shown.has_full_tools:
            paragraphs += _call_texts(shown, call, result)
    more = len(calls) - CALL_LIMIT
    if more > 0:
        note = ngettext(
            "… 1 more call · O opens all",
            "… {count:,} more calls · O opens all",
            more,
            count=more,
        )
        paragraphs.append(fixed((note, "note")))
    return paragraphs


def _call(shown: ShownMessage, call: ToolCall, result: ChatMessage | None) -> Paragraph:
    """Return the line of a call, whose argument leaves room for the outcome."""
    tail = [(f"  {_('no result')}", "dim")]
    if result is not None:
        facts = [formats.size(len(result.text))]
        begun, ended = shown.message.timestamp, result.timestamp
        if begun is not None and ended is not None and ended > begun:
            facts.append(formats.duration(ended - begun))
        failed = has_failed(result.text, result.effect)
        outcome = (
            (pgettext("tool", "error"), "error") if failed else (pgettext("tool", "ok"), "dim")
        )
        tail = [(f"  {' · '.join(facts)} · ", "dim"), outcome]
    room = max(shown.inner - 4 - line_width(tail), 0)
    # With little room the tail is clipped before the name.
    name = formats.clip(one_line(call.name, 40), max(room, 8))
    argument = formats.clip(main_argument(call), max(room - cell_len(name), 0))
    mark = "▾ " if shown.has_full_tools else "▸ "
    return fixed((mark, "dim"), (name, "tool"), (f"  {argument}", "dim"), *tail)


def _call_texts(shown: ShownMessage, call: ToolCall, result: ChatMessage | None) -> list[Paragraph]:
    lay_out_text = partial(
        tool_text, width=shown.inner, language=language_of(call.arguments), full=shown.is_open
    )
    paragraphs = lay_out_text(call.arguments, is_result=False)
    if result is not None:
        arrow = fixed(("│ ", "rule"), ("→", "dim"))
        paragraphs += [arrow, *lay_out_text(result.text, is_result=True)]
    return paragraphs
