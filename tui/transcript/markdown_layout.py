"""Lay out Markdown as lines; markdown-it parses it. Fast enough for the messages on screen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len

from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ..formats import clip, fit
from ..shared.styled import Line, Span, indent, line_width, wrap_spans

_MAX_COLUMNS = 40
_MAX_CODE = 40_000
"""Characters; longer code is not coloured, which would take longer than a frame."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )


def parse(text: str) -> Sequence[Token]:
    """Parse Markdown into block tokens, whose texts must pass `printable` before they are shown."""
    return _parser().parse(text)


def _inline(tokens: Sequence[Token], base: str) -> list[Span]:
    """Convert inline tokens to spans."""
    spans: list[Span] = []
    looks: list[str] = [base]
    link = ""
    for token in tokens:
        kind = token.type
        content = printable(
            token.content
        )  # entities have been decoded: `&#x202e;` is a direction override
        if kind == "text":
            spans.append((content, " ".join(looks)))
        elif kind == "code_inline":
            spans.append((content, " ".join([*looks, "code"])))
        elif kind in ("softbreak", "hardbreak"):
            spans.append(("\n", base))
        elif kind in ("strong_open", "em_open", "s_open"):
            looks.append({"strong_open": "bold", "em_open": "italic", "s_open": "strike"}[kind])
        elif kind in ("strong_close", "em_close", "s_close"):
            looks.pop()
        elif kind == "link_open":
            link = printable(str(token.attrs.get("href", "")))
            looks.append("link")
        elif kind == "link_close":
            looks.pop()
            text = spans[-1][0] if spans else ""
            if link and link != text and not link.startswith("#"):
                spans.append((f" ({clip(link, 60)})", f"{base} dim"))
        elif kind == "image":
            shown = content or printable(str(token.attrs.get("src", "")))
            spans.append((_("[image {what}]").format(what=shown), f"{base} dim"))
        else:
            spans.append((content, " ".join(looks)))
    return spans


class _Layout:
    """Converts block tokens to lines, recursively for nested blocks."""

    def __init__(self, tokens: Sequence[Token], base: str) -> None:
        self._tokens = iter(tokens)
        self._base = base

    def blocks(self, width: int, until: str = "", *, tight: bool = False) -> list[Line]:
        """Lay out all blocks up to a closing token."""
        lines: list[Line] = []
        width = max(width, 2)
        for token in self._tokens:
            if token.type == until:
                break
            block = self._block(token, width)
            if block is None:
                continue
            if lines and not tight:
                lines.append([])
            lines += block
        return lines

    def _block(self, token: Token, width: int) -> list[Line] | None:
        kind = token.type
        if kind == "inline":
            return wrap_spans(_inline(token.children or [], self._base), width)
        if kind == "paragraph_open":
            return self.blocks(width, "paragraph_close")
        if kind == "heading_open":
            mark, inner = "#" * int(token.tag[1:]) + " ", next(self._tokens)
            next(self._tokens)  # its end
            return wrap_spans(
                [(mark, "heading dim"), *_inline(inner.children or [], "heading")], width
            )
        if kind in ("fence", "code_block"):
            return self._code(token, width)
        if kind == "blockquote_open":
            return indent(self.blocks(width - 2, "blockquote_close"), ("▎ ", "bar"))
        if kind in ("bullet_list_open", "ordered_list_open"):
            return self._list(token, width)
        if kind == "hr":
            return [[("─" * width, "rule")]]
        if kind == "table_open":
            return self._table(width)
        if kind == "html_block":
            return wrap_spans([(token.content.rstrip("\n"), f"{self._base} dim")], width)
        return None

    def _code(self, token: Token, width: int) -> list[Line]:
        language = printable(token.info.split()[0]) if token.info.split() else ""
        code = token.content.rstrip("\n").replace("\t", "    ")
        lines = [line for each in highlight(code, language) for line in wrap_spans(each, width - 2)]
        head = [[("▏ ", "bar"), (clip(language, width - 2), "dim")]] if language else []
        return [*head, *indent(lines, ("▏ ", "bar"))]

    def _list(self, token: Token, width: int) -> list[Line]:
        ordered = token.type == "ordered_list_open"
        close = token.type.replace("open", "close")
        number = int(str(token.attrs.get("start", 1)))
        lines: list[Line] = []
        for item in self._tokens:
            if item.type == close:
                break
            mark = f"{number}. " if ordered else "• "
            number += 1
            inner = self.blocks(width - cell_len(mark), "list_item_close", tight=True) or [[]]
            if not ordered and inner[0] and inner[0][0][0][:4] in ("[ ] ", "[x] ", "[X] "):
                text, look = inner[0][0]
                mark = "☐ " if text[1] == " " else "☑ "
                inner[0] = [(text[4:], look), *inner[0][1:]]
            lines += indent(inner, (" " * cell_len(mark), "text"), (mark, "dim"))
        return lines

    def _table(self, width: int) -> list[Line]:
        rows: list[list[list[Span]]] = []
        aligned: list[str] = []
        for token in self._tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                if len(rows) == 1:
                    aligned.append(str(token.attrs.get("style", "")))
                look = "bold" if token.type == "th_open" else ""
                cell = _inline(next(self._tokens).children or [], f"{self._base} {look}".strip())
                rows[-1].append([(text.replace("\n", " "), looks) for text, looks in cell])
        return table_lines([row[:_MAX_COLUMNS] for row in rows], aligned, width)


