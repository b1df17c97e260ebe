"""Print the output of commands: JSON documents, tables and text, without raw control characters
from a store."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.text import HOSTILE, as_text, one_line, printable
from hermes_browse.store.wording import _, pgettext

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.retention import RetentionRules
    from hermes_browse.store.hermes.health import StoreSummary
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
    indent: int = 0
    """Cells."""
    lead: str = ""
    """Prefix of the text; lines wrapped on a terminal are indented by its width."""


def print_json(document: object) -> None:
    """Print one JSON document in UTF-8 in every locale: stored text unchanged, control characters
    escaped."""
    _speak_utf_8()
    print(_json_text(document))


def print_json_in_portions(fields: Mapping[str, object]) -> None:
    """Print one JSON object as `print_json` does, but each item of a field that is an iterator as
    soon as it comes."""
    _speak_utf_8()
    is_indented = sys.stdout.isatty()
    separator = ",\n" if is_indented else ", "
    before = ["{\n" if is_indented else "{"]  # what to print ahead of the next text
    for name, value in fields.items():
        print(f"{before.pop()}{_indented(json.dumps(name), 1)}: ", end="")
        before.append(separator)
        if not isinstance(value, Iterator):
            print(_indented(_json_text(value), 1).lstrip(" "), end="")
            continue
        ahead = "[\n" if is_indented else "["
        for item in value:
            print(f"{ahead}{_indented(_json_text(item), 2)}", end="")
            ahead = separator
        if ahead != separator:
            print("[]", end="")
        else:
            print(f"\n{_indented(']', 1)}" if is_indented else "]", end="")
    print("\n}" if is_indented else "}")


def _indented(text: str, depth: int) -> str:
    """Return JSON as it stands within other JSON on a terminal; strings in it hold no line ends."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(f"{'  ' * depth}{line}" for line in text.split("\n"))


def _json_text(document: object) -> str:
    text = json.dumps(
        document, ensure_ascii=False, allow_nan=False, indent=2 if sys.stdout.isatty() else None
    )
    # Legal in JSON strings, but a terminal or a pager would interpret them.
    return re.sub(HOSTILE, lambda match: json.dumps(match[0])[1:-1], as_text(text) or "")


def _speak_utf_8() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def store_json(summary: StoreSummary) -> Json:
    """Build a STORE of the JSON contract. Keys may be added to the contract, never renamed or
    dropped."""
    return {
        "path": str(summary.path),
        "profile": summary.profile,
        "schema_version": summary.schema_version,
        "journal_mode": summary.journal_mode,
        "bytes": summary.size,
        "wal_bytes": summary.wal_size,
        "sessions": summary.sessions,
        "messages": summary.messages,
        "read_only": summary.read_only,
        "warnings": [each.text for each in summary.warnings],
    }


def conversation_json(conversation: Conversation, rules: RetentionRules | None = None) -> Json:
    """Build a CONVERSATION of the JSON contract.

    Args:
        conversation: With its preview and message counts.
        rules: Predicts when Hermes deletes it; without it `prune_in_days` is null.
    """
    return {
        "id": conversation.id,
        "root_id": conversation.root_id,
        "segments": [segment.id for segment in conversation.segments],
        "title": conversation.title,
        "preview": conversation.preview,
        "source": conversation.source,
        "model": conversation.model,
        "cwd": conversation.cwd,
        "git_branch": conversation.git_branch,
        "started_at": conversation.root.started_at,
        "last_active": conversation.last_active,
        "ended_at": conversation.tip.ended_at,
        "end_reason": conversation.tip.end_reason,
        "status": conversation.status.value,
        "archived": conversation.archived,
        "pinned": conversation.pinned,
        "hidden": conversation.hidden,
        "prune_in_days": rules.forecast(conversation).prune_in_days if rules is not None else None,
        "kind": conversation.kind.value,
        "relation": conversation.relation.value,
        "note": conversation.note or None,
        "message_count": conversation.message_count,
        "tool_call_count": conversation.tool_call_count,
        "branches": conversation.branches,
        "subagents": conversation.subagents,
        "tokens": conversation.tokens._asdict(),
        "cost_usd": conversation.cost_usd,
        "tree_cost_usd": conversation.tree_cost_usd,
        "bytes": conversation.size,
    }


