"""`blame`: which message wrote each line of a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hermes_browse.store.changes.blame import BlameLine, read_blame
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.files import read_regular
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .command_context import CommandContext, Subcommand
from .output import TableColumn, fields, print_json, print_table
from .parser import Count, Valued

_LARGEST = 50_000_000
"""Bytes of a file."""


class BlameCommand(Subcommand):
    """Print the lines of a file with the messages that wrote them."""

    needs_files = True

    arguments = (
        Valued("file", metavar="FILE[:LINE]"),
        Count("--line", "this line alone"),
    )

    def run(self, context: CommandContext) -> int:
        path, line = _file_and_line(context.arguments.file)
        wanted = context.arguments.line or line
        text = _text_of(path)
        blame = read_blame(context.store.reader, path, text, context.now)
        context.store.close()
        if not blame and text is None:
            raise NotFoundError(_("No message wrote {path}, and it is not here.", path=path))
        lines = [line for line in blame if wanted in (None, line.number)]
        if wanted is not None and not lines:
            raise NotFoundError(_("{path} has no line {line}.", path=path, line=wanted))
        if context.json:
            print_json({"file": path, "lines": list(map(_line_json, lines))})
        else:
            print_table(_COLUMNS, lines)
        return 0


def _said(line: BlameLine) -> str:
    return one_line(line.prompt.said, 40) if line.prompt else ""


def _file_and_line(given: str) -> tuple[str, int | None]:
    """Split `FILE:LINE`, unless there is a file of that name."""
    match = re.fullmatch(r"(.+):(\d+)", given)
    if match and not os.path.lexists(given):
        return os.path.abspath(match[1]), int(match[2])
    return os.path.abspath(given), None


def _text_of(path: str) -> str | None:
    """Return the text of a file; None if it is not there."""
    try:
        return read_regular(Path(path), _LARGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotFoundError(
            _("{path} cannot be read: {reason}.", path=path, reason=error.strerror)
        ) from error


def _line_json(line: BlameLine) -> Json:
    return fields(
        line,
        line="number",
        text="text",
        message_id="edit.message_id",
        session_id="edit.session_id",
        prompt_id="prompt.id",
        prompt="prompt.said",
    )


_COLUMNS: list[TableColumn[BlameLine]] = [
    TableColumn("line", "number", True),
    TableColumn("message", "edit.message_id", True),
    TableColumn("asked for", _said, dropped=1),
    TableColumn("text", "text", is_flexible=True),
]
