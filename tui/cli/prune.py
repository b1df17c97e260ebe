"""`prune`: what rules would clean up, and the cleaning up."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeVar

from hermes_browse.store.cleanup import bulk
from hermes_browse.store.cleanup.bulk import Outcome, Step, Unit
from hermes_browse.store.cleanup.plan import Plan, Planned, Spared, Totals, make_plan, parents_first
from hermes_browse.store.cleanup.protection import STALE_AFTER
from hermes_browse.store.cleanup.retention import Radar
from hermes_browse.store.cleanup.rules import Rules, parse_age, parse_bytes, parse_money
from hermes_browse.store.connection.connect import Reader, Store
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.wording import _, pgettext

from ..formats import dollars, long_number, status, timestamp
from ..store_paths import sessions_folder, trash_folder
from .context import Command, Context, ask, telling
from .output import Json, bundle_json, conversation_json, note, print_json, print_table, title_or_preview
from .parser import count, named, text

Result = TypeVar("Result", int, float)
Done = TypeVar("Done")

_SHOWN = 50
_DETAILS_AT_ONCE = 200


def _reads(parse: Callable[[str], Result]) -> Callable[[str], Result]:
    """A reader of an argument, whose mistakes argparse reports with the option's name."""

    def read(given: str) -> Result:
        try:
            return parse(given)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def _words(given: str) -> str:
    return text(named(given))


def _folder(given: str) -> str:
    return text(os.path.abspath(os.path.expanduser(named(given))))


class PruneCommand(Command):
    """Clean up by rules; without `--archive` or `--delete` only the plan is printed."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        rules = parser.add_argument_group(_("rules"))
        rules.add_argument(
            "--older-than",
            metavar="AGE",
            type=_reads(parse_age),
            help=_("idle for so long: 90d, 12h, 1w 2d (by activity)"),
        )
        rules.add_argument(
            "--source", metavar="S", type=_words, action="append", default=[], help=_("of this source; repeatable")
        )
        rules.add_argument("--title", metavar="T", type=_words, help=_("its title contains this"))
        rules.add_argument("--cwd", metavar="DIR", type=_folder, help=_("its working directory is this or below it"))
        rules.add_argument("--model", metavar="M", type=_words, help=_("the name of its model contains this"))
        rules.add_argument("--empty", action="store_true", help=_("without a message"))
        rules.add_argument("--automation", action="store_true", help=_("cron jobs, webhooks and the like"))
        rules.add_argument("--min-messages", metavar="N", type=count)
        rules.add_argument("--max-messages", metavar="N", type=count)
        rules.add_argument(
            "--min-size", metavar="BYTES", type=_reads(parse_bytes), help=_("search index included: 10M, 1.5G")
        )
        rules.add_argument("--max-size", metavar="BYTES", type=_reads(parse_bytes))
        rules.add_argument("--max-cost", metavar="USD", type=_reads(parse_money))
        rules.add_argument(
            "--stale-open",
            action="store_true",
            help=_("also open ones that have been idle for that long (7 days without --older-than)"),
        )
        rules.add_argument("--include-archived", action="store_true", help=_("also archived ones"))
        actions = parser.add_argument_group(_("what to do")).add_mutually_exclusive_group()
        actions.add_argument("--archive", action="store_true", help=_("archive what matches the rules"))
        actions.add_argument("--delete", action="store_true", help=_("move it to the trash"))
        parser.add_argument("--dry-run", action="store_true", help=_("change nothing, only report"))
        parser.add_argument("--yes", action="store_true", help=_("do not ask"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Limits that no conversation can be within."""
        for name in ("messages", "size"):
            least, most = getattr(arguments, f"min_{name}"), getattr(arguments, f"max_{name}")
            if least is not None and most is not None and least > most:
                told = _("--min-{name} {least:,} is above --max-{name} {most:,}")
                return told.format(name=name, least=least, most=most)
        return ""

    def run(self, context: Context) -> int:
        wanted = context.arguments
        rules = _rules(wanted)
        act = (wanted.archive or wanted.delete) and not wanted.dry_run
        if rules.nothing:
            note(_("No rule is given, so nothing matches; `hermes-browse prune --help` lists the rules."))
        with context.store.reader() as reader:
            catalog = read_catalog(reader, context.now)
            plan = make_plan(reader, catalog, rules, context.now)
            if wanted.archive:  # an archived conversation stays as it is
                plan = plan._replace(would=tuple(each for each in plan.would if not each.conversation.archived))
            plan = _detailed(reader, plan, None if context.json else _SHOWN)
            radar = context.radar(reader) if context.json else None
        totals = plan.totals(subagents=not wanted.archive)
        asks = act and not wanted.yes and bool(plan.would)
        if asks and not context.can_ask:
            archive = _("Nothing was changed: it would archive {what}.")
            refusal = archive if wanted.archive else _("Nothing was changed: it would delete {what}.")
            raise RefusedError(refusal.format(what=_sums(totals)), remedy=_("Add --yes to do it."))
        if not context.json:
            _print(plan, totals, archive=wanted.archive)
        if asks and wanted.delete:
            number = totals.conversations  # nobody types this by habit, as one types a "y"
            question = _("Type {count} to delete {count:,} conversations, anything else to leave: ")
            ask(question.format(count=number), str(number))
        bundles: list[Json] = []
        if act and plan.would:
            ordered = plan._replace(would=tuple(parents_first(catalog, plan.would)))
            plan, bundles = _archive(context, ordered) if wanted.archive else _delete(context, ordered, catalog)
        elif not context.json and plan.would:
            note(_("Nothing was changed: --archive would archive these, --delete would move them to the trash."))
        if context.json:
            print_json(_json(plan, radar, bundles, archive=wanted.archive, done=act))
        return 0


