"""The plan of a clean-up: what would go, with its bytes and cost; what is spared, and why; what goes along.

Whole conversations only. Subagents go with their parents as in a delete of one; branches stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, MutableMapping

from ..connect import Reader
from ..sessions.catalog import Catalog
from ..sessions.models import Chain, Conversation
from ..sessions.session import Session
from ..text import as_text
from ..transcript import count_rows
from ..wording import _
from .planned import Plan, Planned, Spared, Totals
from .rules import Rules, Standing, age_words, idle_seconds, standing
from .sizes import Sizes, Stopped, check, count_messages, measure, never
from .spare import Families, Protection, Why, read_protection, reparented

__all__ = ["Plan", "Planned", "Spared", "Totals", "changed_since", "make_plan", "parents_first"]

_CHUNK = 400


def _candidates(catalog: Catalog, rules: Rules, now: float, stopped: Stopped) -> list[tuple[Chain, Conversation]]:
    """What the rules may mean, by the sessions' own rows alone; subagents only where they are asked for by name."""
    found: list[tuple[Chain, Conversation]] = []
    for count, chain in enumerate(catalog.forest.chains()):
        if count % 1000 == 0:
            check(stopped)
        asked = chain.root.source in rules.sources or any(segment.id in rules.marks for segment in chain.segments)
        if catalog.forest.is_attached_subagent(chain) and not asked:
            continue
        conversation = catalog.of_chain(chain)
        if rules.could_match(conversation, now):
            found.append((chain, conversation))
    return found


def _counted(
    reader: Reader, found: list[tuple[Chain, Conversation]], stopped: Stopped
) -> list[tuple[Chain, Conversation]]:
    """The same with their chat messages counted."""
    ids = [segment.id for _, conversation in found for segment in conversation.segments]
    counts: dict[str, int] = {}
    for start in range(0, len(ids), _CHUNK):
        check(stopped)
        counts.update(count_rows(reader, ids[start : start + _CHUNK]))
    return [(chain, each._replace(rows=sum(counts.get(s.id, 0) for s in each.segments))) for chain, each in found]


def _why_spared(
    chain: Chain, conversation: Conversation, along: Iterable[Chain], rules: Rules, protection: Protection, now: float
) -> Why | None:
    why = protection.why(chain, conversation.status)
    if why is not None:
        return why
    if rules.unmarked(conversation):
        return Why("unmarked", _("unmarked"))
    if not rules.marked(conversation):
        if conversation.hidden:
            return Why("hidden", _("hidden by Hermes, which keeps such a chat for itself"))
        if standing(conversation, now) is not Standing.ENDED:
            idle = idle_seconds(conversation, now)
            words = _("still open") if idle is None else _("still open, idle for {age}").format(age=age_words(idle))
            if rules.stale_open is None:
                asked = _("{words}: taken only when stale open ones are asked for")
                return Why("open", asked.format(words=words))
            if idle is None or idle < rules.stale_open:
                stale = _("{words}: stale after {age}")
                return Why("open", stale.format(words=words, age=age_words(rules.stale_open)))
    for below in along:
        why = protection.why(below)
        if why is not None:
            stays = _("its subagent {session} stays: {reason}")
            return Why("subagent", stays.format(session=below.root.id, reason=why.words))
    return None


