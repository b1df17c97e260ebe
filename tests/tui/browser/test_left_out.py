"""What a reading leaves out is told where it stands, and what Hermes put to a message can be looked
at."""

import pytest
from store_builder import StoreBuilder
from transcripts import lines_of, model_of

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import ChatMessage, Reading, injected_context
from hermes_browse.store.messages.transcript import END, read_outline
from hermes_browse.store.sessions.models import Session

MEMORY = "<memory-context>\nTova swims on Tuesdays.\n</memory-context>\n\n"


def rewound_store(path):
    """Two rewound rows in the middle and one at the end, compacted ones before, bookkeeping
    between."""
    builder = StoreBuilder(path)
    builder.session("s", title="Rewound")
    builder.message("s", "user", "compacted", active=0, compacted=1)
    builder.message("s", "user", "first")
    builder.message("s", "session_meta", "{}")
    builder.message("s", "user", "wrong question", active=0)
    builder.message("s", "assistant", "wrong answer", active=0)
    builder.message("s", "user", "second")
    builder.message("s", "user", "taken back", active=0)
    return builder.write()


def test_gaps_count_what_was_said_and_is_left_out(tmp_path):
    with Store(rewound_store(tmp_path / "state.db")).reader() as reader:
        session = [Session("s", "cli")]
        assert read_outline(reader, session).gaps == {6: (2, 0), END: (1, 0)}
        assert read_outline(reader, session, Reading.LIVE).gaps == {
            2: (0, 1),
            6: (2, 0),
            END: (1, 0),
        }
        assert read_outline(reader, session, Reading.EVERYTHING).gaps == {}


@pytest.mark.parametrize(
    "text, sent, added",
    [
        ("plan my week", None, ""),
        (MEMORY + "plan my week", None, MEMORY.strip()),
        ("plan my week", MEMORY + "plan my week", MEMORY.strip()),
        ("plan my week", "before\n\nplan my week\n\nafter", "before\n\nafter"),
        ("plan my week", "something else", "something else"),
        ("plan my week", " plan my week\n", ""),
        ("", "sent for nothing said", "sent for nothing said"),
    ],
)
def test_what_was_put_to_a_message_is_told_from_what_was_said(text, sent, added):
    assert injected_context(text, sent) == added


def test_it_is_one_line_until_it_is_opened():
    message = ChatMessage(0, "s", "user", "plan my week", api_content=MEMORY + "plan my week")
    model = model_of(1, text="plan my week")
    index = model.entry_of(message.id)
    assert index is not None and not model.is_foldable(index)
    model.add([message])
    assert model.is_foldable(index)
    closed, opened = (
        "\n".join(lines_of(message, model, is_open=is_open)) for is_open in (False, True)
    )
    assert (
        "context added by Hermes" in closed
        and "Tova" not in closed
        and closed.count("plan my week") == 1
    )
    assert "Tova swims on Tuesdays." in opened and opened.count("plan my week") == 1


def test_a_summary_is_a_divider_said_by_nobody():
    """Folded to a rule; opened its text stands below. One that is empty is a message like any
    other."""
    text = "[CONTEXT COMPACTION] what was said\n\nbefore"
    message = ChatMessage(0, "s", "user", text, 0.0, is_flagged=True)
    rule, *others = lines_of(message)
    assert rule.startswith("── ▸ compaction summary · 42 B · ") and rule.endswith("──")
    assert len(rule) == 59 and "you" not in rule and others == [""]
    rule, *others = lines_of(message, is_open=True)
    assert rule.startswith("── ▾ compaction summary") and "before" in "".join(others)
    assert "you" in lines_of(message._replace(text="\n"))[0]
