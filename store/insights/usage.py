"""What Hermes recorded of use per session and model (`session_model_usage`, 0.19 and later)."""

from __future__ import annotations

from typing import NamedTuple

from ..connect import Reader
from ..prune.sizes import Stopped, check
from ..sessions.session import Tokens
from ..text import as_text
from ..values import as_count, as_money

UNKNOWN = "unknown"
"""The key of what names no model, tool, directory or time."""

_SLICE = 1000
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Used(NamedTuple):
    """What one session used of one model, for one task."""

    model: str
    tokens: Tokens
    estimated_usd: float
    actual_usd: float

    @property
    def cost_usd(self) -> float:
        """The actual cost, else the estimate: both are 0 by default, so an actual 0 says that nobody asked for it."""
        return self.actual_usd or self.estimated_usd


def read_usage(reader: Reader, stopped: Stopped) -> dict[str, list[Used]]:
    """Use by session id; empty for a store without the table.

    Args:
        reader: An open reader.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    if "session_model_usage" not in reader.schema.tables:
        return {}
    columns = {str(row[1]) for row in reader.rows("PRAGMA table_info(session_model_usage)")}
    if not {"session_id", "model"} <= columns:
        return {}
    names = [name if name in columns else "0" for name in (*_TOKENS, "estimated_cost_usd", "actual_cost_usd")]
    statement = (
        f"SELECT u.rowid, u.session_id, u.model, {', '.join(names)} FROM session_model_usage u "
        f"WHERE u.rowid > ? ORDER BY u.rowid LIMIT {_SLICE}"
    )
    found: dict[str, list[Used]] = {}
    last = -(2**63)
    while True:
        check(stopped)
        rows = reader.rows(statement, [last])
        for row in rows:
            tokens = Tokens(*map(as_count, row[3:8]))
            used = Used(as_text(row[2]) or UNKNOWN, tokens, as_money(row[8]) or 0.0, as_money(row[9]) or 0.0)
            found.setdefault(as_text(row[1]) or "", []).append(used)
        if len(rows) < _SLICE:
            return found
        last = int(str(rows[-1][0]))
