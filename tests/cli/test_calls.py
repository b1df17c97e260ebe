"""The calls of `serve` and the commands behind them: nothing is lost between a command line and a
call."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from commandline import copy_store
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hermes.homes import locate
from hermes_browse.store.hosts.calls import CALLS, read_call
from hermes_browse.tui.cli import calls, serve
from hermes_browse.tui.cli.registry import parse

LINES = {
    "list": "list",
    "search": "search one",
    "stats": "stats",
    "lineage": "lineage one",
    "cautions": "resume one --print",
    "plan": "prune",
    "trash": "trash list",
    "archive": "archive one",
    "unarchive": "unarchive one",
    "pin": "pin one",
    "unpin": "unpin one",
    "rename": "rename one two",
    "delete": "delete one",
    "restore": "trash restore one",
    "clean_up": "prune --delete",
}
"""The shortest command line of each call."""


@pytest.mark.parametrize("name", CALLS)
def test_a_command_line_and_its_call_say_the_same(name: str) -> None:
    """What the parser has by default is what a call has, so that an argument may be left out."""
    arguments, command = parse(LINES[name].split())
    assert command is not None
    found = calls.call_of(arguments)
    assert found is not None and found[0] == name
    required = {
        key: value
        for key, value in found[1].items()
        if key in ("query", "id", "ids", "title", "bundles")
    }
    chosen = {"delete": True} if name == "clean_up" else {}
    given = msgspec.json.encode(required | chosen | {"json": False})
    assert read_call(name, given).values == found[1]


@pytest.mark.parametrize(
    "line",
    [
        "show one",
        "export one",
        "list --old",
        "list --all-profiles",
        "search one --all-profiles",
        "doctor",
        "profiles",
        "trash drop one --yes",
        "trash restore one --yes",
        "context one",
        "compactions one",
    ],
)
def test_other_command_lines_are_no_call(line: str) -> None:
    """Nothing that they say is dropped silently."""
    arguments, _command = parse(line.split())
    assert calls.call_of(arguments) is None


QUERIES = {
    "prune --older-than 90d --title x --cwd ~/x --min-messages 2 --max-size 10M --max-cost 0.5 --archive --dry-run": (
        "older:90d title:x msgs>=2 size<=10000000 cost<=0.500000000 cwd:~/x/"
    ),
    "prune --empty --automation --stale-open --include-archived --archive --yes": (
        "is:empty is:automation include:archived include:stale"
    ),
    "prune source:cron older:3d --stale-open --yes --delete": "source:cron older:3d include:stale",
}
"""The query that a call has for a command line with options."""


@pytest.mark.parametrize(
    "line",
    [
        "list --view all --source cli --source cron --sort cost --reverse --limit 7 --offset 2",
        "search one two --sort oldest --limit 3 --context 2 --view chats --source cli --role user",
        "stats --by tool --period 30d",
        "prune --older-than 90d --title x --cwd ~/x --min-messages 2 --max-size 10M --max-cost 0.5 --archive --dry-run",
        "prune --empty --automation --stale-open --include-archived --archive --yes",
        "prune source:cron older:3d --stale-open --yes --delete",
        "trash restore one --only two",
        "delete one two --yes",
    ],
)
def test_every_option_arrives(line: str) -> None:
    """As it was typed; a folder is that of the other machine, so `~` is not replaced here."""
    arguments, _command = parse([*line.split(), "--json"])
    found = calls.call_of(arguments)
    assert found is not None
    values = read_call(found[0], msgspec.json.encode(found[1])).values
    assert all(
        values[each] == getattr(arguments, each)
        for each in values
        if values["json"] and each != "query"
    )
    if line.startswith("prune"):
        assert values["query"] == [QUERIES[line]]


def test_the_words_of_the_table_are_those_of_the_parser() -> None:
    """Each is accepted by both; a word that is new in one is missing in the other."""
    for name, option in (
        ("list", "view"),
        ("list", "sort"),
        ("search", "sort"),
        ("stats", "by"),
        ("stats", "period"),
    ):
        kind = next(
            each.type for each in msgspec.structs.fields(CALLS[name]) if each.name == option
        )
        with pytest.raises(SystemExit):
            parse([*LINES[name].split(), f"--{option}", "no such word"])
        for word in _choices(name, option):
            assert msgspec.convert(word, kind) == word, (name, option)
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert("no such word", kind)


def _choices(name: str, option: str) -> list[str]:
    from hermes_browse.tui.cli.registry import make_parser

    actions = make_parser([name])._subparsers._group_actions[0].choices[name]._actions  # type: ignore
    (found,) = [each for each in actions if each.dest == option]
    return list(found.choices)


WRONG: list[Any] = [
    ("list", {"limit": -1}),
    ("list", {"limit": True}),
    ("list", {"limit": 1.5}),
    ("list", {"limit": "5"}),
    ("list", {"limit": 2**53}),
    ("list", {"limit": None}),
    ("list", {"view": "everything"}),
    ("list", {"view": None}),
    ("list", {"source": "cli"}),
    ("list", {"source": [1]}),
    ("list", {"source": ["a\0b"]}),
    ("list", {"reverse": 1}),
    ("search", {}),
    ("search", {"query": []}),
    ("search", {"query": ["x" * 10_001]}),
    ("plan", {"query": "older:90d"}),
    ("plan", {"query": [90]}),
    ("plan", {"older_than": "90d"}),
    ("archive", {"ids": "one"}),
    ("archive", {"ids": []}),
    ("archive", {"ids": ["x"] * 100_001}),
    ("rename", {"id": "one", "title": "two"}),
    ("lineage", {"id": None}),
]


@pytest.mark.parametrize(("name", "values"), WRONG)
def test_an_argument_of_another_type_is_refused(name: str, values: Any) -> None:
    """With a sentence that names it."""
    with pytest.raises(RefusedError, match=[*(values or ["query"])][-1]):
        read_call(name, msgspec.json.encode(values))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.sampled_from(sorted(CALLS)) | ANYTHING,
    st.dictionaries(st.text(), ANYTHING) | ANYTHING,
)
def test_anything_else_is_refused(name: Any, values: Any) -> None:
    """Whatever was sent: all arguments of the call, or a sentence."""
    try:
        found = read_call(name, json.dumps(values).encode())
    except RefusedError as refused:
        assert refused.sentence
    else:
        whole = found.values.keys()
        assert whole == set(CALLS[found.name].__struct_fields__) and values.keys() <= whole


def test_a_call_that_prints_without_end_is_refused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it fills the memory."""
    copy_store("state-v22", tmp_path)
    monkeypatch.setattr(serve, "_PRINTED", 1_000)
    call = read_call("list", b"{}")
    reply = serve.carry_out_call(locate(home=str(tmp_path)), call, lambda: False)
    assert reply.code == 5 and "too large" in reply.err and len(reply.out) <= 1_000