def table_lines(rows: list[list[list[Span]]], aligned: list[str], width: int) -> list[Line]:
    """Lay out a table, narrowing the widest columns first.

    Args:
        rows: Cells as spans without newlines; the first row is the head.
        aligned: Styles of the columns, which contain `right` for right-aligned ones; may be
            shorter.
        width: Cells.
    """
    if not rows or not rows[0]:
        return []
    count = len(rows[0])
    widths = [max([line_width(row[i]) for row in rows if i < len(row)] + [1]) for i in range(count)]
    spare = width - 3 * (count - 1)
    while sum(widths) > spare and max(widths) > 4:
        widest = widths.index(max(widths))
        widths[widest] = max(4, widths[widest] - max(1, (sum(widths) - spare) // 2))
    lines: list[Line] = []
    for number, row in enumerate(rows):
        cells: list[list[Line]] = [
            wrap_spans(row[i], widths[i]) if i < len(row) else [[]] for i in range(count)
        ]
        for depth in range(max(map(len, cells))):
            line: Line = []
            for i, cell in enumerate(cells):
                # No joints in a table: a cell continues below, not at the end of the line.
                part = [span for span in cell[depth] if span[0]] if depth < len(cell) else []
                space = " " * max(widths[i] - line_width(part), 0)
                right = "right" in (aligned[i] if i < len(aligned) else "")
                line += [(" │ ", "rule")] if i else []
                line += [(space, "text"), *part] if right else [*part, (space, "text")]
            lines.append(line)
        if number == 0:
            lines.append([("─┼─".join("─" * each for each in widths), "rule")])
    return [_fitted(line, width) for line in lines]


def _fitted(line: Line, width: int) -> Line:
    if line_width(line) <= width:
        return line
    return [(fit("".join(text for text, looks in line), width), "text")]


def render_markdown(text: str, width: int, base: str = "text") -> list[Line]:
    """Lay out printable Markdown as lines of at most `width` cells; `base` is the look of ordinary
    text."""
    lines = _Layout(parse(text), base).blocks(max(width, 8))
    if all(line_width(line) <= width for line in lines):
        return lines
    # Nested too deeply for the width: wrapping loses the structure, but no words.
    return [
        line
        for each in lines
        for line in (wrap_spans(each, width) if line_width(each) > width else [each])
    ]


def highlight(code: str, language: str) -> list[Line]:
    """Colour printable code, line by line; code in an unknown language stays plain."""
    plain: list[Line] = [[(line, "code-text")] if line else [] for line in code.split("\n")]
    if not language or len(code) > _MAX_CODE:
        return plain
    from pygments import lexers, token, util  # only code in a known language needs it

    try:
        lexer = lexers.get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return plain
    looks = (
        (token.Comment, "comment"),
        (token.Keyword, "keyword"),
        (token.String, "string"),
        (token.Number, "number"),
        (token.Name.Function, "function"),
        (token.Name.Class, "function"),
        (token.Name.Decorator, "function"),
        (token.Name.Tag, "keyword"),
        (token.Name.Attribute, "function"),
        (token.Generic.Inserted, "added"),
        (token.Generic.Deleted, "removed"),
        (token.Generic.Heading, "keyword"),
        (token.Generic.Subheading, "keyword"),
    )
    lines: list[Line] = [[]]
    for kind, text in lexer.get_tokens(code):
        look = next(
            (name for each, name in looks if each in kind.split() or kind is each), "code-text"
        )
        first, *rest = text.split("\n")
        if first:
            lines[-1].append((first, look))
        for piece in rest:
            lines.append([(piece, look)] if piece else [])
    return lines
