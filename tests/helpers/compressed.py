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

from hermes_browse.store.compression.model_context import Contexts, Memory
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
    contexts = Contexts(reader, segments)
    return contexts.memory(contexts.at(None))


def _row(number: int) -> dict[str, Any]:
    """A row by its place: a request, a call, its result, an answer, by turns."""
    path = f"src/part{number}.py"
    row: dict[str, Any] = {"role": "assistant", "timestamp": T0 + number}
    match number % 4:
        case 0:
            row |= {"role": "user", "content": f"request {number}: look at {path} " * 4}
        case 1:
            calls = [tool_call("read_file", {"path": path}, id=f"call_{number}")]
            row |= {"content": "", "tool_calls": calls}
        case 2:
            text = f"line of the file {number}\n" * 60
            row |= {"role": "tool", "content": text, "tool_call_id": f"call_{number - 1}"}
        case 3:
            row |= {"content": f"answer {number}: done so far. " * 10}
    return row


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
        number = len(messages)
        add(_row(number))
        if len(generation) < every or number % 4 != 3:
            continue
        stamp = T0 + number + 0.5
        head = generation[:3] if generation[0] is messages[0] else []
        summary = {"role": "assistant", "content": SUMMARY.format(number=number) + END}
        again = [dict(row) for row in (*head, summary, *generation[-8:])]
        if in_place:
            for row in generation:
                row |= {"active": 0, "compacted": 1}
        else:
            last = sessions[-1]
            last |= {"end_reason": "compression", "ended_at": stamp}
            new = {"parent_session_id": last["id"], "started_at": stamp}
            sessions.append({"id": f"s{len(sessions)}"} | new)
        generation.clear()
        for place, row in enumerate(again):
            add(row | {"timestamp": stamp + place * 1e-6})
        while len(messages) % 4:
            text = f"more {len(messages)}"
            add({"role": "user", "content": text, "timestamp": T0 + len(messages)})
    return make_store(path, "22", sessions, messages)
