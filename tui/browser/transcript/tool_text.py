"""Lay out arguments and results of tools by their format: JSON, diff, code, table, log, coloured
terminal output.

SGR sequences (ECMA-48 8.3.117) become looks; all other controls stay visible. Rich parses the
colours. It gets the sequences only: of a whole text it would drop other controls and whatever
precedes a carriage return, and would make clickable links.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rich.ansi import AnsiDecoder
from rich.color import Color, ColorSystem

from hermes_browse.store.connection.stored_values import LONGEST_RESULT, json_as_text, load_json
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from ...text.styled import (
    Line,
    Paragraph,
    Span,
    TextLayout,
    fixed,
    indent,
    line_width,
    paragraphs_of,
    plain,
    safe_text,
    split_lines,
)
from .markdown_layout import highlight, render_markdown, table_lines

_MAIN_TEXTS = ("output", "content", "stdout", "result", "diff", "text")
"""Fields with the output of a tool, most informative first."""
_HEAD = 4000
"""Code points at the beginning of a text that decide its format."""
_MAX_ROWS = 500
_MAX_COLUMNS = 8
"""A larger table is plain text."""
OPEN_LIMIT = 400_000
"""Code points shown of an unfolded text; laying out more takes a second, and the pager shows all of
it."""
_SHORT_LINES = 6
_SHORT_LIMIT = 16_000
"""Code points of a text, or of each field of an object, of which the first lines are shown."""
_SUFFIX = re.compile(
    "c|cfg|cpp|cs|css|diff|go|html|ini|java|js|json|jsx|lua|md|php|py|rb|rs|sh|sql|swift|toml"
    "|ts|tsx|xml|yaml|yml|zsh"
)
"""Of a file of code; Pygments knows it as the name of a language."""
_OTHER_SUFFIXES = {"cc": "cpp", "h": "c", "kt": "kotlin", "patch": "diff"}
_OF_KEYS = {"command": "bash", "cmd": "bash", "diff": "diff", "patch": "diff"}
_CODE_KEYS = ("content", "new_string", "old_string", "new_text", "old_text", "text")
_DIFF = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_NUMBERED = re.compile(r"^ *(\d+)\|(.*)$", re.MULTILINE)
_LOG = re.compile(
    r"(\[?(?:(?:\w{3} +)?\d{1,2} |\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?)?"
    r"(?:(.{0,50}?)\b(?:(ERROR|FATAL|CRITICAL|PANIC)|(WARN(?:ING)?)|(INFO|NOTICE)|(DEBUG|TRACE))\b)?"
    r"(.*)",
    re.DOTALL,
)
"""A line of a log: the time; what stands before its level; the level; the rest."""
_LOG_LOOKS = ("comment", "output", "error", "keyword", "number", "comment", "output")
_TABLE = re.compile(r"\s*\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*$", re.MULTILINE)

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_MAX_SEQUENCE = 100
"""Characters of a sequence that are parsed."""
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_MARKS = ("bold", "dim", "italic", "reverse", "strike", "underline")


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of a JSON object; none of any other text."""
    loaded = load_json(text)
    return loaded if isinstance(loaded, dict) else {}


def language_of(arguments: str) -> str:
    """Return the language of the file that is named in the arguments of a call; empty if
    unknown."""
    paths = map(fields_of(arguments).get, ("path", "file_path", "filename"))
    path = next((each for each in paths if isinstance(each, str)), "")
    suffix = path.rpartition(".")[2].lower()
    return suffix if _SUFFIX.fullmatch(suffix) else _OTHER_SUFFIXES.get(suffix, "")


def without_colours(text: str) -> str:
    """Remove SGR sequences from a text; other controls stay."""
    return _SGR.sub("", text) if "\x1b[" in text else text


def _name(color: Color | None) -> str:
    """Return the nearest of the eight colours that every theme has; empty for none."""
    if color is None or color.is_default:
        return ""
    number = color.downgrade(ColorSystem.STANDARD).number or 0
    return _NAMES[number % 8]


def _look(decoder: AnsiDecoder) -> str:
    """Return the names of the looks; a coloured background is that colour reversed."""
    style = decoder.style
    marks = [mark for mark in _MARKS if getattr(style, mark)]
    paper = _name(style.bgcolor)
    colour = paper or _name(style.color)
    # Output is dim, but colours are not: dim red is hard to see.
    names = ["code-text" if colour or style.bold else "output", *marks]
    names += [f"sgr-{colour}"] if colour else []
    names += ["reverse"] if paper and not style.reverse else []
    return " ".join(names)