def _rules(wanted: SimpleNamespace) -> Rules:
    """The rules that the arguments ask for. An argument has the name of its rule, `source` and `stale_open` apart."""
    given = {name: value for name, value in vars(wanted).items() if name in Rules.__dataclass_fields__}
    stale = wanted.older_than if wanted.older_than is not None else STALE_AFTER
    given |= {"sources": frozenset(wanted.source), "stale_open": stale if wanted.stale_open else None}
    return Rules(**given)


def _detailed(reader: Reader, plan: Plan, limit: int | None) -> Plan:
    """The plan with previews and counted messages, in chunks so that no statement is long."""
    shown = plan.would if limit is None else plan.would[:limit]
    found: list[Planned] = []
    for start in range(0, len(shown), _DETAILS_AT_ONCE):
        chunk = shown[start : start + _DETAILS_AT_ONCE]
        detailed = with_details(reader, [each.conversation for each in chunk])
        found += [each._replace(conversation=more) for each, more in zip(chunk, detailed, strict=True)]
    return plan._replace(would=(*found, *plan.would[len(found) :]))


def carry_out(store: Store, plan: Plan, unit: Unit[Done]) -> Outcome[Done]:
    """Carry out a plan: note how far it is on a terminal, and what was done when it is broken off.

    Args:
        store: The store of the plan.
        plan: What is to be done.
        unit: Does it for a few conversations.

    Raises:
        BrowseError: From a unit; how many were done has been said.
        KeyboardInterrupt: Likewise.
    """
    done, say = 0, telling()

    def tell(step: Step) -> None:
        nonlocal done
        done = step.done
        say(step)

    try:
        outcome = bulk.carry_out(store, plan, unit, tell=tell)
    except KeyboardInterrupt:
        _say_stopped(done, len(plan.would))
        raise
    if outcome.error is not None:
        _say_stopped(done, len(plan.would), outcome.doubtful)
        raise outcome.error
    return outcome


def _say_stopped(done: int, total: int, doubtful: int = 0) -> None:
    if doubtful:
        stopped = _(
            "Stopped after {done:,} of {total:,} conversations. What follows is about {doubtful:,} more; the others "
            "are as they were."
        )
    else:
        stopped = _("Stopped after {done:,} of {total:,} conversations; the others are as they were.")
    note(stopped.format(done=done, total=total, doubtful=doubtful))


def _archive(context: Context, plan: Plan) -> tuple[Plan, list[Json]]:
    outcome = carry_out(context.store, plan, bulk.archive_unit(context.store, plan))
    note(outcome.sentence(_("archived")))
    return outcome.plan, []


def _delete(context: Context, plan: Plan, catalog: Catalog) -> tuple[Plan, list[Json]]:
    trash, files = trash_folder(context.location), sessions_folder(context.location)
    unit = bulk.delete_unit(context.store, catalog, trash, files, tell=telling())
    outcome = carry_out(context.store, plan, unit)
    for done in outcome.results:
        for each in done.notes:
            note(each)
    note(outcome.sentence(_("moved to the trash")))
    return outcome.plan, [bundle_json(done.bundle) for done in outcome.results]


