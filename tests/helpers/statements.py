"""What is asked of SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hermes_browse.store.connection import reader


@contextmanager
def noted_statements() -> Iterator[list[str]]:
    """The statements that readers run within the block."""
    asked: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "observe", lambda sql, _seconds, _rows: asked.append(sql))
        yield asked
