"""Turn scenes into the rows of a sample store; `scenes/README.md` documents their format."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable
from pathlib import Path

from .chat import TEXTS, TOOLS, Chat, ChatRow, digits, stored_result
from .store_writer import Row, Value

SCENES = Path(__file__).resolve().parent / "scenes"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0  # seconds

_DISTINCT = 100
"""Distinct lines of a long result, repeated to fill it, so that the sample is built quickly."""

_GATEWAYS = frozenset({"telegram", "discord", "slack", "whatsapp", "signal"})
_WORDS = frozenset((
    "you", "seen", "hermes", "think", "system", "task", "recalled", "wait", "until", "clock", "compact", "rewind",
    "end", "mark", "chat", "cut", "compress", "branch", "reset", "route", "delegate", "collect", *TOOLS,
))  # fmt: skip
_RUNS = re.compile(
    r"(?ms)^times> (?P<times>\d+) every (?P<every>\d+)d from (?P<first>\d+)d\n(?P<scene>.*?)(?=^times> |\Z)"
)
_MARK = re.compile(
    r"(?P<joined>\+?)(?P<word>[a-z_]+)(?P<failed>!?)(?:\((?P<how>[^)]*)\))?> ?(?P<text>.*)"
)
_INHERITED = (
    "model_config", "cwd", "git_branch", "git_repo_root", "session_key", "user_id", "chat_id", "chat_type",
    "thread_id", "display_name", "origin_json", "archived", "pinned",
)  # fmt: skip
_MODEL_CONFIG = '{"max_iterations": 90, "reasoning_config": null, "max_tokens": null}'
_UNSET: dict[str, Value] = dict.fromkeys((
    "session_id", "role", "timestamp", "content", "tool_call_id", "tool_calls", "tool_name", "effect_disposition",
    "finish_reason", "reasoning", "reasoning_content", "codex_reasoning_items", "platform_message_id", "api_content",
)) | {"observed": 0, "_compressed_summary": 0, "active": 1, "compacted": 0}  # fmt: skip
"""Defaults of a row of `messages`: rows with the same columns are inserted by one statement."""
_USAGE = (
    "model", "billing_provider", "billing_mode", "api_call_count", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "estimated_cost_usd", "cost_status",
)  # fmt: skip


def _repeat(runs: re.Match[str]) -> str:
    """Repeat a scene `times` times, with `{run}` and `{days}` filled in."""
    first, every, scene = int(runs["first"]), int(runs["every"]), runs["scene"]
    return "".join(
        scene.replace("{run}", str(run)).replace("{days}", f"{first + run * every}d")
        for run in range(int(runs["times"]))
    )


def _pairs(text: str) -> list[tuple[str, str]]:
    """Parse lines `name: value`."""
    return [
        (name, value)
        for name, _, value in (line.partition(": ") for line in text.split("\n") if line)
    ]


class Player:
    """Builds a sample store from scenes.

    All times derive from `now`, so the sample always looks recent, and the same value gives the
    same rows. For that reason ids use UTC; those of Hermes use local time.

    Args:
        now: Unix seconds; all other times are earlier.
        profile: Name of its Hermes profile.
    """

    def __init__(self, now: float, profile: str = "default") -> None:
        self.now = now
        self.profile = profile
        self.generation = digits(f"{profile} file", 32)
        """`db_file_generation` of the store."""
        self.jobs: list[dict[str, str]] = []
        """The cron jobs that have run, as in `cron/jobs.json`."""
        self._chats: dict[str, Chat] = {}
        self._current = Chat("", now, {})
        self._routes: list[Row] = []

    def play(self, scene: str) -> None:
        """Play the text of a scene; see `scenes/README.md`.

        Raises:
            ValueError: A time or a number in it cannot be read.
            KeyError: It refers to a session that does not exist yet, or lacks a required value of a
                session.
        """
        scene = _RUNS.sub(_repeat, scene)
        marks: list[tuple[re.Match[str], list[str]]] = []
        for line in scene.split("\n"):
            if ">" in line and (match := _MARK.fullmatch(line)) and match["word"] in _WORDS:
                marks.append((match, []))
            elif marks:
                marks[-1][1].append(line)
        for mark, lines in marks:
            word, text, body = mark["word"], mark["text"], "\n".join(lines).rstrip("\n")
            options = (mark["how"] or "").split(", ")
            if word in TOOLS:
                self._current.call(word, text, joined=bool(mark["joined"]))
                self._result(mark, body, options)
            else:
                self._play(word, text, body, options)

    def _result(self, mark: re.Match[str], body: str, options: list[str]) -> None:
        if "escapes" in options:
            body = body.encode("latin-1", "backslashreplace").decode("unicode_escape")
        if times := next((int(each[1:]) for each in options if each[:1] == "x"), 0):
            line = (
                body.replace("%", "%%")
                .replace("{n}", "%(n)04d")
                .replace("{time}", "%(hour)02d:%(minute)02d")
            )
            lines = [
                line % {"n": n, "hour": n // 60, "minute": n % 60}
                for n in range(min(times, _DISTINCT))
            ]
            body = "\n".join((lines * (times // len(lines) + 1))[:times])
        stored = stored_result(mark["word"], mark["text"], body, failed=bool(mark["failed"]))
        seconds = next((float(each[:-1]) for each in options if each[:1].isdigit()), None)
        self._current.result(
            stored, seconds=seconds, effect="unknown" if "unknown" in options else ""
        )

    def _play(self, word: str, text: str, body: str, options: list[str]) -> None:
        """Perform a mark that is no tool call; `text` is what follows it in its line, `body` the
        lines below."""
        current, whole = self._current, f"{text}\n{body}".strip("\n")
        match word:
            case "you":
                current.say("\x00json:" + whole if "parts" in options else whole)
            case "seen":
                current.say(whole, observed=1)
            case "task":
                current.say(TEXTS["task"] + whole)
            case "hermes":
                current.reply(whole)
            case "system":
                current.write("system", 0.2, content=whole)
            case "think":
                current.thought = whole
            case "recalled":
                current.recalled = TEXTS["recalled"].format(memory=whole)
            case "chat":
                self._current = self._begin(text, dict(_pairs(body)))
            case "cut":
                self._current = self._chats[text]
            case "wait":
                current.clock += float(text) * HOUR
            case "until":
                current.clock = max(current.clock, self._ago(text))
            case "clock":
                current.skew = float(text)
            case "compact":
                current.compact(body, keep=int(text))
            case "rewind":
                current.rewind(int(text))
            case "mark":
                current.mark(*text.split(" "))
            case "end":
                reason, _after, seconds = text.partition(" after ")
                current.end(reason, after=float(seconds.removesuffix("s") or 20))
            case "compress":
                current.end("compression", after=4.0)
                self._current = self._child(
                    options[0] or f"{current.key}+", 0.25, title=text or None
                )
                self._current.summary(body, 0.1)
            case "branch":
                self._branch(options[0], text, older="older" in options)
            case "reset":
                current.end("session_reset")
                self._current = self._child(text, 0.5)
                self._current.mark("_reset_from", current.id)
                self._current.write("session_meta", 0.1)
            case "route":
                self._route(self._chats[text])
            case "delegate":
                self._delegate(_pairs(body), older="older" in options)
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
        """Begin a session from the lines after `chat>`."""
        started = self._at(given.pop("at")) if "at" in given else self._ago(given.pop("ago"))
        columns: dict[str, Value] = {"source": "cli", "model": "anthropic/claude-sonnet-4.6"}
        if "job" in given:
            name = given.pop("job")
            columns |= {
                "id": f"cron_{self._job(name)}_{_stamp(started)}",
                "title": _title_of_run(name, started),
            }
        if "gone_parent" in given:
            columns["parent_session_id"] = (
                f"{_stamp(self._ago(given.pop('gone_parent')))}_{digits('gone', 6)}"
            )
        is_gateway = given.get("source") in _GATEWAYS
        chat = self._session(
            key,
            started,
            columns | (_gateway_columns(given) if is_gateway else dict[str, Value](given)),
        )
        if is_gateway:
            chat.write("session_meta", 0.2)
        return chat

    def _job(self, name: str) -> str:
        """Return the id of a cron job, and record the job."""
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
        """Begin a child of the current session, `pause` seconds later."""
        parent = self._current
        parent.clock += pause
        above = {
            name: parent.columns[name]
            for name in _INHERITED
            if parent.columns.get(name) is not None
        }
        columns = {"parent_session_id": parent.id, "title": title, "model": parent.columns["model"]}
        return self._session(
            key, parent.clock, columns | {"source": source or parent.columns["source"]} | above
        )

    def _branch(self, key: str, title: str, *, older: bool) -> None:
        parent = self._current
        if older:
            parent.end("branched", after=1.0)
        self._current = self._child(key, 0.5, title=title)
        if not older:
            self._current.mark("_branched_from", parent.id)
        self._current.copy(parent.lines)

    def _route(self, old: Chat) -> None:
        current = self._current
        entry = {
            "session_id": current.id,
            "previous_session_id": old.id,
            "platform": current.columns["source"],
        }
        row = {
            "scope": "",
            "session_key": current.columns["session_key"],
            "entry_json": json.dumps(entry),
        }
        self._routes.append(row | {"updated_at": current.clock})

    def _delegate(self, tasks: list[tuple[str, str]], *, older: bool) -> None:
        parent = self._current
        goals = [{"goal": goal} for _key, goal in tasks]
        parent.call(
            "delegate_task",
            json.dumps(goals[0] if len(goals) == 1 else {"tasks": goals}, ensure_ascii=False),
        )
        for key, goal in tasks:
            child = self._child(key, 0.4, source="" if older else "subagent")
            if not older:
                child.mark("_delegate_from", parent.id)
            child.write("user", 0.3, content=goal)

    def _collect(self, summaries: list[tuple[str, str]]) -> None:
        """End the subagents, and add their summaries as the result of the call."""
        parent = self._current
        started = parent.clock
        results: list[dict[str, object]] = []
        for index, (key, summary) in enumerate(summaries):
            child = self._chats[key]
            child.end("agent_close", after=0.8)
            calls = sum(line.columns["role"] == "assistant" for line in child.lines)
            facts: dict[str, object] = {
                "task_index": index,
                "status": "completed",
                "summary": summary,
            }
            facts |= {"api_calls": calls, "duration_seconds": round(child.clock - started, 2)}
            results.append(facts | {"exit_reason": "completed"})
            parent.clock = max(parent.clock, child.clock)
        answer = {"results": results, "total_duration_seconds": round(parent.clock - started, 2)}
        parent.result(json.dumps(answer, ensure_ascii=False), seconds=0.2)

    def rows(self) -> dict[str, list[Row]]:
        """Return the rows by table: sessions in order of start, messages in order of writing."""
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
            "session_model_usage": [_usage_row(row) for row in sessions if row["api_call_count"]],
            "gateway_routing": self._routes,
            "state_meta": [{"key": key, "value": value} for key, value in meta.items()],
        }


def _numbered(lines: Iterable[ChatRow], stem: str) -> list[Row]:
    """Return the rows of `messages` with `id`, `display_order` and `message_uid` of Hermes 0.22.

    Args:
        lines: In order of writing.
        stem: First 24 hexadecimal digits of each `message_uid`; in Hermes all 32 are random.
    """
    numbers: dict[int, int] = {}
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        numbers[id(line)] = number
        order = numbers[id(line.repeats)] if line.repeats is not None else number
        own: dict[str, Value] = {
            "id": number,
            "display_order": order,
            "message_uid": f"{stem}{number:08x}",
        }
        rows.append(_UNSET | line.columns | own)
    return rows


def _title_of_run(job: str, moment: float) -> str:
    """Return the title of a run of a job: `Morning paper · May 28 06:30` (0.19
    `cron/scheduler.py`)."""
    at = time.gmtime(moment)
    month = "JanFebMarAprMayJunJulAugSepOctNovDec"[3 * at.tm_mon - 3 : 3 * at.tm_mon]
    return f"{job} · {month} {at.tm_mday:02} {at.tm_hour:02}:{at.tm_min:02}"


def _stamp(moment: float) -> str:
    """Format a time as in ids."""
    return time.strftime("%Y%m%d_%H%M%S", time.gmtime(moment))


def _gateway_columns(given: dict[str, str]) -> dict[str, Value]:
    """Return the columns of a chat through a gateway, with its session key and origin."""
    kind = given.get("kind", "dm")
    peer = [given["chat_id"], given.get("thread_id", ""), "" if kind == "dm" else given["user_id"]]
    origin = {
        "platform": given["source"],
        "chat_id": given["chat_id"],
        "chat_type": kind,
        "user_id": given["user_id"],
    }
    columns = {"chat_type": kind, "display_name": given["name"], "origin_json": json.dumps(origin)}
    columns["session_key"] = ":".join(["agent", "main", given["source"], kind, *filter(None, peer)])
    return {
        **{column: value for column, value in given.items() if column not in ("kind", "name")},
        **columns,
    }


def _usage_row(session: Row) -> Row:
    """Return the row of `session_model_usage` for the totals of a session."""
    seen = {
        "first_seen": session["started_at"],
        "last_seen": session.get("ended_at") or session["started_at"],
    }
    return {"session_id": session["id"], **{column: session[column] for column in _USAGE}, **seen}
