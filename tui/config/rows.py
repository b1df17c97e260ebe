"""What is set for rows takes hold: for those of the screen, and for those that are painted before there is one."""

from __future__ import annotations

from .. import formats
from ..list import row_format
from .options import Options


def set_rows(options: Options) -> None:
    """Apply what is set about moments and columns."""
    formats.set_clock(options.time)
    formats.set_dates(options.dates)
    row_format.set_columns(options.columns)
