"""What a search compares and counts is what a person sees; what one index alone does not hold is
found too."""

import json

import pytest
from builders import make_store
from search_stores import NOW, ask, change, found, ids, write_store

_CHAT = [{"id": "a", "source": "cli", "started_at": NOW, "message_count": 2}]


def _compacted(path):
    """A conversation of twelve messages, of which Hermes counts the two that the model still
    sees."""
    rows = [
        {
            "session_id": "a",
            "content": f"walrus {at}",
            "timestamp": NOW + at,
            "active": at > 9,
            "compacted": at <= 9,
        }
        for at in range(12)
    ]
    return make_store(path, "22", _CHAT, rows)


@pytest.mark.parametrize(
    ("query", "hits"),
    [("walrus msgs>10", 12), ("walrus msgs=12", 12), ("walrus msgs<5", 0), ("walrus -msgs<5", 12)],
)
def test_messages_are_compared_by_the_number_that_is_shown(tmp_path, query, hits):
    assert len(found(_compacted(tmp_path / "state.db"), query)) == hits


def _spelled(text):
    """A text as it is said, called, given back by a tool, and beside a picture."""
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    call = {"id": "c", "function": {"name": "run", "arguments": json.dumps({"command": text})}}
    return [
        {"content": text},
        {"role": "assistant", "content": None, "tool_calls": json.dumps([call])},
        {"role": "tool", "tool_name": "run", "content": json.dumps({"output": text})},
        {"content": "\x00json:" + json.dumps(parts)},
    ]


@pytest.mark.parametrize("query", ["検索する", "検索", "索", "*ターミナ*"])
def test_a_substring_index_alone_misses_nothing(tmp_path, query):
    rows = [*_spelled("検索する ターミナル"), *_spelled("nothing of it")]
    path = write_store(tmp_path / "state.db", rows)
    assert found(path, query) == [4, 3, 2, 1]
    change(path, "DROP TABLE messages_fts")
    answer = ask(path, query)
    assert ids(answer) == [4, 3, 2, 1]
    assert answer.complete and answer.total == 4