def bundle_json(bundle: Bundle) -> Json:
    """Build a BUNDLE of the JSON contract."""
    return {
        "name": bundle.name,
        "created_at": bundle.created_at,
        "sessions": list(bundle.sessions),
        "messages": bundle.messages,
        "bytes": bundle.bytes,
        "title": bundle.title,
        "conversations": list(bundle.conversations),
        "store": bundle.store or None,
        "restored_at": bundle.restored_at,
        "damage": bundle.damage or None,
    }


def title_or_preview(conversation: Conversation) -> str:
    """Return the text for the title column."""
    return conversation.title or one_line(conversation.preview, 80) or no_text()


def no_text() -> str:
    """Return the placeholder for an empty title or message."""
    return _("(no text)")


def no_title() -> str:
    """Return the placeholder for a missing title."""
    return _("(no title)")


def cells(text: str) -> int:
    """Count the terminal cells of a printable text without Rich: wide characters are two, marks and
    joiners none."""
    width = 0
    for letter in text:
        if letter.isascii():
            width += 1
        elif unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            continue
        else:
            width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return width


def _terminal() -> ModuleType:
    from . import terminal  # start time: output into a pipe goes without Rich

    return terminal


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    flexible: int = -1,
    optional: Sequence[int] = (),
) -> None:
    """Print rows under headers: with Rich on a terminal, as aligned columns in a pipe; nothing if
    there are no rows.

    Args:
        headers: One for each column.
        rows: May hold stored texts, which are made printable here.
        right: Indexes of right-aligned columns.
        flexible: Index of the column cut to the remaining width of a terminal; a pipe gets 400 code
            points of it.
        optional: Indexes of columns dropped on a narrow terminal, in the order of dropping.
    """
    if not rows:
        return
    safe = [[one_line(cell, _LONGEST_CELL) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _terminal().print_rich_table(
            headers, safe, right=right, flexible=flexible % len(headers), optional=optional
        )
        return
    widths = [max(map(cells, column)) for column in zip(headers, *safe, strict=True)]
    for row in [list(headers), *safe]:
        padded = [
            " " * (width - cells(cell)) + cell
            if index in right
            else cell + " " * (width - cells(cell))
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(padded).rstrip())


def print_sums(by: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of `stats`; `headers` are those behind the grouping and the number of
    conversations."""
    groupings = {
        "model": pgettext("grouping", "model"),
        "source": pgettext("grouping", "source"),
        "day": pgettext("grouping", "day"),
        "week": pgettext("grouping", "week"),
        "month": pgettext("grouping", "month"),
        "hour": pgettext("grouping", "hour"),
        "project": pgettext("grouping", "project"),
        "conversation": pgettext("grouping", "conversation"),
        "tool": pgettext("grouping", "tool"),
    }
    names = [groupings[by], _("convs"), *headers]
    print_table(names, rows, right=range(1, len(names)), flexible=0, optional=(1, 2))


def print_lines(lines: Iterable[OutputLine]) -> None:
    """Print lines: coloured by kind and wrapped on a terminal, plain in a pipe."""
    if sys.stdout.isatty():
        _terminal().print_rich_lines(lines)
        return
    # Not splitlines(), which also splits at characters other programs do not treat as line ends.
    print_texts(
        f"{' ' * line.indent}{line.lead}{part}".rstrip()
        for line in lines
        for part in line.text.split("\n")
    )


def print_texts(texts: Iterable[str]) -> None:
    """Print texts as they come, made printable, each on lines of its own; empty ones at the end are
    left out."""
    empty = 0
    for text in texts:
        if not text:
            empty += 1
            continue
        print("\n" * empty, end="")
        empty = 0
        print_text(text)


def print_text(text: str) -> None:
    """Print text, made printable; it may hold several lines."""
    print(printable(text))


def note(text: str) -> None:
    """Print a note to standard error, made printable and kept on one line."""
    if sys.stderr is None:  # closed by the caller; print() would fall back to standard output
        return
    try:
        print(printable(text).translate(_ONE_LINE), file=sys.stderr)
    except OSError:  # standard error is not writable; the exit code still reports the result
        return


def complain(text: str) -> None:
    """Print an error of the program to standard error."""
    note(f"hermes-browse: {text}")
