"""The real Hermes in a conversation that it compresses: what it stores, and what it sends to the
model at each turn.

Not part of the suite: it makes the cases in `tests/data/compression` that `test_context.py` reads.

    python tests/helpers/playing.py PLAN OUT.json [1: in place]

Run it with the release of Hermes that is to play on the path (`PYTHONPATH`, as in
`tests/proof/releases.py`). A server on this machine stands for the model: it takes down each
request and answers by a script. The one call that writes a summary is answered here, or fails where
the plan says so; all else is Hermes' own. A plan is a word, a letter for each step:

    s  say something; y  say only "yes"      f  let the summary of the next compression fail t  the
    same, with a tool called          n  let it fail as a broken network does p  the same, with two
    called at once     r  open the session anew, as a resume does c  compress as `/compress` does
    u  take the last exchange back h  compress all but the last exchange    k  compress, and be
    killed before the new rows are written a  let the next turn compress by itself  x  compress
    while no new session can be made m  a turn that compresses after a tool
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

_WORDS = (
    "anchor",
    "harbour",
    "quay",
    "tide",
    "lantern",
    "ferry",
    "rope",
    "gangway",
    "bread",
    "fog",
    "island",
    "storm",
)


class Model:
    """Stands for the provider."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.calls: list[str] = []
        """Tools to call before the answer: one list of arguments for each request to come."""
        self.store: Path | None = None
        self.session = ""
        self.after_answer: Callable[[], None] = lambda: None
        """Called once, after the next answer."""
        self.agent: Any = None
        """Hermes' agent, whose requests these are."""
        self.lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take a request down, and say what the model says to it."""
        with self.lock:
            number = len(self.requests)
            self.requests.append({"messages": body["messages"], "session": self.agent.session_id})
        if self.calls:
            names = self.calls.pop(0)
            calls = [
                {"id": f"call_{number}_{at}", "type": "function",
                 "function": {"name": "read_file", "arguments": json.dumps({"path": name})}}
                for at, name in enumerate(names.split("+"))
            ]  # fmt: skip
            return {"role": "assistant", "content": f"reading for {number}", "tool_calls": calls}
        return {
            "role": "assistant",
            "content": f"answer {number}: {_WORDS[number % 12]} " + "and so on " * 30,
        }


def serve(model: Model) -> str:
    """Start the server, which streams its answers; returns its address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            self._send('{"data": []}', "application/json")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "messages" not in body:
                return self._send("{}", "application/json")
            said = model.answer(body)
            then, model.after_answer = model.after_answer, lambda: None
            then()
            head = {"id": "x", "created": 1, "model": "stub", "object": "chat.completion.chunk"}
            calls = [call | {"index": at} for at, call in enumerate(said.get("tool_calls", []))]
            delta = said | {"tool_calls": calls} if calls else said
            end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            chunks = [
                {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**head, "choices": [end], "usage": usage},
            ]
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
            return self._send("".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")

        def _send(self, body: str, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


class Killed(BaseException):
    """Ends a compression in the middle."""


class Play:
    """One conversation."""

    def __init__(self, home: Path, in_place: bool) -> None:
        self.model, self.in_place = Model(), in_place
        self.address = serve(self.model)
        self.home = home
        self.number = self.summaries = 0
        self.failing = ""
        self.tools: list[Path] = []
        self.notes: list[str] = []
        self.history: list[dict[str, Any]] = []
        import agent.context_compressor as compressor
        from hermes_state import SessionDB

        compressor.call_llm = self.summarize
        self.db = SessionDB(home / "state.db")
        self.open("20260101_090000_abc001")

    def summarize(self, **_: object) -> Any:
        """The one call that is stubbed: a summary, or a failure."""
        if self.failing == "n":
            raise ConnectionError("Connection error: the network is away")
        if self.failing:
            raise ValueError("the summary failed")
        self.summaries += 1
        text = f"## Goal\nSummary number {self.summaries}: the ferry leaves from quay 4.\n## Progress\nDone so far."
        message = SimpleNamespace(content=text, reasoning=None, tool_calls=None)
        return SimpleNamespace(
            choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=None
        )

    def open(self, session: str) -> None:
        """Make the agent, as the command line does."""
        from run_agent import AIAgent

        self.agent = AIAgent(
            base_url=self.address, api_key="none", provider="custom", model="stub", quiet_mode=True,
            enabled_toolsets=["file"], session_id=session, session_db=self.db, platform="cli", skip_memory=True,
            skip_context_files=True,
        )  # fmt: skip
        self.model.agent = self.agent
        self.agent._compression_feasibility_checked = True
        self.agent.compression_in_place = self.in_place
        self.agent.compression_enabled = False
        engine = self.agent.context_compressor
        engine.protect_last_n, engine.tail_token_budget, engine.quiet_mode = 4, 150, True
        engine._base_threshold = engine.threshold_tokens

    def say(self, text: str) -> None:
        """One turn."""
        done = self.agent.run_conversation(text, conversation_history=self.history)
        self.history = done["messages"]
        self.auto(False)

    def auto(self, on: bool) -> None:
        """Whether turns compress by themselves."""
        engine = self.agent.context_compressor
        self.agent.compression_enabled = on
        engine.threshold_tokens = 1 if on else engine._base_threshold
        if on:
            engine.last_prompt_tokens = 100
            engine._ineffective_compression_count = engine._fallback_compression_streak = 0
            engine.awaiting_real_usage_after_compression = False
            engine.should_defer_preflight_to_real_usage = lambda *_: False

    def file(self) -> str:
        """A file to read."""
        path = self.home / f"note-{self.number}-{len(self.tools)}.txt"
        path.write_text(f"the tide table {self.number}: " + "high and low water " * 12)
        self.tools.append(path)
        return str(path)

    def step(self, letter: str) -> None:
        """Do what one letter of a plan says."""
        self.number += 1
        if letter in "stypm":
            self.turn(letter)
        elif letter in "fn":
            self.failing = letter
        else:
            does: dict[str, Callable[[], None]] = {
                "a": lambda: self.auto(True),
                "c": self.compress,
                "h": lambda: self.compress(keep=1),
                "k": self.kill,
                "r": self.resume,
                "u": self.take_back,
                "x": self.refuse_child,
            }
            does[letter]()
        if letter not in "fna":
            self.failing = ""

    def turn(self, letter: str) -> None:
        """Say something; it may lead to calls of a tool, and to a compression behind them."""
        word = _WORDS[self.number % 12]
        text = f"question {self.number}: what about the {word}? " + "tell me more " * 8
        paths = [self.file() for _ in range({"t": 1, "p": 2, "m": 2}.get(letter, 0))]
        self.model.calls = ["+".join(paths)] if letter == "p" else paths
        if letter == "m":
            self.model.after_answer = lambda: self.auto(True)
        self.say("yes" if letter == "y" else text)

    def resume(self) -> None:
        """Open the session anew, at its tip."""
        self.db.reopen_session(self.agent.session_id)
        session = self.db.get_compression_tip(self.agent.session_id)
        self.history = self.db.get_messages_as_conversation(session)
        self.open(session)

    def take_back(self) -> None:
        """The last exchange."""
        session = self.agent.session_id
        asked = [row["id"] for row in self.db.get_messages(session) if row["role"] == "user"]
        if asked:
            self.db.rewind_to_message(session, asked[-1])
        self.history = self.db.get_messages_as_conversation(session)

    def compress(self, keep: int = 0) -> None:
        """As `/compress` does in the command line (`_manual_compress`, 0.16 to 0.19); with `keep`,
        `/compress here`."""
        before, head, tail, session = len(self.history), self.history, [], self.agent.session_id
        if keep:
            from hermes_cli.partial_compress import (
                rejoin_compressed_head_and_tail,
                split_history_for_partial_compress,
            )

            head, tail = split_history_for_partial_compress(self.history, keep)
        made, _prompt = self.agent._compress_context(head, None, approx_tokens=1000, force=True)
        self.history = rejoin_compressed_head_and_tail(made, tail) if tail else made
        if self.agent.session_id != session:
            self.agent._flush_messages_to_session_db(self.history, None)
        self.notes.append(f"compressed {before} to {len(self.history)}")

    def refuse_child(self) -> None:
        """Compress while no session can be made, which ends a rotation half way."""
        locked = sqlite3.OperationalError("database is locked")
        with patch.object(self.db, "create_session", side_effect=locked):
            self.compress()

    def kill(self) -> None:
        """Compress, and end it before the new rows are there."""
        names = ("archive_and_compact", "replace_messages", "update_system_prompt")
        killed = Mock(side_effect=Killed)
        with suppress(Killed), patch.multiple(self.db, **dict.fromkeys(names, killed)):
            self.compress()
        if killed.called:
            self.notes.append("killed")


def said_by(message: dict[str, Any]) -> str:
    """What is compared of a message that was sent, or of a row: role, text, the tools it calls, the
    call it answers."""
    calls = message.get("tool_calls") or []
    content = message.get("api_content") or message.get("content") or ""
    said = content if isinstance(content, str) else json.dumps(content)
    names = [call["id"] for call in (json.loads(calls) if isinstance(calls, str) else calls)]
    return json.dumps(
        [message["role"], said.strip(), names, message.get("tool_call_id")], ensure_ascii=False
    )


def _outline(messages: list[dict[str, Any]], texts: dict[str, int]) -> list[int]:
    """What was sent, as numbers of texts."""
    return [texts.setdefault(said_by(message), len(texts)) for message in messages]


def main() -> None:
    """Play, and write down what came of it."""
    plan, out = sys.argv[1], Path(sys.argv[2]).absolute()
    in_place = sys.argv[3:] == ["1"]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["HERMES_HOME"] = str(home)
        os.chdir(home)
        (home / "config.yaml").write_text("model:\n  default: stub\n")
        import hermes_state
        import run_agent

        prompts = iter(range(1, 1000))
        run_agent.AIAgent._build_system_prompt = lambda *_, **__: (
            f"You are Hermes, prompt {next(prompts)}."
        )
        play = Play(home, in_place)
        for letter in plan:
            play.step(letter)
        play.db.close()
        connection = sqlite3.connect(home / "state.db")
        connection.row_factory = sqlite3.Row
        tables = {
            name: [
                {key: row[key] for key in row.keys() if row[key] is not None}  # noqa: SIM118
                for row in connection.execute(f"SELECT * FROM {name} ORDER BY rowid")
            ]
            for name in ("sessions", "messages")
        }
        texts: dict[str, int] = {}
        requests = [
            {"session": each["session"], "sent": _outline(each["messages"], texts)}
            for each in play.model.requests
        ]
        stored = {said_by(row): row["id"] for row in reversed(tables["messages"])}
        case = {
            "hermes": metadata.version("hermes-agent"),
            "plan": plan,
            "in_place": in_place,
            "schema": hermes_state.SCHEMA_VERSION,
            "notes": play.notes,
            **tables,
            "texts": [stored.get(key) or json.loads(key) for key in texts],
            "requests": requests,
        }
        lines = [f"{json.dumps(name)}: {_lines(value)}" for name, value in case.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        out.write_text(text.replace(str(home), "/home"), encoding="utf-8")


def _lines(value: object) -> str:
    """JSON, of a list each item on a line of its own."""
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in value) + "\n]"


if __name__ == "__main__":
    main()