def _sums(totals: Totals) -> str:
    words = _("{conversations:,} conversations, {sessions:,} sessions, {messages:,} messages, {size}B")
    return words.format(
        conversations=totals.conversations,
        sessions=totals.sessions,
        messages=totals.messages_shown,
        size=long_number(totals.bytes),
    )


def _planned_json(planned: Planned, radar: Radar | None, *, archive: bool) -> Json:
    conversation = planned.conversation
    return {
        **conversation_json(conversation, radar),
        "bytes": planned.own.total if archive else conversation.size,
        "standing": planned.standing.value,
        "takes_along": [] if archive else [session.id for session in planned.subagents],
    }


def _spared_json(spared: Spared) -> Json:
    conversation = spared.conversation
    return {
        "id": conversation.id,
        "root_id": conversation.root_id,
        "title": conversation.title,
        "code": spared.why.code,
        "reason": spared.why.words,
    }


def _json(plan: Plan, radar: Radar | None, bundles: list[Json], *, archive: bool, done: bool) -> Json:
    return {
        "plan": plan.totals(subagents=not archive)._asdict(),
        "would": [_planned_json(each, radar, archive=archive) for each in plan.would],
        "spared": [_spared_json(each) for each in plan.spared],
        "reparented": [] if archive else [session.id for session in plan.reparented],
        "counted": plan.counted,
        "done": done,
        "bundles": bundles,
    }


def _print(plan: Plan, totals: Totals, *, archive: bool) -> None:
    rows = [
        [
            timestamp(each.conversation.last_active),
            status(each.standing),
            each.conversation.source,
            f"{each.own.shown:,}",
            f"{long_number(each.own.total if archive else each.own.total + each.along.total)}B",
            dollars(each.conversation.cost_usd),
            title_or_preview(each.conversation),
            each.conversation.id,
        ]
        for each in plan.would[:_SHOWN]
    ]
    state = pgettext("column", "class")
    headers = [_("last active"), state, _("source"), _("msgs"), _("size"), _("cost"), _("title"), _("id")]
    print_table(headers, rows, right=(3, 4, 5), flexible=6, optional=(5, 2, 3, 0))
    if len(plan.would) > _SHOWN:
        note(_("… and {count:,} more; --json lists all.").format(count=len(plan.would) - _SHOWN))
    sums = _("{words}, {cost}. {counted}")
    note(sums.format(words=_sums(totals), cost=dollars(totals.cost_usd), counted=plan.counted))
    if not archive:
        along = sum(len(each.subagents) for each in plan.would)
        if along:
            note(_("{count:,} sessions of subagents go along with a delete.").format(count=along))
        if plan.reparented:
            lost = _("{count:,} sessions lose their parent and stay.")
            note(lost.format(count=len(plan.reparented)))
        if plan.would:
            note(_("The space is free for Hermes' next rows at once; the file gets smaller only with a VACUUM."))
    if plan.spared:
        print_table(
            [_("spared because"), _("title"), _("id")],
            [[each.why.words, each.conversation.title or "", each.conversation.id] for each in plan.spared[:_SHOWN]],
            flexible=1,
            optional=(1,),
        )
        counts = Counter(each.why.code for each in plan.spared)
        each_code = _("{count:,} {reason}")
        parts = [each_code.format(count=count, reason=_spared_name(code)) for code, count in counts.most_common()]
        said = _("{count:,} spared: {parts}")
        note(said.format(count=len(plan.spared), parts=pgettext("list", ", ").join(parts)))


def _spared_name(code: str) -> str:
    """Why something is spared, in a word.

    Args:
        code: Of `cleanup.protection.Why`.
    """
    names = {
        "hidden": pgettext("spared", "hidden"),
        "leased": pgettext("spared", "leased"),
        "live": pgettext("spared", "live"),
        "open": pgettext("spared", "open"),
        "pinned": pgettext("spared", "pinned"),
        "recent": pgettext("spared", "recent"),
        "subagent": pgettext("spared", "subagent"),
        "unmarked": pgettext("spared", "unmarked"),
    }
    return names.get(code, code)
