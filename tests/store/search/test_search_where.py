"""Where in a row is looked: files in the arguments of tools, reasoning, and what is stale."""

import json
import weakref

import pytest
from builders import DAY, make_store
from compressed import long_conversation
from pruning import opened
from search_stores import ask, counted, found, ids, pages
from shapes import NAMES
from store_builder import T0, tool_call

from hermes_browse.store.messages.chat_message import HitOrder, Reading
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.found import titled
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.rows import edits_file
from hermes_browse.store.search.scope import compile_filters, roots_in
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session, View
from hermes_browse.store.sessions.session_rows import resolve_last

NOW = T0 + 30 * DAY
PATCH = "*** Begin Patch\n*** Update File: src/auth.py\n@@\n-see lib/other.py\n+x\n*** End Patch"


def _row(session, said, *calls, reasoning=None):
    role = "assistant" if calls else "user"
    row = {"session_id": session, "role": role, "content": said, "reasoning": reasoning}
    return row | {"tool_calls": [*calls]} if calls else row


WRITTEN = {"path": "src/auth.py", "content": "import x\n# lib/other.py"}
MESSAGES = (
    _row("a", "please look at src/auth.py"),
    _row("a", "", tool_call("write_file", WRITTEN)),
    _row(
        "b",
        "",
        tool_call("read_file", {"path": "src/auth.py"}),
        reasoning="the cookie may be stale",
    ),
    _row(
        "b",
        "done",
        tool_call("patch", {"mode": "patch", "patch": PATCH}),
        reasoning="nothing to see",
    ),
    _row("c", "src/author.txt and Auth.py, cookie"),
)
SESSIONS = [{"id": each, "started_at": T0} for each in "abc"]


def _store(path, shape="22", *, fts=True):
    return make_store(path / f"{shape}-{fts}.db", shape, SESSIONS, MESSAGES, fts=fts)


def _found(path, text):
    hits = found(path, text, now=NOW)
    assert counted(path, text, now=NOW) == len(hits)
    return hits


@pytest.mark.parametrize("fts", [True, False])
@pytest.mark.parametrize("shape", NAMES)
def test_a_file_is_found_in_arguments_and_in_what_is_said(tmp_path, shape, fts):
    """Where an index leaves tool calls out (schema 6 to 10), it says so and finds what was said."""
    answer = ask(_store(tmp_path, shape, fts=fts), "file:src/auth.py")
    assert ids(answer) == [4, 3, 2, 1] or (
        ids(answer) == [1] and any("arguments are not in" in note for note in answer.notes)
    )


_FILES = {
    "file:auth.py": [5, 4, 3, 2, 1],
    "file:src/auth": [5, 4, 3, 2, 1],  # the beginning of a name will do
    "please file:src/auth.py": [1],
    "-file:src/auth.py cookie": [5],
    "file:src/author file:lib/other.py": [5, 4, 2],
    "file:src/auth.py role:user": [1],
}


def test_files(tmp_path):
    path = _store(tmp_path)
    assert {text: _found(path, text) for text in _FILES} == _FILES


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file:src/auth.py", [4, 2, 3, 1]),
        ("file:lib/other.py", [4, 2]),  # text that is written is no path: both mention it
        ("nothing file:src/auth.py", []),
    ],
)
def test_edits_come_before_mentions(tmp_path, text, expected, limit):
    """On all pages, whichever hit is the last of one."""
    assert pages(_store(tmp_path), text, limit=limit, edits_first=True) == expected


def test_calls_that_are_no_json(tmp_path):
    assert not edits_file("not json src/auth.py", "src/auth.py")
    assert edits_file(
        '[{"name": "write_file", "arguments": "{\\"path\\": \\"src/auth.py"}]', "src/auth.py"
    )
    assert not edits_file('[{"name": "terminal", "arguments": "rm src/auth.py"}]', "src/auth.py")


_REASONED = {
    "cookie": [5],
    "in:reasoning": [4, 3],
    "in:reasoning -cookie": [4],
    "in:reasoning tool:patch": [4],
    "in:reasoning cookie file:src/auth.py": [3],
}


@pytest.mark.parametrize("shape", NAMES)
def test_reasoning_is_searched_when_asked(tmp_path, shape):
    path = _store(tmp_path, shape)
    answer = ask(path, "cookie in:reasoning")
    (hit,) = answer.hits
    assert (hit.message_id, hit.snippet, hit.match) == (3, "the cookie may be stale", ((4, 10),))
    assert answer.engine == "scan" and any("no index" in note for note in answer.notes)
    assert {text: _found(path, text) for text in _REASONED} == _REASONED
    assert "in: knows reasoning" in parse("in:title x").problems[0].text


