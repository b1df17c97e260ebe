"""One chat playing out in time: what is said, called, compressed, branched, delegated and taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Self

from . import tools
from .script import SONNET, Draft, Line, Script, digits
from .writer import Value

SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were folded into the summary below. "
    "It is background, not a request; answer the latest message after it.\n\n{summary}\n\n"
    "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
)
"""A compaction summary; how it begins and ends is how Hermes 0.19 marks it (`agent/context_compressor.py`)."""

_WORDS = frozenset({"you", "seen", "hermes", "think", "wait", "system"}) | tools.NAMES
_MARK = re.compile(r"(\+?)([a-z_]+)(!?)> ?(.*)")


def _mark(line: str) -> re.Match[str] | None:
    found = _MARK.fullmatch(line)
    return found if found and found[2] in _WORDS else None


class Chat:
    """A session and its clock; each thing said moves the clock on by a believable while."""

    def __init__(self, script: Script, key: str, draft: Draft) -> None:
        self.script = script
        self.key = key
        self.draft = draft
        self.clock = float(str(draft.columns["started_at"]))
        """When the next thing happens, Unix seconds."""
        self.skew = 0.0
        """Seconds the machine's own clock is off by: in timestamps, not in the order of rows."""
        self._random = Random(int(digits(key, 12), 16))
        self._calls = 0
        self._received = 0
        self._thought: str | None = None
        self.open_call: tuple[str, str] = ("", "")
        """Id and tool of the last call."""
        self._asking: Line | None = None

    @property
    def id(self) -> str:
        """The session id."""
        return self.draft.id

    # What is said

    def play(self, text: str) -> Self:
        """Play a written scene.

        A line `you> …`, `hermes> …`, `think> …` (reasoning of the next answer), `seen> …` (overheard
        in a group), `system> …` or `TOOL> argument` begins a row, the lines up to the next one are
        its text or, after a tool, the result. `TOOL!>` is a call that fails, `+TOOL>` joins the
        assistant row before it, and `wait> HOURS` lets time pass.
        """
        found: list[tuple[re.Match[str], list[str]]] = []
        for line in text.strip("\n").split("\n"):
            mark = _mark(line)
            if mark:
                found.append((mark, []))
            else:
                found[-1][1].append(line)
        for mark, lines in found:
            body = "\n".join(lines).rstrip("\n")
            joined, word, failed, first = mark[1] == "+", mark[2], mark[3] == "!", mark[4]
            if word in tools.NAMES:
                self.use(word, first, body, failed=failed, joined=joined)
                continue
            said = f"{first}\n{body}".strip("\n")  # a blank line after the first one is a paragraph's end
            if word == "you":
                self.say(said)
            elif word == "hermes":
                self.reply(said)
            elif word == "think":
                self._thought = said
            elif word == "seen":
                self.say(said, observed=1)
            elif word == "system":
                self.write("system", 0.2, content=said)
            else:
                self.wait(float(first) * 3600)
        return self

    def say(self, content: str | Sequence[object], **columns: Value) -> Self:
        """A user message: text, or the parts of a multimodal one."""
        self._received += 1
        text = content if isinstance(content, str) else "\x00json:" + json.dumps(content)
        if self.draft.columns.get("session_key"):
            columns.setdefault("platform_message_id", str(int(digits(self.key, 4), 16) + self._received))
        self.write("user", 20 + 220 * self._random.random() ** 2, content=text, **columns)
        return self

    def reply(self, text: str, **columns: Value) -> Self:
        """An answer of the assistant, with the reasoning set before."""
        self._assistant(text, 3 + len(text) / 90 + 4 * self._random.random(), "stop", **columns)
        return self

    def use(
        self,
        tool: str,
        given: str,
        body: str | None,
        *,
        failed: bool = False,
        joined: bool = False,
        seconds: float | None = None,
        effect: str | None = None,
    ) -> Self:
        """A tool call with its result.

        Args:
            tool: Its name.
            given: The main argument, or all as JSON.
            body: The result, None for a call that never got one.
            failed: Wrap the result as a failure.
            joined: Part of the assistant row before, which may already hold calls or text.
            seconds: How long it took.
            effect: `effect_disposition` of the result row.
        """
        line = self._asking if joined else None
        if line is None:
            line = self._assistant("", 2 + 5 * self._random.random(), "tool_calls")
        self._calls += 1
        call_id = "call_" + digits(f"{self.key}/{self._calls}", 24)
        stored = str(line.columns.get("tool_calls") or "[]")
        line.columns["tool_calls"] = json.dumps([*json.loads(stored), tools.call(call_id, tool, given)])
        line.columns["finish_reason"] = "tool_calls"
        line.calls += 1
        self.draft.calls += 1
        self.open_call = call_id, tool
        if body is not None:
            self.write(
                "tool",
                0.3 + 6 * self._random.random() ** 2 if seconds is None else seconds,
                content=tools.result(tool, given, body, failed=failed),
                tool_call_id=call_id,
                tool_name=tool,
                **({"effect_disposition": effect} if effect else {}),
            )
        return self

    def _assistant(self, text: str, seconds: float, finish: str, **columns: Value) -> Line:
        thought, self._thought = self._thought, None
        if thought:
            columns |= {"reasoning": thought, "reasoning_content": thought}
            if str(self.draft.columns["model"]).startswith("openai/"):
                sealed = digits(thought, 64)
                columns["codex_reasoning_items"] = json.dumps(
                    [{"id": f"rs_{sealed[:16]}", "type": "reasoning", "encrypted_content": sealed}]
                )
        self._asking = self.write("assistant", seconds, content=text, finish_reason=finish, **columns)
        return self._asking

    def write(self, role: str, seconds: float, **columns: Value) -> Line:
        """A row of any role, written that many seconds after the last thing; returns it."""
        self.clock += seconds
        shown = round(self.clock + self.skew, 6)
        line = Line(self.clock, {"session_id": self.id, "role": role, "timestamp": shown, **columns})
        self.draft.lines.append(line)
        self.draft.count(line)
        return line

    # Time and ends

    def wait(self, seconds: float) -> Self:
        """Let time pass."""
        self.clock += seconds
        return self

    def until(self, moment: float) -> Self:
        """Let time pass up to a moment, Unix seconds."""
        self.clock = max(self.clock, moment)
        return self

    def end(self, reason: str, *, after: float = 20.0) -> Self:
        """Close the session, some seconds after the last message."""
        self.clock += after
        self.draft.columns |= {"ended_at": round(self.clock + self.skew, 6), "end_reason": reason}
        return self

    # What becomes of it

    def marked(self, name: str, value: str) -> Self:
        """Put a marker such as `_branched_from` into `model_config`."""
        config = json.loads(str(self.draft.columns["model_config"]))
        self.draft.columns["model_config"] = json.dumps({name: value} | config)
        return self

    def compact(self, summary: str, *, keep: int) -> Self:
        """Summarise in place: all live rows become compacted, summary and the last rows are written anew."""
        live = [line for line in self.draft.lines if line.columns.get("active", 1)]
        tail = live[len(live) - keep :]
        for line in live:
            line.columns |= {"active": 0, "compacted": 1}
        self.clock += 12.0
        self.draft.messages = self.draft.calls = 0  # Hermes counts the live rows alone from here on
        self.write("user", 0.0, content=SUMMARY.format(summary=summary.strip()))
        for line in tail:
            kept = {name: value for name, value in line.columns.items() if name not in ("active", "compacted")}
            role = str(kept.pop("role"))
            del kept["session_id"], kept["timestamp"]
            twin = self.write(role, 0.000001, **kept)
            twin.calls = line.calls
            self.draft.calls += line.calls
        return self

    def rewind(self, rows: int) -> Self:
        """Take the last rows back: out of sight, still in the counter (0.19 `rewind_to_message`)."""
        for line in self.draft.lines[-rows:]:
            line.columns |= {"active": 0, "compacted": 0}
        self.draft.columns["rewind_count"] = int(str(self.draft.columns.get("rewind_count", 0))) + 1
        return self


