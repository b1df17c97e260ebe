"""Homes of Hermes for the files of `recorded/`: each function fills a root, and returns the time, in
Unix seconds, at which its commands run."""

from __future__ import annotations

import json
from pathlib import Path

import pruning
import spending
import trashing
from builders import DAY, make_store
from commandline import copy_store
from compressed import long_conversation
from plays import play, store_of, write_files
from store_builder import T0, StoreBuilder, add_tool_use
from user_config import write_config

NOW = pruning.NOW


def sample(root: Path) -> float:
    """A store of Hermes 0.22 with something of everything."""
    copy_store("state-v31", root)
    return NOW


def configured(root: Path) -> float:
    """No store, and a configuration in which not everything holds."""
    hosts = "[[hosts]]\nname = 'vps'\nssh = '-o X=\"a b\" me@vps'\n"
    write_config(f'theme = "nord"\nmuose = 1\n[keys]\nhelp = "f1"\nsort = "j"\n{hosts}')
    return NOW


def edited(root: Path) -> float:
    """What Hermes 0.19 did in the folder `disk`, which is as the agent and the user left it."""
    recorded = play("0.19.0")
    write_files(root / "disk", recorded["after"])
    store_of(recorded, root / "state.db", str(root / "disk"))
    return NOW


def numbered(root: Path) -> float:
    """Titles with numbers, as Hermes gives them to what continues."""
    builder = StoreBuilder(root / "state.db")
    for place, title in enumerate(["plan", "plan #2", "plan #3", "planet #9", "PL_N", "100% #1"]):
        builder.message(builder.session(f"id{place}", title=title), "user", "hello")
    builder.write()
    return T0 + DAY


def profiles(root: Path) -> float:
    """Profiles of three versions, a damaged one, an empty one, one not used yet, and folders that
    are none."""
    copy_store("state-v22", root)
    for name, store in {
        "coder": "state-v31",
        "a-b_9": "state-v11",
        "Not a name": "state-v22",
    }.items():
        copy_store(store, root / "profiles" / name)
    for name in ("broken", "empty", "fresh"):
        (root / "profiles" / name).mkdir()
    (root / "profiles" / "broken" / "state.db").write_bytes(b"no database" * 500)
    (root / "profiles" / "empty" / "state.db").touch()
    (root / "profiles" / "file").touch()
    return NOW


def family(root: Path) -> float:
    """One conversation with everything that can belong to one, half a year ago."""
    (root / "sessions").mkdir()
    (root / "sessions" / "tip.json").write_text("{}")
    trashing.family(root / "state.db")
    return trashing.NOW


def ages(root: Path) -> float:
    """One of each kind of conversation that a clean-up tells apart."""
    pruning.family(root / "state.db")
    return NOW


def orders(root: Path) -> float:
    """Conversations that each order of the list puts differently."""
    builder = StoreBuilder(root / "state.db")
    columns = ("title", "source", "started_at", "input_tokens", "estimated_cost_usd")
    for name, *values in (
        ("s1", "beta", "cli", T0, 900, 0.5),
        ("s2", "Alpha", "telegram", T0 + 5000, 100, None),
        ("s3", "alpha two", "cli", T0 + 9000, 500, 2.25),
        ("-dash", "-t", "cli", T0 + 7000, 0, 0.0),
    ):
        builder.session(name, **dict(zip(columns, values, strict=True)))
    for name, text, after, times in (
        ("s1", "a word", 90_000, 1),
        ("s2", "many words " * 30, 20_000, 2),
        ("s3", "short", 10_000, 4),
        ("-dash", "a session whose id begins with a dash", 8000, 1),
    ):
        for number in range(times):
            builder.message(name, "user", text, timestamp=T0 + after + number)
    builder.write()
    return T0 + DAY * 2


