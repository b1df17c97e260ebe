"""Random edits, told as Hermes' tools tell them: the diff must lead from the first text to the
last."""

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import file_calls
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plays import apply_and_compare, repository

from hermes_browse.store.changes.changes import file_change
from hermes_browse.store.changes.replay import Replay
from hermes_browse.store.changes.tool_uses import ToolUse
from hermes_browse.store.sessions.models import Session

PATH = "/w/file.txt"
LINES = st.sampled_from(
    ["a\n", "b\n", "}\n", "\n", "+x\n", "-- y\n", "--- z\n", "@@ -1 +1 @@\n", "é\r\n"]
)
TEXTS = st.builds(
    lambda lines, end: "".join(lines) + end,
    st.lists(LINES, max_size=30),
    st.sampled_from(["", "", "no end"]),
)


read, write = partial(file_calls.read, PATH), partial(file_calls.write, PATH)
patch = partial(file_calls.patch, PATH)


def replay_of(calls):
    """The file after some calls; None if they did nothing."""
    replay = Replay({"s": Session("s", "cli", cwd="/w")})
    for number, (name, arguments, result) in enumerate(calls):
        use = ToolUse(number, "s", name, json.dumps(arguments), None, number)
        replay.do(use, json.dumps(result))
    assert replay.files.keys() <= {PATH}
    return replay.files.get(PATH)


def change_by(calls):
    """What some calls did to the file; None if they did nothing."""
    file = replay_of(calls)
    return file and file_change(PATH, file, "/w", ["s"])


@st.composite
def scripts(draw):
    """A first text, the last one, and calls that lead from one to the other."""
    first = text = draw(TEXTS)
    calls = []
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


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(scripts())
def test_git_gets_the_last_text_from_the_first(script):
    first, last, calls = script
    change = change_by(calls)
    if change is None or not change.is_exact:
        return  # see the next test for how rare that is
    with TemporaryDirectory() as folder:
        git = repository(Path(folder), {"file.txt": first})
        diff = "".join(line.text for line in change.diff)
        apply_and_compare(git, diff, last, "file.txt")


@pytest.mark.slow
@given(TEXTS, TEXTS, TEXTS)
def test_ordinary_edits_are_known_whole(first, second, third):
    calls = [read(first), write(second), *([patch(second, third)] if second != third else [])]
    change = change_by(calls)
    is_ambiguous = "no end" in second and "+" in "".join((second, third))
    assert change.is_exact or is_ambiguous


@given(st.text("@ -+,0123\n\r\x0cab", max_size=60))
def test_any_other_diff_is_refused_or_read(tail):
    diff = f"--- a{PATH}\n+++ b{PATH}\n@@ -{tail}"
    call = ("patch", {"path": PATH}, {"success": True, "diff": diff})
    assert change_by([call, call]) is not None


def test_strange_line_ends_are_not_passed_off_as_a_patch():
    change = change_by([patch("a\x0cb\nc\n", "a\x0cB\nc\n")])
    assert not change.is_exact


def test_a_change_by_hand_is_noticed():
    text = "".join(f"{number}\n" for number in range(30))
    with_five = text.replace("5\n", "five\n", 1)
    by_hand = f"mine\n{with_five}"
    calls = [read(text), patch(text, with_five)]
    assert change_by(calls).is_exact
    calls.append(patch(by_hand, by_hand.replace("20\n", "twenty\n", 1)))
    assert not change_by(calls).is_exact


def text_by(diff, *calls):
    """What a patch with some diff leaves of the file."""
    result = {"success": True, "diff": diff, "resolved_path": PATH}
    return replay_of([*calls, ("patch", {"path": PATH}, result)]).last.text()


def test_a_new_file_before_an_edit_without_a_diff():
    """Its last line has no end: what separates it from nothing is the tool's own."""
    assert text_by(f"--- /dev/null\n+++ b/{PATH}\n+a\n\n") == "a"


def test_a_line_without_an_end_before_another_diff():
    """The deleted line and the added one are one line, and the next head is not of them."""
    head = f"--- a/{PATH}\n+++ b/{PATH}\n"
    assert text_by(f"{head}@@ -1,2 +1,2 @@\n a\n-b+c\n{head}@@ -1,2 +1,2 @@\n-a\n+d\n c") == "d\nc"


def test_a_deletion_of_other_lines_is_not_of_the_text_that_is_known():
    """It says that lines went which are not all of those that are known."""
    diff = f"--- a/{PATH}\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n"
    gone = ("patch", {"path": PATH}, {"success": True, "diff": diff, "resolved_path": PATH})
    assert not change_by([read("a\nb\n"), gone]).is_exact


def test_a_path_that_is_no_text():
    """No file is meant."""
    for call in (
        ("patch", {"path": ["a"]}, {"success": True}),
        ("read_file", {}, {"content": "1|a", "file_size": 1}),
    ):
        assert change_by([call]) is None
