"""Print the output of commands: JSON documents, tables and text, without raw control characters
from a store."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_browse.store.connection.stored_values import Json, safe_json
from hermes_browse.store.errors import Advice, BrowseError
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _, pgettext

from ..text.glyphs import cells

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.retention import RetentionRules
    from hermes_browse.store.hermes.health import StoreProblem, StoreSummary
    from hermes_browse.store.sessions.models import Conversation
    from hermes_browse.store.trash.shelf import Bundle

_LONGEST_CELL = 400
"""Code points of a cell of a table: every row is padded to the longest. Titles of Hermes have 100,
ids about 30."""
_ONE_LINE = {0x09: "␉", 0x0A: "␊"}


class OutputLine(NamedTuple):
    """Printable text with its kind; bodies may hold several lines."""

    kind: str
    """`title`, `seam`, `user`, `assistant`, `other` (headings), `said` or `tool` (bodies)."""
    text: str
    lead: str = ""
    """Stands before the text; where a terminal wraps the text, the next lines are indented as far."""
    lit: Sequence[Sequence[int]] = ()
    """What a terminal highlights: pairs of begin and end, in code points of the text as stored."""


BLANK = OutputLine("said", "")


class TableColumn(NamedTuple):
    """A column of a table."""

    head: str
    """In English."""
    text: str | Callable[[Any], object]
    """What a row has in it: the path of an attribute, or a function. May be as stored; it is made
    printable here."""
    right: bool = False
    dropped: int = 0
    """Its turn to be left out on a narrow terminal; 0 if it stays."""
    is_flexible: bool = False
    """It is cut to the remaining width of a terminal; a pipe gets 400 code points of it. Exactly one
    column of a table is so."""
    context: str = ""
    """The meaning of the head, as of `pgettext`."""
    form: Callable[[Any], object] = str
    """Makes a text of the value, unless that is None."""
    is_indented: bool = False
    """The white space at its beginning stays."""

    @property
    def title(self) -> str:
        """The head in the language of the user."""
        return pgettext(self.context, self.head) if self.context else _(self.head)

    def cell(self, row: object) -> str:
        """Return the printable text of a row; empty for None."""
        path = self.text
        value = value_at(row, path) if isinstance(path, str) else path(row)
        if value is None:
            return ""
        text = str(self.form(value)).expandtabs()
        indent = len(text) - len(text.lstrip(" ")) if self.is_indented else 0
        return " " * min(indent, _LONGEST_CELL) + one_line(text, _LONGEST_CELL)


Number = partial(TableColumn, right=True, form="{:,}".format)
"""A column of whole numbers."""

# Standard output


def discard_output() -> None:
    """Discard buffered output, which Python would otherwise fail to flush at exit and report."""
    try:
        output = sys.stdout.fileno()
    except OSError:  # not a real file, so nothing is reported
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, output)
    os.close(null)


@contextmanager
def printing() -> Iterator[None]:
    """Within the block, what standard output does not take, on a full disk for example, is a
    BrowseError; a pipe that its reader has closed stays BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:  # no other: those of the store are BrowseErrors
        discard_output()
        reason = error.strerror or error
        raise BrowseError(
            _("Standard output could not be written: {reason}.", reason=reason)
        ) from error


# JSON


