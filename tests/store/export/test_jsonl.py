"""JSON lines held against Hermes' own export, recorded and live, and read back by Hermes' own
import.

`SessionDB.import_sessions` (0.18 and later, behind the dashboard) restores a conversation, not its
runtime state: row ids, states and counters are given anew. Those are the named differences below.
"""

import json
import tracemalloc

import pytest
from builders import hostile_store
from exports import chat, conversations, document, parsed, sessions
from paths import fixture
from pruning import expected
from trashing import execute, hermes_db, session_ids

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.export.files import export_pieces
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import Export, ExportCounts, Format

DERIVED = {"last_active", "timings", "_reset_from", "_branched_from"}
"""What Hermes' export derives from columns."""


def columns_of(theirs):
    """What a session of Hermes' export has of its rows."""
    return {key: value for key, value in theirs.items() if key not in DERIVED}


@pytest.mark.slow
@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_the_recorded_exports(version):
    """Every key and value that the Hermes of this store wrote; up to 0.21 live rows alone, in 0.22
    all of them."""
    path = fixture(version)
    said = expected(f"v{version}")["export"]
    assert said
    ours = sessions(path, everything=version == 31)
    for session_id, theirs in said.items():
        assert columns_of(theirs) == ours[session_id]


@pytest.mark.slow
def test_every_session_as_the_real_hermes_exports_it(hermes_home):
    """0.19: the same keys in the same order and the same values; with everything, each row that it
    has."""
    path = hermes_home / "state.db"
    ours, whole = sessions(path), sessions(path, everything=True)
    with hermes_db(path) as db:
        said = {each["id"]: columns_of(each) for each in db.export_all()}
        assert said == ours and len(said) > 50
        for session_id, theirs in said.items():
            assert list(ours[session_id]) == list(theirs)  # the order of keys, too
            assert whole[session_id]["messages"] == db.get_messages(
                session_id, include_inactive=True
            )
    assert sum(len(each["messages"]) for each in whole.values()) > sum(
        len(each["messages"]) for each in ours.values()
    )


def test_rows_that_are_not_live_are_counted():
    """Of a rewound session and of one compacted in place (0.22): left out and told, or written with
    their flags."""
    path = fixture(31)
    for ending, states, live in (("999001", {"rewound": 2}, 3), ("999002", {"compacted": 8}, 3)):
        for everything in (False, True):
            counts = ExportCounts()
            (line,) = parsed(
                document(path, Format.JSONL, ending, everything=everything, counts=counts)
            )
            assert {state.value: count for state, count in counts.not_live.items()} == states
            assert sum(row["active"] for row in line["messages"]) == live
            assert (
                len(line["messages"])
                == counts.messages
                == live + (sum(states.values()) if everything else 0)
            )


def test_summaries_and_names_of_tools(tmp_path):
    """As the export of 0.22.2 says it of these rows (run)."""
    rows = [{}, {"_compressed_summary": 1}]
    prompts = {"system_prompts": [{"hash": "hash", "prompt": '["terminal"]'}]}
    path = chat(tmp_path / "31.db", "31", rows, tables=prompts, tool_names="hash")
    line = sessions(path)["s"]
    assert line["tool_names"] == '["terminal"]'
    assert [row.get("_compressed_summary") for row in line["messages"]] == [None, True]


@pytest.mark.slow
def test_what_was_taken_back_stays_so_when_hermes_imports_it(tmp_path, hermes_home):
    """0.19 makes each row it imports a live one: the default holds none that was not, everything
    does."""
    with hermes_db(hermes_home / "state.db") as source:
        seen = {
            each["id"]: [row["content"] for row in each["messages"]] for each in source.export_all()
        }
    revived = {}
    for everything in (False, True):
        lines = sessions(hermes_home / "state.db", everything=everything)
        kept = [each for each in lines.values() if _object_or_null(each["model_config"])]
        with hermes_db(tmp_path / f"{everything}.db") as db:
            assert db.import_sessions(kept)["imported"] == len(kept)
            found = {
                each["id"]: [row["content"] for row in db.get_messages(each["id"])] for each in kept
            }
        revived[everything] = {key for key, contents in found.items() if contents != seen[key]}
    assert revived[False] == set()
    assert {key[-6:] for key in revived[True]} == {"999001", "999002"}


RESET_SESSION = {
    "message_count", "tool_call_count", "rewind_count", "session_key", "chat_id", "chat_type", "thread_id",
    "display_name", "origin_json", "expiry_finalized", "handoff_state", "handoff_platform", "handoff_error",
    "compression_failure_cooldown_until", "compression_failure_error", "compression_fallback_streak", "profile_name",
}  # fmt: skip
"""Counted anew, or reset on purpose: "conversation history, not ownership of a live channel"
(0.19)."""
GIVEN_ANEW = {"id", "active", "compacted"}
"""Row ids; and all rows become live ones, for 0.19 knows no other import."""
ASSISTANT_ONLY = {
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
}
"""Kept on assistant rows alone."""