@pytest.mark.parametrize("in_place", [True, False])
def test_forgotten_is_what_a_resume_does_not_send(tmp_path, in_place):
    """Every other row, but the live ones of the tip: those replaced in place, and those of sessions
    that went on."""
    path = long_conversation(tmp_path / "state.db", 120, 2, in_place=in_place)
    with opened(path, NOW) as (reader, catalog):
        (whole,) = catalog.select(View.ALL)
        live, every = (
            {row.id for row in read_outline(reader, whole.segments, reading).rows}
            for reading in (Reading.LIVE, Reading.EVERYTHING)
        )
    forgotten = set(_found(path, "is:forgotten"))
    assert forgotten == every - live
    assert set(_found(path, "-is:forgotten")) == live
    assert set(_found(path, "request is:forgotten")) == forgotten & set(_found(path, "request"))


@pytest.mark.parametrize(
    ("query", "hits"),
    [("walrus msgs>10", 12), ("walrus msgs=12", 12), ("walrus msgs<5", 0), ("walrus -msgs<5", 12)],
)
def test_messages_are_compared_by_the_number_that_is_shown(made, query, hits):
    """Not by that of Hermes, which counts the two that the model still sees."""
    rows = [
        {"session_id": "a", "content": f"walrus {at}", "active": at > 9, "compacted": at <= 9}
        for at in range(12)
    ]
    sessions = [{"id": "a", "started_at": T0, "message_count": 2}]
    path = made("22", sessions, rows)
    assert len(_found(path, query)) == hits


@pytest.mark.parametrize(
    ("child", "forgotten"),
    [
        (None, []),
        ({"model_config": {"_branched_from": "s"}}, []),
        ({"model_config": "{", "source": "tool"}, []),
        ({"model_config": {"_branched_from": "another"}}, [1]),
        ({"model_config": "{"}, [1]),
    ],
)
def test_messages_are_forgotten_where_a_continuation_has_their_summary(made, child, forgotten):
    """Not where a compression came to nothing, or only a branch goes on. The continuation begins
    before the end (0.18 and later)."""
    sessions = [{"id": "s", "end_reason": "compression", "ended_at": 5000.0}]
    if child is not None:
        sessions.append({"id": "n", "parent_session_id": "s", "started_at": 4999.5} | child)
    messages = [{"id": 1, "session_id": "s", "content": "a kayak", "timestamp": 4000.0}]
    path = made("22", sessions, messages)
    assert _found(path, "kayak is:forgotten") == forgotten
    assert _found(path, "kayak -is:forgotten") == ([] if forgotten else [1])


def test_nothing_is_forgotten_where_a_damaged_file_has_no_continuation(made):
    """A compressed session that is its own parent; of two that are the parent of each other the
    newer one, which ends the conversation."""
    parents = {"self": "self", "older": "newer", "newer": "older"}
    sessions = [
        {"id": id, "parent_session_id": parent, "end_reason": "compression", "started_at": T0 + at}
        for at, (id, parent) in enumerate(parents.items())
    ]
    rows = [{"session_id": id, "content": "a kayak"} for id in parents]
    path = made("22", sessions, rows)
    with opened(path, NOW) as (_reader, catalog):
        conversation = catalog.conversation("newer")
    assert conversation.session_ids == ["older", "newer"]
    assert _found(path, "kayak is:forgotten") == [2]


def test_a_source_is_found_by_its_short_name(made):
    """The one that lists show, in a query, as an option of a list, and of what was used last."""
    sources = ("whatsapp", "webhook", "api_server", "wa")
    sessions = [{"id": f"s-{source}", "source": source} for source in sources]
    messages = [{"session_id": each["id"], "content": "lantern"} for each in sessions]
    path = made("31", sessions, messages)
    with opened(path, NOW) as (reader, catalog):
        for short, expected in (
            ("wa", {"s-whatsapp", "s-wa"}),
            ("Hook", {"s-webhook"}),
            ("api", {"s-api_server"}),
            ("whatsapp", {"s-whatsapp"}),
        ):
            hits = ask(path, f"lantern source:{short}").hits
            assert {hit.session_id for hit in hits} == expected
            assert set(catalog.order(View.ALL, sources=[short])) == expected
            assert resolve_last(reader, short) in expected
    without = {hit.session_id for hit in ask(path, "lantern -source:wa,hook").hits}
    assert without == {"s-api_server"}


