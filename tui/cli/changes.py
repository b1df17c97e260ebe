"""`changes`: which files a conversation changed, and the diff of each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.changes.changes import (
    Changes,
    FileChange,
    diff_text,
    read_changes,
)
from hermes_browse.store.changes.diff import relative
from hermes_browse.store.changes.edited_file import Edit
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.files import write_whole
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..changes.words import notes, summary
from .command_context import CommandContext, Subcommand
from .output import OutputLine, print_json, print_lines, print_table, print_text
from .parser import name_arg, text_arg

_LONGEST_COMMAND = 200


class ChangesCommand(Subcommand):
    """Print the files that a conversation changed, or their diffs."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", type=text_arg)
        parser.add_argument(
            "--diff", action="store_true", help=_("one diff of all edits, as `git apply` takes it")
        )
        parser.add_argument(
            "--file", metavar="PATH", type=text_arg, help=_("with --diff: of this file alone")
        )
        parser.add_argument(
            "--output", metavar="PATH", type=name_arg, help=_("with --diff: write it to a new file")
        )

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for options that only go with a diff, and for a diff as JSON."""
        if arguments.diff and arguments.json:
            return _("--diff prints text: it goes without --json")
        if (arguments.file or arguments.output) and not arguments.diff:
            return _("--file and --output go with --diff")
        return ""

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        with context.store.reader() as reader:
            session_id = resolve_session(reader, arguments.id)
            changes = read_changes(reader, session_id, context.now)
        if context.json:
            print_json(_changes_json(changes))
        elif arguments.diff:
            _give(_diff_text(changes, arguments.file), arguments.output)
        else:
            _print_changes(changes)
        return 0


def _edit_json(edit: Edit) -> Json:
    return {
        "message_id": edit.message_id,
        "session_id": edit.session_id,
        "tool": edit.tool,
        "at": edit.at,
        "ok": edit.ok,
    }


def _file_json(change: FileChange) -> Json:
    return {
        "path": change.path,
        "first_path": change.first_path,
        "edits": [_edit_json(edit) for edit in change.edits],
        "added": change.added,
        "removed": change.removed,
        "exact": change.is_exact,
        "by_subagents": change.by_subagents,
        "disk": change.disk,
    }


def _changes_json(changes: Changes) -> Json:
    return {
        "session": changes.session_id,
        "conversation": changes.conversation_id,
        "files": [_file_json(change) for change in changes.files],
        "failed": changes.failed,
        "commands": [
            {"message_id": each.message_id, "session_id": each.session_id, "command": each.text}
            for each in changes.commands
        ],
    }


def _diff_text(changes: Changes, only: str | None) -> str:
    """Return the diffs of all files, or of one."""
    files = [each for each in changes.files if only is None or _is_named(each, only, changes)]
    if only is not None and not files:
        raise NotFoundError(_("This conversation did not change {path}.").format(path=only))
    return diff_text(files)


def _is_named(change: FileChange, name: str, changes: Changes) -> bool:
    return name in (change.path, relative(change.path, changes.directory))


def _give(text: str, output: str | None) -> None:
    """Print a diff, or write it to a file; only a terminal gets it made printable."""
    if output is not None:
        _write_new(Path(output), text)
    elif sys.stdout.isatty():
        print_text(text.removesuffix("\n"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8"))


def _write_new(path: Path, text: str) -> None:
    try:
        write_whole(path, [text.encode("utf-8")], replace=False)
    except FileExistsError as error:
        sentence = _("{path} is there already; name another file.")
        raise RefusedError(sentence.format(path=path)) from error
    print(one_line(str(path)))


def _print_changes(changes: Changes) -> None:
    print_lines([OutputLine("title", summary(changes))])
    headers = [_("file"), _("edits"), _("added"), _("removed"), _("by subagents"), _("notes")]
    rows = [_row(change, changes.directory) for change in changes.files]
    print_table(headers, rows, right=(1, 2, 3, 4), flexible=0, optional=(4,))
    print_lines(_command_lines(changes))


def _row(change: FileChange, directory: str) -> Sequence[str]:
    counts = (len(change.edits), change.added, change.removed, change.by_subagents or None)
    cells = ["" if count is None else str(count) for count in counts]
    return [relative(change.path, directory), *cells, ", ".join(notes(change))]


def _command_lines(changes: Changes) -> Iterable[OutputLine]:
    if changes.commands:
        yield OutputLine("said", "")
        yield OutputLine("other", _("These commands may have changed files:"))
    for each in changes.commands:
        text = _("message {id}: {text}").format(id=each.message_id, text=each.text)
        yield OutputLine("tool", one_line(text, _LONGEST_COMMAND), 2)
