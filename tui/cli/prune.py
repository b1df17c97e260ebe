"""`prune`: print what a query would clean up, and carry it out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple, TypeVar

from hermes_browse.store.ages import parse_when
from hermes_browse.store.amounts import parse_bytes, parse_count, parse_money
from hermes_browse.store.cleanup.bulk import Outcome, Step
from hermes_browse.store.cleanup.plan import Plan, Planned, Spared, Totals
from hermes_browse.store.cleanup.selection import Selection, count_reasons, parse_line
from hermes_browse.store.cleanup.sizes import COUNTED
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.edit.delete import Deleted
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.wording import _, ngettext

from ..text.formats import counted, dollars, own_and_tree, size, status, timestamp
from .command_context import CommandContext, Subcommand, ask, telling
from .output import (
    TableColumn,
    bundle_json,
    conversation_json,
    fields,
    note,
    print_table,
    title_or_preview,
)
from .parser import Argument, Flag, Parser, Several, Valued, add_all, name_arg, text_arg
from .prune_line import line_of

Value = TypeVar("Value", int, float, str)
Done = TypeVar("Done")

_SHOWN = 50


def _arg_type(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """Wrap a parser for argparse, which reports its errors with the name of the option."""

    def convert(value: str) -> Value:
        try:
            return parse(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def _age_or_date(value: str) -> str:
    parse_when(value, time.time())  # raises ValueError with a sentence
    return value


def _filled_arg(value: str) -> str:
    filled = text_arg(name_arg(value))
    if '"' in filled and any(map(str.isspace, filled)):
        raise argparse.ArgumentTypeError(
            _("has both spaces and quotation marks: part of it will do")
        )
    return filled


_QUERY = Valued(
    "query",
    "filters of the search, such as 'older:90d source:cron'; all options below are spellings of some",
    "FILTER",
    nargs="*",
)
_FILTERS = (
    Argument(
        "--older-than",
        "idle for so long: 30min 5h 3d 2w 6mo 1y, or since 2026-03-05 (by activity)",
        "AGE",
        type=_arg_type(_age_or_date),
    ),
    Several("--source", "of this source; repeatable", "S", type=_filled_arg),
    Argument("--title", "its title contains this", "T", type=_filled_arg),
    Argument("--cwd", "its working directory is this or below it", "DIR", type=_filled_arg),
    Argument("--model", "the name of its model contains this", "M", type=_filled_arg),
    Flag("--empty", "without a message"),
    Flag("--automation", "cron jobs, webhooks and the like"),
    Argument("--min-messages", metavar="N", type=_arg_type(parse_count)),
    Argument("--max-messages", metavar="N", type=_arg_type(parse_count)),
    Argument(
        "--min-size", "search index included: 10M, 1.5G", "BYTES", type=_arg_type(parse_bytes)
    ),
    Argument("--max-size", metavar="BYTES", type=_arg_type(parse_bytes)),
    Argument(
        "--max-cost",
        "with all subagents; an unknown cost does not count as low",
        "USD",
        type=_arg_type(parse_money),
    ),
    Flag(
        "--stale-open",
        "also open ones that have been idle for that long (7 days without --older-than)",
    ),
    Flag("--include-archived", "also archived ones"),
)
_ACTIONS = (
    Flag("--archive", "archive what is chosen"),
    Flag("--delete", "move it to the trash"),
)
_SAFETY = (
    Flag("--dry-run", "change nothing, only report"),
    Flag("--yes", "do not ask"),
)


class PruneCommand(Subcommand):
    """Clean up by a query; without `--archive` or `--delete` only the plan is printed."""

    def add_arguments(self, parser: Parser) -> None:
        add_all(parser, [_QUERY])
        add_all(parser.add_argument_group(_("filters")), _FILTERS)
        actions = parser.add_argument_group(_("what to do")).add_mutually_exclusive_group()
        add_all(actions, _ACTIONS)
        add_all(parser, _SAFETY)

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for a part of the query that is no filter of a clean-up."""
        problems = parse_line(line_of(arguments), time.time()).problems
        return problems[0].text if problems else ""

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        selection = Selection(parse_line(line_of(arguments), context.now))
        if selection.nothing:
            note(
                _(
                    "No filter is given, so nothing is chosen; `hermes-browse prune --help` lists them."
                )
            )
        catalog = context.store.catalog(context.now)
        plan = context.store.plan(selection, catalog, context.now)
        if arguments.archive:  # an archived conversation stays as it is
            plan = plan.without_archived()
        plan = plan.with_details(context.store.with_details, None if context.json else _SHOWN)
        context.store.close()  # nothing is open while somebody reads or answers
        acts = (arguments.archive or arguments.delete) and not arguments.dry_run
        asks = acts and not arguments.yes and bool(plan.selected)
        totals = plan.totals(is_archive=arguments.archive)
        if asks and not context.can_ask:
            raise _refusal(totals, is_archive=arguments.archive)
        if not context.json:
            _print(plan, totals, selection, is_archive=arguments.archive)
        if asks and arguments.delete:
            number = totals.conversations  # unlike "y", not typed by habit
            what = counted(number, "conversation")
            ask(
                _(
                    "Type {count} to delete {conversations}, anything else to leave: ",
                    count=number,
                    conversations=what,
                ),
                str(number),
            )
        done = _Done(plan)
        if acts and plan.selected:
            done = _act(context, plan)
        elif plan.selected and not context.json:
            note(
                _(
                    "Nothing was changed: --archive would archive these, --delete would move them to the trash."
                )
            )
        if context.json:
            context.print_json(_json(context, done, is_done=acts))
        return 0