@printing()
def print_json(
    document: Mapping[str, object], name: str = "", items: Iterable[object] | None = None
) -> None:
    """Print one JSON document in UTF-8 in every locale: stored text unchanged, control characters
    escaped.

    With `items` it has a last field `name`, each item of which is printed as soon as it comes.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    if items is None:
        print(_json_text(document))
        return
    before, _item, after = _json_text({**document, name: [""]}).rpartition('""')
    separator = ",\n    " if sys.stdout.isatty() else ", "
    print(before, end="")
    for number, item in enumerate(items):
        text = _json_text(item).replace("\n", "\n    ")  # line ends stand between values only
        print(f"{separator if number else ''}{text}", end="")
    print(after)


def _json_text(document: object) -> str:
    return safe_json(document, indent=2 if sys.stdout.isatty() else None)


def value_at(value: object, path: str) -> object:
    """Follow a path of attributes, or of keys; None where one of them is None."""
    for name in path.split("."):
        if value is not None:
            value = value[name] if isinstance(value, dict) else getattr(value, name)
    return value


def fields(value: object, names: str) -> Json:
    """Return some attributes by their names, which spaces separate; as `name=path` those that have
    another name there, or stand deeper."""
    pairs = [each.partition("=") for each in names.split()]
    return {name: value_at(value, path or name) for name, _equals, path in pairs}


def fields_of_each(values: Iterable[object], names: str) -> list[Json]:
    """Return the `fields` of each value."""
    return [fields(value, names) for value in values]


def store_json(summary: StoreSummary) -> Json:
    """Build a STORE of the JSON contract. Keys may be added to the contract, never renamed or
    dropped."""
    return fields(
        summary,
        "profile schema_version journal_mode sessions messages read_only bytes=size wal_bytes=wal_size",
    ) | {
        "path": str(summary.path),
        "warnings": [warning.text for warning in summary.warnings],
    }


def conversation_json(conversation: Conversation, rules: RetentionRules | None = None) -> Json:
    """Build a CONVERSATION of the JSON contract.

    Args:
        conversation: With its preview and message counts.
        rules: Predicts when Hermes deletes it; without it `prune_in_days` is null.
    """
    document = fields(
        conversation,
        "id root_id title preview source model cwd git_branch tags last_active "
        "status archived pinned hidden kind relation message_count "
        "tool_call_count branches subagents cost_usd tree_cost_usd "
        "segments=session_ids "
        "started_at=root.started_at ended_at=tip.ended_at end_reason=tip.end_reason bytes=size",
    )
    return document | {
        "prune_in_days": rules.forecast(conversation).prune_in_days if rules is not None else None,
        "note": conversation.note or None,
        "tokens": conversation.tokens._asdict(),
    }


def bundle_json(bundle: Bundle) -> Json:
    """Build a BUNDLE of the JSON contract."""
    return fields(
        bundle,
        "name created_at sessions messages bytes title conversations restored_at",
    ) | {
        "store": bundle.store or None,
        "damage": bundle.damage or None,
    }


# For people


def title_or_preview(conversation: Conversation) -> str:
    """Return the text for the title column."""
    return conversation.title or one_line(conversation.preview, 80) or _("(no text)")


@printing()
def print_table(columns: Sequence[TableColumn], rows: Sequence[object]) -> None:
    """Print rows under the heads of columns: with Rich on a terminal, aligned in a pipe; nothing if
    there are no rows."""
    if not rows:
        return
    table = [[column.cell(row) for column in columns] for row in rows]
    if sys.stdout.isatty():
        from .rich_output import print_rich_table  # start time: a pipe goes without Rich

        print_rich_table(columns, table)
    else:
        table.insert(0, [column.title for column in columns])
        widths = [max(map(cells, texts)) for texts in zip(*table, strict=True)]
        for row in table:
            padded = map(_padded, row, widths, [column.right for column in columns])
            print("  ".join(padded).rstrip())


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - cells(text))
    return space + text if right else text + space


def print_lines(lines: Iterable[OutputLine]) -> None:
    """Print lines: coloured by kind and wrapped on a terminal, plain in a pipe."""
    if sys.stdout.isatty():
        from .rich_output import print_rich_lines  # likewise

        print_rich_lines(lines)
    else:
        # Not splitlines(), which also splits at characters other programs do not treat as line
        # ends.
        for line in lines:
            for part in line.text.split("\n"):
                print_text(f"{line.lead}{part}".rstrip())


@printing()
def print_text(*texts: str) -> None:
    """Print texts one below the other, made printable; each may hold several lines."""
    for text in texts:
        print(printable(text))


def labelled(facts: Mapping[str, str | None]) -> Iterator[str]:
    """Yield a line for each fact that is known."""
    for label, text in facts.items():
        if text:
            yield _("{label}: {text}", label=label, text=text)


def note(*texts: str) -> None:
    """Print notes to standard error, each made printable and kept on one line."""
    if sys.stderr is None:  # closed by the caller; print() would fall back to standard output
        return
    with suppress(OSError):  # not writable; the exit code still reports the result
        for text in texts:
            print(printable(text).translate(_ONE_LINE), file=sys.stderr)


def complain(text: str) -> None:
    """Print an error of the program to standard error."""
    note(f"hermes-browse: {text}")


# Errors that an option or a command helps against

_ADVICE: Mapping[Advice, str] = N_(
    {
        Advice.OPEN_ANOTHER: "Start Hermes once, name another with --home, --profile or --db, or look around with --demo.",
        Advice.START_CHAT: "Start a chat in Hermes, or try --demo.",
        Advice.NAME_FILE_OR_ROOT: "Name a Hermes root with --home, a file with --db.",
        Advice.NAME_STORE: "Name a Hermes state.db with --db, or its folder with --home.",
        Advice.OPEN_COPY: "If it lies on a network drive, copy it to a local disk and name the copy with --db.",
        Advice.OPEN_ORIGIN: "Name that one with --home, --profile or --db.",
        Advice.LIST_OR_SEARCH: "`hermes-browse list` shows ids and titles, `hermes-browse search` finds words.",
        Advice.NAME_OTHER_OR_REPLACE: "Name another file, or say --force to replace it.",
        Advice.PLAN_CLEAN_UP: "`hermes-browse prune --dry-run` tells what could go, and frees nothing yet.",
    }
)


def remedy_of(problem: BrowseError | StoreProblem) -> str:
    """Return what to do about a problem on a command line; may be empty."""
    return _(_ADVICE[problem.advice]) if problem.advice in _ADVICE else problem.remedy


def with_advice(error: BrowseError) -> str:
    """Return the sentence of an error, and what to do about it on a command line."""
    return f"{error.sentence} {remedy_of(error)}".rstrip()
