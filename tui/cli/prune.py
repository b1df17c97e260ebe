"""`prune`: print what a query would clean up, and carry it out."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from functools import partial
from types import SimpleNamespace

from hermes_browse.store.amounts import size
from hermes_browse.store.cleanup.bulk import Step, archived_of, done_of
from hermes_browse.store.cleanup.plan import Plan, Totals
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.cleanup.sizes import COUNTED
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.edit.delete_plan import DeletePlan
from hermes_browse.store.search.query import query_word
from hermes_browse.store.wording import N_, _

from ..text.formats import counted, dollars, listed, own_and_tree, timestamp
from ..text.sentences import effects_of_delete, spared_line, status
from .command import StoreCommand, telling
from .output import (
    Number,
    TableColumn,
    bundle_json,
    conversation_json,
    fields,
    fields_of_each,
    note,
    print_table,
    title_or_preview,
)
from .parser import Argument, ArgumentGroup, Flag, OneOf, Several, Valued, name_arg, text_arg

_SHOWN = 50


def _value_arg(argument: str) -> str:
    """Accept what can stand as the value of a filter. What it means is said by the parser of the
    query, which would take quotation marks at the start off, so that more is chosen."""
    value = text_arg(name_arg(argument))
    if value.startswith('"') or ('"' in value and any(map(str.isspace, value))):
        raise argparse.ArgumentTypeError(
            _("begins with a quotation mark, or has spaces and quotation marks: part of it will do")
        )
    return value


_Of = partial(Argument, type=_value_arg)
"""An option with the value of a filter."""
_FILTERS = {
    "older:": _Of(
        "--older-than",
        "idle for so long: 30min 5h 3d 2w 6mo 1y, or since 2026-03-05 (by activity)",
        "AGE",
    ),
    "source:": Several("--source", "of this source; repeatable", "S", type=_value_arg),
    "title:": _Of("--title", "its title contains this", "T"),
    "cwd:": _Of("--cwd", "its working directory is this or below it", "DIR"),
    "model:": _Of("--model", "the name of its model contains this", "M"),
    "is:empty": Flag("--empty", "without a message"),
    "is:automation": Flag("--automation", "cron jobs, webhooks and the like"),
    "msgs>=": _Of("--min-messages", metavar="N"),
    "msgs<=": _Of("--max-messages", metavar="N"),
    "size>=": _Of("--min-size", "search index included: 10M, 1.5G", "BYTES"),
    "size<=": _Of("--max-size", metavar="BYTES"),
    "cost<=": _Of("--max-cost", "with all subagents; an unknown cost does not count as low", "USD"),
    "include:stale": Flag(
        "--stale-open",
        "also open ones that have been idle for that long (7 days without --older-than)",
    ),
    "include:archived": Flag("--include-archived", "also archived ones"),
}
"""The options that are spellings of filters: by what stands before their value, or by the filter
that a flag stands for."""


def _line_of(arguments: SimpleNamespace) -> str:
    """Return the query of a clean-up: what was typed as one, and a filter for each option."""
    return " ".join([*arguments.query, *_filters(arguments)])


def _filters(arguments: SimpleNamespace) -> Iterator[str]:
    filters = {
        before: value
        for before, option in _FILTERS.items()
        if (value := getattr(arguments, option.dest))
    }
    for before, value in filters.items():
        if before == "include:stale":
            # Alone it means stale ones only, and an age beside it is their age.
            others = filters.keys() - {before, "include:archived"} or arguments.query
            with_others = "include:open" if "older:" in filters else before
            yield with_others if others else "is:stale"
        elif value is True:
            yield before
        else:
            for each in value if isinstance(value, list) else [value]:
                folder = _folder(arguments, each) if before == "cwd:" else each
                yield before + query_word(folder)


def _folder(arguments: SimpleNamespace, path: str) -> str:
    """Return the filter's value for a folder and those below it; `~` is expanded on the machine of
    the store."""
    if not path.startswith("~"):
        path = os.path.normpath(os.path.join("~" if arguments.host else os.getcwd(), path))
    return path.rstrip("/") + "/"


class PruneCommand(StoreCommand):
    """Clean up by a query; without `--archive` or `--delete` only the plan is printed."""

    arguments = (
        Valued(
            "query",
            "filters of the search, such as 'older:90d source:cron'; all options below are spellings of some",
            "FILTER",
            nargs="*",
        ),
        ArgumentGroup(N_("filters"), _FILTERS.values()),
        ArgumentGroup(
            N_("what to do"),
            [
                OneOf(
                    (
                        Flag("--archive", "archive what is chosen"),
                        Flag("--delete", "move it to the trash"),
                    )
                )
            ],
        ),
        Flag("--dry-run", "change nothing, only report"),
        Flag("--yes", "do not ask"),
    )

    def contradictions(self) -> Mapping[str, object]:
        """Parts of the query may be no filters of a clean-up."""
        query = parse_line(_line_of(self.given), time.time())
        return {problem.text: True for problem in query.problems}

    def run(self) -> None:
        given = self.given
        selection = Selection(parse_line(_line_of(given), self.now))
        plan = self._plan(selection)
        acts = (given.archive or given.delete) and not given.dry_run
        if not given.json:
            _print(plan, selection, is_archive=given.archive)
        deletion: Json = {"measured_free_bytes": None, "bundles": []}
        if plan.selected and not acts:
            self.remark(
                _(
                    "Nothing was changed: --archive would archive these, --delete would move them to the trash."
                )
            )
        elif plan.selected and given.archive:
            if not self.can_ask:  # a terminal is not asked: `unarchive` undoes it
                self._confirm(plan, _("archive {what}"))
            changed = self.store.archive_planned(plan).session_ids
            cleaned = archived_of(plan, changed)
            plan = done_of(plan, cleaned)
            note(cleaned.sentence(_("archived")))
        elif plan.selected:
            self._confirm(plan, _("move {what} to the trash"))
            plan, deletion = self._delete(plan)
        if given.json:
            document = _json(plan, self.store.retention(self.now), is_archive=given.archive)
            self.print_json(document | {"done": acts} | deletion)

    def _plan(self, selection: Selection) -> Plan:
        if selection.is_empty:
            note(
                _(
                    "No filter is given, so nothing is chosen; `hermes-browse prune --help` lists them."
                )
            )
        plan = self.store.plan(self.store.catalog(self.now), selection, self.now)
        if self.given.archive:
            plan = plan.for_archive()
        plan = plan.with_details(self.store.with_details, None if self.given.json else _SHOWN)
        self.store.close()  # nothing is open while somebody reads or answers
        return plan

    def _confirm(self, plan: Plan, what: str) -> None:
        """Ask for the number of conversations, which unlike a `y` is not typed by habit."""
        if not self.given.yes:
            totals = plan.totals()
            what = what.format(what=_totals_text(totals))
            self.confirm(totals.conversations, what, by_number=True)

    def _delete(self, plan: Plan) -> tuple[Plan, Json]:
        """Delete the conversations of a plan; report progress on a terminal, and how many were done if
        it stops early.

        Returns:
            The plan without what was spared meanwhile, and what the document says of the deletion.

        Raises:
            BrowseError: A portion failed; the number done has been reported.
            KeyboardInterrupt: Likewise.
        """
        store, report, done = self.store, telling(), 0

        def tell(step: Step) -> None:
            nonlocal done
            done = step.done
            report(step)

        before = store.file_space().free_bytes
        store.close()
        try:
            cleaned = store.delete_planned(plan, tell=tell)
        except KeyboardInterrupt:
            _note_stopped(done, len(plan.selected))
            raise
        if cleaned.error is not None:
            _note_stopped(done, len(plan.selected), cleaned.doubtful)
            raise cleaned.error
        note(*cleaned.notes)
        note(cleaned.sentence(_("moved to the trash")))
        freed = store.file_space().free_bytes - before
        self.remark(_("Measured: {size} more are free for new rows.", size=size(max(0, freed))))
        return done_of(plan, cleaned), {
            "measured_free_bytes": freed,
            "bundles": [bundle_json(cleaned.deleted.bundle)] if cleaned.deleted else [],
        }


def _note_stopped(done: int, total: int, doubtful: int = 0) -> None:
    sentence = _("Stopped after {done:,} of {total:,} conversations; the others are as they were.")
    if doubtful:
        sentence = _(
            "Stopped after {done:,} of {total:,} conversations. What follows is about {doubtful:,} more; the others "
            "are as they were."
        )
    note(sentence.format(done=done, total=total, doubtful=doubtful))


# The plan as JSON


def _json(plan: Plan, rules: RetentionRules, *, is_archive: bool) -> Json:
    sums = fields(
        plan.totals(),
        "conversations sessions messages=sizes.rows bytes=sizes.total cost_usd "
        "messages_shown=sizes.shown free_bytes=sizes.free_bytes "
        "given_back_bytes=sizes.given_back_bytes",
    )
    if is_archive:
        sums |= {"free_bytes": 0, "given_back_bytes": 0}
    return {
        "plan": sums,
        "would": [
            conversation_json(planned.conversation, rules)
            | {
                "standing": planned.standing,
                "takes_along": [session.id for session in planned.subagents],
            }
            for planned in plan.selected
        ],
        "spared": fields_of_each(
            plan.spared,
            "id=conversation.id root_id=conversation.root_id title=conversation.title "
            "code=why.code reason=why.words",
        ),
        "reparented": [session.id for session in plan.reparented],
        "counted": _(COUNTED),
    }


# The plan for people


def _totals_text(totals: Totals) -> str:
    return listed(
        counted(totals.conversations, "conversation"),
        counted(totals.sessions, "session"),
        counted(totals.sizes.shown, "message"),
        size(totals.sizes.total),
    )


def _costs(planned: DeletePlan) -> str:
    return own_and_tree(planned.conversation.cost_usd, planned.cost_usd, dollars)


_COLUMNS = (
    TableColumn("last active", "conversation.last_active", dropped=4, form=timestamp),
    TableColumn("status", "standing", dropped=5, form=status),
    TableColumn("source", "conversation.source", dropped=2),
    Number("msgs", "own.shown", dropped=3),
    TableColumn("size", "sizes.total", right=True, dropped=6, form=size),
    TableColumn("cost", _costs, right=True, dropped=1),
    TableColumn("title", "conversation", is_flexible=True, form=title_or_preview),
    TableColumn("id", "conversation.id"),
)


def _print(plan: Plan, selection: Selection, *, is_archive: bool) -> None:
    totals = plan.totals()
    print_table(_COLUMNS, plan.selected[:_SHOWN])
    if len(plan.selected) > _SHOWN:
        note(_("… and {count:,} more; --json lists all.", count=len(plan.selected) - _SHOWN))
    note(
        _(
            "{words}. {counted}",
            words=listed(_totals_text(totals), dollars(totals.cost_usd)),
            counted=_(COUNTED),
        )
    )
    if not is_archive:
        note(*effects_of_delete(plan, totals))
    if plan.spared:
        columns = [
            TableColumn("spared because", "why.words"),
            TableColumn("title", "conversation.title", dropped=1, is_flexible=True),
            TableColumn("id", "conversation.id"),
        ]
        print_table(columns, plan.spared[:_SHOWN])
        note(spared_line(plan))
        is_open = any(spared.why.code == "open" for spared in plan.spared)
        if is_open and "stale" not in selection.states:
            note(_("include:stale takes open conversations without activity for long, too."))