class _Done(NamedTuple):
    """What was done of a plan."""

    plan: Plan
    """Without what was spared meanwhile."""
    bundles: tuple[Deleted, ...] = ()
    freed: int | None = None
    """Bytes that are free for new rows since then; None if nothing was deleted."""


def _refusal(totals: Totals, *, is_archive: bool) -> RefusedError:
    archive = _("Nothing was changed: it would archive {what}.")
    delete = _("Nothing was changed: it would delete {what}.")
    sentence = (archive if is_archive else delete).format(what=_totals_text(totals))
    return RefusedError(sentence, remedy=_("Add --yes to do it."))


# Carrying it out


def _act(context: CommandContext, plan: Plan) -> _Done:
    """Archive or delete the conversations of a plan."""
    store = context.store
    if context.arguments.archive:
        store.close()
        archived = store.archive_planned(plan)
        note(archived.sentence(_("archived")))
        return _Done(archived.plan)
    before = store.file_space().free_bytes
    store.close()
    outcome = carry_out(plan, partial(store.delete_planned, plan))
    for deleted in outcome.results:
        for sentence in deleted.notes:
            note(sentence)
    note(outcome.sentence(_("moved to the trash")))
    freed = store.file_space().free_bytes - before
    if not context.json:
        note(_("Measured: {size} more are free for new rows.", size=size(max(0, freed))))
    return _Done(outcome.plan, tuple(outcome.results), freed)


def carry_out(plan: Plan, work: Callable[..., Outcome[Done]]) -> Outcome[Done]:
    """Carry out a plan; report progress on a terminal, and how many were done if it stops early.

    Raises:
        BrowseError: A portion failed; the number done has been reported.
        KeyboardInterrupt: Likewise.
    """
    done, report = 0, telling()

    def tell(step: Step) -> None:
        nonlocal done
        done = step.done
        report(step)

    try:
        outcome = work(tell=tell)
    except KeyboardInterrupt:
        _note_stopped(done, len(plan.selected))
        raise
    if outcome.error is not None:
        _note_stopped(done, len(plan.selected), outcome.doubtful)
        raise outcome.error
    return outcome


def _note_stopped(done: int, total: int, doubtful: int = 0) -> None:
    sentence = _("Stopped after {done:,} of {total:,} conversations; the others are as they were.")
    if doubtful:
        sentence = _(
            "Stopped after {done:,} of {total:,} conversations. What follows is about {doubtful:,} more; the others "
            "are as they were."
        )
    note(sentence.format(done=done, total=total, doubtful=doubtful))


# The plan as JSON


