"""`blame`: which message wrote each line of a file."""

from __future__ import annotations

import argparse
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
from .output import TableColumn, print_json, print_table
from .parser import count_arg, text_arg

_LARGEST = 50_000_000
"""Bytes of a file."""


class BlameCommand(Subcommand):
    """Print the lines of a file with the messages that wrote them."""

    needs_files = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE[:LINE]", type=text_arg)
        parser.add_argument("--line", metavar="N", type=count_arg, help=_("this line alone"))

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
            print_table(_columns(), lines)
        return 0


def _columns() -> list[TableColumn[BlameLine]]:
    return [
        TableColumn(_("line"), lambda line: str(line.number), True),
        TableColumn(
            _("message"), lambda line: str(line.edit.message_id if line.edit else ""), True
        ),
        TableColumn(_("asked for"), lambda line: one_line(_said(line) or "", 40), dropped=1),
        TableColumn(_("text"), lambda line: line.text, is_flexible=True),
    ]


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
    edit, prompt = line.edit, line.prompt
    return {
        "line": line.number,
        "text": line.text,
        "message_id": edit and edit.message_id,
        "session_id": edit and edit.session_id,
        "prompt_id": prompt and prompt.id,
        "prompt": _said(line),
    }


def _said(line: BlameLine) -> str | None:
    return line.prompt and line.prompt.said
