"""Releases of Hermes, each in a folder of its own: fetched by pip where it can be, run as programs
of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from counts import IS_LONG

KNOWN = (
    "0.13.0", "0.14.0", "0.15.0", "0.15.1", "0.15.2", "0.16.0", "0.17.0", "0.18.0", "0.18.1", "0.18.2", "0.19.0",
    "0.20.1", "0.22.2",
)  # fmt: skip
"""Releases whose stores we claim to read, oldest first."""

_AUTHOR = """
import inspect, json, random, sys, time
from pathlib import Path
import hermes_state
db = hermes_state.SessionDB(Path(sys.argv[1]))
takes = lambda method, name: name in inspect.signature(method).parameters
chance = random.Random(int(sys.argv[2]))
WORDS = "ferry harbour rope lantern tide island anchor bread gangway quay fog column cache token deploy".split()
said = lambda: " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 14)))
def call(number, name="terminal"):
    return {"id": f"call_{number}", "type": "function",
            "function": {"name": name, "arguments": json.dumps({"command": said()})}}
def chat(session, turns):
    for number in range(turns):
        db.append_message(session, "user", said())
        if chance.random() < 0.4:
            db.append_message(session, "assistant", "", tool_calls=[call(f"{session}{number}")], reasoning=said())
            db.append_message(session, "tool", said(), tool_name="terminal", tool_call_id=f"call_{session}{number}")
        db.append_message(session, "assistant", said(), finish_reason="stop")
def begin(session, source="cli", **more):
    db.create_session(session, source, **more)
    time.sleep(0.002)
begin("chain-1", model="m/one", system_prompt="be kind")
db.append_message("chain-1", "user", "why does the pelican not sing?")
chat("chain-1", 3)
db.set_session_title("chain-1", "Pelicans")
for number in (2, 3):
    db.end_session(f"chain-{number - 1}", "compression")
    begin(f"chain-{number}", parent_session_id=f"chain-{number - 1}", model="m/two")
    db.set_session_title(f"chain-{number}", db.get_next_title_in_lineage("Pelicans"))
    chat(f"chain-{number}", 2)
