"""Chat messages as Markdown, with foreign text in it made harmless: a whole conversation for an
export, or one message for whoever shows, copies or opens it.

In an export tools, reasoning and summaries are folded. A message is Markdown itself and stays so. Three things in
it would affect the text of others: a code fence that is never closed, HTML (`</details>`, `<!--`,
`<script>`), and the definition of a link (`[1]: https://…`), which holds in the whole document.
Fences are closed, HTML and definitions are escaped, but not in code
(https://spec.commonmark.org/0.31.2/, 4.5, 4.6, 4.7, 6.1, 6.6).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date
from itertools import groupby, starmap

from ..amounts import local_time
from ..connection.stored_values import Json, write_json
from ..messages.chat_message import CALL, RESULT, Block
from ..text import HOSTILE, STRAY, fenced, longest_run, one_line
from ..wording import _, ngettext
from .source import (
    ExportedConversation,
    RenderedMessage,
    day_name,
    indented_json,
    marks,
)

_AS_CODE = ("id", "folder", "branch")
_HINT = 80
# Characters that YAML does not allow, that it treats as line ends, and that terminals act on; and the
# begin of a tag, for readers that do not know a head of this kind.
_BEYOND_YAML = re.compile(f"{HOSTILE}|{STRAY}|[<\ufffe\uffff]")
_PUNCTUATION = re.compile(r"[\\`*\[\]<>|~&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|#(?=#*$)")
_OPENING = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_ANY_FENCE = re.compile(r"[ \t>*+\-0-9.)]*(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)(`{1,9})(?!`)[^|]{1,400}?(?<!`)\1(?!`)")
# Backslashes are passed over with what they escape: a run of them is read once.
_TAG = re.compile(r"\\.|<(?=[A-Za-z/!?])")
_SPAN_OR_TAG = re.compile(f"{_SPAN.pattern}|{_TAG.pattern}")

# Behind the marks of quotations, lists and tasks. A label may have begun on a line before.
_LABEL = re.compile(r"([ \t>*+\-0-9.):]*+(?:\[[ xX]\][ \t]+)?)(\[?)((?:\\.|[^\[\]\\])*+)\](?= ?:)")


def plain(text: str) -> str:
    """Escape one line of printable text for Markdown."""
    return _PUNCTUATION.sub(lambda match: "\\" + match[0], text)


def code(text: str) -> str:
    """Return one line of printable text as a code span, whatever backticks it has."""
    ticks = "`" * (longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def yaml_value(value: object) -> str:
    """Return a text, number, boolean, None or list as YAML 1.1 and 1.2: JSON with more escapes."""
    text = write_json(value)
    if isinstance(value, float) and "." not in text:
        return text.replace("e", ".0e")  # in YAML 1.1, 1e-06 is a text
    return _BEYOND_YAML.sub(lambda match: f"\\U{ord(match[0]):08X}", text)


def split_fences(text: str, *, are_indented: bool = False) -> Iterator[tuple[str, list[str], bool]]:
    """Split a text at code fences, also at those that spaces indent if that is asked for.

    Yields:
        The fence that closes a block (empty outside of code), its lines with the fences, and
        whether it is closed.
    """
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        body = line.lstrip(" ") if are_indented else line
        if not fence and (opening := _OPENING.match(body)):
            if block:
                yield "", block, False
            block, fence = [line], opening[0]
            continue
        block.append(line)
        if fence and body.startswith(fence) and not body.lstrip(fence[0]).strip(" \t"):
            yield fence, block, True
            block, fence = [], ""
    if block or fence:
        yield fence, block, False


def _escape(match: re.Match[str]) -> str:
    """Escape an angle bracket that could begin HTML; a code span and what is escaped stay."""
    return "\\<" if match[0] == "<" else match[0]


def _undefining(line: str) -> str:
    """Escape a bracket of what could define a link, a footnote or an abbreviation: it stays the text
    that was written, and links of other messages stay theirs."""
    match = _LABEL.match(line)
    if match is None:
        return line
    marks, begin, label = match.groups()
    label = f"\\[{label}]" if begin else f"{label}\\]"
    return marks + label + line[match.end() :]


def _escaped(line: str, pattern: re.Pattern[str] = _TAG) -> str:
    return pattern.sub(_escape, _undefining(line))


def _paragraph(lines: list[str]) -> list[str]:
    """Escape lines of one paragraph outside of code spans.

    Spans are trusted only if every line closes its own: then none extends into the next line, and
    every Markdown parser finds the same spans.
    """
    is_sure = all("`" not in _SPAN.sub("", line) and "\\`" not in line for line in lines)
    return [_escaped(line, _SPAN_OR_TAG if is_sure else _TAG) for line in lines]


def _ends_surely(fence: str, block: list[str], is_closed: bool) -> bool:
    """Tell whether a part of a text that was split at indented fences surely ends where it seems
    to, whatever list it is in.

    It does if the opening and the closing line have the same indentation and no line between them
    has less: then both belong to the same item, or neither is a fence.
    """
    if not fence:
        return not any(map(_ANY_FENCE.match, block))
    first, *others = (len(line) - len(line.lstrip(" ")) for line in block if line.strip())
    end = others[-1] if is_closed else 0
    return end == first <= min(others, default=first)


def neutral(text: str) -> str:
    """Return printable text as Markdown that cannot affect other text: close fences, escape HTML and
    definitions of links outside of code.

    Fences in lists can end in many ways, so code there is escaped as well: a backslash too many is
    better than an active tag. If not even their end is sure, the whole text becomes a quotation,
    which ends every fence in it.
    """
    lines = text.split("\n")
    fences = [line for line in lines if _ANY_FENCE.match(line)]
    # Some parsers treat a fence with a bar in it as the head of a table.
    is_unsure = any("|" in line for line in fences)
    if not all(line[0] in "`~" for line in fences):
        is_unsure |= not all(starmap(_ends_surely, split_fences(text, are_indented=True)))
    if is_unsure:
        return "\n".join(f"> {_escaped(line)}".rstrip() for line in lines)
    result: list[str] = []
    for fence, block, is_closed in split_fences(text):
        if fence:
            result += block if is_closed else [*block, fence]
            continue
        for is_blank, group in groupby(block, key=lambda line: not line.strip()):
            part = list(group)
            result += part if is_blank else _paragraph(part)
    return "\n".join(result)


def _iso(moment: float | None) -> str | None:
    local = local_time(moment)
    return None if local is None else f"{local.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _front_matter(exported: ExportedConversation) -> str:
    """Return the facts of the conversation as YAML, for programs."""
    each, export = exported.conversation, exported.export
    clean = export.redactor.value
    fields: Json = {
        "session_id": each.id,
        "title": clean(each.title),
        "source": each.source,
        "model": clean(each.model),
        "cwd": clean(each.cwd),
        "git_branch": clean(each.git_branch),
        "created_at": _iso(each.root.started_at),
        "updated_at": _iso(each.last_active),
        "ended_at": _iso(each.tip.ended_at),
        "end_reason": each.tip.end_reason,
        "archived": each.archived,
        "pinned": each.pinned,
        "message_count": len(exported.ids),
        "tool_call_count": each.tool_call_count,
        "cost_usd": None if each.cost_usd is None else round(each.cost_usd, 6),
        "lineage_session_ids": each.session_ids,
        "secrets": "redacted" if export.redactor.active else "kept",
        "format": "markdown",
        "exported_at": _iso(export.now),
        "exporter": export.exporter,
    }
    lines = [f"{name}: {yaml_value(value)}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", ""])


def message_markdown(rendered: RenderedMessage, *, is_folded: bool = False, note: str = "") -> str:
    """Return a chat message as Markdown that cannot affect what follows it.

    Args:
        rendered: The message.
        is_folded: Fold everything but the text, under a heading without the day and the id: for a
            document that names the days.
        note: More about it for the heading.
    """
    moment, number = local_time(rendered.message.timestamp), rendered.message.id
    form = "%H:%M:%S" if is_folded else "%Y-%m-%d %H:%M:%S"
    heading = [
        rendered.speaker,
        moment.strftime(form) if moment else "",
        "" if is_folded or number < 0 else _("message {id}", id=number),  # below 0: no row
        note,
    ]
    marked = marks(rendered.message)
    line = plain(" · ".join(filter(None, heading))) + (f" ({marked})" if marked else "")
    return "\n".join(
        [f"### {line}\n", *(_block(each, is_folded=is_folded) for each in rendered.blocks)]
    )


def _block(block: Block, *, is_folded: bool) -> str:
    if block.kind is CALL:
        arguments = indented_json(block.body)
        body = fenced(block.body) if arguments is None else fenced(arguments, "json")
        hint = one_line(block.body, _HINT) if is_folded else ""
        return _section(f"{block.tool} {hint}".rstrip(), body, is_folded=is_folded)
    if block.kind is RESULT:
        if not block.body:
            return f"*{_('no output')}*\n"
        lines = block.body.count("\n") + 1
        title = ngettext(
            "Result of {tool}, 1 line",
            "Result of {tool}, {count:,} lines",
            lines,
            tool=block.tool,
        )
        return _section(title, fenced(block.body), is_folded=is_folded)
    text = neutral(block.body)
    if not block.kind.exported:
        return text + "\n"
    if not is_folded:  # the text that follows is no part of it
        text = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return _section(_(block.kind.exported), text, is_folded=is_folded)


def _section(title: str, body: str, *, is_folded: bool) -> str:
    """Return a section below a message; the title of a folded one is HTML."""
    if not is_folded:
        return f"#### {plain(title)}\n\n{body}\n"
    return f"<details>\n<summary>{html.escape(title)}</summary>\n\n{body}\n\n</details>\n"


def markdown_pieces(conversations: Iterable[ExportedConversation]) -> Iterator[str]:
    """Yield conversations as Markdown documents, a message at a time."""
    for exported in conversations:
        yield _front_matter(exported)
        facts = " · ".join(
            code(text) if label in _AS_CODE else plain(text) for label, text in exported.facts()
        )
        yield f"\n# {plain(exported.name)}\n\n{facts}\n"
        for event in exported.events():
            if isinstance(event, date):
                yield f"\n## {day_name(event)}\n"
            elif isinstance(event, str):
                seam = _("Compressed here, continued in {session}", session=code(event))
                yield f"\n---\n\n*{seam}*\n"
            else:
                yield "\n" + message_markdown(event, is_folded=True)
