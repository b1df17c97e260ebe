"""`changes`: which files a conversation changed, and the diff of each; `blame`: which message wrote
each line of a file."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from hermes_browse.store.changes.blame import read_blame
from hermes_browse.store.changes.changes import LARGEST, Changes, diff_text
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.export.files import write_file
from hermes_browse.store.files import read_regular
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text.export_files import kept_files
from ..text.sentences import notes, summary
from .command import StoreCommand
from .output import (
    BLANK,
    OutputLine,
    TableColumn,
    fields,
    fields_of_each,
    print_lines,
    print_table,
    print_text,
    printing,
)
from .parser import ID, Count, Flag, Valued, name_arg

_LONGEST_COMMAND = 200


class ChangesCommand(StoreCommand):
    """Print the files that a conversation changed, or their diffs."""

    arguments = (
        ID,
        Flag("--diff", "one diff of all edits, as `git apply` takes it"),
        Valued("--file", "with --diff: of this file alone", "PATH"),
        Valued(
            "--output",
            "with --diff: write it to a new file; - is standard output",
            "PATH",
            type=name_arg,
        ),
    )

    def contradictions(self) -> Mapping[str, object]:
        """Some options only go with a diff, and a diff is no JSON."""
        given = self.given
        return {
            _("--diff prints text: it cannot be used with --json"): given.diff and given.json,
            _("--file and --output go with --diff"): (given.file or given.output)
            and not given.diff,
        }

    def run(self) -> None:
        changes = self.store.file_changes(self.store.resolve(self.given.id), self.now)
        if self.given.diff:
            self.store.close()
            _give(self, _diff_text(changes, self.given.file))
        else:
            self.give(_changes_json(changes), _print_changes, changes)


def _changes_json(changes: Changes) -> Json:
    return fields(changes, "failed session=session_id conversation=conversation_id") | {
        "files": [
            fields(change, "path first_path added removed by_subagents disk exact=is_exact")
            | {"edits": fields_of_each(change.edits, "message_id session_id tool at ok")}
            for change in changes.files
        ],
        "commands": fields_of_each(changes.commands, "message_id session_id command=text"),
    }


def _diff_text(changes: Changes, only: str | None) -> str:
    """Return the diffs of all files, or of one."""
    files = [each for each in changes.files if only in (None, each.path, each.name)]
    if only is not None and not files:
        raise NotFoundError(_("This conversation did not change {path}.", path=only))
    return diff_text(files)


def _give(command: StoreCommand, text: str) -> None:
    """Print a diff, or write it to a new file; only a terminal gets it made printable."""
    output = command.given.output
    if output not in (None, "-"):
        try:
            write_file(Path(output), [text], keep=kept_files(command.store.location))
        except RefusedError as error:  # this command replaces no file
            raise RefusedError(error.sentence, remedy=_("Name another file.")) from error
        print_text(one_line(str(Path(output))))
    elif sys.stdout.isatty():
        print_text(text.removesuffix("\n"))
    else:
        with printing():
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8"))


def _print_changes(changes: Changes) -> None:
    print_lines([OutputLine("title", summary(changes))])
    print_table(_FILES, changes.files)
    if changes.commands:
        print_lines([BLANK, OutputLine("other", _("These commands may have changed files:"))])
    for command in changes.commands:
        text = _("message {id}: {text}", id=command.message_id, text=command.text)
        print_lines([OutputLine("tool", one_line(text, _LONGEST_COMMAND), "  ")])


_FILES = [
    TableColumn("file", "name", is_flexible=True),
    TableColumn("edits", "edits", right=True, form=len),
    TableColumn("added", "added", right=True),
    TableColumn("removed", "removed", right=True),
    TableColumn("by subagents", lambda row: row.by_subagents or None, right=True, dropped=1),
    TableColumn("notes", lambda row: ", ".join(notes(row))),
]


class BlameCommand(StoreCommand):
    """Print the lines of a file with the messages that wrote them."""

    needs_files = True

    arguments = (
        Valued("file", metavar="FILE[:LINE]"),
        Count("--line", "this line alone"),
    )

    def run(self) -> None:
        path, line = _file_and_line(self.given.file)
        wanted = line if self.given.line is None else self.given.line
        text = _text_of(path)
        blame = read_blame(self.store.reader, path, text, self.now)
        if not blame and text is None:
            raise NotFoundError(
                _(
                    "There is no file {path}, and no conversation is known to have written it.",
                    path=path,
                )
            )
        lines = [line for line in blame if wanted in (None, line.number)]
        if wanted is not None and not lines:
            raise NotFoundError(_("{path} has no line {line}.", path=path, line=wanted))
        document = fields_of_each(
            lines,
            "line=number text message_id=edit.message_id session_id=edit.session_id "
            "prompt_id=prompt.id prompt=prompt.said",
        )
        self.give({"file": path, "lines": document}, print_table, _BLAMED, lines)


def _file_and_line(argument: str) -> tuple[str, int | None]:
    """Split `FILE:LINE`, unless there is a file of that name."""
    match = re.fullmatch(r"(.+):(\d{1,18})", argument)
    if match and not os.path.lexists(argument):
        return os.path.abspath(match[1]), int(match[2])
    return os.path.abspath(argument), None


def _text_of(path: str) -> str | None:
    """Return the text of a file; None if it is not there."""
    try:
        return read_regular(path, LARGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotFoundError(
            _("{path} cannot be read: {reason}.", path=path, reason=error.strerror)
        ) from error


_BLAMED = [
    TableColumn("line", "number", right=True),
    TableColumn("message", "edit.message_id", right=True),
    TableColumn("asked for", "prompt.said", dropped=1, form=lambda said: one_line(said, 40)),
    TableColumn("text", "text", is_flexible=True, is_indented=True),
]
