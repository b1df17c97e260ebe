"""Print to a terminal with Rich: fitted to its width and wrapped at words. Other modules here do
not import Rich.

Callers pass printable text; it is wrapped in `Text`, never parsed as markup.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hermes_browse.store.text import printable

_GAP = 2
_MIN_FLEXIBLE = 24
"""Minimum cells of the flexible column; others are dropped to reach it."""
_MIN_WIDTH = 12
_MAX_FIXED = 36
_MIN_TEXT = 20
"""Minimum cells of the text behind a lead; with fewer the lead has a line of its own."""
_STYLES = {
    "title": "bold",
    "seam": "dim",
    "user": "bold yellow",
    "assistant": "bold green",
    "other": "bold dim",
    "said": "",
    "tool": "dim",
}


def _console() -> Console:
    console = Console(highlight=False, markup=False, emoji=False)
    # With COLUMNS=0, Rich would print nothing.
    console.width = console.width or shutil.get_terminal_size().columns
    return console


def print_rich_table(columns: Sequence[Any], rows: Sequence[Sequence[str]]) -> None:
    """Print printable rows at the width of the terminal; see `output.print_table`."""
    console = _console()
    shown = dict(zip(columns, zip(*rows, strict=True), strict=True))
    widths = {column: max(map(cell_len, (column.title, *shown[column]))) for column in columns}
    (flexible,) = (column for column in columns if column.is_flexible)
    taken = {column: min(widths[column], _MAX_FIXED) + _GAP for column in columns}
    room = console.width - sum(taken.values()) + taken[flexible]
    for column in sorted(columns, key=lambda column: column.dropped):
        if column.dropped and room < min(_MIN_FLEXIBLE, widths[flexible]):
            room += taken[column]
            del shown[column]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for column in shown:
        most = max(room, _MIN_WIDTH) if column.is_flexible else _MAX_FIXED
        table.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            width=min(most, widths[column]),
            # Other columns may hold ids, which users copy: fold rather than cut them.
            overflow="ellipsis" if column.is_flexible else "fold",
            no_wrap=column.is_flexible,
        )
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(Text, row))
    console.print(table)


def _highlighted(text: str, style: str, ranges: Iterable[Sequence[int]]) -> Text:
    """Make a stored text printable and highlight ranges of code points."""
    result, last = Text(style=style, overflow="fold"), 0
    for start, end in ranges:
        result.append(printable(text[last:start]))
        result.append(printable(text[start:end]), style="bold reverse")
        last = end
    return result.append(printable(text[last:]))


def print_rich_lines(lines: Iterable[Any]) -> None:
    """Print lines styled by kind, indented and wrapped at words; see `output.OutputLine`."""
    console = _console()
    for kind, content, lead, ranges in lines:
        text = _highlighted(content, _STYLES[kind], ranges)
        if not lead.strip():
            console.print(Padding(text, (0, 0, 0, len(lead))) if lead else text)
            continue
        if console.width - len(lead) < _MIN_TEXT:
            console.print(Text(lead.rstrip(), "dim"))
            lead = " " * _GAP
        room = max(console.width - len(lead), 1)
        indented = Text("\n" + " " * len(lead)).join(text.wrap(console, room))
        console.print(Text.assemble((lead, "dim"), indented))
