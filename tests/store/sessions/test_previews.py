"""A preview is the first text of the user that was not taken back."""

import pytest
from builders import T0, make_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.preview import read_preview
from hermes_browse.store.sessions.models import Session


@pytest.mark.parametrize(
    "rewound, shown", [(0, "text 0"), (2, "text 2"), (5, "text 5"), (6, "text 0")]
)
def test_what_was_taken_back_comes_last(tmp_path, rewound, shown):
    """Where all of it was, the first of all is shown."""
    messages = [
        {
            "session_id": "a",
            "content": f"text {at}",
            "timestamp": T0 + at,
            "active": int(at >= rewound),
        }
        for at in range(6)
    ]
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], messages)
    with Store(path).reader() as reader:
        assert read_preview(reader, [Session("a", "cli", message_count=6)]) == shown


@pytest.mark.parametrize(
    "before, shown",
    [
        ([("assistant", "hello")] * 10 + [("user", "late question")], "late question"),
        ([("tool", "output"), ("assistant", "an answer")], "an answer"),
        ([("tool", "only output")], "only output"),
        ([("user", None), ("tool", "only output")], "only output"),
    ],
)
def test_without_a_text_of_the_user_at_the_start(tmp_path, before, shown):
    """A later one counts, then what the assistant said, then anything."""
    messages = [
        {"session_id": "a", "role": role, "content": text, "timestamp": T0 + at}
        for at, (role, text) in enumerate(before)
    ]
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], messages)
    with Store(path).reader() as reader:
        assert read_preview(reader, [Session("a", "cli", message_count=6)]) == shown
