"""Conversations that were compressed: recorded ones, and one of any length written as Hermes writes
them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import paths
import shapes
from builders import T0, make_store, tool_call

from hermes_browse.store.compression.model_context import Memory, read_contexts
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.sessions.models import Session

DATA = paths.DATA / "compression"
SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. Summary {number}: the ferry leaves at nine."
END = "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"


@cache
def case(name: str) -> dict[str, Any]:
    """A recorded case (`playing.py` says how they are made)."""
    loaded: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return loaded


def store_of(path: Path, recorded: dict[str, Any]) -> Path:
    """The store of a recorded case, with the columns that its schema has."""
    version = recorded["schema"]
    nearest = min(shapes.NAMES, key=lambda name: abs(shapes.shape(name).version - version))
    return make_store(path, nearest, recorded["sessions"], recorded["messages"])


def read_memory(reader: Reader, segments: Sequence[Session]) -> Memory:
    """What the model has of a conversation when it is resumed."""
    contexts = read_contexts(reader, segments)
    return contexts.memory(contexts.at(None))


def long_conversation(
    path: Path, rows: int = 5000, compactions: int = 20, *, in_place: bool = True
) -> Path:
    """One conversation of so many rows, compressed at even distances: three rows of head once,
    eight of tail.

    Args:
        path: A path that is free.
        rows: How many, those written again included.
        compactions: How many.
        in_place: False makes each a session of its own.
    """
    messages: list[dict[str, Any]] = []
    sessions: list[dict[str, Any]] = [{"id": "s0"}]
    generation: list[dict[str, Any]] = []
    every = rows // (compactions + 1)

    def add(row: dict[str, Any]) -> None:
        messages.append(row | {"id": len(messages) + 1, "session_id": sessions[-1]["id"]})
        generation.append(messages[-1])

    while len(messages) < rows:
        number, clock = len(messages), {"timestamp": T0 + len(messages)}
        match number % 4:
            case 0:
                add(
                    {
                        "role": "user",
                        "content": f"request {number}: look at src/part{number}.py " * 4,
                    }
                    | clock
                )
            case 1:
                calls = [
                    tool_call("read_file", {"path": f"src/part{number}.py"}, id=f"call_{number}")
                ]
                add({"role": "assistant", "content": "", "tool_calls": calls} | clock)
            case 2:
                text = f"line of the file {number}\n" * 60
                add({"role": "tool", "content": text, "tool_call_id": f"call_{number - 1}"} | clock)
            case _:
                add(
                    {"role": "assistant", "content": f"answer {number}: done so far. " * 10} | clock
                )
        if len(generation) >= every and number % 4 == 3:
            before, stamp = list(generation), T0 + number + 0.5
            head = before[:3] if len(sessions) == 1 and messages[0] is before[0] else []
            generation.clear()
            if in_place:
                for row in before:
                    row |= {"active": 0, "compacted": 1}
            else:
                sessions[-1] |= {"end_reason": "compression", "ended_at": stamp}
                last = sessions[-1]["id"]
                sessions.append(
                    {"id": f"s{len(sessions)}", "parent_session_id": last, "started_at": stamp}
                )
            summary = {"role": "assistant", "content": SUMMARY.format(number=number) + END}
            for place, row in enumerate([*head, summary, *before[-8:]]):
                copy = {
                    name: value
                    for name, value in row.items()
                    if name not in ("active", "compacted")
                }
                add(copy | {"timestamp": stamp + place * 1e-6})
            while len(messages) % 4:
                add(
                    {
                        "role": "user",
                        "content": f"more {len(messages)}",
                        "timestamp": T0 + len(messages),
                    }
                )
    return make_store(path, "22", sessions, messages)
