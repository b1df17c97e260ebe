"""Plays the written scenes into the rows of a sample store. `scenes/README.md` says how a scene is written."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable
from pathlib import Path

from .chat import TEXTS, TOOLS, Chat, Line, digits, stored_result
from .writer import Row, Value

SCENES = Path(__file__).resolve().parent / "scenes"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0  # seconds

_DIFFERENT = 100
"""Lines of a long result that differ; the rest repeats them, so that the sample is made quickly."""

_GATEWAYS = frozenset({"telegram", "discord", "slack", "whatsapp", "signal"})
_WORDS = frozenset((
    "you", "seen", "hermes", "think", "system", "task", "recalled", "wait", "until", "clock", "compact", "rewind",
    "end", "mark", "chat", "cut", "compress", "branch", "reset", "route", "delegate", "collect", *TOOLS,
))  # fmt: skip
_RUNS = re.compile(
    r"(?ms)^times> (?P<times>\d+) every (?P<every>\d+)d from (?P<first>\d+)d\n(?P<scene>.*?)(?=^times> |\Z)"
)
_MARK = re.compile(r"(?P<joined>\+?)(?P<word>[a-z_]+)(?P<failed>!?)(?:\((?P<how>[^)]*)\))?> ?(?P<text>.*)")
_INHERITED = (
    "model_config", "cwd", "git_branch", "git_repo_root", "session_key", "user_id", "chat_id", "chat_type",
    "thread_id", "display_name", "origin_json", "archived", "pinned",
)  # fmt: skip
_MODEL_CONFIG = '{"max_iterations": 90, "reasoning_config": null, "max_tokens": null}'
_UNSET: dict[str, Value] = dict.fromkeys((
    "session_id", "role", "timestamp", "content", "tool_call_id", "tool_calls", "tool_name", "effect_disposition",
    "finish_reason", "reasoning", "reasoning_content", "codex_reasoning_items", "platform_message_id", "api_content",
)) | {"observed": 0, "_compressed_summary": 0, "active": 1, "compacted": 0}  # fmt: skip
"""A row of `messages` before anything is put in: rows with the same columns are inserted in one go."""
_USAGE = (
    "model", "billing_provider", "billing_mode", "api_call_count", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "estimated_cost_usd", "cost_status",
)  # fmt: skip


def _unfolded(runs: re.Match[str]) -> str:
    """A scene that is played so many times, with `{run}` and `{days}` filled in."""
    first, every, scene = int(runs["first"]), int(runs["every"]), runs["scene"]
    return "".join(
        scene.replace("{run}", str(run)).replace("{days}", f"{first + run * every}d")
        for run in range(int(runs["times"]))
    )


def _pairs(text: str) -> list[tuple[str, str]]:
    """Lines `name: value`."""
    return [(name, value) for name, _, value in (line.partition(": ") for line in text.split("\n") if line)]


class Player:
    """The sample store while it is made up.

    Everything hangs on `now`: the sample is always fresh, and the same moment gives the same rows. Ids and times are
    reckoned in UTC for that reason; Hermes itself takes the local time for its ids.

    Args:
        now: Unix seconds; everything else lies before it.
        profile: The Hermes profile whose store it is.
    """

    def __init__(self, now: float, profile: str = "default") -> None:
        self.now = now
        self.profile = profile
        self.generation = digits(f"{profile} file", 32)
        """The stamp of the file."""
        self.jobs: list[dict[str, str]] = []
        """The cron jobs that have run, as `cron/jobs.json` names them."""
        self._chats: dict[str, Chat] = {}
        self._here = Chat("", now, {})
        self._routes: list[Row] = []

    def play(self, scene: str) -> None:
        """Play the text of a scene; see `scenes/README.md`.

        Raises:
            ValueError: A time or a number in it cannot be read.
            KeyError: It speaks of a session that has not begun, or leaves out what a session needs.
        """
        scene = _RUNS.sub(_unfolded, scene)
        marks: list[tuple[re.Match[str], list[str]]] = []
        for line in scene.split("\n"):
            if ">" in line and (found := _MARK.fullmatch(line)) and found["word"] in _WORDS:
                marks.append((found, []))
            elif marks:
                marks[-1][1].append(line)
        for mark, lines in marks:
            word, text, body = mark["word"], mark["text"], "\n".join(lines).rstrip("\n")
            how = (mark["how"] or "").split(", ")
            if word in TOOLS:
                self._here.call(word, text, joined=bool(mark["joined"]))
                self._result(mark, body, how)
            elif not self._said(word, f"{text}\n{body}".strip("\n"), how):
                self._directed(word, text, body, how)

    def _result(self, mark: re.Match[str], body: str, how: list[str]) -> None:
        if "escapes" in how:
            body = body.encode("latin-1", "backslashreplace").decode("unicode_escape")
        if times := next((int(each[1:]) for each in how if each[:1] == "x"), 0):
            line = body.replace("%", "%%").replace("{n}", "%(n)04d").replace("{time}", "%(hour)02d:%(minute)02d")
            lines = [line % {"n": n, "hour": n // 60, "minute": n % 60} for n in range(min(times, _DIFFERENT))]
            body = "\n".join((lines * (times // len(lines) + 1))[:times])
        stored = stored_result(mark["word"], mark["text"], body, failed=bool(mark["failed"]))
        seconds = next((float(each[:-1]) for each in how if each[:1].isdigit()), None)
        self._here.result(stored, seconds=seconds, effect="unknown" if "unknown" in how else "")

    def _said(self, word: str, said: str, how: list[str]) -> bool:
        """Do a mark that is a row of text; returns whether it is one."""
        here = self._here
        match word:
            case "you":
                here.say("\x00json:" + said if "parts" in how else said)
            case "seen":
                here.say(said, observed=1)
            case "task":
                here.say(TEXTS["task"] + said)
            case "hermes":
                here.reply(said)
            case "system":
                here.write("system", 0.2, content=said)
            case "think":
                here.thought = said
            case "recalled":
                here.recalled = TEXTS["recalled"].format(memory=said)
            case _:
                return False
        return True

    def _directed(self, word: str, text: str, body: str, how: list[str]) -> None:
        here = self._here
        match word:
            case "chat":
                self._here = self._begin(text, dict(_pairs(body)))
            case "cut":
                self._here = self._chats[text]
            case "wait":
                here.clock += float(text) * HOUR
            case "until":
                here.clock = max(here.clock, self._ago(text))
            case "clock":
                here.skew = float(text)
            case "compact":
                here.compact(body, keep=int(text))
            case "rewind":
                here.rewind(int(text))
            case "mark":
                here.mark(*text.split(" "))
            case "end":
                reason, _after, seconds = text.partition(" after ")
                here.end(reason, after=float(seconds.removesuffix("s") or 20))
            case "compress":
                here.end("compression", after=4.0)
                self._here = self._child(how[0] or f"{here.key}+", 0.25, title=text or None)
                self._here.summary(body, 0.1)
            case "branch":
                self._branch(how[0], text, older="older" in how)
            case "reset":
                here.end("session_reset")
                self._here = self._child(text, 0.5)
                self._here.mark("_reset_from", here.id)
                self._here.write("session_meta", 0.1)
            case "route":
                self._route(self._chats[text])
            case "delegate":
                self._delegate(_pairs(body), older="older" in how)
            case "collect":
                self._collect(_pairs(body))

    def _ago(self, text: str) -> float:
        moment = self.now
        for each in text.split():
            moment -= float(each[:-1]) * {"d": DAY, "h": HOUR, "m": MINUTE}[each[-1]]
        return moment

    def _at(self, text: str) -> float:
        days, hours, minutes = (int(each) for each in re.split("d |:", text))
        return self.now - self.now % DAY - days * DAY + hours * HOUR + minutes * MINUTE

    def _begin(self, key: str, given: dict[str, str]) -> Chat:
        """A session from the lines after `chat>`."""
        started = self._at(given.pop("at")) if "at" in given else self._ago(given.pop("ago"))
        columns: dict[str, Value] = {"source": "cli", "model": "anthropic/claude-sonnet-4.6"}
        if "job" in given:
            name = given.pop("job")
            columns |= {"id": f"cron_{self._job(name)}_{_stamp(started)}", "title": _title_of_run(name, started)}
        if "gone_parent" in given:
            columns["parent_session_id"] = f"{_stamp(self._ago(given.pop('gone_parent')))}_{digits('gone', 6)}"
        is_gateway = given.get("source") in _GATEWAYS
        chat = self._session(key, started, columns | (_room(given) if is_gateway else dict[str, Value](given)))
        if is_gateway:
            chat.write("session_meta", 0.2)
        return chat

    def _job(self, name: str) -> str:
        """The id of a cron job."""
        job = {"id": digits(name, 12), "name": name}
        if job not in self.jobs:
            self.jobs.append(job)
        return job["id"]

    def _session(self, key: str, started: float, columns: dict[str, Value]) -> Chat:
        source, model, cwd = str(columns["source"]), str(columns["model"]), columns.get("cwd")
        defaults: dict[str, Value] = {
            "id": f"{_stamp(started)}_{digits(key, 8 if source in _GATEWAYS else 6)}",
            "model_config": _MODEL_CONFIG,
            "created_source": source,
            "title_source": "llm" if columns.get("title") else None,
            "system_prompt": TEXTS["prompt"].format(source=source, cwd=cwd or "none"),
            "started_at": started,
            "billing_provider": "openrouter" if "/" in model else "custom",
            "billing_mode": "metered" if "/" in model else "local",
            "git_repo_root": cwd if columns.get("git_branch") else None,
        }
        self._chats[key] = chat = Chat(key, started, defaults | columns)
        return chat

    def _child(self, key: str, pause: float, *, title: str | None = None, source: str = "") -> Chat:
        """A session that begins so many seconds from now in the place of the one that is here."""
        parent = self._here
        parent.clock += pause
        above = {name: parent.columns[name] for name in _INHERITED if parent.columns.get(name) is not None}
        columns = {"parent_session_id": parent.id, "title": title, "model": parent.columns["model"]}
        return self._session(key, parent.clock, columns | {"source": source or parent.columns["source"]} | above)

    def _branch(self, key: str, title: str, *, older: bool) -> None:
        parent = self._here
        if older:
            parent.end("branched", after=1.0)
        self._here = self._child(key, 0.5, title=title)
        if not older:
            self._here.mark("_branched_from", parent.id)
        self._here.copy(parent.lines)

    def _route(self, old: Chat) -> None:
        here = self._here
        entry = {"session_id": here.id, "previous_session_id": old.id, "platform": here.columns["source"]}
        row = {"scope": "", "session_key": here.columns["session_key"], "entry_json": json.dumps(entry)}
        self._routes.append(row | {"updated_at": here.clock})

    def _delegate(self, tasks: list[tuple[str, str]], *, older: bool) -> None:
        parent = self._here
        goals = [{"goal": goal} for _key, goal in tasks]
        parent.call("delegate_task", json.dumps(goals[0] if len(goals) == 1 else {"tasks": goals}, ensure_ascii=False))
        for key, goal in tasks:
            child = self._child(key, 0.4, source="" if older else "subagent")
            if not older:
                child.mark("_delegate_from", parent.id)
            child.write("user", 0.3, content=goal)

    def _collect(self, summaries: list[tuple[str, str]]) -> None:
        """Close the subagents and take their summaries as the result of the call."""
        parent = self._here
        started = parent.clock
        results: list[dict[str, object]] = []
        for index, (key, summary) in enumerate(summaries):
            child = self._chats[key]
            child.end("agent_close", after=0.8)
            calls = sum(line.columns["role"] == "assistant" for line in child.lines)
            facts: dict[str, object] = {"task_index": index, "status": "completed", "summary": summary}
            facts |= {"api_calls": calls, "duration_seconds": round(child.clock - started, 2)}
            results.append(facts | {"exit_reason": "completed"})
            parent.clock = max(parent.clock, child.clock)
        answer = {"results": results, "total_duration_seconds": round(parent.clock - started, 2)}
        parent.result(json.dumps(answer, ensure_ascii=False), seconds=0.2)

    def rows(self) -> dict[str, list[Row]]:
        """Rows by table: sessions by their start, messages by the moment they were written."""
        chats = sorted(self._chats.values(), key=lambda chat: chat.started)
        lines = sorted((line for chat in chats for line in chat.lines), key=lambda line: line.order)
        sessions: list[Row] = []
        prompts: dict[str, str] = {}
        for chat in chats:
            row = chat.row()
            prompt = str(row.pop("system_prompt"))
            key = hashlib.sha256(prompt.encode()).hexdigest()
            prompts[key] = prompt
            sessions.append(row | {"system_prompt_hash": key})
        meta = {
            "store_instance_id": digits(f"{self.profile} store", 32),
            "store_created_at_utc": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(chats[0].started))}.000000+00:00",
            "message_uid_backfill": "1",
            "db_file_generation": self.generation,
            "last_auto_prune": str(self.now - DAY / 2),
        }
        return {
            "system_prompts": [{"hash": key, "prompt": prompt} for key, prompt in prompts.items()],
            "sessions": sessions,
            "messages": _numbered(lines, digits(f"{self.profile} messages", 24)),
            "session_model_usage": [_used(row) for row in sessions if row["api_call_count"]],
            "gateway_routing": self._routes,
            "state_meta": [{"key": key, "value": value} for key, value in meta.items()],
        }


def _numbered(lines: Iterable[Line], stem: str) -> list[Row]:
    """The rows of `messages` in their order, with what Hermes 0.22 tells them apart by.

    Args:
        lines: In their order.
        stem: 24 hexadecimal digits that all `message_uid` begin with; Hermes draws all 32 at random.
    """
    numbers: dict[int, int] = {}
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        numbers[id(line)] = number
        order = numbers[id(line.repeats)] if line.repeats is not None else number
        mine: dict[str, Value] = {"id": number, "display_order": order, "message_uid": f"{stem}{number:08x}"}
        rows.append(_UNSET | line.columns | mine)
    return rows


def _title_of_run(job: str, moment: float) -> str:
    """What Hermes calls a run of a job: `Morning paper · May 28 06:30` (0.19 `cron/scheduler.py`)."""
    at = time.gmtime(moment)
    month = "JanFebMarAprMayJunJulAugSepOctNovDec"[3 * at.tm_mon - 3 : 3 * at.tm_mon]
    return f"{job} · {month} {at.tm_mday:02} {at.tm_hour:02}:{at.tm_min:02}"


def _stamp(moment: float) -> str:
    """A moment as ids spell it."""
    return time.strftime("%Y%m%d_%H%M%S", time.gmtime(moment))


def _room(given: dict[str, str]) -> dict[str, Value]:
    """The columns of a chat that came in through a gateway, with its key and its room."""
    kind = given.get("kind", "dm")
    peer = [given["chat_id"], given.get("thread_id", ""), "" if kind == "dm" else given["user_id"]]
    origin = {"platform": given["source"], "chat_id": given["chat_id"], "chat_type": kind, "user_id": given["user_id"]}
    room = {"chat_type": kind, "display_name": given["name"], "origin_json": json.dumps(origin)}
    room["session_key"] = ":".join(["agent", "main", given["source"], kind, *filter(None, peer)])
    return {**{column: value for column, value in given.items() if column not in ("kind", "name")}, **room}


def _used(session: Row) -> Row:
    """The row of `session_model_usage` that the totals of a session make."""
    seen = {"first_seen": session["started_at"], "last_seen": session.get("ended_at") or session["started_at"]}
    return {"session_id": session["id"], **{column: session[column] for column in _USAGE}, **seen}
