"""Lay out Markdown as paragraphs, and find a text in what it shows; markdown-it parses it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from hermes_browse.store.search.terms import Term, fold
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ...text.formats import clip
from ...text.styled import (
    Line,
    Paragraph,
    Span,
    fixed,
    indent,
    line_text,
    line_width,
    paragraphs_of,
    wrap_spans,
)

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_MARKS = {"strong": "bold", "em": "italic", "s": "strike", "link": "link"}
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}
_MAX_COLUMNS = 40
_MAX_CODE = 40_000
"""Characters; longer code is not coloured, which would take longer than a frame."""

_CODE_BLOCK = re.compile(r"^ *(?:```|~~~) *([\w+#-]+)", re.MULTILINE)

_CODE_LOOKS = {
    "Comment": "comment",
    "Keyword": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Name.Function": "function",
    "Name.Class": "function",
    "Name.Decorator": "function",
    "Name.Tag": "keyword",
    "Name.Attribute": "function",
    "Generic.Inserted": "added",
    "Generic.Deleted": "removed",
    "Generic.Heading": "keyword",
    "Generic.Subheading": "keyword",
}
"""By what the type of a token begins with, as Pygments names it."""


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )


def parse(text: str) -> Sequence[Token]:
    """Parse Markdown into block tokens, whose texts must pass `printable` before they are shown."""
    return _parser().parse(text)


def _inline(nodes: Sequence[SyntaxTreeNode], base: str, marks: str = "") -> list[Span]:
    """Lay out the text of a block; `marks` are the looks of what it is marked with."""
    spans: list[Span] = []
    for node in nodes:
        # Entities have been decoded: `&#x202e;` is a direction override.
        content = printable(node.content)
        if node.type in _MARKS:
            spans += _inline(node.children, base, f"{marks} {_MARKS[node.type]}")
        elif node.type in ("softbreak", "hardbreak"):
            spans.append(("\n", base))
        elif node.type == "image":
            shown = content or printable(str(node.attrs.get("src", "")))
            spans.append((_("[image {what}]", what=shown), f"{base} dim"))
        else:
            own = " code" if node.type == "code_inline" else ""
            spans.append((content, base + marks + own))
        link = printable(str(node.attrs.get("href", "")))
        text = spans[-1][0] if spans else ""
        if node.type == "link" and link not in ("", text) and link[0] != "#":
            spans.append((f" ({clip(link, 60)})", f"{base} dim"))
    return spans


def _text(node: SyntaxTreeNode, base: str) -> list[Span]:
    """Lay out the text of a paragraph, a heading or a cell."""
    return _inline(node.children[0].children, base)


def _blocks(
    nodes: Sequence[SyntaxTreeNode], width: int, base: str, *, tight: bool = False
) -> list[Paragraph]:
    """Lay out blocks in so many cells, with empty lines between them unless they are tight."""
    paragraphs: list[Paragraph] = []
    for node in nodes:
        block = _block(node, max(width, 2), base)
        if block and paragraphs and not tight:
            paragraphs.append(Paragraph([]))
        paragraphs += block
    return paragraphs


def _block(node: SyntaxTreeNode, width: int, base: str) -> list[Paragraph]:
    match node.type:
        case "paragraph":
            return paragraphs_of(_text(node, base))
        case "heading":
            mark = "#" * int(node.tag[1:]) + " "
            return paragraphs_of([(mark, "heading dim"), *_text(node, "heading")])
        case "fence" | "code_block":
            return _code(node)
        case "blockquote":
            return indent(_blocks(node.children, width - 2, base), ("▎ ", "bar"))
        case "bullet_list" | "ordered_list":
            return _list(node, width, base)
        case "hr":
            return [fixed(("─" * width, "rule"))]
        case "table":
            return _table(node, width, base)
    return []


def _code(node: SyntaxTreeNode) -> list[Paragraph]:
    language = printable("".join(node.info.split()[:1]))
    code = node.content.rstrip("\n").replace("\t", "    ")
    head = [fixed((language, "dim"))] if language else []
    return indent([*head, *paragraphs_of(highlight(code, language))], ("▏ ", "bar"))


def _list(node: SyntaxTreeNode, width: int, base: str) -> list[Paragraph]:
    ordered = node.type == "ordered_list"
    paragraphs = []
    for number, item in enumerate(node.children, int(str(node.attrs.get("start", 1)))):
        mark = f"{number}. " if ordered else "• "
        inner = _blocks(item.children, width - len(mark), base, tight=True) or [Paragraph([])]
        box = line_text(inner[0].spans[:1])[:4].lower()
        if not ordered and box in _BOXES:
            mark, (text, look) = _BOXES[box], inner[0].spans[0]
            inner[0].spans[0] = text[4:], look
        paragraphs += indent(inner, (" " * len(mark), "text"), (mark, "dim"))
    return paragraphs


def _table(node: SyntaxTreeNode, width: int, base: str) -> list[Paragraph]:
    rows: list[list[Line]] = []
    aligned: list[str] = []
    for row in chain.from_iterable(part.children for part in node.children):
        rows.append([])
        for cell in row.children[:_MAX_COLUMNS]:
            aligned.append(str(cell.attrs.get("style", "")))  # those of the head come first
            look = f"{base} bold" if cell.type == "th" else base
            rows[-1].append([(text.replace("\n", " "), each) for text, each in _text(cell, look)])
    return table_lines(rows, width, aligned)


def table_lines(
    rows: Sequence[Sequence[Line]], width: int, aligned: Sequence[str] = ()
) -> list[Paragraph]:
    """Lay out a table, narrowing the widest columns first.

    Args:
        rows: Cells without newlines, in each row as many; the first row is the head.
        width: Cells.
        aligned: Styles of the first cells, which contain `right` for right-aligned columns.
    """
    widths = [max(1, *map(line_width, column)) for column in zip(*rows, strict=True)]
    spare = width - 3 * (len(widths) - 1)
    while sum(widths) > spare and max(widths) > 4:
        widest = widths.index(max(widths))
        widths[widest] = max(4, widths[widest] - max(1, (sum(widths) - spare) // 2))
    rights = ["right" in style for style in aligned] or [False] * len(widths)
    paragraphs: list[Paragraph] = []
    for row in rows:
        cells = map(wrap_spans, row, widths)
        for parts in zip_longest(*cells, fillvalue=list[Span]()):
            line: Line = []
            for part, room, is_right in zip(parts, widths, rights, strict=False):
                space = " " * (room - line_width(part)), "text"
                cell = [space, *part] if is_right else [*part, space]
                line += [(" │ ", "rule"), *cell]
            paragraphs.append(fixed(*line[1:]))
        if row is rows[0]:
            paragraphs.append(fixed(("─┼─".join("─" * each for each in widths), "rule")))
    return paragraphs


def render_markdown(text: str, width: int, base: str = "text") -> list[Paragraph]:
    """Lay out printable Markdown; `base` is the look of ordinary text.

    Tables and rules are `width` cells wide.
    """
    return _blocks(SyntaxTreeNode(parse(text)).children, max(width, 8), base)


_SIGNS = re.compile(r"[*_`~\\\[\]]")
_TARGET = re.compile(r"\]\([^)\s]*\)")
"""Of a link; that of one to a heading is not shown."""
_WIDE = 20_000
"""Cells; wide enough for any table."""


def matches_rendered(text: str, matcher: Term) -> bool:
    """Whether Markdown matches when it is rendered: `**bold** words` contains `bold words`."""
    texts = (text, _TARGET.sub("", text)) if "](" in text else (text,)
    plain = (_SIGNS.sub("", each) for each in texts)
    if not any(each != text and matcher.first(fold(each)) for each in plain):
        return False
    paragraphs = render_markdown(printable(text), _WIDE)
    shown = fold("\n".join(line_text(paragraph.spans) for paragraph in paragraphs))
    return matcher.first(shown) is not None


def load_languages(texts: Iterable[str]) -> None:
    """Load what colours the code in some texts, on a reading thread: the first use of a language
    takes up to a tenth of a second."""
    for text in texts:
        for language in _CODE_BLOCK.findall(text):
            _lexer(language.lower())


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    """Return what parses code in a language; None if that is unknown."""
    from pygments import lexers, util  # only code in a known language needs it

    try:
        return lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return None


def highlight(code: str, language: str) -> list[Span]:
    """Colour printable code; code in an unknown language stays plain."""
    lexer = _lexer(language.lower()) if language and len(code) <= _MAX_CODE else None
    if lexer is None:
        return [(code, "code-text")]
    return [(text, _look_of(kind)) for kind, text in lexer.get_tokens(code)]


@cache
def _look_of(kind: tuple[str, ...]) -> str:
    """Return the look of a token's type, given from the general to the special."""
    name = ".".join(kind)
    looks = (look for start, look in _CODE_LOOKS.items() if name.startswith(start))
    return next(looks, "code-text")
