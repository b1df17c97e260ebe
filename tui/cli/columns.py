"""Output for people: Rich tables on a terminal, plain aligned columns in a pipe; never a raw control character."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from datetime import datetime

from hermes_browse.store.text import one_line, printable

_ONE_LINE = {0x09: "␉", 0x0A: "␊"}
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def cells(text: str) -> int:
    """Terminal cells of a printable text: wide characters count two, marks and joiners none."""
    width = 0
    for letter in text:
        if letter.isascii():
            width += 1
        elif unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            continue
        else:
            width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return width


def short_number(value: float) -> str:
    """`1.2M`, `340k`, `12`."""
    for size, unit in _UNITS:
        if value >= size * 0.99995:  # what would round up to a thousand of the smaller unit
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


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    flexible: int = -1,
    optional: Sequence[int] = (),
) -> None:
    """Print rows under headers.

    Args:
        headers: One for each column.
        rows: Texts straight from the store are fine: they are made printable here.
        right: Columns that are aligned to the right.
        flexible: The column that is cut to what a terminal has left; in a pipe nothing is cut.
        optional: Columns a narrow terminal goes without, the first one first.
    """
    safe = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from .terminal import print_rich_table

        print_rich_table(headers, safe, right=right, flexible=flexible % len(headers), optional=optional)
        return
    widths = [max(map(cells, column)) for column in zip(headers, *safe, strict=True)]
    for row in [list(headers), *safe]:
        padded = [
            " " * (width - cells(cell)) + cell if index in right else cell + " " * (width - cells(cell))
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(padded).rstrip())


def print_text(text: str) -> None:
    """Print text of several lines, made printable."""
    print(printable(text))


def note(text: str) -> None:
    """Say something on standard error: printable, and on one line whatever is quoted in it."""
    if sys.stderr is None:  # closed by the caller; print() would turn to standard output instead
        return
    try:
        print(printable(text).translate(_ONE_LINE), file=sys.stderr)
    except OSError:
        return  # nobody can be told that nobody can be told; the exit code still says it