def coloured(text: str) -> list[Span]:
    """Return stored output as printable spans, with colours as looks."""
    decoder, look = AnsiDecoder(), "output"
    spans = []
    # Every second piece has the parameters of a sequence.
    for number, piece in enumerate(_SGR.split(text.replace("\r\n", "\n"))):
        if number % 2:
            decoder.decode_line(f"\x1b[{piece[:_MAX_SEQUENCE].replace(':', ';')}m")
            look = _look(decoder)
        else:
            spans.append((printable(piece), look))
    return spans


def diff_lines(text: str) -> list[Line]:
    """Split a diff into printable lines in the colours of its signs."""
    looks = (
        (("+++", "---", "diff ", "index "), "function"),
        (("@@",), "number"),
        (("+",), "added"),
        (("-",), "removed"),
    )
    lines = []
    for line in safe_text(text).split("\n"):
        look = next((name for starts, name in looks if line.startswith(starts)), "output")
        lines.append([(line, look)] if line else [])
    return lines


def _is_log(text: str) -> bool:
    lines = [line for line in text[:_HEAD].split("\n")[:20] if line.strip()]
    stamped = [line for line in lines if _LOG.findall(line)[0][0]]
    return len(lines) > 1 and len(stamped) * 2 >= len(lines)


def _log(text: str) -> list[Span]:
    lines = (_LOG.findall(line)[0] for line in safe_text(text).splitlines(keepends=True))
    return [span for parts in lines for span in zip(parts, _LOG_LOOKS, strict=True)]


def _numbered(text: str, language: str) -> list[Paragraph] | None:
    """Lay out a file with line numbers, as tools that read files return it; None for any other
    text."""
    rows = _NUMBERED.findall(text)
    if len(rows) <= text.count("\n"):
        return None
    room = len(rows[-1][0])
    code = highlight(safe_text("\n".join(code for _number, code in rows)), language)
    hang = ((" " * (room + 1), "dim"),)
    return [
        Paragraph(line, ((f"{number:>{room}} ", "dim"),), hang)
        for (number, _code), line in zip(rows, split_lines(code), strict=True)
    ]


def block(key: str, text: str, width: int, language: str) -> list[Paragraph]:
    """Lay out a stored text, the field of a key, by its format, or as code in a known language.

    Tables are at most `width` cells wide. The language is that of the file which the call is about.
    """
    head, whole = text[:_HEAD], text.rstrip("\n")
    language = _language_in(key, language)
    if len(text) > LONGEST_RESULT:  # finding its format would take too long
        return plain(safe_text(without_colours(whole)), "output")
    if _SGR.search(head):
        spans = coloured(whole)
    elif language == "diff" or _DIFF.search(head):
        return list(map(Paragraph, diff_lines(whole)))
    elif (loaded := load_json(text)) is not None:
        return pretty(loaded, width)
    elif "|" in head and (numbered := _numbered(whole, language)):
        return numbered
    elif _TABLE.match(text) and len(text) < 4 * _HEAD:
        return render_markdown(safe_text(text), width, "output")
    elif "Traceback (most recent call last)" in head:
        spans = highlight(safe_text(whole), "pytb")
    elif _is_log(text):
        spans = _log(whole)
    elif language:
        spans = highlight(safe_text(whole), language)
    else:
        spans = [(safe_text(whole), "output")]
    return paragraphs_of(spans)


def _table_of(value: object) -> list[list[Line]]:
    """Convert a list of objects with the same few plain fields to cells, the names first; return
    nothing for any other value."""
    if not isinstance(value, list) or not 1 < len(value) <= _MAX_ROWS:
        return []
    items = [item if isinstance(item, dict) else {} for item in value]
    names = list(items[0])
    is_table = 0 < len(names) <= _MAX_COLUMNS and all(list(item) == names for item in items)
    every = [each for item in items for each in item.values()]
    if not is_table or any(isinstance(each, dict | list) or len(str(each)) > 200 for each in every):
        return []
    rows = [[[(one_line(name), "output bold")] for name in names]]
    for item in items:
        texts = ("" if each is None else one_line(str(each)) for each in item.values())
        rows.append([[(text, "output")] for text in texts])
    return rows