begin("branch-1", parent_session_id="chain-3", model_config={"_branched_from": "chain-3"})
db.append_message("branch-1", "user", "another way to sing")
begin("agent-1", "subagent", parent_session_id="chain-3", model_config={"_delegate_from": "chain-3"})
db.append_message("agent-1", "user", "count the pelicans")
begin("picture-1", "telegram", user_id="u1")
db.append_message("picture-1", "user", [
    {"type": "text", "text": "what is on this picture of a pelican?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}])
db.append_message("picture-1", "assistant",
    "\\u706f\\u53f0\\u306e\\u5149, a lighthouse; it\\u2019s na\\u00efve \\U0001f6a2")
begin("job-1", "cron")
chat("job-1", 2)
begin("empty-1")
for number in range(30):
    name = f"plain-{number:02}"
    begin(name, chance.choice(["cli", "cli", "telegram", "discord", "tui"]), model=chance.choice(["m/one", "m/two"]))
    chat(name, chance.randint(1, 5))
    if chance.random() < 0.5:
        db.set_session_title(name, f"{said()[:40]} {number}")
    if chance.random() < 0.7:
        db.end_session(name, chance.choice(["user_exit", "cli_close", "session_reset", "timeout"]))
if hasattr(db, "set_session_archived"):
    db.set_session_archived("plain-03", True)
if hasattr(db, "rewind_to_message"):
    rows = db.get_messages("plain-04")
    db.rewind_to_message("plain-04", [row["id"] for row in rows if row["role"] == "user"][-1])
if hasattr(db, "archive_and_compact"):
    kept = db.get_messages("plain-05")
    db.archive_and_compact("plain-05", [
        {"role": "user", "content": "[CONTEXT COMPACTION \\u2014 REFERENCE ONLY] so far: tides"},
        *({"role": row["role"], "content": row["content"]} for row in kept[-2:] if row["role"] != "tool")])
db.update_token_counts("chain-1", input_tokens=1200, output_tokens=34, model="m/one")
ids = sorted(row["id"] for row in db.search_sessions(limit=1000))
listed = {"limit": 1000}
if takes(db.list_sessions_rich, "include_archived"):
    listed["include_archived"] = True
live = lambda session: [
    [row["id"], row["role"], row["content"], row["tool_calls"] or []] for row in db.get_messages(session)]
every = None
if takes(db.get_messages, "include_inactive"):
    every = {each: [row["id"] for row in db.get_messages(each, include_inactive=True)] for each in ids}
FIND = ["pelican", "ferry", "ferry rope", '"rope lantern"', "lant*", "tide OR bread", "ferry NOT rope", "lighthouse",
        "terminal", "na\\u00efve", "nowhere", "harbour", "\\u706f\\u53f0\\u306e\\u5149"]
told = {
    "schema": hermes_state.SCHEMA_VERSION,
    "ids": ids,
    "list": [{key: row[key] for key in ("id", "title", "source", "message_count", "last_active", "end_reason")}
             for row in db.list_sessions_rich(**listed)],
    "tips": {each: db.get_compression_tip(each) for each in ids},
    "resume": {each: db.resolve_resume_session_id(each) for each in ids},
    "messages": {each: live(each) for each in ids},
    "every": every,
    "titles": {title: db.resolve_session_by_title(title) for title in ("Pelicans", "Pelicans #2", "nobody")},
    "prefixes": {text: db.resolve_session_id(text) for text in ("plain-0", "plain-11", "pict", "chain-", "x")},
    "search": {text: [row["id"] for row in db.search_messages(text, limit=5000)] for text in FIND},
}
db.close()
print(json.dumps(told))
"""

_OPEN = """
import json, sys
from pathlib import Path
import hermes_state
db = hermes_state.SessionDB(Path(sys.argv[1]))
ids = sorted(row["id"] for row in db.search_sessions(limit=1000))
told = {"schema": hermes_state.SCHEMA_VERSION, "ids": ids,
        "messages": {
            each: [row["id"] for row in db.get_messages(each) if row["role"] != "session_meta"] for each in ids},
        "search": {text: [row["id"] for row in db.search_messages(text, limit=5000)] for text in sys.argv[2:]}}
db.close()
print(json.dumps(told))
"""


def _pip(folder: Path) -> list[str]:
    """The command that installs; of an environment of its own where this one has none."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    made = folder / "pip"
    if not made.exists():
        subprocess.run([sys.executable, "-m", "venv", str(made)], check=True, capture_output=True)
    return [str(made / "bin" / "python"), "-m", "pip"]


def offered() -> tuple[str, ...]:
    """All releases to try: those we know, and in the long part those the package index has
    besides."""
    if not IS_LONG or not importlib.util.find_spec("pip"):
        return KNOWN
    done = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "--retries", "1", "--timeout", "15", "hermes-agent"],
        capture_output=True, text=True,
    )  # fmt: skip
    found = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
    names = set(found[1].split(", ")) if found else set[str]()
    return tuple(
        sorted({*KNOWN, *names}, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    )


class Releases:
    """Releases that have been fetched, or could not be."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path | None] = {}

    def get(self, version: str) -> Path | None:
        """The folder a release stands in; None when pip cannot get it."""
        if version not in self._found:
            target = self._folder / version
            done = subprocess.run(
                [*_pip(self._folder), "install", "--quiet", "--no-deps", "--no-compile", "--retries", "1", "--timeout",
                 "30", "--only-binary", ":all:", "--target", str(target), f"hermes-agent=={version}"],
                capture_output=True, text=True,
            )  # fmt: skip
            self._found[version] = target if done.returncode == 0 else None
        return self._found[version]


def run(release: Path | None, program: str, *arguments: str, home: Path) -> dict[str, Any]:
    """Run a program with a release of Hermes.

    Args:
        release: Its folder; None for the one installed here. What it needs besides is taken from
            this environment.
        program: Prints a JSON object in its last line.
        arguments: Of the program.
        home: The Hermes home it sees.
    """
    env = {**os.environ, "HERMES_HOME": str(home)}
    if release is not None:
        env["PYTHONPATH"] = str(release)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(said, dict)
    return said


def write_and_ask(release: Path | None, store: Path, seed: int = 7) -> dict[str, Any]:
    """Let a release write a store, and say itself what is in it."""
    return run(release, _AUTHOR, str(store), str(seed), home=store.parent)


def open_and_ask(release: Path | None, store: Path, *queries: str) -> dict[str, Any]:
    """Let a release open a store as it opens its own, which brings it up to its schema, and say
    what is in it."""
    return run(release, _OPEN, str(store), *queries, home=store.parent)
