"""JSON lines without secrets: what the import of Hermes goes by stays."""

import json

from builders import make_store, tool_call
from exports import chat, document, parsed, sessions
from trashing import hermes_db

from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import Format


def test_redacted_lines_are_imported_too(tmp_path):
    """Secrets in titles, prompts, settings, content, parts, arguments and reasoning; none of them
    remains."""
    secret = "sk-" + "proj-abcDEF1234567890abcdef12"
    path = chat(
        tmp_path / "state.db",
        "22",
        [
            {"content": f"use {secret} please"},
            {"content": [{"type": "text", "text": f"and {secret}"}]},
            {
                "role": "assistant",
                "content": "",
                "reasoning": f"hm {secret}",
                "reasoning_details": json.dumps([{"text": secret}]),
                "tool_calls": [
                    tool_call("terminal", {"command": f"curl -H 'Authorization: Bearer {secret}'"})
                ],
            },
            {
                "role": "tool",
                "content": f"line\nOPENAI_API_KEY={secret}\n",
                "api_content": secret,
            },
        ],
        title=f"with {secret}",
        system_prompt=f"be {secret}",
        model_config=json.dumps({"api_key": "plainly", "nested": json.dumps({"k": secret})}),
        cwd=f"/tmp/{secret}",
    )
    redactor = Redactor()
    text = document(path, Format.JSONL, redactor=redactor)
    assert secret not in text and secret[8:] not in text and redactor.counts["openai-key"] >= 9
    assert redactor.counts["named-secret"] == 1
    (line,) = parsed(text)
    call = line["messages"][2]["tool_calls"][0]
    assert call["id"] == "call_1" and json.loads(call["function"]["arguments"])[
        "command"
    ].startswith("curl -H 'Auth")
    with hermes_db(tmp_path / "fresh.db") as db:
        assert db.import_sessions([line])["imported"] == 1
        assert db.get_session("s")["title"] == "with [REDACTED:openai-key]"
    assert secret in document(path, Format.JSONL)  # --no-redact


def test_calls_and_results_still_refer_to_each_other(tmp_path):
    """Their ids may look like secrets: neither side is changed, and no secret is counted."""
    call = {
        "id": "toolu_password:hunter2hunter2",
        "call_id": "ghp_" + "a1" * 18,
        "type": "function",
    }
    rows = [
        {"role": "assistant", "tool_calls": json.dumps([call])},
        {"role": "tool", "tool_call_id": call["id"]},
    ]
    path = chat(tmp_path / "state.db", "22", rows)
    redactor = Redactor()
    asked, answered = sessions(path, redactor=redactor)["s"]["messages"]
    assert asked["tool_calls"] == [call] and answered["tool_call_id"] == call["id"]
    assert redactor.counts.total() == 0


def test_titles_that_differ_only_in_a_secret(tmp_path):
    """They stay distinct: Hermes imports no title twice."""
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABC"
    titles = ["Plain", f"Use {key}1", f"Use {key}2", f"Use {key}2 #2", f"Use {key}3", None, None]
    rows = [{"id": f"s{number}", "title": title} for number, title in enumerate(titles)]
    path = make_store(tmp_path / "state.db", "22", rows)
    found = sessions(path, redactor=Redactor())
    base = "Use [REDACTED:openai-key]"
    expected = {"Plain", base, f"{base} #2", f"{base} #3", f"{base} #4", None}
    assert {each["title"] for each in found.values()} == expected
    assert [sessions(path)[each["id"]]["title"] for each in rows] == titles
    with hermes_db(tmp_path / "fresh.db") as db:
        assert db.import_sessions(list(found.values()))["imported"] == len(titles)
