"""Build one session of the sample store: its rows as Hermes 0.22 writes them, with tokens and
cost."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .store_writer import Value

_HERMES = tomllib.loads(
    (Path(__file__).resolve().parent / "hermes.toml").read_text(encoding="utf-8")
)

TEXTS: Mapping[str, str] = _HERMES["texts"]
"""Templates that Hermes wraps around texts."""
TOOLS: Mapping[str, str] = _HERMES["tools"]
"""The tools of the sample, each with the name of its main argument."""

_RATES: Mapping[str, Sequence[float]] = _HERMES["rates"]
_json = json.JSONEncoder(ensure_ascii=False).encode
_STANDING_TOKENS = 21_500
"""Tokens of system prompt, skills and tool definitions, sent with every call."""
_CHARACTERS_PER_TOKEN = 3.6


def digits(key: str, count: int) -> str:
    """Return hexadecimal digits derived from a key; Hermes uses random ones."""
    return hashlib.sha256(key.encode()).hexdigest()[:count]


@dataclass(slots=True)
class ChatRow:
    """A row of `messages`."""

    order: float
    """Unix seconds when it was really written; the stored timestamp may differ (a clock set
    back)."""
    columns: dict[str, Value]
    calls: int = 0
    """Number of tool calls in it."""
    repeats: ChatRow | None = None
    """The compacted row that this one is a live copy of: both have the same `display_order`
    (0.22)."""


class Chat:
    """A session with its messages and its clock; each message advances the clock by a plausible
    time.

    Args:
        key: Unique name; ids and pauses are derived from it.
        started: Unix seconds.
        columns: Of its row in `sessions`, with `id` and `model`; `row` adds the counters.
    """

    def __init__(self, key: str, started: float, columns: dict[str, Value]) -> None:
        self.key = key
        self.started = started
        self.columns = columns
        self.lines: list[ChatRow] = []
        self.clock = started
        """Current time, Unix seconds."""
        self.skew = 0.0
        """Seconds added to stored timestamps; does not change the order of rows."""
        self.thought = ""
        """Reasoning of the next assistant row."""
        self.recalled = ""
        """Text that Hermes adds before the next user message when it is sent to the model."""
        self.last_call = ("", "")
        """Id and tool of the last call."""
        self._random = Random(int(digits(key, 12), 16))
        self._call_number = self._user_number = 0
        # The counters of Hermes include rewound rows, but not compacted ones.
        self._messages = self._calls = 0
        self._assistant_line: ChatRow | None = None

    @property
    def id(self) -> str:
        """The session id."""
        return str(self.columns["id"])

    def write(self, role: str, seconds: float, **columns: Value) -> ChatRow:
        """Add a row of any role, `seconds` after the last one."""
        self.clock += seconds
        shown = round(self.clock + self.skew, 6)
        return self._add(
            ChatRow(
                self.clock, {"session_id": self.id, "role": role, "timestamp": shown, **columns}
            )
        )

    def _add(self, line: ChatRow) -> ChatRow:
        self.lines.append(line)
        self._messages += 1
        self._calls += line.calls
        return line

    def say(self, content: str, **columns: Value) -> None:
        """Add a user message."""
        self._user_number += 1
        if self.columns.get("session_key"):
            columns["platform_message_id"] = str(int(digits(self.key, 4), 16) + self._user_number)
        if self.recalled:
            columns["api_content"], self.recalled = self.recalled + content, ""
        self.write("user", 20 + 220 * self._random.random() ** 2, content=content, **columns)

    def reply(self, text: str) -> None:
        """Add an answer of the assistant."""
        self._assistant(text, 3 + len(text) / 90 + 4 * self._random.random(), "stop")

    def _assistant(self, text: str, seconds: float, finish: str) -> ChatRow:
        columns: dict[str, Value] = {}
        if self.thought:
            columns = {"reasoning": self.thought, "reasoning_content": self.thought}
            if str(self.columns["model"]).startswith("openai/"):
                sealed = digits(self.thought, 64)
                item = {"id": f"rs_{sealed[:16]}", "type": "reasoning", "encrypted_content": sealed}
                columns["codex_reasoning_items"] = json.dumps([item])
        self.thought = ""
        self._assistant_line = self.write(
            "assistant", seconds, content=text, finish_reason=finish, **columns
        )
        return self._assistant_line

    def call(self, tool: str, given: str, *, joined: bool = False) -> None:
        """Add a tool call.

        Args:
            tool: One of `TOOLS`.
            given: The main argument, or all arguments as JSON.
            joined: Whether to add it to the last assistant row, which may hold calls or text,
                instead of a new one.
        """
        line = self._assistant_line if joined else None
        if line is None:
            line = self._assistant("", 2 + 5 * self._random.random(), "tool_calls")
        self._call_number += 1
        call_id = "call_" + digits(f"{self.key}/{self._call_number}", 24)
        arguments = given if given.startswith("{") else _json({TOOLS[tool]: given})
        function = {"name": tool, "arguments": arguments}
        entry = json.dumps(
            {"id": call_id, "call_id": call_id, "type": "function", "function": function}
        )
        earlier = line.columns.get("tool_calls")
        stored = f"{str(earlier)[:-1]}, {entry}]" if earlier else f"[{entry}]"
        line.columns |= {"tool_calls": stored, "finish_reason": "tool_calls"}
        line.calls += 1
        self._calls += 1
        self.last_call = call_id, tool

    def result(self, content: str, *, seconds: float | None = None, effect: str = "") -> None:
        """Add the result of the last call, as stored; by default it takes a few seconds."""
        call_id, tool = self.last_call
        seconds = 0.3 + 6 * self._random.random() ** 2 if seconds is None else seconds
        extra = {"effect_disposition": effect} if effect else {}
        self.write("tool", seconds, content=content, tool_call_id=call_id, tool_name=tool, **extra)

    def end(self, reason: str, *, after: float = 20.0) -> None:
        """End the session, some seconds after the last message."""
        self.clock += after
        self.columns |= {"ended_at": round(self.clock + self.skew, 6), "end_reason": reason}

    def mark(self, name: str, value: str) -> None:
        """Put a marker such as `_branched_from` into `model_config`."""
        self.columns["model_config"] = json.dumps(
            {name: value} | json.loads(str(self.columns["model_config"]))
        )

    def copy(self, lines: Iterable[ChatRow]) -> None:
        """Copy rows of another session; copies have the time of the copying."""
        for line in lines:
            self.clock += 0.001
            moved: dict[str, Value] = {"session_id": self.id, "timestamp": round(self.clock, 6)}
            self._add(ChatRow(self.clock, line.columns | moved, line.calls))

    def compact(self, summary: str, *, keep: int) -> None:
        """Compact in place: mark all live rows as compacted, then write the summary and copies of
        the last rows.

        Copies keep their timestamps, so that Hermes shows each message once.
        """
        live = [line for line in self.lines if line.columns.get("active", 1)]
        self.clock += 12.0
        self._messages = self._calls = 0
        for line in live:
            line.columns |= {"active": 0, "compacted": 1}
        self.summary(summary, 0.0)
        for line in live[len(live) - keep :]:
            self.clock += 0.000001
            fresh: dict[str, Value] = {"active": 1, "compacted": 0}
            self._add(ChatRow(self.clock, line.columns | fresh, line.calls, line))

    def summary(self, text: str, seconds: float) -> None:
        """Add the summary of a compaction."""
        self.write(
            "user", seconds, content=TEXTS["summary"].format(summary=text), _compressed_summary=1
        )

    def rewind(self, rows: int) -> None:
        """Rewind the last rows: they are hidden, but still counted (`rewind_to_message`)."""
        for line in self.lines[-rows:]:
            line.columns |= {"active": 0, "compacted": 0}
        self.columns["rewind_count"] = 1

    def row(self) -> dict[str, Value]:
        """Return the finished row of `sessions`, with counters, tokens and cost."""
        counters: dict[str, Value] = {
            "message_count": self._messages,
            "tool_call_count": self._calls,
        }
        return (
            self.columns
            | counters
            | _usage(str(self.columns["model"]), (line.columns for line in self.lines))
        )


def stored_result(tool: str, given: str, body: str, *, failed: bool) -> str:
    """Return the result of a tool as Hermes stores it.

    Args:
        tool: One of `TOOLS`.
        given: The argument of the call.
        body: The output as plain text; JSON is stored unchanged.
        failed: Whether the tool reports an error.
    """
    value: dict[str, object]
    if body.startswith(("{", "[")):
        return body
    if tool == "terminal":
        value = {"output": body, "exit_code": 1 if failed else 0, "error": None}
    elif failed:
        value = {"error": body}
    elif tool == "read_file":
        lines = body.split("\n")
        numbered = "\n".join(f"{number}|{line}" for number, line in enumerate(lines, 1))
        value = {
            "content": numbered,
            "total_lines": len(lines),
            "file_size": len(body.encode()),
            "truncated": False,
        }
    elif tool == "patch":
        value = {"success": True, "diff": body, "files_modified": [given]}
    else:
        return body
    return _json(value)


def _tokens(text: Value, more: Value = None) -> int:
    return int((len(str(text or "")) + len(str(more or ""))) / _CHARACTERS_PER_TOKEN)


def _usage(model: str, rows: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """Return tokens and cost of a session as columns of `sessions` and `session_model_usage`.

    Each assistant row is one call: earlier rows are read from the cache, rows since the last call
    are paid as input and written to the cache.
    """
    calls = read = written = new = out = reasoned = 0
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
        reasoned += reasoning
        cached, fresh = cached + fresh, size
    rates = _RATES.get(model, ())
    cost = round(
        sum(count * rate for count, rate in zip((new, out, read, written), rates, strict=False))
        / 1e6,
        6,
    )
    return {
        "api_call_count": calls,
        "input_tokens": new,
        "output_tokens": out,
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "reasoning_tokens": reasoned,
        "estimated_cost_usd": cost if rates else 0.0,
        "cost_status": "estimated" if rates else "included",
    }
