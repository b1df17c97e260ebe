"""How one session comes of another: continued, branched, reset, delegated; written as Hermes writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .chat import SUMMARY, Chat
from .script import Line
from .writer import Value

_HANDED_ON = ("model_config", "cwd", "git_branch", "git_repo_root", "session_key", "user_id", "chat_id", "chat_type")
_HANDED_ON_TOO = ("thread_id", "display_name", "origin_json")


def _child(parent: Chat, key: str, *, source: str, title: str | None) -> Chat:
    """A session that starts when the parent's clock says so and inherits its place."""
    above = parent.draft.columns
    columns: dict[str, Value] = {"parent_session_id": parent.id, "title": title}
    columns |= {name: above[name] for name in (*_HANDED_ON, *_HANDED_ON_TOO) if above.get(name) is not None}
    draft = parent.script.session(key, parent.clock, source=source, model=str(above["model"]), **columns)
    return Chat(parent.script, key, draft)


def compress(parent: Chat, summary: str, *, title: str | None = None, key: str = "") -> Chat:
    """Close with `compression` and go on in a child that begins with the summary (Hermes' rotation)."""
    parent.end("compression", after=4.0).wait(0.25)
    child = _child(parent, key or f"{parent.key}+", source=str(parent.draft.columns["source"]), title=title)
    child.write("user", 0.1, content=SUMMARY.format(summary=summary.strip()))
    return child


def branch(parent: Chat, key: str, *, title: str | None, marker: bool = True) -> Chat:
    """A second way on from here: a child with a copy of what was said.

    Args:
        parent: The chat so far.
        key: As for `Script.session`.
        title: Of the child.
        marker: With `_branched_from`, and the parent stays open; else the older way, by `end_reason`.
    """
    if not marker:
        parent.end("branched", after=1.0)
    child = _child(parent.wait(0.5), key, source=str(parent.draft.columns["source"]), title=title)
    if marker:
        child.marked("_branched_from", parent.id)
    for line in parent.draft.lines:
        moment = child.wait(0.001).clock  # copies carry the time of the copying, as in 0.19
        copied = Line(moment, line.columns | {"session_id": child.id, "timestamp": round(moment, 6)}, line.calls)
        child.draft.lines.append(copied)
        child.draft.count(copied)
    return child


def reset(parent: Chat, key: str, *, reason: str = "session_reset") -> Chat:
    """Close as a gateway does on /new or after a quiet day, and begin afresh in the same room."""
    child = _child(parent.end(reason).wait(0.5), key, source=str(parent.draft.columns["source"]), title=None)
    child.marked("_reset_from", parent.id)
    child.write("session_meta", 0.1)
    return child


def delegate(parent: Chat, *tasks: tuple[str, str], source: str = "subagent", marker: bool = True) -> list[Chat]:
    """Hand tasks to subagents that run side by side.

    Args:
        parent: Who asks.
        tasks: Key and goal of each.
        source: `subagent` since 0.19; older ones carry the source of their parent.
        marker: With `_delegate_from` (0.17 and later).

    Returns:
        The subagents; `collect` brings their answers back.
    """
    goals = [{"goal": goal} for _, goal in tasks]
    given: dict[str, object] = {"goal": tasks[0][1]} if len(tasks) == 1 else {"tasks": goals}
    parent.use("delegate_task", json.dumps(given, ensure_ascii=False), None)
    children = []
    for key, goal in tasks:
        child = _child(parent.wait(0.4), key, source=source, title=None)
        if marker:
            child.marked("_delegate_from", parent.id)
        child.write("user", 0.3, content=goal)
        children.append(child)
    return children


def collect(parent: Chat, children: Sequence[Chat], summaries: Sequence[str], *, reason: str = "agent_close") -> None:
    """Wait for the subagents, close them, and take their summaries as the result of the call."""
    started = parent.clock
    results: list[dict[str, object]] = []
    for index, (child, summary) in enumerate(zip(children, summaries, strict=True)):
        child.end(reason, after=0.8)
        calls = sum(line.columns["role"] == "assistant" for line in child.draft.lines)
        facts: dict[str, object] = {"task_index": index, "status": "completed", "summary": summary}
        taken = round(child.clock - started, 2)
        results.append(facts | {"api_calls": calls, "duration_seconds": taken, "exit_reason": "completed"})
    parent.until(max(child.clock for child in children))
    call_id, tool = parent.open_call
    answer = {"results": results, "total_duration_seconds": round(parent.clock - started, 2)}
    content = json.dumps(answer, ensure_ascii=False)
    parent.write("tool", 0.2, content=content, tool_call_id=call_id, tool_name=tool)
