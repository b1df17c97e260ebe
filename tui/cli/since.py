"""`since`: what waits for the user, went wrong, is new or is running; of one store or of several."""

from __future__ import annotations

import argparse
from contextlib import suppress
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.ages import parse_when
from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.since.since import LANES, Since, SinceItem
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text import formats
from ..text.since_words import LANE_NAMES, why
from .command_context import ManyStoresCommand
from .output import TableColumn, fields, note, print_json, print_table
from .parser import add_places, refuse_places, text_arg
from .stores import Answers, place_columns


class _PlacedItem(NamedTuple):
    place: Json
    item: SinceItem


class SinceCommand(ManyStoresCommand[Since]):
    """Print what happened since the user looked."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        after = _("since this time instead of what was read: 2h, yesterday, 2026-03-05")
        parser.add_argument("--after", metavar="TIME", type=text_arg, help=after)
        add_places(parser, profiles=_("of all profiles"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        try:
            _after(arguments, 0.0)
        except ValueError as error:
            return f"--after: {error}"
        return refuse_places(arguments)

    def ask(self, store: OpenStore, now: float, arguments: SimpleNamespace) -> Since:
        with suppress(RefusedError):  # a machine that may only be read keeps no marks
            store.begin_marks(now)
        return store.since(store.catalog(now), now, _after(arguments, now))

    def report(self, answers: Answers[Since], arguments: SimpleNamespace) -> int:
        rows = [
            _PlacedItem(place, item) for place, found in answers.answers for item in found.items
        ]
        since = min(found.since for _place, found in answers.answers)
        if arguments.json:
            lanes = {lane: [_json(row) for row in rows if row.item.lane == lane] for lane in LANES}
            print_json({"since": since, **lanes, **answers.facts})
            return answers.code
        rows.sort(key=lambda row: LANES.index(row.item.lane))
        print_table([*place_columns(answers), *_columns()], rows)
        note(_("since {time}", time=formats.timestamp(since)))
        return answers.code


def _after(arguments: SimpleNamespace, now: float) -> float | None:
    return parse_when(arguments.after, now)[0] if arguments.after is not None else None


def _json(row: _PlacedItem) -> Json:
    item = row.item
    return (
        row.place
        | fields(item, "title", "message_id", "at", "why", "certain", "source")
        | {
            "session": item.session_id,
            "conversation": item.conversation_id,
            "job": item.job or None,
        }
    )


def _columns() -> list[TableColumn[_PlacedItem]]:
    return [
        TableColumn(_("lane"), lambda row: LANE_NAMES[row.item.lane]()),
        TableColumn(_("time"), lambda row: formats.timestamp(row.item.at), dropped=3),
        TableColumn(_("title"), lambda row: one_line(row.item.title, 60)),
        TableColumn(_("why"), lambda row: why(row.item), is_flexible=True),
        TableColumn(_("source"), lambda row: row.item.source, dropped=1),
        TableColumn(_("id"), lambda row: row.item.session_id or "", dropped=2),
    ]