def pretty(value: object, width: int) -> list[Paragraph]:
    """Lay out a JSON value in colours: as a table, on one line if it fits, else indented."""
    if rows := _table_of(value):
        return table_lines(rows, width)
    short = json.dumps(value, ensure_ascii=False)
    text = short if len(short) <= width else json.dumps(value, ensure_ascii=False, indent=2)
    return paragraphs_of(highlight(safe_text(text), "json"))


def _language_in(key: str, language: str) -> str:
    """Return the language of a field, given that of the file which the call is about."""
    if key == "code":
        return language or "python"
    return _OF_KEYS.get(key, language if key in _CODE_KEYS else "")


def _field(key: str, value: object, width: int, language: str) -> list[Paragraph]:
    label = (one_line(key, 60) + ":", "dim")
    if isinstance(value, str):
        paragraphs = block(key, value, width - 2, language)
    elif isinstance(value, dict | list) and value:
        paragraphs = pretty(value, width - 2)
    else:
        look = "number" if type(value) in (int, float) else "comment"
        paragraphs = plain(json.dumps(value), look)
    line = [*paragraphs[0].lead, *paragraphs[0].spans]
    if len(paragraphs) > 1 or line_width(line) > width - 2:
        return [Paragraph([label]), *indent(paragraphs, ("  ", "text"))]
    return [Paragraph([label, (" ", "dim"), *line])]


def tool_text(
    text: str, width: int, language: str = "", *, is_result: bool, full: bool
) -> list[Paragraph]:
    """Lay out stored arguments or a stored result, as they stand below the call.

    Args:
        width: Cells.
        language: Of the file that the call is about; empty if unknown.
        is_result: The field with the output of the tool is shown without its name.
        full: Show all of it, also fields that are null, instead of the first lines.
    """
    limit, room = OPEN_LIMIT if full else _SHORT_LIMIT, width - 2
    loaded = load_json(text)
    is_object = isinstance(loaded, dict)
    fields = loaded if isinstance(loaded, dict) else {"text": text}
    main = _main_text(fields) if is_result or not is_object else None
    paragraphs, cut = list[Paragraph](), 0
    for key, value in fields.items():
        if isinstance(value, str):
            cut += max(len(value) - limit, 0)
            value = value[:limit]
        if key != main and (full or value is not None):
            paragraphs += _field(key, value, room, language)
        elif key == main and (value.strip() or not is_object):
            paragraphs += block(key, value, room, language)
    if not full:
        paragraphs = _first_lines(paragraphs, room, is_cut=cut > 0)
    return indent([*paragraphs, *more(cut, full)], ("│ ", "rule"))


def _first_lines(paragraphs: list[Paragraph], width: int, *, is_cut: bool) -> list[Paragraph]:
    """Shorten a text to its first lines; how many more there are is known unless it was cut."""
    layout = TextLayout(paragraphs, width)
    left = len(layout) - _SHORT_LINES
    if left <= 0:
        return paragraphs
    lines = [fixed(*line) for line in layout.window(0, _SHORT_LINES)]
    if is_cut:
        return lines
    note = ngettext("… 1 more line · Enter", "… {count:,} more lines · Enter", left, count=left)
    return [*lines, fixed((note, "note"))]


def more(left: int, full: bool) -> list[Paragraph]:
    """Return a line that says how many code points are left out, if any are."""
    words = N_("… {size} more · O opens all") if full else N_("… {size} more · Enter")
    return [fixed((_(words, size=formats.size(left)), "note"))] if left else []


def _main_text(result: Mapping[str, object]) -> str | None:
    """Return the name of the field that holds the output; None if there is none."""
    return next((key for key in _MAIN_TEXTS if isinstance(result.get(key), str)), None)


def as_shown(text: str) -> str:
    """Return arguments or a result as text, much like the transcript shows it: JSON indented, long
    strings unquoted."""
    loaded = load_json(text)
    return without_colours(text if loaded is None else json_as_text(loaded))


def output_text(text: str) -> str:
    """Return the output in a stored result, without the JSON object around it and without
    colours."""
    fields = fields_of(text)
    main = _main_text(fields)
    return without_colours((fields[main] if main else "") or text)
