"""`prune`: print what a query would clean up, and carry it out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TypeVar

from hermes_browse.store.ages import parse_when
from hermes_browse.store.amounts import parse_bytes, parse_count, parse_money
from hermes_browse.store.cleanup import bulk
from hermes_browse.store.cleanup.bulk import Outcome, Step
from hermes_browse.store.cleanup.plan import Plan, Planned, Spared, Totals, make_plan
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.cleanup.sizes import COUNTED
from hermes_browse.store.cleanup.space_map import read_file_space
from hermes_browse.store.cleanup.spared import count_reasons
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.edit import flags
from hermes_browse.store.errors import QueryInterruptedError, RefusedError
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.trash.progress import never
from hermes_browse.store.wording import _, ngettext

from ..formats import counted, dollars, own_and_tree, size, status, timestamp
from ..store_paths import sessions_folder, trash_folder
from .command_context import CommandContext, Subcommand, ask, telling
from .output import bundle_json, conversation_json, note, print_json, print_table, title_or_preview
from .parser import name_arg, text_arg
from .prune_line import line_of

Result = TypeVar("Result", int, float, str)
Done = TypeVar("Done")

_SHOWN = 50


def _arg_type(parse: Callable[[str], Result]) -> Callable[[str], Result]:
    """Wrap a parser for argparse, which reports its errors with the name of the option."""

    def convert(value: str) -> Result:
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


class PruneCommand(Subcommand):
    """Clean up by a query; without `--archive` or `--delete` only the plan is printed."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        query_help = _(
            "filters of the search, such as 'older:90d source:cron'; all options below are spellings of some"
        )
        parser.add_argument("query", metavar="FILTER", nargs="*", type=text_arg, help=query_help)
        add = parser.add_argument_group(_("filters")).add_argument
        age_help = _("idle for so long: 30min 5h 3d 2w 6mo 1y, or since 2026-03-05 (by activity)")
        add("--older-than", metavar="AGE", type=_arg_type(_age_or_date), help=age_help)
        source_help = _("of this source; repeatable")
        add(
            "--source", metavar="S", type=_filled_arg, action="append", default=[], help=source_help
        )
        add("--title", metavar="T", type=_filled_arg, help=_("its title contains this"))
        add(
            "--cwd",
            metavar="DIR",
            type=_filled_arg,
            help=_("its working directory is this or below it"),
        )
        add("--model", metavar="M", type=_filled_arg, help=_("the name of its model contains this"))
        add("--empty", action="store_true", help=_("without a message"))
        add("--automation", action="store_true", help=_("cron jobs, webhooks and the like"))
        add("--min-messages", metavar="N", type=_arg_type(parse_count))
        add("--max-messages", metavar="N", type=_arg_type(parse_count))
        size_help = _("search index included: 10M, 1.5G")
        add("--min-size", metavar="BYTES", type=_arg_type(parse_bytes), help=size_help)
        add("--max-size", metavar="BYTES", type=_arg_type(parse_bytes))
        cost_help = _("with all subagents; an unknown cost does not count as low")
        add("--max-cost", metavar="USD", type=_arg_type(parse_money), help=cost_help)
        stale_help = _(
            "also open ones that have been idle for that long (7 days without --older-than)"
        )
        add("--stale-open", action="store_true", help=stale_help)
        add("--include-archived", action="store_true", help=_("also archived ones"))
        actions = parser.add_argument_group(_("what to do")).add_mutually_exclusive_group()
        actions.add_argument("--archive", action="store_true", help=_("archive what is chosen"))
        actions.add_argument("--delete", action="store_true", help=_("move it to the trash"))
        parser.add_argument("--dry-run", action="store_true", help=_("change nothing, only report"))
        parser.add_argument("--yes", action="store_true", help=_("do not ask"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for a part of the query that is no filter of a clean-up."""
        return next(
            (problem.text for problem in parse_line(line_of(arguments), time.time()).problems), ""
        )

    def run(self, context: CommandContext) -> int:
        arguments = context.arguments
        selection = Selection(parse_line(line_of(arguments), context.now))
        act = (arguments.archive or arguments.delete) and not arguments.dry_run
        if selection.nothing:
            note(
                _(
                    "No filter is given, so nothing is chosen; `hermes-browse prune --help` lists them."
                )
            )
        with context.store.reader() as reader:
            catalog = read_catalog(reader, context.now)
            plan = make_plan(reader, catalog, selection, context.now)
            if arguments.archive:  # an archived conversation stays as it is
                plan = plan.without_archived()
            plan = plan.with_details(
                partial(with_details, reader), None if context.json else _SHOWN
            )
            rules = context.retention_rules(reader) if context.json else None
        totals = plan.totals(is_archive=arguments.archive)
        asks = act and not arguments.yes and bool(plan.selected)
        if asks and not context.can_ask:
            archive = _("Nothing was changed: it would archive {what}.")
            refusal = (
                archive if arguments.archive else _("Nothing was changed: it would delete {what}.")
            )
            raise RefusedError(
                refusal.format(what=_totals_text(totals)), remedy=_("Add --yes to do it.")
            )
        if not context.json:
            _print(plan, totals, archive=arguments.archive, with_stale="stale" in selection.states)
        if asks and arguments.delete:
            number = totals.conversations  # unlike "y", not typed by habit
            question = _("Type {count} to delete {conversations}, anything else to leave: ")
            ask(
                question.format(count=number, conversations=counted(number, "conversation")),
                str(number),
            )
        bundles: list[Json] = []
        freed: int | None = None
        if act and plan.selected:
            if arguments.archive:
                plan, bundles = _archive(context, plan)
            else:
                before = _free_bytes(context.store)
                plan, bundles = _delete(context, plan, catalog)
                freed = _free_bytes(context.store) - before
                if not context.json:
                    measured = _("Measured: {size} more are free for new rows.")
                    note(measured.format(size=size(max(0, freed))))
        elif not context.json and plan.selected:
            note(
                _(
                    "Nothing was changed: --archive would archive these, --delete would move them to the trash."
                )
            )
        if context.json:
            print_json(
                _json(plan, rules, bundles, archive=arguments.archive, done=act, freed=freed)
            )
        return 0


def carry_out(
    plan: Plan, work: Callable[..., Outcome[Done]], stop: Callable[[], bool] = never
) -> Outcome[Done]:
    """Carry out a plan; report progress on a terminal, and how many were done if it stops early.

    Raises:
        BrowseError: A portion failed; the number done has been reported.
        QueryInterruptedError: It was stopped; likewise.
        KeyboardInterrupt: Likewise.
    """
    done, report = 0, telling()

    def tell(step: Step) -> None:
        nonlocal done
        done = step.done
        report(step)

    try:
        outcome = work(tell=tell, stop=stop)
    except KeyboardInterrupt:
        _note_stopped(done, len(plan.selected))
        raise
    if outcome.error is not None:
        _note_stopped(done, len(plan.selected), outcome.doubtful)
        raise outcome.error
    if outcome.left:  # only if it was stopped
        _note_stopped(done, len(plan.selected))
        raise QueryInterruptedError(_("The query was interrupted."))
    return outcome


def _note_stopped(done: int, total: int, doubtful: int = 0) -> None:
    if doubtful:
        sentence = _(
            "Stopped after {done:,} of {total:,} conversations. What follows is about {doubtful:,} more; the others "
            "are as they were."
        )
    else:
        sentence = _(
            "Stopped after {done:,} of {total:,} conversations; the others are as they were."
        )
    note(sentence.format(done=done, total=total, doubtful=doubtful))


def _archive(context: CommandContext, plan: Plan) -> tuple[Plan, list[Json]]:
    outcome = bulk.archive_planned(plan, partial(flags.archive, context.store))
    note(outcome.sentence(_("archived")))
    return outcome.plan, []


def _delete(context: CommandContext, plan: Plan, catalog: Catalog) -> tuple[Plan, list[Json]]:
    trash, files = trash_folder(context.location), sessions_folder(context.location)
    work = partial(bulk.delete_planned, context.store, plan, catalog, trash, files)
    outcome = carry_out(plan, work, context.stop)
    for done in outcome.results:
        for sentence in done.notes:
            note(sentence)
    note(outcome.sentence(_("moved to the trash")))
    return outcome.plan, [bundle_json(done.bundle) for done in outcome.results]


def _free_bytes(store: Store) -> int:
    with store.reader() as reader:
        return read_file_space(reader, 0).free_bytes


def _totals_text(totals: Totals) -> str:
    return _(", ").join(
        [
            counted(totals.conversations, "conversation"),
            counted(totals.sessions, "session"),
            counted(totals.messages_shown, "message"),
            size(totals.bytes),
        ]
    )


def _planned_json(planned: Planned, rules: RetentionRules | None, *, archive: bool) -> Json:
    conversation = planned.conversation
    return {
        **conversation_json(conversation, rules),
        "bytes": planned.own.total if archive else conversation.size,
        "standing": planned.standing.value,
        "takes_along": [] if archive else [session.id for session in planned.subagents],
    }


def _spared_json(spared: Spared) -> Json:
    conversation, why = spared
    names = {"id": conversation.id, "root_id": conversation.root_id, "title": conversation.title}
    return {**names, "code": why.code, "reason": why.words}


def _json(
    plan: Plan,
    rules: RetentionRules | None,
    bundles: list[Json],
    *,
    archive: bool,
    done: bool,
    freed: int | None,
) -> Json:
    return {
        "plan": plan.totals(is_archive=archive)._asdict(),
        "would": [_planned_json(each, rules, archive=archive) for each in plan.selected],
        "spared": [_spared_json(each) for each in plan.spared],
        "reparented": [] if archive else [session.id for session in plan.reparented],
        "counted": _(COUNTED),
        "done": done,
        "measured_free_bytes": freed,
        "bundles": bundles,
    }


def _costs(planned: Planned, *, archive: bool) -> str:
    """Subagents stay in an archive."""
    own = planned.conversation.cost_usd
    return dollars(own) if archive else own_and_tree(own, planned.cost_usd, dollars)


def _print(plan: Plan, totals: Totals, *, archive: bool, with_stale: bool) -> None:
    rows = [
        [
            timestamp(each.conversation.last_active),
            status(each.standing),
            each.conversation.source,
            f"{each.own.shown:,}",
            size(each.own.total if archive else each.bytes),
            _costs(each, archive=archive),
            title_or_preview(each.conversation),
            each.conversation.id,
        ]
        for each in plan.selected[:_SHOWN]
    ]
    headers = [
        _("last active"),
        _("status"),
        _("source"),
        _("msgs"),
        _("size"),
        _("cost"),
        _("title"),
        _("id"),
    ]
    print_table(headers, rows, right=(3, 4, 5), flexible=6, optional=(5, 2, 3, 0))
    if len(plan.selected) > _SHOWN:
        note(_("… and {count:,} more; --json lists all.").format(count=len(plan.selected) - _SHOWN))
    words = _(", ").join(filter(None, [_totals_text(totals), dollars(totals.cost_usd)]))
    note(_("{words}. {counted}").format(words=words, counted=_(COUNTED)))
    if not archive:
        if plan.selected:
            frees = _(
                "Deleting makes about {free} free for Hermes' next rows at once; the file gets smaller, by about "
                "{size}, only with `hermes sessions optimize` and its VACUUM."
            )
            note(frees.format(free=size(totals.free_bytes), size=size(totals.given_back_bytes)))
        subagents = sum(len(each.subagents) for each in plan.selected)
        if subagents:
            words = ngettext(
                "1 session of a subagent goes along with a delete.",
                "{count:,} sessions of subagents go along with a delete.",
                subagents,
            )
            note(words.format(count=subagents))
        if plan.reparented:
            words = ngettext(
                "1 session loses its parent and stays.",
                "{count:,} sessions lose their parent and stay.",
                len(plan.reparented),
            )
            note(words.format(count=len(plan.reparented)))
    if plan.spared:
        print_table(
            [_("spared because"), _("title"), _("id")],
            [
                [each.why.words, each.conversation.title or "", each.conversation.id]
                for each in plan.spared[:_SHOWN]
            ],
            flexible=1,
            optional=(1,),
        )
        summary = _("{count:,} protected: {kinds}")
        note(
            summary.format(
                count=len(plan.spared), kinds=count_reasons(each.why for each in plan.spared)
            )
        )
        if not with_stale and any(each.why.code == "open" for each in plan.spared):
            note(_("include:stale takes open conversations without activity for long, too."))
