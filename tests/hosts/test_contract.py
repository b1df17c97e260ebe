"""What hosts print becomes conversations and hits, or an error: never anything else, whatever it
is."""

from __future__ import annotations

import copy
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import make_store
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from store_builder import T0

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.failures import translate
from hermes_browse.store.edit.transaction import failure
from hermes_browse.store.errors import BrowseError, NotFoundError, StoreBusyError, StoreError
from hermes_browse.store.hosts.contract import ROWS, Listed, Searched, read_list, read_search
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link, Reply
from hermes_browse.store.hosts.running import document_of
from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import ConversationKind, Relation, Status, View
from hermes_browse.tui.cli import main

VPS = Link(Host("vps", "me@vps"))
Print = Callable[[Sequence[str]], Reply]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A chain of three segments with a title and a subagent, and a conversation without one."""
    chain = [
        {
            "id": f"s{number}",
            "source": "telegram",
            "title": title,
            "started_at": T0 + number,
            "model": "opus",
        }
        | {"parent_session_id": f"s{number - 1}" if number else None, "cwd": "/tmp/здесь"}
        | ({"ended_at": T0 + number + 1, "end_reason": "compression"} if number < 2 else {})
        | {"input_tokens": 10, "output_tokens": 2, "estimated_cost_usd": 0.25}
        for number, title in enumerate(["Boats", "Boats #2", "Boats #3"])
    ]
    marker = json.dumps({"_delegate_from": "s1"})
    helper = {
        "id": "helper",
        "parent_session_id": "s1",
        "model_config": marker,
        "started_at": T0 + 1,
    }
    chain.append(helper | {"estimated_cost_usd": 2.0})
    said = [
        {"session_id": f"s{number}", "content": f"the harbour {number}", "timestamp": T0 + number}
        for number in range(3)
    ]
    return make_store(
        tmp_path / "state.db",
        sessions=[*chain, {"id": "-odd id", "started_at": T0 - 100}],
        messages=[
            *said,
            {"session_id": "-odd id", "content": "hi \x1b[2J there", "timestamp": T0 - 100},
        ],
    )


@pytest.fixture
def printed(store: Path, capsys: pytest.CaptureFixture[str]) -> Print:
    """Runs a command line on the store, as a host does."""

    def run(arguments: Sequence[str]) -> Reply:
        capsys.readouterr()
        code = main(["--db", str(store), *arguments])
        return Reply(code, *capsys.readouterr())

    return run


@pytest.mark.parametrize("of", [translate, failure])
def test_a_busy_store_there_is_told_from_a_broken_one(
    of: Callable[[sqlite3.Error, Path], BrowseError],
) -> None:
    """By its sentence, of reading or of writing, as both have one exit code: a clean-up tries again
    then."""
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = sqlite3.SQLITE_BUSY
    said = of(locked, Path("/home/me/.hermes/state.db"))
    with pytest.raises(StoreBusyError, match=r"^vps: /home"):
        document_of(VPS.host, Reply(said.exit_code, "", f"hermes-browse: {said}\n"))


def test_conversations_of_a_host_are_those_of_its_store(store: Path, printed: Print) -> None:
    """All that rows, names and previews show is the same as when the store is read."""
    listed = read_list(VPS, printed(["list", "--json", "--view", "all", "--limit", str(ROWS)]))
    with Store(store).reader() as reader:
        catalog = read_catalog(reader, time.time())
        own = with_details(reader, [catalog.conversation(root) for root in catalog.order(View.ALL)])
    facts = (
        *(
            "id",
            "root_id",
            "kind",
            "status",
            "relation",
            "title",
            "last_active",
            "preview",
            "rows",
            "source",
            "model",
        ),
        *(
            "cwd",
            "git_branch",
            "archived",
            "hidden",
            "pinned",
            "tokens",
            "cost_usd",
            "tool_call_count",
        ),
        "tree_cost_usd",
        *("message_count", "branches", "subagents", "note"),
    )
    told = [{fact: getattr(each, fact) for fact in facts} for each in listed.conversations]
    assert told == [{fact: getattr(each, fact) for fact in facts} for each in own]
    assert [[segment.id for segment in each.segments] for each in listed.conversations] == [
        ["s0", "s1", "s2"],
        ["helper"],
        ["-odd id"],
    ]
    first = listed.conversations[0]
    assert (first.root.started_at, first.tip.ended_at, first.cost_usd) == (T0, None, 0.75)
    assert first.tree_cost_usd == 2.75
    assert (listed.total, listed.sessions) == (3, 5) and listed.bytes > 0


def test_hits_of_a_host_are_those_of_its_store(printed: Print) -> None:
    """With the id of their conversation, which is that of its last segment."""
    found = read_search(VPS, printed(["search", "--json", "--limit", str(ROWS), "--", "harbour"]))
    assert [(at, hit.session_id, hit.snippet) for at, hit in found.hits] == [
        ("s2", f"s{number}", f"the harbour {number}") for number in (2, 1, 0)
    ]
    assert all(hit.snippet[slice(*hit.match[0])] == "harbour" for _at, hit in found.hits)
    assert not found.more
    assert read_search(VPS, printed(["search", "--json", "--limit", "2", "--", "harbour"])).more


def test_what_a_command_says_when_it_fails_is_passed_on(printed: Print) -> None:
    """With the name of the host."""
    with pytest.raises(BrowseError, match=r"^vps: .*before"):
        read_search(VPS, printed(["search", "--json", "--", "boats before:xyz"]))
    with pytest.raises(StoreError, match=r"^vps: no such store"):
        read_list(VPS, Reply(3, "", "some noise\nhermes-browse: no such store\n"))
    with pytest.raises(NotFoundError):
        read_list(VPS, Reply(4, "", ""))


def test_an_older_version_that_knows_fewer_keys_is_read() -> None:
    """An id is enough for a conversation, two for a hit."""
    listed = read_list(VPS, Reply(0, json.dumps({"conversations": [{"id": "a"}], "total": 1}), ""))
    (only,) = listed.conversations
    assert (only.id, only.root_id, only.rows, only.status, only.kind) == (
        "a",
        "a",
        None,
        Status.ENDED,
        ConversationKind.CHAT,
    )
    hits = {"hits": [{"message_id": 7, "session_id": "a", "conversation_id": "b"}]}
    found = read_search(VPS, Reply(0, json.dumps(hits), ""))
    assert found == Searched((("b", Hit(7, "a", "", None, "", ())),), False, ())


def test_words_of_a_newer_version_mean_the_plain_case() -> None:
    """A kind, a status, a relation and a state that are not known yet."""
    new = {"id": "a", "kind": "dream", "status": "asleep", "relation": "cousin", "colour": ["blue"]}
    (only,) = read_list(VPS, Reply(0, json.dumps({"conversations": [new]}), "")).conversations
    assert (only.kind, only.status, only.relation) == (
        ConversationKind.CHAT,
        Status.ENDED,
        Relation.ROOT,
    )
    hit = {"message_id": 7, "session_id": "a", "conversation_id": "b", "state": "faded"}
    assert (
        read_search(VPS, Reply(0, json.dumps({"hits": [hit]}), "")).hits[0][1].state is State.LIVE
    )


WRONG: list[dict[str, object]] = [
    {"id": 5},
    {"id": ""},
    {"id": "x" * 10_000},
    {"id": None},
    {"id": "b"},
    {"segments": []},
    {"segments": "a"},
    {"segments": ["a"] * 5_000},
    {"segments": ["a", 5, "a"]},
    {"root_id": "b"},
    {"title": ["a"]},
    {"source": 5},
    {"last_active": "now"},
    {"last_active": True},
    {"last_active": float("nan")},
    {"last_active": float("inf")},
    {"started_at": 10**400},
    {"message_count": -1},
    {"message_count": 2**70},
    {"message_count": 1.5},
    {"branches": True},
    {"archived": "yes"},
    {"tokens": 5},
    {"tokens": {"input": "many"}},
    {"cost_usd": "free"},
    {"tree_cost_usd": "free"},
    {"bytes": {}},
    {"status": 5},
    {"preview": {}},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_value_of_a_wrong_type_is_no_answer(wrong: dict[str, object]) -> None:
    """One is enough: the host is not what it seems."""
    document = {"conversations": [{"id": "a", "root_id": "a", "segments": ["a"]} | wrong]}
    with pytest.raises(HostError) as caught:
        read_list(VPS, Reply(0, json.dumps(document), ""))
    assert caught.value.code == "host-noise"


def test_more_than_was_asked_for_is_no_answer() -> None:
    """Rows, and bytes in all; a long text is cut, as stores have them."""
    for out in (
        json.dumps({"conversations": [{"id": "a"}] * (ROWS + 1)}),
        json.dumps({"conversations": [], "more": "x" * 9_000_000}),
        "[" * 100_000,
        "9" * 10_000,
        "",
    ):
        with pytest.raises(HostError) as caught:
            read_list(VPS, Reply(0, out, ""))
        assert caught.value.code == "host-noise" and len(str(caught.value)) < 300
    long = {"id": "a", "title": "long " * 1_000, "preview": "p" * 9_000, "cwd": "/c" * 9_000}
    (only,) = read_list(VPS, Reply(0, json.dumps({"conversations": [long]}), "")).conversations
    assert len(only.title or "") == len(only.preview) == 400


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([2**64, -1, 10**400, "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def _leaves(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(leaf for key, child in children for leaf in _leaves(child, (*path, key)))]


def _checked(document: object) -> None:
    out = json.dumps(document)
    for read in (read_list, read_search):
        try:
            answer = read(VPS, Reply(0, out, ""))
        except HostError:
            continue
        assert isinstance(answer, Listed | Searched)
        for each in answer.conversations if isinstance(answer, Listed) else ():
            assert each.id and each.message_count >= 0 and each.tokens.total >= 0
            f"{each.title}{each.preview}{each.root_id}{each.cwd}{each.model}".encode()
            assert each.last_active is None or abs(each.last_active) < 1e300
        for at, hit in answer.hits if isinstance(answer, Searched) else ():
            assert at and hit.session_id
            assert all(0 <= start <= end <= len(hit.snippet) for start, end in hit.match)


@given(JSON)
def test_any_json_is_an_answer_or_an_error(document: object) -> None:
    """Whole documents that nobody would print."""
    _checked(document)
    _checked({"conversations": document, "hits": document})


@settings(max_examples=examples(2_000))
@given(st.data())
def test_an_answer_with_any_one_value_replaced_is_an_answer_or_an_error(
    data: st.DataObject,
) -> None:
    """Documents that are right but for one place."""
    right: dict[str, Any] = {
        "store": {"sessions": 3, "bytes": 9},
        "total": 1,
        "conversations": [
            {
                "id": "b",
                "root_id": "a",
                "segments": ["a", "b"],
                "title": "t",
                "preview": "p",
                "source": "cli",
            }
            | {
                "model": "m",
                "cwd": "/",
                "started_at": 1.0,
                "last_active": 2,
                "status": "live",
                "kind": "chat",
            }
            | {
                "archived": False,
                "message_count": 3,
                "tokens": {"input": 1},
                "cost_usd": 0.5,
                "bytes": 1,
            }
        ],
        "more": False,
        "notes": ["a note"],
        "hits": [
            {
                "message_id": 1,
                "session_id": "a",
                "conversation_id": "b",
                "role": "user",
                "timestamp": 1.0,
            }
            | {"snippet": "a boat", "match": [[2, 6]], "state": "live"}
        ],
    }
    _checked(right)
    path = data.draw(st.sampled_from(_leaves(right)[1:]))
    changed: Any = copy.deepcopy(right)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = data.draw(JSON)
    _checked(changed)
