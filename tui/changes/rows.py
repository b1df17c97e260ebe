"""Rows of changed files, of commands that may have changed some, and of a diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hermes_browse.store.changes.changes import FileChange, ShellCommand
from hermes_browse.store.changes.diff import DiffLine, relative
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..shared.columns import Column, Columns
from ..shared.styled import Line, Span, line_width, row_line, safe_text, wrap_spans
from ..transcript.tool_text import diff_lines
from .words import author

Place = tuple[str, int]
"""Ids of a session and of a message in it."""
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
        is_exact = self.change.is_exact
        mark = (" · ", "dim") if is_exact else (" ? ", "accent")
        path = one_line(relative(self.change.path, self.directory), 400)
        return row_line(mark, (path, "title"), COLUMNS.text(self, width, now), width)


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


class CommandRow(NamedTuple):
    """A command that may have changed files."""

    command: ShellCommand

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"c{self.command.message_id} {self.command.text}"

    @property
    def place(self) -> Place:
        return self.command.session_id, self.command.message_id

    def spans(self, width: int, now: float) -> Line:
        text = one_line(self.command.text, 400)
        return row_line((" $ ", "dim"), (text, "plain"), "", width)


class DiffRow(NamedTuple):
    """A line of a diff or of a command, or a piece of a long one."""

    number: int
    piece: Span
    place: Place
    """The message that made the change, or one near the line."""

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"d{self.number}"

    def spans(self, width: int, now: float) -> Line:
        text, look = self.piece
        return [(" ", "dim"), (text, look)]


def messages_behind(diff: Sequence[DiffLine]) -> list[int | None]:
    """Return the message behind each line of a diff: of lines around a change, that of the change
    above, or at the start of a hunk the one below."""
    messages: list[int | None] = []
    for line in diff:
        above = messages[-1] if messages and not line.text.startswith("@@") else None
        messages.append(line.message_id or above)
    below: int | None = None
    for number in reversed(range(len(messages))):
        below = messages[number] = messages[number] or below
    return messages


def diff_rows(change: FileChange, width: int) -> list[DiffRow]:
    """Return the rows of the diff of a file; long lines take several of `width` cells."""
    last = change.edits[-1]
    sessions = {edit.message_id: edit.session_id for edit in change.edits}
    pieces = (
        (piece, message_id or last.message_id)
        for line, message_id in zip(change.diff, messages_behind(change.diff), strict=True)
        for piece in _pieces(diff_lines(line.text.removesuffix("\n")), width)
    )
    return [
        DiffRow(number, piece, (sessions[message_id], message_id))
        for number, (piece, message_id) in enumerate(pieces)
    ]


def command_rows(command: ShellCommand, width: int) -> list[DiffRow]:
    """Return the rows of a whole command."""
    lines = [[(line, "output")] for line in safe_text(command.text).split("\n")]
    return [
        DiffRow(number, piece, (command.session_id, command.message_id))
        for number, piece in enumerate(_pieces(lines, width))
    ]


def _pieces(lines: Sequence[Line], width: int) -> Iterator[Span]:
    for line in lines:
        pieces = [line] if line_width(line) < width else wrap_spans(line, width - 1)
        yield from (piece[0] if piece else ("", "output") for piece in pieces)
