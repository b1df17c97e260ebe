"""Output for people: Rich tables on a terminal, plain aligned columns in a pipe; never a raw control character."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from datetime import datetime

from hermes_browse.store.text import one_line, printable

_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def cells(text: str) -> int:
    """Terminal cells of a printable text: wide characters count two, marks and joiners none."""
    width = 0
    for letter in text:
        if letter.isascii():
            width += 1
        elif unicodedata.combining(letter) or letter in "\u200c\u200d\ufe0e\ufe0f":
            continue
        else:
            width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return width


def short_number(value: float) -> str:
    """`1.2M`, `340k`, `12`."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.1f}{unit}".replace(".0", "")
    return f"{value:g}"


def short_time(moment: float | None, *, seconds: bool = False) -> str:
    """A local time, `2026-03-05 14:02`; empty for none."""
    if moment is None:
        return ""
    try:
        return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return ""


def money(value: float | None) -> str:
    """`$1.24`; empty for unknown."""
    return "" if value is None else f"${value:,.2f}"


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print rows under headers.

    Args:
        headers: One for each column.
        rows: Texts straight from the store are fine: they are made printable here.
        right: Columns that are aligned to the right.
    """
    safe = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_rich(headers, safe, right)
        return
    widths = [max(map(cells, column)) for column in zip(headers, *safe, strict=True)]
    for row in [list(headers), *safe]:
        padded = [
            " " * (width - cells(cell)) + cell if index in right else cell + " " * (width - cells(cell))
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(padded).rstrip())


def _print_rich(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, header in enumerate(headers):
        table.add_column(header, justify="right" if index in right else "left", overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False, markup=False, emoji=False).print(table)


def print_text(text: str) -> None:
    """Print text of several lines, made printable."""
    print(printable(text))


def note(text: str) -> None:
    """Say something on standard error, made printable."""
    print(printable(text), file=sys.stderr)
