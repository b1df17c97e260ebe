"""The screen of changed files, on stores that Hermes' own tools filled."""

from itertools import pairwise

import pytest
from browsing import go_to, on_store
from hypothesis import example, given
from hypothesis import strategies as st
from plays import RELEASES, play, store_of
from store_builder import T0, StoreBuilder, add_tool_use

from hermes_browse.store.changes.changes import FileChange, diff_text, read_changes
from hermes_browse.store.changes.diffs import DiffLine
from hermes_browse.store.changes.edited_file import Edit
from hermes_browse.store.connection.connect import Store
from hermes_browse.tui.browser.transcript.tool_text import diff_lines
from hermes_browse.tui.screens.changes import FileRow, rows_beside
from hermes_browse.tui.text.styled import line_text, line_width
from hermes_browse.tui.widgets.list_rows import MessageRow

NOW = T0 + 86_400


@pytest.mark.slow
async def test_the_diff_is_saved_as_the_command_line_prints_it(tmp_path, monkeypatch):
    """A file that is there is not replaced."""
    store = store_of(play("0.19.0"), tmp_path / "state.db")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    async with on_store(store, NOW) as browser:
        await go_to(browser, "first")
        await browser.press("F", "e")
        assert "saved" in browser.status
        await browser.press("e")
    first, second = sorted((tmp_path / "work").iterdir())
    with Store(store).reader() as reader:
        printed = diff_text(read_changes(reader, "second").files)
    assert first.read_bytes() == second.read_bytes() == printed.encode()


@pytest.mark.slow
async def test_a_diff_with_half_a_character_is_saved(tmp_path, monkeypatch):
    """JSON can hold half of one; a file cannot."""
    monkeypatch.chdir(tmp_path)
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s", title="Half", cwd="/w")
    builder.message("s", "user", "write")
    content = '{"path": "/w/x.py", "content": "\\ud800\\n"}'
    add_tool_use(builder, "a", "write_file", content, {"bytes_written": 4})
    async with on_store(builder.write(), NOW) as browser:
        await browser.press("F", "e")
        assert "saved" in browser.status
    assert "+?" in (tmp_path / "Half.diff").read_text()


@pytest.mark.slow
async def test_escapes_of_a_store_are_only_shown(tmp_path):
    bad = "\x1b]0;owned\x07\u202e[bold]"
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s", cwd="/w")
    builder.message("s", "user", f"write {bad}")
    content = {"path": f"/w/{bad}.py", "content": f"{bad}\nx\x85y\n"}
    add_tool_use(builder, "a", "write_file", content, {"bytes_written": 1})
    add_tool_use(builder, "b", "terminal", {"command": f"rm {bad}\nls"}, {"exit_code": 0})
    async with on_store(builder.write(), NOW) as browser:
        await browser.press("F")
        for widget in ("#files", "#diff", "#asked", "#status"):
            text = browser.text(widget)
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "[bold]" in browser.text("#diff") and "[bold]" in browser.text("#asked")
        await browser.press("end")
        assert "rm " in browser.text("#diff")


def _changes(release, path):
    with Store(store_of(play(release), path)).reader() as reader:
        return read_changes(reader, "second")


def _place_rows(change, width):
    rows = rows_beside(FileRow(change, frozenset()), width)
    return [row for row in rows if isinstance(row, MessageRow)]


@pytest.mark.parametrize("release", RELEASES)
def test_each_line_leads_to_a_message(release, tmp_path):
    """A changed line to its own, another one to a change of the same hunk."""
    for change in _changes(release, tmp_path / "state.db").files:
        edits = {edit.message_id: edit.session_id for edit in change.edits}
        texts = [line.text for line in change.diff]
        starts = [at for at, text in enumerate(texts) if text.startswith("@@")]
        for start, end in pairwise([*starts, len(texts)]):
            hunk = change.diff[start:end]
            changed = {line.message_id for line in hunk if line.text[0] in "+-"}
            assert {line.message_id for line in hunk} == changed <= edits.keys()
        for width in 20, 200:
            rows = _place_rows(change, width)
            assert all(edits[row.target[1]] == row.target[0] for row in rows)
            assert "".join(row.text[0] for row in rows).count("@@ ") >= len(starts)


@example("0000 \u0300", 8)  # a blank with an accent of its own, where the line breaks
@given(st.text(), st.integers(8, 60))
def test_all_of_a_line_is_in_its_rows(text, width):
    """However long it is; each row has exactly the width of the pane."""
    edit = Edit(1, "s", "write_file", None)
    diff = (DiffLine(f"+{text}\n", 1),)
    change = FileChange(
        "/x", "/x", "/x", (edit,), 1, 0, is_exact=True, is_known_before=True, diff=diff
    )
    rows = _place_rows(change, width)
    assert all(line_width(row.spans(width, 0.0)) == width for row in rows)
    shown = "".join(row.text[0] for row in rows)
    whole = "".join(line_text(line) for line in diff_lines(diff[0].text.removesuffix("\n")))
    assert shown.replace(" ", "") == whole.replace(" ", "")
