"""Lay out Markdown as paragraphs, and find a text in what it shows; markdown-it parses it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token

from hermes_browse.store.search.terms import Term, fold
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ...text.formats import clip
from ...text.styled import Line, Span, line_text, line_width, split_lines, wrap_spans
from .paragraphs import Paragraph, fixed, indent, paragraphs_of

_MARKS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike", "link_open": "link"}
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}
_MAX_COLUMNS = 40
_MAX_CODE = 40_000
"""Characters; longer code is not coloured, which would take longer than a frame."""

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
"""By the type of a token, as Pygments names it."""


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )


def parse(text: str) -> Sequence[Token]:
    """Parse Markdown into block tokens, whose texts must pass `printable` before they are shown."""
    return _parser().parse(text)


def _inline(tokens: Sequence[Token], base: str) -> list[Span]:
    spans: list[Span] = []
    looks = [base]
    link = ""
    for token in tokens:
        kind = token.type
        # Entities have been decoded: `&#x202e;` is a direction override.
        content = printable(token.content)
        if kind in _MARKS:
            looks.append(_MARKS[kind])
            link = printable(str(token.attrs.get("href", link)))
        elif kind.endswith("_close"):
            looks.pop()
            text = spans[-1][0] if spans else ""
            if kind == "link_close" and link not in ("", text) and link[0] != "#":
                spans.append((f" ({clip(link, 60)})", f"{base} dim"))
        elif kind in ("softbreak", "hardbreak"):
            spans.append(("\n", base))
        elif kind == "image":
            shown = content or printable(str(token.attrs.get("src", "")))
            spans.append((_("[image {what}]", what=shown), f"{base} dim"))
        else:
            own = " code" if kind == "code_inline" else ""
            spans.append((content, " ".join(looks) + own))
    return spans


class _Layout:
    """Converts block tokens to paragraphs, recursively for nested blocks; widths are cells."""

    def __init__(self, tokens: Sequence[Token], base: str) -> None:
        self._tokens = iter(tokens)
        self._base = base

    def blocks(self, width: int, until: str = "", *, tight: bool = False) -> list[Paragraph]:
        """Lay out all blocks up to a closing token."""
        paragraphs: list[Paragraph] = []
        for token in self._tokens:
            if token.type == until:
                break
            block = self._block(token, max(width, 2))
            if block and paragraphs and not tight:
                paragraphs.append(Paragraph([]))
            paragraphs += block
        return paragraphs

    def _block(self, token: Token, width: int) -> list[Paragraph]:
        match token.type:
            case "inline":
                return paragraphs_of(_inline(token.children or [], self._base))
            case "heading_open":
                mark, inner = "#" * int(token.tag[1:]) + " ", next(self._tokens)
                title = _inline(inner.children or [], "heading")
                return paragraphs_of([(mark, "heading dim"), *title])
            case "fence" | "code_block":
                return self._code(token)
            case "blockquote_open":
                return indent(self.blocks(width - 2, "blockquote_close"), ("▎ ", "bar"))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, width)
            case "hr":
                return [fixed(("─" * width, "rule"))]
            case "table_open":
                return self._table(width)
            case _:  # a paragraph, whose text comes next; an end
                return []

    def _code(self, token: Token) -> list[Paragraph]:
        language = printable("".join(token.info.split()[:1]))
        code = token.content.rstrip("\n").replace("\t", "    ")
        head = [fixed((language, "dim"))] if language else []
        return indent([*head, *map(Paragraph, highlight(code, language))], ("▏ ", "bar"))

    def _list(self, token: Token, width: int) -> list[Paragraph]:
        ordered = token.type == "ordered_list_open"
        close = token.type.replace("open", "close")
        number = int(str(token.attrs.get("start", 1)))
        paragraphs = []
        for item in self._tokens:
            if item.type == close:
                break
            mark = f"{number}. " if ordered else "• "
            number += 1
            inner = self.blocks(width - len(mark), "list_item_close", tight=True) or [Paragraph([])]
            box = line_text(inner[0].spans[:1])[:4].lower()
            if not ordered and box in _BOXES:
                mark, (text, look) = _BOXES[box], inner[0].spans[0]
                inner[0].spans[0] = text[4:], look
            paragraphs += indent(inner, (" " * len(mark), "text"), (mark, "dim"))
        return paragraphs

    def _table(self, width: int) -> list[Paragraph]:
        rows: list[list[Line]] = []
        aligned: list[str] = []
        for token in self._tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                aligned.append(str(token.attrs.get("style", "")))  # those of the head come first
                look = f"{self._base} bold" if token.type == "th_open" else self._base
                cell = _inline(next(self._tokens).children or [], look)
                rows[-1].append([(text.replace("\n", " "), looks) for text, looks in cell])
        return table_lines([row[:_MAX_COLUMNS] for row in rows], width, aligned)


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
    return _Layout(parse(text), base).blocks(max(width, 8))


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


def highlight(code: str, language: str) -> list[Line]:
    """Colour printable code, line by line; code in an unknown language stays plain."""
    plain = split_lines([(code, "code-text")])
    if not language or len(code) > _MAX_CODE:
        return plain
    from pygments import lexers, util  # only code in a known language needs it

    try:
        lexer = lexers.get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return plain
    return split_lines((text, _look_of(kind)) for kind, text in lexer.get_tokens(code))


@cache
def _look_of(kind: tuple[str, ...]) -> str:
    """Return the look of a token's type, given from the general to the special."""
    names = (".".join(kind[:end]) for end in range(len(kind), 0, -1))
    return next((_CODE_LOOKS[name] for name in names if name in _CODE_LOOKS), "code-text")