def test_a_time_as_text_is_a_time(written):
    times = ("2026-03-05T08:00:00", "none")
    rows = [{"content": "kayak", "timestamp": time} for time in times]
    path = written(rows)
    queries = ("on:2026-03-05", "after:2026-03-04", "before:2026-03-06", "before:2026-03-05")
    assert [_found(path, f"kayak {query}") for query in queries] == [[1], [1], [1], []]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ferry", ["one"]),
        ("FERRY quay", ["one"]),
        ("one two", ["one"]),
        ("ferry three", []),
        ("cafe", ["cafe"]),
        ("quay OR café", ["cafe", "one"]),
        ("café -plan", []),
        ("ca -pla", ["cafe"]),
    ],
)
def test_titles_and_ids_are_found_as_words_are(query, expected):
    """Of all segments together, the newest conversation first; without case and accents."""
    catalog = Catalog(
        [
            Session("one", "cli", title="Ferry", ended_at=1.0, end_reason="compression"),
            Session("two", "cli", "one", title="Quay", started_at=2.0, last_active=2.0),
            Session("cafe", "cli", title="Cafe\u0301 plan", last_active=9.0),
        ]
    )
    assert titled(catalog, parse(query), None) == expected


def test_commas_part_alternatives_of_roles_and_tools(written):
    tools = [
        {"role": "tool", "tool_name": name, "content": "kayak"} for name in ("patch", "terminal")
    ]
    path = written(["kayak", *tools])
    assert sorted(_found(path, "kayak role:user,tool")) == [1, 2, 3]
    assert sorted(_found(path, "kayak tool:patch,Terminal")) == [2, 3]


def test_a_failure_is_what_the_screen_calls_one(written):
    """Most results have the field, empty; some are a text; some are followed by a hint, or hold
    bytes that are no text."""
    results = [
        '{"output": "fine", "exit_code": 0, "error": null}', '{"error": "boom"}', '{"exit_code": 2}',
        "Error: no such file", '{"success": false}', '{"status": "pending_approval", "exit_code": -1}',
        "Traceback (most recent call last)", '{"error": [], "returncode": 0}', "no error", "[1]",
        '{"error": "boom"}\n\nTry another path.', b'{"error": "\xff"}', '{"exit_code": "2"}',
    ]  # fmt: skip
    rows = [{"role": "tool", "content": text} for text in results]
    path = written(rows)
    assert sorted(_found(path, "has:error")) == [2, 3, 4, 5, 7, 11, 12]
    assert sorted(_found(path, "-has:error")) == [1, 6, 8, 9, 10, 13]


@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_file_is_found_by_any_letters(written, is_ascii):
    """As JSON spells them, and within JSON again."""
    names = ["docs/größe.md", r"C:\work\a.py", "docs/日本.md"]
    arguments = [json.dumps({"path": name}, ensure_ascii=is_ascii) for name in names]
    calls = [
        json.dumps([tool_call("write_file", each)], ensure_ascii=is_ascii) for each in arguments
    ]
    rows = [{"role": "assistant", "tool_calls": each} for each in calls]
    path = written([*rows, "see Ä.txt"])
    for at, name in enumerate([*names, "ä.txt"], 1):
        assert _found(path, f"file:{name}") == [at]
    assert edits_file(calls[1], r"c:\work\a.py") and not edits_file(calls[1], "b.py")


def test_reasoning_in_details_is_searched(written):
    details = [
        json.dumps([{"type": "reasoning.text", "text": "the walrus"}]),
        json.dumps([{"type": "reasoning.encrypted", "data": "walrus"}]),
    ]
    rows = [{"role": "assistant", "content": "x", "reasoning_details": each} for each in details]
    path = written(rows)
    assert _found(path, "walrus in:reasoning") == [1] and _found(path, "has:reasoning") == [1]


def test_an_order_that_cannot_be_had_is_told(written):
    path = written(["部署"])
    answer = ask(path, "部署", order=HitOrder.RELEVANCE)
    assert len(answer.hits) == 1 and "can be ranked" in answer.notes[0]


def test_a_catalog_whose_filters_were_asked_is_freed():
    """Its table does not keep it: each change of a store makes another catalog."""
    catalog = Catalog([Session("a", "cli")], NOW)
    assert roots_in(None, compile_filters(parse("source:cli"), NOW), catalog) == ["a"]
    kept = weakref.ref(catalog)
    del catalog
    assert kept() is None
