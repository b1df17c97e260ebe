"""`blame`: who wrote a line, also of files that somebody edited by hand between the sessions."""

from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from effort import examples
from file_calls import store_by, terminal
from hypothesis import given, settings
from hypothesis import strategies as st
from plays import RELEASES, play, store_of
from statements import noted_statements
from store_builder import add_tool_use
from test_random_edits import PATH, patch, read, write

from hermes_browse.store.changes.blame import read_blame
from hermes_browse.store.connection.connect import Store


def blame_in(store, text, path=PATH):
    """The blame of a file that has some text."""
    with Store(store).reader() as reader:
        return read_blame(reader, path, text)


def blame_of(document, folder, path, text):
    """The blame of a file of a play."""
    store = store_of(document, folder / "state.db")
    return blame_in(store, text, f"{document['directory']}/{path}")


def session_of(line):
    """The session that wrote a line."""
    return line.edit and line.edit.session_id


@pytest.mark.parametrize("release", RELEASES)
def test_lines_belong_to_the_message_that_wrote_them(release, tmp_path):
    document = play(release)
    lines = blame_of(document, tmp_path, "src/app.py", document["after"]["src/app.py"])
    assert [
        (line.number, line.edit.session_id, line.prompt and line.prompt.said)
        for line in lines
        if line.edit
    ] == [
        (1, "first", "Now the text files"),
        (4, "second", "And the rest"),
        (5, "agent", "Write the tests"),
        (6, "first", "Revoked tokens still pass"),
        (10, "first", "Now the text files"),
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_lines_by_hand_belong_to_nobody(release, tmp_path):
    document = play(release)
    after = document["after"]
    (tmp_path / "other").mkdir()
    lines = blame_of(document, tmp_path, "hand.txt", after["hand.txt"])
    assert {line.text: session_of(line) for line in lines} == {
        "mine": None, "alpha": None, "BETA": "second", "gamma": None, "mine too": None,
        "DELTA": "other", "epsilon": None,
    }  # fmt: skip
    lines = blame_of(document, tmp_path / "other", "mine.txt", after["mine.txt"])
    assert [(line.text, session_of(line)) for line in lines] == [
        ("before", None), ("written", None), ("by the other agent", "other"), ("}", None),
        ("}", None),
    ]  # fmt: skip


def test_a_file_that_is_gone_is_shown_as_it_was_left(tmp_path):
    lines = blame_of(play("0.19.0"), tmp_path, "docs/new.md", None)
    assert [(line.text, session_of(line)) for line in lines] == [
        (text, "first") for text in ("# New", "", "text", "more")
    ]


def test_calls_of_conversations_that_are_not_related_may_be_alike(builder):
    """Ids of calls are not always unique: none of the two is a copy."""
    one, two = "a = 1\n", "a = 2\n"
    for session, call in (("s", patch(one, two)), ("t", patch(two, one)), ("u", patch(one, two))):
        builder.session(session, cwd="/w")
        add_tool_use(builder, "c1", *call, session=session)
    assert list(map(session_of, blame_in(builder.write(), two))) == ["u"]


def test_what_a_branch_copied_stays_with_its_first_message(builder):
    """A branch begins with all rows of the conversation that it left; what it does then is its
    own."""
    builder.session("s", cwd="/w")
    builder.session("b", cwd="/w", parent_session_id="s", model_config={"_branched_from": "s"})
    calls = [
        ("s", "c1", patch("alpha\ngamma\n", "a line of the first\ngamma\n")),
        ("b", "c1", patch("alpha\ngamma\n", "a line of the first\ngamma\n")),
        ("b", "c2", patch("a line of the first\ngamma\n", "a line of the first\nand of b\n")),
    ]
    for session, call_id, call in calls:
        add_tool_use(builder, call_id, *call, session=session)
    blame = blame_in(builder.write(), "a line of the first\nand of b\n")
    assert list(map(session_of, blame)) == ["s", "b"]


def test_the_prompt_of_an_edit_is_read_once(tmp_path):
    """However many lines it wrote."""
    asked = set()
    for count in (3, 300):
        (tmp_path / str(count)).mkdir()
        text = "".join(f"a line with the number {number}\n" for number in range(count))
        store, _ids = store_by(tmp_path / str(count), write(text))
        with Store(store).reader() as reader, noted_statements() as statements:
            blame = read_blame(reader, PATH, text)
        asked.add(len(statements))
        assert list(map(session_of, blame)) == ["s"] * count
    assert len(asked) == 1


def owners(folder, calls, text):
    """The lines of the file that belong to somebody, after calls by their numbers."""
    store, written = store_by(folder, *calls)
    blame = blame_in(store, text)
    return {line.text: written.index(line.edit.message_id) for line in blame if line.edit}


@pytest.mark.parametrize(
    "output", ["{}", "+{}", "1|{}", "src/file.txt:7:{}"], ids=["cat", "diff", "numbered", "search"]
)
@pytest.mark.parametrize("tool", ["terminal", "execute_code"])
def test_what_a_program_showed_may_have_stood_there(tmp_path, tool, output):
    """The command need not name the file: `cat *.txt`."""
    shown = {"output": output.format("a line that stood there"), "exit_code": 0}
    text = "a line that stood there\nanother line\n"
    assert owners(tmp_path, [(tool, {}, shown), write(text)], text) == {"another line": 1}


def cat(text):
    """A program that shows a text with numbers."""
    lines = [f"{number:>6}\t{line}" for number, line in enumerate(text.splitlines(), 1)]
    return terminal("cat -n *.txt", "\n".join(lines))


def test_what_was_read_in_part_may_have_stood_there(tmp_path):
    """And a line that another program added to a text that was known. Of what a program showed with
    it, each line may be another one."""
    part = {"content": "    7|\ta line that stood there", "file_size": 5000}
    text = "\ta line that stood there\nanother line\n"
    calls = [
        ("read_file", {"path": PATH, "offset": 7}, part),
        write(text),
        cat(f"{text}by hand\n"),
        write(f"{text}by hand\na third\n"),
    ]
    found = owners(tmp_path, calls, f"{text}by hand\na third\n")
    assert found == {"a third": 3}


def test_a_line_that_a_program_showed_may_be_another_one(tmp_path):
    """Lines were added by hand, and one of two that are alike was left out of what was written."""
    calls = [patch("", "}\n"), cat("}\nby hand\n}\n"), write("by hand\n}\n")]
    assert owners(tmp_path, calls, "by hand\n}\n") == {}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_text_over_one_that_is_partly_known(is_there, tmp_path):
    """A line that a patch inserted, and the lines around it, were there: what stays is unknown."""
    old = "".join(f"line number {number}\n" for number in range(20))
    new = old.replace("line number 9\n", "line number nine\n")
    last = new.replace("line number 8\n", "line number eight\n")
    found = owners(tmp_path, [patch(old, new), write(last)], last if is_there else None)
    assert found["line number eight"] == 1
    assert not found.keys() & {"line number nine", "line number 10"}


def test_a_line_that_stands_elsewhere_too(tmp_path):
    """The inserted one was taken away by hand, and the other one was never read."""
    lines = [f"line number {number}\n" for number in range(40)]
    old = "".join(lines)
    new = "".join([*lines[:20], lines[35], *lines[20:]])
    assert owners(tmp_path, [patch(old, new)], old) == {}


def edited(old, texts, owner):
    """Lines after an edit: those that it inserted, as its diff has them, have a new owner."""
    lines = []
    matcher = SequenceMatcher(None, texts_of(old), texts)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            lines += old[start:end]
        else:
            lines += [(text, owner) for text in texts[new_start:new_end]]
    return lines


def texts_of(lines):
    """The file."""
    return [text for text, _owner in lines]


@st.composite
def histories(draw):
    """Calls of some sessions with edits by hand between them, and who wrote each line at the
    end."""
    words = st.sampled_from(["}", "", "return x", "a", "b", "c"])
    lines = [(f"{draw(words)}\n", None) for _ in range(draw(st.integers(0, 8)))]
    left = lines
    calls = []
    count = 0

    for _step in range(draw(st.integers(1, 7))):
        old = texts_of(lines)
        at = draw(st.integers(0, len(old)))
        end = min(at + draw(st.integers(0, 2)), len(old))
        kind = draw(st.sampled_from(["patch", "patch", "hand", "read", "write"]))
        if kind in ("read", "write"):
            show = draw(st.sampled_from([read, cat]))
            calls.append(show("".join(old)))
        made = []
        for _line in range(draw(st.integers(0, 3))):
            count += 1
            made.append((draw(words) if draw(st.booleans()) else f"line {count}") + "\n")
        texts = [*old[:at], *made, *old[end:]]
        if kind == "read" or texts == old:
            continue
        lines = edited(lines, texts, None if kind == "hand" else len(calls))
        if kind != "hand":
            new = "".join(texts)
            calls.append(patch("".join(old), new) if kind == "patch" else write(new))
            left = lines
    # What was taken away by hand and typed again leaves no trace.
    return calls, left if texts_of(left) == texts_of(lines) else lines


@pytest.mark.slow
@settings(max_examples=examples(1000))
@given(histories())
def test_no_line_is_attributed_falsely(history):
    calls, lines = history
    with TemporaryDirectory() as folder:
        store, written = store_by(Path(folder), *calls)
        with Store(store).reader() as reader:
            blame = read_blame(reader, PATH, "".join(texts_of(lines)))
    pairs = zip(blame, lines, strict=True)
    for text, run in groupby(pairs, key=lambda pair: pair[1][0]):
        # Of equal lines side by side nobody knows which one was there first.
        same = list(run)
        owners = [written[owner] for _line, (_text, owner) in same if owner is not None]
        given_to = [line.edit.message_id for line, _owned in same if line.edit is not None]
        assert len(given_to) <= len(owners), text
        if text.startswith("line "):
            assert set(given_to) <= set(owners)