def _json(context: CommandContext, done: _Done, *, is_done: bool) -> Json:
    plan, is_archive = done.plan, context.arguments.archive
    rules = context.store.retention(context.now)

    def planned_json(planned: Planned) -> Json:
        conversation = planned.conversation
        return conversation_json(conversation, rules) | {
            "bytes": planned.own.total if is_archive else conversation.size,
            "standing": planned.standing.value,
            "takes_along": [] if is_archive else [session.id for session in planned.subagents],
        }

    return {
        "plan": plan.totals(is_archive=is_archive)._asdict(),
        "would": list(map(planned_json, plan.selected)),
        "spared": list(map(_spared_json, plan.spared)),
        "reparented": [] if is_archive else [session.id for session in plan.reparented],
        "counted": _(COUNTED),
        "done": is_done,
        "measured_free_bytes": done.freed,
        "bundles": [bundle_json(deleted.bundle) for deleted in done.bundles],
    }


def _spared_json(spared: Spared) -> Json:
    names = fields(spared.conversation, "id", "root_id", "title")
    return names | fields(spared, code="why.code", reason="why.words")


# The plan for people


def _totals_text(totals: Totals) -> str:
    return _(", ").join(
        [
            counted(totals.conversations, "conversation"),
            counted(totals.sessions, "session"),
            counted(totals.messages_shown, "message"),
            size(totals.bytes),
        ]
    )


def _columns(*, is_archive: bool) -> list[TableColumn[Planned]]:
    """Return the columns of a plan; subagents stay in an archive."""

    def costs(planned: Planned) -> str:
        own = planned.conversation.cost_usd
        return dollars(own) if is_archive else own_and_tree(own, planned.cost_usd, dollars)

    return [
        TableColumn("last active", lambda row: timestamp(row.conversation.last_active), dropped=4),
        TableColumn("status", lambda row: status(row.standing)),
        TableColumn("source", "conversation.source", dropped=2),
        TableColumn("msgs", lambda row: f"{row.own.shown:,}", True, dropped=3),
        TableColumn("size", lambda row: size(row.own.total if is_archive else row.bytes), True),
        TableColumn("cost", costs, True, dropped=1),
        TableColumn("title", lambda row: title_or_preview(row.conversation), is_flexible=True),
        TableColumn("id", "conversation.id"),
    ]


def _print(plan: Plan, totals: Totals, selection: Selection, *, is_archive: bool) -> None:
    print_table(_columns(is_archive=is_archive), plan.selected[:_SHOWN])
    if len(plan.selected) > _SHOWN:
        note(_("… and {count:,} more; --json lists all.", count=len(plan.selected) - _SHOWN))
    words = _(", ").join(filter(None, [_totals_text(totals), dollars(totals.cost_usd)]))
    note(_("{words}. {counted}", words=words, counted=_(COUNTED)))
    if not is_archive:
        for sentence in _effects(plan, totals):
            note(sentence)
    if plan.spared:
        columns: list[TableColumn[Spared]] = [
            TableColumn("spared because", "why.words"),
            TableColumn("title", "conversation.title", dropped=1, is_flexible=True),
            TableColumn("id", "conversation.id"),
        ]
        print_table(columns, plan.spared[:_SHOWN])
        reasons = [spared.why for spared in plan.spared]
        note(_("{count:,} protected: {kinds}", count=len(reasons), kinds=count_reasons(reasons)))
        if "stale" not in selection.states and any(why.code == "open" for why in reasons):
            note(_("include:stale takes open conversations without activity for long, too."))


def _effects(plan: Plan, totals: Totals) -> Iterator[str]:
    """Yield what a delete does beside removing the conversations."""
    if plan.selected:
        yield _(
            "Deleting makes about {free} free for Hermes' next rows at once; the file gets smaller, by about "
            "{size}, only with `hermes sessions optimize` and its VACUUM.",
            free=size(totals.free_bytes),
            size=size(totals.given_back_bytes),
        )
    if subagents := sum(len(planned.subagents) for planned in plan.selected):
        yield ngettext(
            "1 session of a subagent goes along with a delete.",
            "{count:,} sessions of subagents go along with a delete.",
            subagents,
            count=subagents,
        )
    if orphans := len(plan.reparented):
        yield ngettext(
            "1 session loses its parent and stays.",
            "{count:,} sessions lose their parent and stay.",
            orphans,
            count=orphans,
        )