def herons(root: Path) -> float:
    """A store that says `heron` in chats, automation and an archived chat, by every role."""
    builder = StoreBuilder(root / "state.db")
    kinds: dict[str, dict[str, object]] = {
        "chat": {},
        "mail": {"source": "telegram"},
        "job": {"source": "cron"},
        "old": {"archived": 1},
    }
    for name, columns in kinds.items():
        builder.session(name, title=f"The {name}", **columns)
        for place, role in enumerate(("user", "assistant", "tool", "user")):
            text = f"{name} {place} " + ("nothing" if place == 3 else "heron " * (place + 1))
            tool = "read" if role == "tool" else None
            builder.message(name, role, text, timestamp=T0 + 100 * place, tool_name=tool)
    builder.write()
    return T0 + DAY


def attention(root: Path) -> float:
    """A question that waits, and a conversation from long ago; the same in a profile."""
    for folder in (root, root / "profiles" / "work"):
        folder.mkdir(parents=True, exist_ok=True)
        builder = StoreBuilder(folder / "state.db")
        builder.session("asking", title="Deploy", started_at=NOW - 60)
        builder.message("asking", "user", "go", timestamp=NOW - 60)
        call = {"name": "clarify", "arguments": '{"question": "Which?"}'}
        calls = [{"id": "c", "function": call}]
        builder.message("asking", "assistant", tool_calls=calls, timestamp=NOW - 50)
        builder.session("old", title="Old", started_at=1e9, ended_at=1e9, end_reason="cli_close")
        builder.message("old", "user", "hello", timestamp=1e9)
        builder.write()
    return NOW


def costs(root: Path) -> float:
    """A conversation of two parts with three subagents and a nested one; one whose only cost is
    below; one without."""

    def session(name: str, cost: float | None, parent: str | None = None) -> dict[str, object]:
        used = NOW - 100 * DAY
        marker = json.dumps({"_delegate_from": parent}) if parent else None
        times = {"started_at": used, "ended_at": used + 9, "end_reason": "cli_close"}
        links = {"parent_session_id": parent, "model_config": marker, "estimated_cost_usd": cost}
        return {"id": name, "title": name.title()} | times | links

    later = {"started_at": NOW - 99 * DAY, "ended_at": NOW - 99 * DAY, "parent_session_id": "root"}
    sessions = [
        session("root", 2.0) | {"end_reason": "compression"},
        session("tip", 0.75) | later,
        *(session(f"helper{number}", 0.25, "root") for number in range(3)),
        session("nested", 1.25, "helper1"),
        session("local", None),
        session("paid", 0.5, "local"),
        session("free", None),
        session("unknown", None, "free"),
    ]
    rows = [
        {"session_id": each["id"], "content": "words", "timestamp": each["started_at"]}
        for each in sessions
    ]
    make_store(root / "state.db", "31", sessions, rows)
    return NOW


def transcripts(root: Path) -> float:
    """A store, and two old transcripts in files, one of them damaged."""
    copy_store("state-v22", root)
    folder = root / "sessions"
    folder.mkdir()
    said = [
        {"role": "session_meta", "platform": "telegram", "model": "m"},
        {"role": "user", "content": "Where is the lighthouse?", "timestamp": "2026-01-02T10:00:01"},
        {"role": "assistant", "content": "North. \x1b[31m", "timestamp": "2026-01-02T10:00:04"},
    ]
    (folder / "20260102_100000_abc.jsonl").write_text("\n".join(map(json.dumps, said)))
    (folder / "session_20250101_080000_def.json").write_text(
        '{"platform": "cli", "messages": [{"role": "user", "content": "half a lighthouse"}, {"role'
    )
    return NOW


def chats(root: Path) -> float:
    """23 chats, one with much in it."""
    builder = StoreBuilder(root / "state.db")
    for number in range(1, 23):
        name = builder.session(f"s{number:02}", title=f"s{number:02}", started_at=T0 - 9000)
        builder.message(name, "user", f"chat number {number}", timestamp=T0 - number * 60)
    builder.session("long", title="long", started_at=T0 - 9000)
    builder.message("long", "tool", "o" * 500, tool_name="terminal", timestamp=T0)
    for number in range(12):
        builder.message("long", "user", f"remark {number} \x1b[31m", timestamp=T0 + number)
    builder.write()
    return T0 + 3600


SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] "
    + "The fig tree was planted. "
    + "Much more was said. " * 40
)


def garden(root: Path) -> float:
    """One long conversation: a prompt with many steps, a taken-back prompt, a summary, the kept
    prompt once more."""
    output = "o" * 900 + " then a quince " + "o" * 900
    rows: list[tuple[str, str, dict[str, object]]] = [
        ("user", "please plant an orchard", {}),
        *(("assistant", f"step {number}", {}) for number in range(6)),
        ("tool", output, {"tool_name": "terminal"}),
        ("user", "no, a vineyard", {"active": 0}),
        ("user", "and water the medlar", {"active": 0, "compacted": 1, "timestamp": T0 + 99}),
        ("user", SUMMARY, {}),
        ("user", "and water the medlar", {"timestamp": T0 + 99}),
        *(("assistant", f"drop {number}", {}) for number in range(7)),
    ]
    builder = StoreBuilder(root / "state.db")
    builder.session("s", title="Garden")
    for number, (role, text, columns) in enumerate(rows):
        builder.message("s", role, text, **{"timestamp": T0 + number} | columns)
    builder.write()
    return T0 + 3600


LONG = "a rather long title that says 日本語 more than fits into any line of a list, and then some more of it"
SAID = " ".join(f"word{number}" for number in range(60)) + " heron " + " ".join(["more"] * 60)


def wide(root: Path) -> float:
    """Long titles, long messages and ids of several kinds."""
    builder = StoreBuilder(root / "state.db")
    names = (
        "20260101_090000_aaa001",
        "c2b7a5f0-58a1-4d0c-9d7e-0f2f9f1c7a11",
        "cron_c23b31a0179b_20261115_063000",
    )
    for place, name in enumerate(names):
        builder.session(name, title=f"{place} {LONG}", source="api_server", estimated_cost_usd=12.5)
        builder.message(name, "user", SAID, timestamp=T0)
        builder.message(name, "assistant", "short", timestamp=T0 + DAY)
    builder.session("20260101_093000_aaa002", parent_session_id=names[0], title="child")
    builder.message("20260101_093000_aaa002", "user", "tab\there")
    builder.write()
    return T0 + 90 * DAY


def nothing(root: Path) -> float:
    """No store, and no configuration."""
    return NOW


def empty(root: Path) -> float:
    """A store of Hermes 0.22 without any session."""
    make_store(root / "state.db", "31")
    return NOW


def older(root: Path) -> float:
    """A store of Hermes 0.19 without any session."""
    make_store(root / "state.db")
    return NOW


NEEDLES = 600
"""Messages of the conversation in `needles`."""


def needles(root: Path) -> float:
    """A long conversation in which a word stands at a few places, one of them folded away."""
    builder = StoreBuilder(root / "state.db")
    builder.session("s", title="Long")
    texts = {
        100: "filler line\n\n" * 60 + "a NEEDLE deep down\n\n" + "more\n\n" * 60 + "needle two",
        150: "haystackneedles inside a word",
    }
    for number in range(1, NEEDLES + 1):
        if number == 399:
            result = '{"output": "one\\nthe needl\\u00e9 here"}'
            add_tool_use(builder, "c1", "terminal", {"command": "ls"}, result)
        elif number != 400:
            text = texts.get(number, f"message {number} says nothing of note")
            builder.message("s", ("assistant", "user")[number % 2], text)
    builder.write()
    return NOW


def spent(root: Path) -> float:
    """Chats that cost something, in two weeks, and an old one."""
    spending.spent_store(root / "state.db")
    return spending.NOW


def compressed(root: Path) -> float:
    """A conversation that was compressed four times in place."""
    long_conversation(root / "state.db", 300, 4)
    return T0 + DAY
