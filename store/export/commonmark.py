"""What others wrote, put into a Markdown document so that it can neither break nor take over the rest.

A message is Markdown already and is meant to look so. Three things of it would reach beyond it: a
code fence that is never closed, HTML (`</details>`, `<!--`, `<script>`), and the illusion of either
in code, where it must stay as it is. Rules: https://spec.commonmark.org/0.31.2/ (4.5, 4.6, 6.1, 6.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")
_INDENTED_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_ANY_FENCE = re.compile(r"[ \t>*+\-0-9.)]*(`{3,}|~{3,})")
_TAG = re.compile(r"(\\*)<(?=[A-Za-z/!?])")
_TICKS = re.compile(r"`+")


def longest_run(text: str) -> int:
    """Backticks in the longest run of them in a text."""
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def fence_for(text: str) -> str:
    """A code fence longer than any run of backticks in a text."""
    return "`" * max(3, longest_run(text) + 1)


def fenced(text: str, language: str = "") -> str:
    """A text as a code block.

    Args:
        text: What stands in it.
        language: A word that needs no escaping.
    """
    fence = fence_for(text)
    return f"{fence}{language}\n{text}\n{fence}"


def split_fences(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a text: what is fenced at the margin, and what is between.

    Args:
        text: Any text.

    Yields:
        The fence that closes the block (empty between blocks) and its lines; those of a fenced one
        begin with its opening line and end with its closing one, if there is one.
    """
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            block.append(line)
            if match and match[1].startswith(fence) and not match[2].strip(" \t"):
                yield fence, block
                block, fence = [], ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            if block:
                yield "", block
            block, fence = [line], match[1]
        else:
            block.append(line)
    if block or fence:
        yield fence, block


def is_closed(fence: str, block: list[str]) -> bool:
    """Whether a fenced block has its closing line."""
    if len(block) < 2:
        return False
    match = _FENCE.match(block[-1])
    return match is not None and match[1].startswith(fence) and not match[2].strip(" \t")


def _escaped(text: str) -> str:
    """Angle brackets that could begin HTML made literal; those behind a backslash already are."""
    return _TAG.sub(lambda match: match[0] if len(match[1]) % 2 else f"{match[1]}\\<", text)


def _code_spans(line: str) -> list[tuple[int, int]] | None:
    """Ranges of the code spans of one line; None when a backtick of it is left over or not to be trusted."""
    if "\\`" in line:
        return None
    runs = [match.span() for match in _TICKS.finditer(line)]
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        start, end = runs[index]
        # Lines of thousands of unequal runs are nobody's prose: look at a few, and trust nothing beyond.
        ahead = range(index + 1, min(len(runs), index + 20))
        closing = next((other for other in ahead if runs[other][1] - runs[other][0] == end - start), None)
        if closing is None or "|" in line[start : runs[closing][1]]:
            return None
        spans.append((start, runs[closing][1]))
        index = closing + 1
    return spans


def _paragraph(lines: list[str]) -> Iterator[str]:
    """Lines without a blank one between, escaped outside of code spans.

    Spans are trusted only where every line closes its own: then no span can reach from one line into
    the next, and what looks like code here is code to every reader.
    """
    spans = [_code_spans(line) for line in lines]
    for line, found in zip(lines, spans, strict=True):
        if None in spans or found is None:
            yield _escaped(line)
            continue
        parts, last = [], 0
        for start, end in found:
            parts += [_escaped(line[last:start]), line[start:end]]
            last = end
        yield "".join([*parts, _escaped(line[last:])])


def _prose(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
            continue
        yield from _paragraph(paragraph)
        paragraph = []
        yield line
    yield from _paragraph(paragraph)


def _pair_up(lines: list[str]) -> bool:
    """Whether fences off the margin end for sure where they seem to, whatever list they stand in.

    That is so where opening and closing line are indented alike, by spaces, and nothing between them
    by less: then both belong to the same item, or neither is a fence at all.
    """
    fence, indent = "", 0
    for line in lines:
        match = _INDENTED_FENCE.match(line)
        closes = match is not None and bool(fence) and match[2].startswith(fence) and not match[3].strip(" \t")
        if fence and match is not None and closes:
            if len(match[1]) != indent:
                return False
            fence = ""
        elif fence:
            if line.strip() and len(line) - len(line.lstrip(" ")) < indent:
                return False
        elif match is not None and not (match[2][0] == "`" and "`" in match[3]):
            fence, indent = match[2], len(match[1])
        elif _ANY_FENCE.match(line):
            return False
    return not fence or not indent


def neutral(text: str) -> str:
    """A text as Markdown that ends where it ends: fences closed, HTML made literal outside of code.

    Fences inside of lists end in more ways than a line can tell, so there code is escaped as well: a
    backslash too many in a picture is better than a tag at work. Where not even their end is sure,
    the whole text becomes a quotation, which every fence in it ends with.

    Args:
        text: Printable.
    """
    lines = text.split("\n")
    fences = [line for line in lines if _ANY_FENCE.match(line)]
    # Some readers take a fence with a bar in it for the head of a table.
    is_unsure = any("|" in line for line in fences)
    if is_unsure or (not all(map(_FENCE.match, fences)) and not _pair_up(lines)):
        return "\n".join(f"> {_escaped(line)}".rstrip() for line in lines)
    found: list[str] = []
    for fence, block in split_fences(text):
        if not fence:
            found.extend(_prose(block))
        else:
            found.extend(block)
            if not is_closed(fence, block):
                found.append(fence)
    return "\n".join(found)
