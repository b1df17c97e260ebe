"""Rows of changed files, of commands that may have changed some, and of a diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from hermes_browse.store.changes.changes import FileChange, ShellCommand, relative
from hermes_browse.store.changes.edited_file import DiffLine
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...browser.transcript.tool_text import diff_lines
from ...text.sentences import author
from ...text.styled import Line, Span, line_width, row_line, safe_text, wrap_spans
from ...widgets.list_rows import Column, Columns, ListRow, NoteRow

Place = tuple[str, int]
"""Ids of a session and of a message in it."""
_EDGES = 3
"""Cells of a row that are no text."""
DIFF_LOOKS = ("added", "removed", "function", "number", "output")
"""Looks of `diff_lines`."""
_DISK = {"same": N_("same"), "changed": N_("changed"), "gone": N_("gone")}


class FileRow(NamedTuple):
    """A changed file."""

    change: FileChange
    directory: str
    """Of the conversation."""
    own: frozenset[str]
    """Ids of its sessions; others are those of subagents."""

    @property
    def enter(self) -> str:
        return N_("diff")

    @property
    def key(self) -> str:
        return f"f{self.change.path}"

    @property
    def authors(self) -> list[str]:
        """Who edited it, in order."""
        names = (author(edit.session_id, self.own) for edit in self.change.edits)
        return list(dict.fromkeys(names))

    def spans(self, width: int, now: float) -> Line:
        mark = (" · ", "dim") if self.change.is_exact else (" ? ", "accent")
        path = one_line(relative(self.change.path, self.directory), 400)
        return row_line(mark, (path, "title"), COLUMNS.text(self, width, now), width)

    def whole(self, width: int) -> Sequence[ListRow]:
        """Return the rows of its diff."""
        nothing = NoteRow(_("what it changed, it changed back"))
        return list(diff_rows(self.change, width)) or [nothing]


def _authors(row: FileRow) -> str:
    first, *others = row.authors
    return f"{first} +{len(others)}" if others else first


COLUMNS: Columns[FileRow] = Columns(
    Column(N_("edits"), 6, lambda row, now: str(len(row.change.edits))),
    Column(N_("added"), 7, lambda row, now: _count("+", row.change.added)),
    Column(N_("removed"), 8, lambda row, now: _count("-", row.change.removed)),
    Column(N_("who"), 10, lambda row, now: _authors(row), least=56, lead=1),
    Column(N_("on disk"), 9, lambda row, now: _on_disk(row), least=64, lead=1),
)


def _count(sign: str, count: int | None) -> str:
    return "?" if count is None else f"{sign}{count}"


def _on_disk(row: FileRow) -> str:
    return _(_DISK[row.change.disk]) if row.change.disk is not None else ""


class PlaceRow(NamedTuple):
    """A line of a diff, or a command: what a message did."""

    key: str
    lead: str
    text: Span
    place: Place
    """The message, or one near the line."""
    command: str = ""
    """The whole command."""

    @property
    def enter(self) -> str:
        return N_("read")

    def spans(self, width: int, now: float) -> Line:
        return row_line((self.lead, "dim"), self.text, "", width)

    def whole(self, width: int) -> Sequence[ListRow]:
        """Return the rows of the whole command."""
        lines: list[Line] = [[(line, "output")] for line in safe_text(self.command).split("\n")]
        return list(_text_rows(self.key, lines, self.place, width))


def command_row(command: ShellCommand) -> PlaceRow:
    """Return the row of a command that may have changed files."""
    key, text = f"c{command.message_id} {command.text}", one_line(command.text, 400)
    place = command.session_id, command.message_id
    return PlaceRow(key, " $ ", (text, "plain"), place, command.text)


def messages_behind(diff: Sequence[DiffLine]) -> Iterator[int | None]:
    """Yield the message behind each line of a diff: of lines around a change, that of the change
    above, or at the start of a hunk the one below."""
    near: int | None = None
    for number, line in enumerate(diff):
        if near is None or line.text.startswith("@@"):
            below = (each.message_id for each in islice(diff, number, None))
            near = next(filter(None, below), None)
        near = line.message_id or near
        yield near


def diff_rows(change: FileChange, width: int) -> Iterator[PlaceRow]:
    """Yield the rows of the diff of a file; long lines take several of `width` cells."""
    sessions = {edit.message_id: edit.session_id for edit in change.edits}
    last = change.edits[-1].message_id
    behind = messages_behind(change.diff)
    for number, (line, near) in enumerate(zip(change.diff, behind, strict=True)):
        message_id = near or last
        place = sessions[message_id], message_id
        yield from _text_rows(f"d{number}", diff_lines(line.text.removesuffix("\n")), place, width)


def _text_rows(key: str, lines: Sequence[Line], place: Place, width: int) -> Iterator[PlaceRow]:
    room = width - _EDGES
    for number, line in enumerate(lines):
        pieces = [line] if line_width(line) <= room else wrap_spans(line, room)
        for part, piece in enumerate(pieces):
            text = piece[0] if piece else ("", "output")
            yield PlaceRow(f"{key} {number} {part}", " ", text, place)