def begin(
    script: Script, key: str, started: float, *, source: str = "cli", model: str = SONNET, **columns: Value
) -> Chat:
    """Begin a chat; `columns` are any others of `sessions` (title, cwd, git_branch …)."""
    return Chat(script, key, script.session(key, started, source=source, model=model, **columns))


def gateway(
    script: Script,
    key: str,
    started: float,
    platform: str,
    *,
    chat_id: str,
    user_id: str,
    name: str,
    kind: str = "dm",
    thread_id: str | None = None,
    model: str = SONNET,
    **columns: Value,
) -> Chat:
    """Begin a chat that came in through a gateway, with its key, its room and its bookkeeping row."""
    peer = [chat_id, *([thread_id] if thread_id else []), *([] if kind == "dm" else [user_id])]
    room: dict[str, Value] = {
        "session_key": ":".join(["agent", "main", platform, kind, *peer]),
        "chat_id": chat_id,
        "chat_type": kind,
        "thread_id": thread_id,
        "user_id": user_id,
        "display_name": name,
        "origin_json": json.dumps({"platform": platform, "chat_id": chat_id, "chat_type": kind, "user_id": user_id}),
    }
    begun = begin(script, key, started, source=platform, model=model, **(room | columns))
    begun.write("session_meta", 0.2)
    return begun