def make_plan(
    reader: Reader,
    catalog: Catalog,
    rules: Rules,
    now: float,
    *,
    known: MutableMapping[str, Sizes] | None = None,
    measure_sizes: bool = True,
    stopped: Stopped = never,
) -> Plan:
    """What a clean-up by these rules would do; nothing is written, and nothing is held between statements.

    To measure is most of the work. A screen leaves it out at first, and then measures a piece at a time: see
    `measure_more`.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        rules: What is meant.
        now: Unix seconds.
        known: Sizes measured before, by session id; added to, so that the next plan costs next to nothing. Those of
            sessions that have more or fewer rows by now are measured again.
        measure_sizes: False leaves sizes that are not known open. A rule on bytes needs them all the same.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    if rules.nothing:
        return Plan((), (), ())
    sizes = known if known is not None else {}
    counts: dict[str, int] = {}
    found = _candidates(catalog, rules, now, stopped)
    if rules.needs_rows:
        found = _counted(reader, found, stopped)
    if rules.needs_size:
        meant = [segment for _, each in found for segment in each.segments]
        if sizes:
            _count(reader, meant, sizes, counts, stopped)
        measure(reader, meant, known=sizes, stopped=stopped)
        found = [(chain, each._replace(size=_total(sizes, each.segments))) for chain, each in found]
    forest = catalog.forest
    families, protection = Families(forest), read_protection(reader, forest, now)
    goes: dict[str, tuple[Conversation, list[Chain]]] = {}
    spared: list[Spared] = []
    for count, (chain, conversation) in enumerate(found):
        if count % 100 == 0:
            check(stopped)
        if not rules.matches(conversation, conversation.size, now):
            continue
        along = families.along(chain)
        why = _why_spared(chain, conversation, along, rules, protection, now)
        if why is None:
            goes[chain.root.id] = (conversation, along)
        else:
            spared.append(Spared(conversation, why))
    for _conversation, along in list(goes.values()):  # what goes along is no entry of its own
        for below in along:
            goes.pop(below.root.id, None)
    going = [s for each, along in goes.values() for s in (*each.segments, *(s for c in along for s in c.segments))]
    if sizes or not measure_sizes:
        _count(reader, going, sizes, counts, stopped)
    if measure_sizes:
        measure(reader, going, known=sizes, stopped=stopped)
    would = sorted((_planned(each, along, sizes, counts, now) for each, along in goes.values()), key=_oldest)
    deleted = frozenset(session_id for each in would for session_id in each.session_ids)
    spared.sort(key=lambda each: _age(each.conversation))
    return Plan(tuple(would), tuple(spared), tuple(reparented(forest, deleted)))


def narrowed(plan: Plan, catalog: Catalog, left_out: Container[str]) -> Plan:
    """The plan without some of its conversations, unmarked by hand.

    Args:
        plan: Any.
        catalog: The plan was made from.
        left_out: Roots of conversations that stay after all.
    """
    would = tuple(each for each in plan.would if each.conversation.root_id not in left_out)
    if len(would) == len(plan.would):
        return plan
    deleted = frozenset(session_id for each in would for session_id in each.session_ids)
    return plan._replace(would=would, reparented=tuple(reparented(catalog.forest, deleted)))


def parents_first(catalog: Catalog, would: Iterable[Planned]) -> list[Planned]:
    """The same, those first that others hang on: what a catalog says of the others then stays true.

    Args:
        catalog: The plan was made from.
        would: Part of a plan.
    """
    forest = catalog.forest
    depths: dict[str, int] = {}

    def depth(chain: Chain) -> int:
        path: list[Chain] = []
        above: Chain | None = chain
        while above is not None and above.root.id not in depths:
            depths[above.root.id] = 0  # a ring ends here
            path.append(above)
            above = forest.parent_chain(above)
        base = depths[above.root.id] + 1 if above is not None else 0
        for place, each in enumerate(reversed(path)):
            depths[each.root.id] = base + place
        return depths[chain.root.id]

    return sorted(would, key=lambda each: depth(forest.chain_of(each.conversation.root_id)))


def changed_since(reader: Reader, planned: Planned) -> str | None:
    """Why a planned conversation must not be touched any more, in words; None while it is as it was.

    Carrying out a plan of thousands takes minutes, in which a chat can be taken up again.

    Args:
        reader: An open reader.
        planned: Part of a plan made before.
    """
    ids = list(planned.session_ids)
    rows = reader.rows_in("SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY 1", ids)
    if sum(int(str(row[1])) for row in rows) != planned.own.rows + planned.along.rows:
        return _("written to since the plan was made")
    ended = reader.schema.session("ended_at")
    found = reader.rows_in(f"SELECT s.id, {ended} IS NULL FROM sessions s WHERE s.id IN ({{keys}})", ids)
    if len(found) != len(ids):
        return _("changed since the plan was made: sessions are gone")
    opened = {
        segment.id for segment in (*planned.conversation.segments, *planned.subagents) if segment.ended_at is None
    }
    if any(is_open and as_text(key) not in opened for key, is_open in found):
        return _("resumed since the plan was made")
    return None


def _count(
    reader: Reader,
    sessions: Iterable[Session],
    sizes: MutableMapping[str, Sizes],
    counts: MutableMapping[str, int],
    stopped: Stopped,
) -> None:
    """Count the rows of sessions, and forget the sizes of those that had another number of them when measured."""
    ids = [session.id for session in sessions if session.id not in counts]
    counts.update(dict.fromkeys(ids, 0) | count_messages(reader, ids, stopped))
    for each in ids:
        if each in sizes and sizes[each].rows != counts[each]:
            del sizes[each]


def _total(sizes: Mapping[str, Sizes], segments: Iterable[Session]) -> int:
    return sum(sizes[segment.id].total for segment in segments)


def _planned(
    conversation: Conversation, along: list[Chain], sizes: Mapping[str, Sizes], counts: Mapping[str, int], now: float
) -> Planned:
    subagents = tuple(segment for chain in along for segment in chain.segments)
    rows = Sizes(rows=sum(counts.get(segment.id, 0) for segment in conversation.segments))
    below = Sizes(rows=sum(counts.get(segment.id, 0) for segment in subagents))
    open_size = conversation._replace(size=None)
    return Planned(open_size, standing(conversation, now, 0.0), subagents, rows, below).measured(sizes)


def _age(conversation: Conversation) -> tuple[float, str]:
    return (conversation.last_active if conversation.last_active is not None else float("-inf"), conversation.id)


def _oldest(planned: Planned) -> tuple[float, str]:
    return _age(planned.conversation)
