"""The details of a conversation; that counts agree with what is shown, stores of Hermes tell
(`sessions/test_fixtures.py`)."""

from store_builder import StoreBuilder

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.messages.details import read_details
from hermes_browse.store.sessions.catalog import read_catalog

NOW = 1_780_000_000.0


def details_of(path, session_id):
    """The details of the conversation a session belongs to."""
    with Store(path).reader() as reader:
        return read_details(reader, read_catalog(reader, NOW).conversation(session_id))


def test_the_newest_value_counts_and_what_was_used_is_added_up(tmp_path):
    """Over all segments; costs are told apart, and tasks beside the conversation stand alone."""
    builder = StoreBuilder(tmp_path / "state.db", "31")
    origin = '{"platform": "telegram", "chat_name": "Boats", "user_name": "Noor"}'
    builder.session(
        "a", source="telegram", end_reason="compression", ended_at=NOW - 50, chat_id="1", origin_json=origin,
        estimated_cost_usd=1.0, cost_status="estimated", api_call_count=3, billing_provider="old",
    )  # fmt: skip
    builder.session(
        "b", source="telegram", parent_session_id="a", started_at=NOW - 40, estimated_cost_usd=0.5,
        actual_cost_usd=0.25, cost_status="actual", api_call_count=2, billing_provider="new",
    )  # fmt: skip
    for session in ("a", "b"):
        builder.message(session, "user", "x")
        builder.row(
            "session_model_usage", session_id=session, model="m", task="", api_call_count=2,
            input_tokens=10, output_tokens=5, estimated_cost_usd=0.5,
        )  # fmt: skip
    builder.row("session_model_usage", session_id="b", model="m", task="title", api_call_count=1)
    found = details_of(builder.write(), "b")
    named = ("billing_provider", "cost_status", "chat_id", "chat_name", "user_name")
    assert [found.facts[name] for name in named] == ["new", "actual", "1", "Boats", "Noor"]
    assert (found.estimated_usd, found.actual_usd, found.api_calls) == (1.5, 0.25, 5)
    used = [(use.task, use.calls, use.tokens, use.cost_usd) for use in found.models]
    assert used == [("", 4, 30, 1.0), ("title", 1, 0, 0.0)]


def test_what_the_model_still_sees_is_measured_as_it_is_sent(builder):
    """Rewound and compacted rows are not sent; what was sent instead of the text counts; images are
    told apart."""
    builder.session("s", system_prompt="p" * 10)
    builder.message("s", "user", "é" * 10)
    builder.message("s", "user", "short", api_content="x" * 100)
    builder.message("s", "user", "gone" * 50, active=0)
    builder.message("s", "user", "old" * 50, active=0, compacted=1)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5000}}
    builder.message("s", "user", [{"type": "text", "text": "see"}, image])
    builder.message("s", "tool", "out", tool_name="terminal", tool_call_id="c")
    found = details_of(builder.write(), "s")
    assert (found.live_rows, found.live_bytes, found.live_images) == (4, 20 + 100 + 3, 1)
    assert found.prompt_bytes == 10
    assert found.states == {State.LIVE: 4, State.REWOUND: 1, State.COMPACTED: 1}
    assert [(tool.name, tool.results, tool.bytes) for tool in found.tools] == [("terminal", 1, 3)]