@pytest.mark.slow
def test_hermes_imports_what_we_export(tmp_path, hermes_home):
    """Into a fresh store of the real Hermes: every session and message comes back, column for
    column."""
    lines = sessions(hermes_home / "state.db")
    refused = {key for key, each in lines.items() if not _object_or_null(each["model_config"])}
    kept = [each for key, each in lines.items() if key not in refused]
    assert len(refused) <= 1  # a row with malformed model_config: Hermes' import takes none such
    with hermes_db(tmp_path / "fresh.db") as db:
        answer = db.import_sessions(json.loads(json.dumps(kept)))
        assert answer["ok"] and answer["imported"] == len(kept) and not answer["errors"]
    again = sessions(tmp_path / "fresh.db")
    assert set(again) == {each["id"] for each in kept}
    missing = set(lines) - set(again)
    for each in kept:
        mine, theirs = dict(each), dict(again[each["id"]])
        rows, imported = mine.pop("messages"), theirs.pop("messages")
        for name in RESET_SESSION:
            mine.pop(name), theirs.pop(name)
        if mine["parent_session_id"] not in again or mine["parent_session_id"] in missing:
            mine["parent_session_id"] = None  # detached: the parent is in no line
        assert mine == theirs
        assert len(rows) == len(imported)
        for row, copy in zip(rows, imported, strict=True):
            dropped = GIVEN_ANEW | (ASSISTANT_ONLY if row["role"] != "assistant" else set())
            expected = {name: value for name, value in row.items() if name not in dropped}
            if expected["tool_calls"] == []:
                expected["tool_calls"] = None  # nothing could be read of them
            assert expected == {name: value for name, value in copy.items() if name not in dropped}


def _object_or_null(text):
    try:
        return text is None or isinstance(json.loads(text), dict)
    except ValueError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("version", [11, 14, 31])
def test_hermes_imports_exports_of_other_schemas(version, tmp_path):
    """Older and newer stores, redacted: the real 0.19 takes every line and loses no message."""
    lines = sessions(fixture(version), redactor=Redactor(["rs_1 is no secret"]))
    kept = [each for each in lines.values() if _object_or_null(each["model_config"])]
    with hermes_db(tmp_path / "fresh.db") as db:
        answer = db.import_sessions(kept)
        assert answer["ok"] and answer["imported"] == len(kept)
        for each in kept:
            found = db.get_messages(each["id"])
            assert [row["content"] for row in found] == [row["content"] for row in each["messages"]]
            assert [row["tool_calls"] or [] for row in found] == [
                row["tool_calls"] or [] for row in each["messages"]
            ]
            assert db.get_session(each["id"])["system_prompt"] == each["system_prompt"]


def test_a_hostile_store(tmp_path):
    """Every line is strict JSON of UTF-8, whatever the rows hold; blobs and invalid bytes become
    text."""
    path = hostile_store(tmp_path / "state.db")
    found = sessions(path)
    assert len(found) == len(session_ids(path) - {None})
    contents = [row["content"] for row in found["counts"]["messages"]]
    assert contents[0].endswith("\x00blob") and contents[1] == "42" and "\ufffd" in contents[2]
    control = found["control"]["messages"]
    assert control[0]["content"].startswith("\x1b[31mred") and control[2]["tool_calls"] == []
    raw = document(path, Format.JSONL)
    assert not any(letter in raw for letter in "\x1b\x9b\u202e\u2066\x7f")
    raw.encode("utf-8")


def test_deep_and_endless_numbers(tmp_path):
    """JSON nested deeper than Python follows, numbers no JSON has: told as text or nothing, never a
    failure."""
    path = chat(
        tmp_path / "state.db",
        "22",
        [
            {"content": "\x00json:" + "[" * 90_000},
            {
                "tool_calls": '[{"a": NaN, "b": 1e999}]',
                "content": '\x00json:{"a": -Infinity}',
            },
            {"tool_calls": '[{"a": "\\ud800"}]', "content": "plain"},
            {
                "tool_calls": "[" * 700 + "]" * 700,
                "content": "\x00json:" + "[" * 700 + "]" * 700,
            },
        ],
        model_config="[" * 100_000,
    )
    nested = "[" * 90_000 + "]" * 90_000
    execute(path, "UPDATE messages SET tool_calls = ? WHERE id = 1", nested)
    rows = sessions(path, redactor=Redactor())["s"]["messages"]
    assert rows[0]["tool_calls"] == [] and rows[0]["content"].startswith("\x00json:[[")
    assert rows[1]["tool_calls"] == [{"a": None, "b": None}] and rows[1]["content"] == {"a": None}
    assert rows[2]["tool_calls"] == [{"a": "\ufffd" * 3}] and rows[2]["content"] == "plain"
    assert len(rows) == 4


@pytest.mark.slow
@pytest.mark.parametrize("form", list(Format))
def test_long_conversations_are_never_whole_in_memory(tmp_path, form):
    """Tens of megabytes come out in pieces, at a fraction of that in memory, and with no connection
    held open."""
    rows = [{"role": "tool", "content": f"{number} " + "x" * 20_000} for number in range(2000)]
    path = chat(tmp_path / "state.db", "22", rows, fts=False)
    chosen = conversations(path)
    tracemalloc.start()
    try:
        size, largest = 0, 0
        export = Export(open_store(Store(path)), form, Redactor(), 0.0)
        for piece in export_pieces(export, chosen):
            size, largest = size + len(piece), max(largest, len(piece))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert export.counts.messages == 2000 and size > 40_000_000
    assert largest < 100_000 and peak < size / 3
