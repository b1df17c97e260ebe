"""`prune`: what rules would clean up, and the cleaning up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, pgettext

from .asking import ask, on_a_terminal
from .carrying import carry_out, telling
from .columns import money, note, print_table, short_number, short_time
from .jsonform import Json, conversation_json
from .naming import no_text, spared_name, status_name
from .retention import prune_in_days, read_radar_of
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.connect import Reader
    from hermes_browse.store.prune.plan import Plan, Planned, Spared, Totals
    from hermes_browse.store.prune.radar import Radar
    from hermes_browse.store.prune.rules import Rules
    from hermes_browse.store.sessions.catalog import Catalog

_SHOWN = 50
_DETAILS_AT_ONCE = 200


def _rules(context: Context) -> Rules:
    from hermes_browse.store.prune.rules import STALE_AFTER, Rules

    wanted = context.arguments
    stale = wanted.older_than if wanted.older_than is not None else STALE_AFTER
    return Rules(
        older_than=wanted.older_than,
        sources=frozenset(wanted.source),
        title=wanted.title,
        cwd=wanted.cwd,
        model=wanted.model,
        empty=wanted.empty,
        automation=wanted.automation,
        min_messages=wanted.min_messages,
        max_messages=wanted.max_messages,
        min_size=wanted.min_size,
        max_size=wanted.max_size,
        max_cost=wanted.max_cost,
        stale_open=stale if wanted.stale_open else None,
        include_archived=wanted.include_archived,
    )


def _detailed(reader: Reader, plan: Plan, limit: int | None) -> Plan:
    """The plan with previews and counted messages, in chunks so that no statement is long."""
    from hermes_browse.store.preview import with_details

    shown = plan.would if limit is None else plan.would[:limit]
    found: list[Planned] = []
    for start in range(0, len(shown), _DETAILS_AT_ONCE):
        chunk = shown[start : start + _DETAILS_AT_ONCE]
        detailed = with_details(reader, [each.conversation for each in chunk])
        found += [each._replace(conversation=more) for each, more in zip(chunk, detailed, strict=True)]
    return plan._replace(would=(*found, *plan.would[len(found) :]))


def prune(context: Context) -> int:
    """`prune`: the plan; with --archive or --delete it is carried out after the question."""
    from hermes_browse.store.prune.plan import make_plan, parents_first
    from hermes_browse.store.sessions.catalog import read_catalog

    wanted = context.arguments
    rules = _rules(context)
    act = (wanted.archive or wanted.delete) and not wanted.dry_run
    if rules.nothing:
        note(_("No rule is given, so nothing matches; `hermes-browse prune --help` lists the rules."))
    with context.store.reader() as reader:
        catalog = read_catalog(reader, context.now)
        plan = make_plan(reader, catalog, rules, context.now)
        if wanted.archive:  # what is put away already stays as it is
            plan = plan._replace(would=tuple(each for each in plan.would if not each.conversation.archived))
        plan = _detailed(reader, plan, None if context.json else _SHOWN)
        radar = read_radar_of(context, reader) if context.json else None
    totals = plan.totals(subagents=not wanted.archive)
    asks = act and not wanted.yes and bool(plan.would)
    if asks and (context.json or not on_a_terminal()):
        archive = _("Nothing was changed: it would archive {what}.")
        refusal = archive if wanted.archive else _("Nothing was changed: it would delete {what}.")
        raise RefusedError(refusal.format(what=_words(totals)), remedy=_("Add --yes to do it."))
    if not context.json:
        _print(plan, totals, archive=wanted.archive)
    if asks and wanted.delete:
        count = totals.conversations  # a bulk delete is not confirmed by a key that is pressed by habit
        question = _("Type {count} to delete {count:,} conversations, anything else to leave: ")
        ask(question.format(count=count), str(count))
    bundles: list[Json] = []
    if act and plan.would:
        ordered = plan._replace(would=tuple(parents_first(catalog, plan.would)))
        plan, bundles = _archive(context, ordered) if wanted.archive else _delete(context, ordered, catalog)
    elif not context.json and plan.would:
        note(_("Nothing was changed: this is what --archive would put away, or --delete move to the trash."))
    if context.json:
        print_json(_json(plan, radar, bundles, archive=wanted.archive, done=act))
    return 0


def _archive(context: Context, plan: Plan) -> tuple[Plan, list[Json]]:
    from hermes_browse.store.write.carry import archive_unit

    outcome = carry_out(context.store, plan, archive_unit(context.store, plan))
    note(outcome.sentence(_("archived")))
    return outcome.plan, []


def _delete(context: Context, plan: Plan, catalog: Catalog) -> tuple[Plan, list[Json]]:
    from hermes_browse.store.write.carry import delete_unit

    from ..places import sessions_folder, trash_folder
    from .trashing import bundle_json

    location = context.location
    unit = delete_unit(context.store, catalog, trash_folder(location), sessions_folder(location), tell=telling())
    outcome = carry_out(context.store, plan, unit)
    for done in outcome.results:
        for each in done.notes:
            note(each)
    note(outcome.sentence(_("moved to the trash")))
    return outcome.plan, [bundle_json(done.bundle) for done in outcome.results]


def _words(totals: Totals) -> str:
    words = _("{conversations:,} conversations, {sessions:,} sessions, {messages:,} messages, {size}B")
    return words.format(
        conversations=totals.conversations,
        sessions=totals.sessions,
        messages=totals.messages,
        size=short_number(totals.bytes),
    )


def _planned_json(planned: Planned, radar: Radar | None, *, archive: bool) -> Json:
    conversation = planned.conversation
    return {
        **conversation_json(conversation, prune_in_days(radar, conversation)),
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
            short_time(each.conversation.last_active),
            status_name(each.standing.value),
            each.conversation.source,
            f"{each.own.rows:,}",
            f"{short_number(each.own.total if archive else each.own.total + each.along.total)}B",
            money(each.conversation.cost_usd),
            each.conversation.title or one_line(each.conversation.preview, 80) or no_text(),
            each.conversation.id,
        ]
        for each in plan.would[:_SHOWN]
    ]
    if rows:
        state = pgettext("column", "class")
        headers = [_("last active"), state, _("source"), _("msgs"), _("size"), _("cost"), _("title"), _("id")]
        print_table(headers, rows, right=(3, 4, 5), flexible=6, optional=(5, 2, 3, 0))
    if len(plan.would) > _SHOWN:
        note(_("… and {count:,} more; --json lists all.").format(count=len(plan.would) - _SHOWN))
    sums = _("{words}, {cost}. {counted}")
    note(sums.format(words=_words(totals), cost=money(totals.cost_usd), counted=plan.counted))
    if not archive:
        along = sum(len(each.subagents) for each in plan.would)
        if along:
            note(_("{count:,} sessions of subagents go along with a delete.").format(count=along))
        if plan.reparented:
            lost = _("{count:,} sessions lose the parent they hang on, and stay.")
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
        parts = [each_code.format(count=count, reason=spared_name(code)) for code, count in counts.most_common()]
        said = _("{count:,} spared: {parts}")
        note(said.format(count=len(plan.spared), parts=pgettext("list", ", ").join(parts)))
