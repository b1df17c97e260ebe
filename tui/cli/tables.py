"""The tables that `list` and `search` print: rows of the JSON contract, each with its place where
there are several stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from .. import formats
from .output import no_text, print_table


class TableColumn(NamedTuple):
    """A column of a table."""

    head: str
    text: Callable[[Json], str]
    right: bool = False
    dropped: int = 0
    """Its turn to be left out on a narrow terminal; 0 if it stays."""
    is_flexible: bool = False
    """It is cut to the remaining width of a terminal."""


def text_of(value: object) -> str:
    """Return a text of a document; empty if it is none."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> float | None:
    """Return a number of a document; None if it is none."""
    return value if isinstance(value, int | float) else None


def _print(rows: Sequence[Json], columns: Sequence[TableColumn]) -> None:
    columns = [*_places(rows), *columns]
    optional = [index for index, column in enumerate(columns) if column.dropped]
    print_table(
        [column.head for column in columns],
        [[column.text(row) for column in columns] for row in rows],
        right=[index for index, column in enumerate(columns) if column.right],
        flexible=next(index for index, column in enumerate(columns) if column.is_flexible),
        optional=sorted(optional, key=lambda index: columns[index].dropped),
    )


def _places(rows: Sequence[Json]) -> list[TableColumn]:
    places = {
        "host": TableColumn(_("host"), lambda row: text_of(row["host"]) or _("(here)")),
        "profile": TableColumn(_("profile"), lambda row: text_of(row["profile"])),
    }
    return [column for name, column in places.items() if any(name in row for row in rows)]


def _when(name: str) -> Callable[[Json], str]:
    return lambda row: formats.timestamp(number_of(row.get(name)))


def _state(row: Json) -> str:
    marks = [mark for mark in ("pinned", "archived") if row.get(mark)]
    return formats.status(marks[0] if marks else text_of(row.get("status")))


def _messages(row: Json) -> str:
    return formats.long_number(number_of(row.get("message_count")) or 0)


def _costs(row: Json) -> str:
    """Format the cost; hosts with a version before 0.2 do not tell that of subagents apart."""
    own = number_of(row.get("cost_usd"))
    tree = number_of(row.get("tree_cost_usd", row.get("cost_usd")))
    return formats.own_and_tree(own, tree, formats.dollars)


def _title(row: Json) -> str:
    title = text_of(row.get("title")) or one_line(text_of(row.get("preview")), 80) or no_text()
    note = text_of(row.get("note"))
    return _("{name} ({note})").format(name=title, note=note) if note else title


def print_conversations(rows: Sequence[Json]) -> None:
    """Print conversations, given as in the JSON contract."""
    columns = [
        TableColumn(_("last active"), _when("last_active"), dropped=5),
        TableColumn(_("status"), _state, dropped=3),
        TableColumn(_("source"), lambda row: text_of(row.get("source")), dropped=2),
        TableColumn(_("msgs"), _messages, right=True, dropped=4),
        TableColumn(_("cost"), _costs, right=True, dropped=1),
        TableColumn(_("title"), _title, is_flexible=True),
        TableColumn(_("id"), lambda row: text_of(row.get("id"))),
    ]
    _print(rows, columns)


def print_hits(hits: Sequence[Json]) -> None:
    """Print hits with their context, given as in the JSON contract; `conversation` may have the
    name of theirs."""
    rows: list[Json] = []
    for hit in hits:
        around = hit.get("context")
        for message in around if isinstance(around, list) and around else [hit]:
            is_hit = message.get("message_id") == hit.get("message_id")
            others = {"timestamp": None, "conversation": "", "text": "", **message}
            rows.append(hit | ({"text": hit.get("snippet")} if is_hit else others))
    columns = [
        TableColumn(_("time"), _when("timestamp")),
        TableColumn(_("role"), lambda row: text_of(row.get("role")), dropped=2),
        TableColumn(
            pgettext("column", "text"), lambda row: text_of(row.get("text")), is_flexible=True
        ),
        TableColumn(_("session"), lambda row: text_of(row.get("session_id"))),
        TableColumn(_("message"), lambda row: str(row.get("message_id")), right=True, dropped=1),
    ]
    if any("conversation" in hit for hit in hits):
        columns.insert(2, TableColumn(_("conversation"), lambda row: text_of(row["conversation"])))
    _print(rows, columns)
