"""The files that a conversation and its subagents changed, beside one diff of all edits of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.getters import query_one

from hermes_browse.store.api import OpenStore
from hermes_browse.store.changes.changes import Changes, FileChange, diff_text
from hermes_browse.store.changes.tool_uses import ToolUse
from hermes_browse.store.export.files import file_stem, write_file
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.list.conversation_list import ConversationList, CursorRow
from ..browser.transcript.tool_text import diff_lines
from ..settings.keys.screen_commands import FILE_CHANGES
from ..text import formats
from ..text.sentences import author, notes, summary
from ..text.styled import Line, line_width, row_line, safe_text, wrap_spans
from ..widgets.lines import TextLine
from ..widgets.list_rows import (
    Column,
    Columns,
    FixedRows,
    HeadRow,
    ListRow,
    MessageRow,
    MessageTarget,
    NoteRow,
)
from .sub_screen import ConversationScreen

_EDGES = 3
"""Cells of a row that are no text."""
_DISK = N_({"same": "same", "changed": "changed", "gone": "missing"})
"""A file that is not there may have been on another machine."""


class FileRow(NamedTuple):
    """A changed file."""

    change: FileChange
    own: Collection[str]
    """Ids of its sessions; others are those of subagents."""
    enter: str = N_("diff")

    @property
    def key(self) -> str:
        return f"f{self.change.path}"

    @property
    def authors(self) -> list[str]:
        """Who edited it, in order."""
        names = (author(edit.session_id, self.own) for edit in self.change.edits)
        return list(dict.fromkeys(names))

    @property
    def about(self) -> str:
        by = _(
            "{edits} by {names}",
            edits=formats.counted(len(self.change.edits), "edit"),
            names=", ".join(self.authors),
        )
        return " · ".join([by, *notes(self.change)])

    def spans(self, width: int, now: float) -> Line:
        mark = (" · ", "dim") if self.change.is_exact else (" ? ", "accent")
        path = one_line(self.change.name, 400)
        return row_line(mark, (path, "title"), COLUMNS.text(self, width, now), width)


def _authors(row: FileRow) -> str:
    first, *others = row.authors
    return f"{first} +{len(others)}" if others else first


COLUMNS: Columns[FileRow] = Columns(
    Column(N_("edits"), 6, lambda row, now: str(len(row.change.edits))),
    Column(N_("added"), 7, lambda row, now: _count("+", row.change.added)),
    Column(N_("removed"), 8, lambda row, now: _count("-", row.change.removed)),
    Column(N_("who"), 10, lambda row, now: _authors(row), least=56, lead=1),
    Column(
        N_("on disk"), 9, lambda row, now: _(_DISK.get(row.change.disk or "", "")), least=64, lead=1
    ),
)


def _count(sign: str, count: int | None) -> str:
    return "?" if count is None else f"{sign}{count}"


def command_row(command: ToolUse, own: Collection[str]) -> MessageRow:
    """Return the row of a command that may have changed files."""
    return MessageRow(
        key=f"c{command.message_id} {command.text}",
        lead=(" $ ", "dim"),
        text=(one_line(command.text, 400), "plain"),
        target=(command.session_id, command.message_id),
        whole=command.text,
        about=_(
            "a command by {name}: it may have changed files",
            name=author(command.session_id, own),
        ),
    )


def rows_beside(row: ListRow | None, width: int) -> list[ListRow]:
    """Return the rows of the diff of a file, or of a whole command; long lines take several of
    `width` cells."""
    told: list[tuple[Line, MessageTarget]] = []
    if isinstance(row, FileRow):
        change = row.change
        targets = {edit.message_id: (edit.session_id, edit.message_id) for edit in change.edits}
        ids = filter(None, (line.message_id for line in change.diff))
        first = next(ids, change.edits[-1].message_id)
        told = [
            (spans, targets[line.message_id or first])  # it may stand ahead of all hunks
            for line in change.diff
            for spans in diff_lines(line.text.removesuffix("\n"))
        ]
        if not told:
            return [NoteRow(_("what it changed, it changed back"))]
    elif isinstance(row, MessageRow):
        told = [([(line, "output")], row.target) for line in safe_text(row.whole).split("\n")]
    return [
        MessageRow(f"d{number} {part}", (" ", "dim"), piece[0] if piece else ("", "output"), target)
        for number, (spans, target) in enumerate(told)
        for part, piece in enumerate(_wrapped(spans, width - _EDGES))
    ]


def _wrapped(spans: Line, width: int) -> list[Line]:
    return [spans] if line_width(spans) <= width else wrap_spans(spans, width)


_LONGEST_PROMPT = 300


class ChangesScreen(ConversationScreen):
    """What the current conversation did to files."""

    ENTER = N_("To the diff; there, read the message that made this change")
    HELP_TITLE = N_("Changes of files")
    KEYS = FILE_CHANGES
    TITLE = N_("changes")

    diff = query_one("#diff", ConversationList)
    _changes: Changes | None = None
    _asked: MessageTarget | None = None
    """The message whose prompt is shown."""

    @property
    def about(self) -> str:
        counts = summary(self._changes) if self._changes is not None else ""
        return formats.joined(counts, super().about)

    @property
    def _own(self) -> list[str]:
        return self.conversation.session_ids

    def content(self) -> ComposeResult:
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield TextLine(id="files-head")
                yield ConversationList(id="files")
            with Vertical(id="side"):
                yield TextLine(id="asked")
                yield ConversationList(id="diff")

    def on_mount(self) -> None:
        self.watch(self.diff, "at", self._line_reached, init=False)

    async def read_rows(self) -> None:
        changes = await self.read(
            partial(OpenStore.file_changes, session_id=self.conversation.id, now=self.main.clock())
        )
        if changes == self._changes:
            return
        self._changes = changes
        self.show_title(self.about)
        rows: list[ListRow] = [FileRow(change, self._own) for change in changes.files]
        if not rows:
            rows.append(NoteRow(_("No edit of a file is stored in this conversation.")))
        if changes.commands:
            rows.append(HeadRow(_("These commands may have changed files:")))
        self.rows.show(
            FixedRows([*rows, *(command_row(each, self._own) for each in changes.commands)])
        )
        self._show_diff()
        is_any = bool(changes.files or changes.commands)
        self.query_one("#side").display = is_any
        self.offer_keys(are_of_use=is_any)

    def heads_shown(self) -> None:
        self.show_head("files-head", COLUMNS, _("file"))

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show_diff)  # when the pane has its new width

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        self._show_diff(top=True)
        super().came_to(row, by_hand=by_hand)

    def _show_diff(self, *, top: bool = False) -> None:
        """Show the diff of the file under the cursor, or the whole command."""
        if self.is_whole:
            self.start("diff", self._lay_out, top)

    async def _lay_out(self, top: bool) -> None:
        """Lay the diff out on a thread, as it may have very many lines."""
        row, width = self.rows.current, self.diff.scrollable_content_region.width
        rows = await self.call(partial(rows_beside, row, width))
        self.diff.show(FixedRows(rows), top=top)
        if not isinstance(self.diff.current, MessageRow):
            self._asked = None
            self.line("asked").update("")

    def _line_reached(self, at: CursorRow) -> None:
        if isinstance(at.row, MessageRow) and at.row.target != self._asked:
            self._asked = at.row.target
            self.start("asked", self._read_prompt, at.row)

    async def _read_prompt(self, row: MessageRow) -> None:
        """Show above the diff the prompt before a change, its time, and who made the change."""
        session_id, message_id = row.target
        prompt = await self.read(lambda store: store.prompt_before(session_id, message_id or 0))
        said, at = (prompt.said, prompt.timestamp) if prompt is not None else ("", None)
        asked = one_line(said, _LONGEST_PROMPT)
        facts = formats.joined(formats.timestamp(at), author(session_id, self._own))
        self.line("asked").update(Content.assemble((f"{asked} ", "bold"), (facts, "dim")))

    def chose(self, row: ListRow) -> None:
        """Go to the diff of a file, or read the message behind a line or a command."""
        if isinstance(row, FileRow):
            self.set_focus(self.diff)
        super().chose(row)

    def action_pane(self) -> None:
        self.set_focus(self.rows if self.diff.has_focus else self.diff)

    def action_export(self) -> None:
        """Save the diffs of all files as one new file."""
        if self._changes is not None and self._changes.files:
            self.main.start_write(self._export, self._changes.files)
        else:
            self.say(_("there is no diff to save"))

    async def _export(self, files: Sequence[FileChange]) -> None:
        stem = file_stem(formats.name(self.conversation))

        def write() -> Path:
            path, numbers = Path(f"{stem}.diff"), count(1)
            while path.exists():
                path = Path(f"{stem} {next(numbers)}.diff")
            write_file(path, [diff_text(files)])
            return path

        path = await self.main.write(write)
        self.main.say(_("saved {path}", path=path.absolute()))
