"""Drafting a sample store: chats that play out in time, then rows in the order a live store would hold them.

Everything hangs on `now`, so the sample is always fresh, and the same `now` gives the same rows.
Ids and times are reckoned in UTC for that reason; Hermes itself takes the local time for its ids.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field

from .usage import reckon
from .writer import Row, Value

SONNET, OPUS, HAIKU = "anthropic/claude-sonnet-4.6", "anthropic/claude-opus-4.6", "anthropic/claude-haiku-4.5"
GPT, GEMINI, DEEPSEEK = "openai/gpt-5.4", "google/gemini-3-flash", "deepseek/deepseek-v3.2"
LOCAL = "qwen3-coder:30b"

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
"""Seconds."""

GATEWAYS = frozenset({"telegram", "discord", "slack", "whatsapp", "signal"})
_PROMPT = """You are Hermes, the agent of Noor Ekdahl, who writes software for a small ferry line.

Be direct. Prefer doing to describing. Ask before anything that cannot be undone.

# Memory
- Lives in Gothenburg with Elias and their daughter Tova (7); metric units, 24-hour clock.
- Work: skerry-api (Python), skerry-web (TypeScript), tidewatch (Rust). Reviews before noon.
- Likes short answers first, reasons after. No exclamation marks.

# Session
Source: {source}. Workspace: {cwd}."""


def digits(key: str, count: int) -> str:
    """Hexadecimal digits that belong to a key for good, where Hermes draws them at random."""
    return hashlib.sha256(key.encode()).hexdigest()[:count]


def stamp(moment: float) -> str:
    """A moment as ids spell it, `YYYYmmdd_HHMMSS`."""
    return time.strftime("%Y%m%d_%H%M%S", time.gmtime(moment))


@dataclass(slots=True)
class Line:
    """One drafted row of `messages`."""

    order: float
    """When it was really written, Unix seconds; the stored timestamp may differ (a clock set back)."""
    columns: dict[str, Value]
    calls: int = 0
    """Tool calls it asks for."""


@dataclass(slots=True)
class Draft:
    """One drafted row of `sessions` with its messages."""

    columns: dict[str, Value]
    lines: list[Line] = field(default_factory=list)
    messages: int = 0
    """The counter Hermes keeps: rewound rows stay in it, compacted ones do not."""
    calls: int = 0

    @property
    def id(self) -> str:
        """The session id."""
        return str(self.columns["id"])

    def count(self, line: Line) -> None:
        """Add a line to the counters as Hermes does when it writes one."""
        self.messages += 1
        self.calls += line.calls

    def row(self) -> dict[str, Value]:
        """The finished row: counters, tokens and cost included."""
        model = self.columns["model"]
        usage = reckon(str(model), (line.columns for line in self.lines))
        priced: dict[str, Value] = {"estimated_cost_usd": usage.cost, "cost_status": "estimated"}
        if usage.cost is None:
            priced = {"estimated_cost_usd": 0.0, "cost_status": "included"}
        counters: dict[str, Value] = {"message_count": self.messages, "tool_call_count": self.calls}
        return self.columns | counters | usage.columns() | priced


class Script:
    """The sample being drafted: sessions, their messages and the rows of other tables."""

    def __init__(self, now: float) -> None:
        """
        Args:
            now: Unix seconds; everything else lies before it.
        """
        self.now = now
        self.drafts: list[Draft] = []
        self.tables: dict[str, list[dict[str, Value]]] = {}

    def ago(self, days: float = 0.0, hours: float = 0.0, minutes: float = 0.0) -> float:
        """The moment that long before now."""
        return self.now - days * DAY - hours * HOUR - minutes * MINUTE

    def at(self, days: int, hour: float) -> float:
        """An hour of the day (UTC), that many days before the last midnight."""
        midnight = self.now - self.now % DAY
        return midnight - days * DAY + hour * HOUR

    def session(self, key: str, started: float, *, source: str, model: str, **columns: Value) -> Draft:
        """Draft a session.

        Args:
            key: A word of its own; the random part of the id comes from it.
            started: Unix seconds.
            source: As Hermes names it.
            model: Provider and name.
            columns: Any other column of `sessions`; `id` replaces the one made here.
        """
        length = 8 if source in GATEWAYS else 6
        config = {"max_iterations": 90, "reasoning_config": None, "max_tokens": None}
        cwd = columns.get("cwd")
        defaults: dict[str, Value] = {
            "id": f"{stamp(started)}_{digits(key, length)}",
            "source": source,
            "model": model,
            "model_config": json.dumps(config),
            "system_prompt": _PROMPT.format(source=source, cwd=cwd or "none"),
            "started_at": started,
            "billing_provider": "openrouter" if "/" in model else "custom",
            "billing_mode": "metered" if "/" in model else "local",
            "git_repo_root": cwd if columns.get("git_branch") else None,
        }
        draft = Draft(defaults | columns)
        self.drafts.append(draft)
        return draft

    def add(self, table: str, **columns: Value) -> None:
        """Add a row to one of the other tables."""
        self.tables.setdefault(table, []).append(columns)

    def rows(self) -> dict[str, list[Row]]:
        """Rows by table: sessions by their start, messages by the moment they were written."""
        drafts = sorted(self.drafts, key=lambda draft: float(str(draft.columns["started_at"])))
        sessions = [draft.row() for draft in drafts]
        lines = sorted((line for draft in drafts for line in draft.lines), key=lambda line: line.order)
        messages: list[Row] = [{"id": number, **line.columns} for number, line in enumerate(lines, 1)]
        used = [_usage_row(row) for row in sessions if row["api_call_count"]]
        return {"sessions": list(sessions), "messages": messages, "session_model_usage": list(used), **self._others()}

    def _others(self) -> dict[str, list[Row]]:
        return {table: list(rows) for table, rows in self.tables.items()}


_SHARED = ("model", "billing_provider", "billing_mode", "api_call_count", "input_tokens", "output_tokens")
_SHARED_TOO = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "estimated_cost_usd", "cost_status")


def _usage_row(session: Row) -> Row:
    """The row of `session_model_usage` that the totals of a session make."""
    shared = {column: session[column] for column in (*_SHARED, *_SHARED_TOO)}
    ended = session.get("ended_at") or session["started_at"]
    return {"session_id": session["id"], **shared, "first_seen": session["started_at"], "last_seen": ended}
