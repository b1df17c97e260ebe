"""The screen of changed files, on stores that Hermes' own tools filled."""

from itertools import pairwise

import pytest
from browsing import go_to, on_store
from effort import slow_but
from hypothesis import example, given
from hypothesis import strategies as st
from plays import RELEASES, play, store_of, write_files
from store_builder import T0, StoreBuilder, add_tool_use

from hermes_browse.store.changes.changes import FileChange, diff_text, read_changes
from hermes_browse.store.changes.diffs import DiffLine
from hermes_browse.store.changes.edited_file import Edit
from hermes_browse.store.connection.connect import Store
from hermes_browse.tui.browser.transcript.tool_text import diff_lines
from hermes_browse.tui.screens.changes import ChangesScreen, FileRow, rows_beside
from hermes_browse.tui.screens.sub_screen import MessageRow
from hermes_browse.tui.text.styled import line_text, line_width

NOW = T0 + 86_400


@pytest.fixture
def disk(tmp_path):
    """A folder as the agent left it, with a file changed since, and one removed."""
    write_files(tmp_path / "disk", play("0.19.0")["after"])
    (tmp_path / "disk" / "many.txt").write_text("by hand\n")
    (tmp_path / "disk" / "docs" / "new.md").unlink()
    return tmp_path / "disk"


@pytest.fixture
def store(tmp_path, disk):
    """What Hermes 0.19 did in that folder."""
    return store_of(play("0.19.0"), tmp_path / "state.db", str(disk))


async def _open(browser):
    """The changes of the recorded conversation."""
    await browser.press("4")
    await go_to(browser, "first")
    await browser.press("F")
    screen = browser.app.screen
    assert isinstance(screen, ChangesScreen)
    return screen


async def _to(browser, screen, path):
    """Put the cursor on a file."""
    for index in range(len(screen.rows)):
        row = screen.rows.source.row(index)
        if isinstance(row, FileRow) and row.change.path.endswith(path):
            screen.rows.cursor = index
            await browser.settle()
            return row
    raise AssertionError(path)


@pytest.mark.parametrize("size", slow_but([(120, 36)], [(80, 24), (120, 36), (200, 60)]))
async def test_files_and_the_diff_of_one(store, size):
    async with on_store(store, NOW, size) as browser:
        screen = await _open(browser)
        assert "22 files · 3 edits failed" in browser.text("#header")
        row = await _to(browser, screen, "src/app.py")
        assert row.change.by_subagents == 1 and "itself +1" in browser.text("#files")
        assert "edits by itself, …agent" in browser.status
        (line,) = [line for line in browser.text("#files").splitlines() if "src/app.py" in line]
        assert f"+{row.change.added}" in line and f"-{row.change.removed}" in line
        drawn = browser.text("#diff")
        assert "+++ b/src/app.py" in drawn and "@@ " in drawn
        files, diff = screen.rows.region, screen.diff.region
        assert (files.right <= diff.x) is (size[0] >= 100)
        assert (files.bottom <= diff.y) is (size[0] < 100)


async def test_it_says_what_became_of_a_file(store):
    async with on_store(store, NOW) as browser:
        screen = await _open(browser)
        for path, word, sentence in (
            ("to_end.txt", "same", "still the same on disk"),
            ("many.txt", "changed", "changed since"),
            ("docs/new.md", "missing", "not on this disk"),
        ):
            await _to(browser, screen, path)
            (line,) = [line for line in browser.text("#files").splitlines() if f" {path} " in line]
            assert line.split()[-1] == word
            assert sentence in browser.status
        await _to(browser, screen, "unread.txt")
        unknown = "what stood there before is not known"
        assert unknown in browser.status and unknown in " ".join(browser.text("#diff").split())


@pytest.mark.slow
async def test_enter_reads_the_message_behind_a_hunk_and_escape_comes_back(store):
    """Also one of a subagent; the prompt stands above the diff."""
    async with on_store(store, NOW) as browser:
        screen = await _open(browser)
        row = await _to(browser, screen, "src/app.py")
        await browser.press("enter")
        assert screen.diff.has_focus
        by_agent = {edit.message_id for edit in row.change.edits if edit.session_id == "agent"}
        for wanted in by_agent, {edit.message_id for edit in row.change.edits} - by_agent:
            rows = (screen.diff.source.row(index) for index in range(len(screen.diff)))
            index = next(
                index
                for index, line in enumerate(rows)
                if isinstance(line, MessageRow)
                and line.target[1] in wanted
                and line.text[0][0] in "+-"
            )
            screen.diff.cursor = index
            await browser.settle()
            line = screen.diff.current
            assert isinstance(line, MessageRow)
            assert browser.text("#asked").split()[-1] == (
                "…agent" if wanted == by_agent else "itself"
            )
            await browser.press("enter")
            assert browser.app.screen is browser.screen
            current = browser.screen.current
            assert line.target[0] in {each.id for each in current.segments}
            assert browser.screen.transcript.current_id == line.target[1]
            await browser.press("escape")
            assert browser.app.screen is screen and screen.diff.current == line


@pytest.mark.slow
async def test_commands_are_listed_and_read(store):
    async with on_store(store, NOW) as browser:
        screen = await _open(browser)
        await browser.press("end", "up")
        row = screen.rows.current
        assert isinstance(row, MessageRow) and "sed -i s/old/new/ sedded.txt" in row.whole
        assert "These commands may have changed files" in browser.text("#files")
        assert "a command by itself: it may have changed files" in browser.status
        await browser.press("up")
        assert isinstance(screen.rows.current, FileRow), "a heading is passed over"
        assert "may have changed" not in browser.status and "edit" in browser.status
        await browser.press("down")
        assert screen.rows.current == row
        assert "sed -i" in browser.text("#diff")
        await browser.press("enter")
        assert browser.screen.transcript.current_id == row.target[1]


@pytest.mark.slow
async def test_the_diff_is_saved_as_the_command_line_prints_it(store, tmp_path, monkeypatch):
    """A file that is there is not replaced."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    async with on_store(store, NOW) as browser:
        await _open(browser)
        await browser.press("e")
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
async def test_a_conversation_without_edits_says_so(tmp_path):
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    builder.message("s", "user", "hello")
    async with on_store(builder.write(), NOW) as browser:
        await browser.press("F", "e", "enter", "tab", "enter")
        assert "No edit of a file is stored" in browser.text("#files")
        assert isinstance(browser.app.screen, ChangesScreen)


@pytest.mark.slow
async def test_it_opens_in_the_transcript_and_on_a_node_of_the_tree(browser):
    for pane in "tab", "l":
        await browser.press(pane, "F")
        assert "api/auth.py" in browser.text("#files")
        await browser.press("escape")
    await browser.press("l", "home", "down", "F")
    assert "api/auth.py" not in browser.text("#files"), "of the subagent alone"


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
            changed = {line.message_id for line in hunk if line.is_change}
            assert {line.message_id for line in hunk} == changed <= edits.keys()
            assert "".join(line.text[0] for line in hunk if line.is_change).strip("+-") == ""
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
