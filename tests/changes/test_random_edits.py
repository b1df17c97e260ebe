"""Random edits, told as Hermes' tools tell them: the diff must lead from the first text to the
last."""

from __future__ import annotations

import json
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plays import apply_and_compare, repository

from hermes_browse.store.changes.changes import Replay
from hermes_browse.store.changes.diff import can_be_applied, net_lines
from hermes_browse.store.changes.diff import unified_diff as our_diff
from hermes_browse.store.changes.edits import Paths, steps_of
from hermes_browse.store.changes.tool_uses import ToolUse

PATH = "/w/file.txt"
LINES = st.sampled_from(
    ["a\n", "b\n", "}\n", "\n", "+x\n", "-- y\n", "--- z\n", "@@ -1 +1 @@\n", "é\r\n"]
)
TEXTS = st.builds(
    lambda lines, end: "".join(lines) + end,
    st.lists(LINES, max_size=30),
    st.sampled_from(["", "", "no end"]),
)
Call = tuple[str, dict[str, object], dict[str, object]]


def read(text: str) -> Call:
    """A `read_file` of the whole text."""
    lines = text.split("\n")
    content = "\n".join(f"{number}|{line}" for number, line in enumerate(lines, 1))
    size = len(text.encode())
    return "read_file", {"path": PATH}, {"content": content, "file_size": size}


def patch(old: str, new: str) -> Call:
    """A `patch` from one text to another, as its result has it."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    diff = "".join(unified_diff(before, after, f"a/{PATH}", f"b/{PATH}"))
    return "patch", {"path": PATH}, {"success": True, "diff": diff, "resolved_path": PATH}


def write(text: str) -> Call:
    """A `write_file`."""
    size = len(text.encode())
    return (
        "write_file",
        {"path": PATH, "content": text},
        {"bytes_written": size, "resolved_path": PATH},
    )


def replay(calls: list[Call]) -> Replay:
    """The file after some calls."""
    done = Replay()
    for number, (name, arguments, result) in enumerate(calls):
        use = ToolUse(number, "s", name, json.dumps(arguments), None, number)
        steps, _is_failed = steps_of(use, json.dumps(result), Paths("/w"))
        for step in steps:
            done.add(step)
    return done


@st.composite
def scripts(draw: st.DrawFn) -> tuple[str, str, list[Call]]:
    """A first text, the last one, and calls that lead from one to the other."""
    first = text = draw(TEXTS)
    calls: list[Call] = []
    for _step in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["patch", "patch", "splice", "write", "read", "fail"]))
        if kind == "read":
            calls.append(read(text))
            continue
        if kind == "fail":
            calls.append(("patch", {"path": PATH}, {"success": False, "error": "not found"}))
            continue
        new = draw(TEXTS)
        if kind == "splice":
            lines = text.splitlines(keepends=True)
            at = draw(st.integers(0, len(lines)))
            new = "".join([*lines[:at], *new.splitlines(keepends=True)[:2], *lines[at + 1 :]])
        if kind == "write":
            calls.append(read(text))
            calls.append(write(new))
        elif new != text:
            calls.append(patch(text, new))
        text = new
    return first, text, calls


@settings(max_examples=examples(400))
@given(scripts())
def test_git_gets_the_last_text_from_the_first(script: tuple[str, str, list[Call]]) -> None:
    first, last, calls = script
    document = replay(calls).documents.get(PATH)
    if document is None or not document.is_exact:
        return  # see the next test for how rare that is
    lines = net_lines(document)
    assert can_be_applied(lines)
    diff = "".join(line.text for line in our_diff(document, lines, "file.txt", "file.txt"))
    with TemporaryDirectory() as folder:
        git = repository(Path(folder), {"file.txt": first})
        apply_and_compare(git, diff, last, "file.txt")


@given(TEXTS, TEXTS, TEXTS)
def test_ordinary_edits_are_known_whole(first: str, second: str, third: str) -> None:
    calls = [read(first), write(second), *([patch(second, third)] if second != third else [])]
    document = replay(calls).documents[PATH]
    is_ambiguous = "no end" in second and "+" in "".join((second, third))
    assert document.is_exact or is_ambiguous
    if document.is_exact:
        assert document.text() == third


@given(st.text("@ -+,0123\n\r\x0cab", max_size=60))
def test_any_other_diff_is_refused_or_read(tail: str) -> None:
    result = {"success": True, "diff": f"--- a/x\n+++ b/x\n@@ -{tail}", "files_modified": ["/w/x"]}
    call: Call = ("patch", {"path": "/w/x"}, result)
    done = replay([call, call])
    assert list(done.documents) == ["/w/x"]


def test_strange_line_ends_are_not_passed_off_as_a_patch() -> None:
    document = replay([patch("a\x0cb\nc\n", "a\x0cB\nc\n")]).documents[PATH]
    assert not can_be_applied(net_lines(document))


def test_a_change_by_hand_is_noticed() -> None:
    text = "".join(f"{number}\n" for number in range(30))
    by_hand = "mine\n" + text
    calls = [read(text), patch(text, text.replace("5\n", "five\n", 1))]
    assert replay(calls).documents[PATH].is_exact
    later = by_hand.replace("5\n", "five\n", 1)
    calls.append(patch(later, later.replace("20\n", "twenty\n", 1)))
    assert not replay(calls).documents[PATH].is_exact
