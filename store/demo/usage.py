"""Tokens and money of a drafted session, reckoned from its chat messages as a provider would bill them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .writer import Value

_STANDING_TOKENS = 21_500
"""System prompt, skills and tool definitions, sent with every call."""
_CHARACTERS_PER_TOKEN = 3.6

_RATES: Mapping[str, tuple[float, float, float, float]] = {
    "anthropic/claude-sonnet-4.6": (3.0, 15.0, 0.3, 3.75),
    "anthropic/claude-opus-4.6": (5.0, 25.0, 0.5, 6.25),
    "anthropic/claude-haiku-4.5": (1.0, 5.0, 0.1, 1.25),
    "openai/gpt-5.4": (2.5, 15.0, 0.25, 2.5),
    "google/gemini-3-flash": (0.5, 3.0, 0.05, 0.5),
    "deepseek/deepseek-v3.2": (0.28, 0.42, 0.03, 0.28),
}
"""USD for a million tokens of input, output, cache read and cache write; round figures for a sample."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one session has cost."""

    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    cost: float | None
    """None for a model without a price: one that runs at home."""

    def columns(self) -> dict[str, Value]:
        """As columns of `sessions` and `session_model_usage`."""
        return {
            "api_call_count": self.calls,
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_tokens": self.cache_read,
            "cache_write_tokens": self.cache_write,
            "reasoning_tokens": self.reasoning,
        }


def _tokens(*texts: Value) -> int:
    return int(sum(len(text) for text in texts if isinstance(text, str)) / _CHARACTERS_PER_TOKEN)


def reckon(model: str, rows: Iterable[Mapping[str, Value]]) -> Usage:
    """Tokens and cost of a session.

    Each assistant row is one call: what went before is read from the cache, what is new since the
    last call is paid as input and written to the cache.

    Args:
        model: Its name; unknown ones have no price.
        rows: Columns of `messages` in order.
    """
    calls = read = written = new = out = thought = 0
    cached, fresh = 0, _STANDING_TOKENS
    for row in rows:
        if row["role"] == "session_meta":
            continue
        size = _tokens(row.get("content"), row.get("tool_calls")) + 4
        if row["role"] != "assistant":
            fresh += size
            continue
        reasoning = _tokens(row.get("reasoning"))
        calls += 1
        read += cached
        new += fresh % 1024  # providers cache in blocks; the rest of a block is plain input
        written += fresh - fresh % 1024
        out += size + reasoning
        thought += reasoning
        cached, fresh = cached + fresh, size
    rates = _RATES.get(model)
    cost = None
    if rates is not None:
        paid = zip((new, out, read, written), rates, strict=True)
        cost = round(sum(count * rate for count, rate in paid) / 1_000_000, 6)
    return Usage(calls, new, out, read, written, thought, cost)
