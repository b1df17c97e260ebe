"""The plan of a clean-up: what would go, with its bytes and cost; what stays, and why; what goes along.

A plan has whole conversations only. As in a delete of one conversation, subagents go with their parents, and branches
stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, MutableMapping
from typing import NamedTuple

from ..connection.connect import Reader
from ..messages.transcript import count_rows
from ..sessions.catalog import Catalog
from ..sessions.models import Chain, Conversation
from ..sessions.rows import read_busy
from ..sessions.session import Session
from ..text import as_text
from ..wording import _
from .protection import Families, Protection, Standing, Why, idle_seconds, reparented, standing
from .rules import Rules, age_words
from .sizes import COUNTED, Sizes, Stopped, added, check, count_messages, measure, never

_CHUNK = 400
_PIECE = 20_000
"""Messages that `measure_more` measures: some thirty milliseconds, for which a rule typed meanwhile can wait."""


class Planned(NamedTuple):
    """A conversation that would go."""

    conversation: Conversation
    """Its `size` is what it would free, with its subagents; None until all of them are measured."""
    standing: Standing
    subagents: tuple[Session, ...]
    """Sessions that a delete takes along; an archive leaves them alone."""
    own: Sizes
    """Sizes of its segments; only their rows until they are measured. `own.shown` is its number of messages."""
    along: Sizes
    """Sizes of the subagents, likewise."""

    @property
    def is_measured(self) -> bool:
        """True once its bytes are known."""
        return self.conversation.size is not None

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Its segments and subagents."""
        return (*self.conversation.segments, *self.subagents)

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The ids of `sessions`."""
        return tuple(session.id for session in self.sessions)

    def measured(self, sizes: Mapping[str, Sizes]) -> Planned:
        """Fill in the sizes; unchanged while one of them is missing.

        Args:
            sizes: By session id.
        """
        if not all(session.id in sizes for session in self.sessions):
            return self
        own = added(sizes[segment.id] for segment in self.conversation.segments)
        along = added(sizes[segment.id] for segment in self.subagents)
        return self._replace(
            conversation=self.conversation._replace(size=own.total + along.total), own=own, along=along
        )

    @property
    def cost_usd(self) -> float:
        """The cost of its segments and subagents; an unknown cost counts as none."""
        return (self.conversation.cost_usd or 0.0) + sum(s.cost_usd or 0.0 for s in self.subagents)


class Spared(NamedTuple):
    """A conversation that matches the rules and stays nevertheless."""

    conversation: Conversation
    why: Why


class Totals(NamedTuple):
    """A plan in numbers."""

    conversations: int
    sessions: int
    messages: int
    """Rows of `messages`, shown or not."""
    bytes: int
    """Bytes of what is measured."""
    cost_usd: float
    messages_shown: int
    """The chat messages among them that are shown by default; of what is measured."""


class Plan(NamedTuple):
    """What a clean-up would do."""

    would: tuple[Planned, ...]
    """Longest idle first."""
    spared: tuple[Spared, ...]
    reparented: tuple[Session, ...]
    """Sessions that stay and lose their parent in a delete."""

    @property
    def counted(self) -> str:
        """A sentence about what the bytes are."""
        return _(COUNTED)

    @property
    def is_measured(self) -> bool:
        """True once the bytes of all that would go are known."""
        return all(each.is_measured for each in self.would)

    def unmeasured(self) -> list[Session]:
        """List the sessions whose bytes the plan lacks, in its order."""
        return [session for each in self.would if not each.is_measured for session in each.sessions]

    def measured(self, sizes: Mapping[str, Sizes]) -> Plan:
        """Fill in the sizes that are known by now; all else stays the same, the order too.

        Args:
            sizes: By session id.
        """
        return self._replace(would=tuple(each if each.is_measured else each.measured(sizes) for each in self.would))

    def narrowed(self, catalog: Catalog, left_out: Container[str]) -> Plan:
        """Leave out some conversations, unmarked by hand.

        Args:
            catalog: The one the plan was made from.
            left_out: Ids of the root segments of conversations that stay after all.
        """
        would = tuple(each for each in self.would if each.conversation.root_id not in left_out)
        if len(would) == len(self.would):
            return self
        return self._replace(would=would, reparented=_reparented(catalog, would))

    def totals(self, *, subagents: bool = True) -> Totals:
        """Add up what would go.

        Args:
            subagents: False for an archive, which leaves subagents alone.
        """
        sizes = added(each.own for each in self.would)
        sessions = sum(len(each.conversation.segments) for each in self.would)
        cost = sum(each.conversation.cost_usd or 0.0 for each in self.would)
        if subagents:
            sizes = added([sizes, *(each.along for each in self.would)])
            sessions += sum(len(each.subagents) for each in self.would)
            cost = sum(each.cost_usd for each in self.would)
        return Totals(len(self.would), sessions, sizes.rows, sizes.total, cost, sizes.shown)


def _candidates(catalog: Catalog, rules: Rules, now: float, stopped: Stopped) -> list[tuple[Chain, Conversation]]:
    """Conversations that may match, by their sessions' own rows; subagents only if a rule names their source or id."""
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
    """Fill in how many chat messages each conversation has."""
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
    """Plan a clean-up; nothing is written, and nothing is held between statements.

    Measuring is most of the work. A screen leaves it out at first and then calls `measure_more` for a piece at a time.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        rules: Which conversations are meant.
        now: Unix seconds.
        known: Sizes by session id, added to, so that the next plan costs next to nothing. A session that has more or
            fewer rows by now is measured again.
        measure_sizes: False leaves unknown sizes open, unless a rule on bytes needs them.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: `stopped` said so.
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
    families, protection = Families(forest), Protection(forest, read_busy(reader, now), now)
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
    for _conversation, along in list(goes.values()):  # what goes along has no entry of its own
        for below in along:
            goes.pop(below.root.id, None)
    going = [s for each, along in goes.values() for s in (*each.segments, *(s for c in along for s in c.segments))]
    if sizes or not measure_sizes:
        _count(reader, going, sizes, counts, stopped)
    if measure_sizes:
        measure(reader, going, known=sizes, stopped=stopped)
    planned = (_planned(each, along, sizes, counts, now) for each, along in goes.values())
    would = sorted(planned, key=lambda each: _age(each.conversation))
    spared.sort(key=lambda each: _age(each.conversation))
    return Plan(tuple(would), tuple(spared), _reparented(catalog, would))


def measure_more(
    reader: Reader, plan: Plan, known: MutableMapping[str, Sizes], *, most: int = _PIECE, stopped: Stopped = never
) -> Plan:
    """Measure a piece of a plan, longest idle first; call it until `Plan.is_measured`.

    Each call measures at least one session, and `known` keeps what was measured.

    Args:
        reader: An open reader, another one for each call: the store is not held in between.
        plan: A plan made without measuring, or the answer of the last call.
        known: The sizes that `make_plan` was given, by session id; added to.
        most: Stop after so many messages.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: `stopped` said so; `known` has what was measured until then.
    """
    measure(reader, plan.unmeasured(), known=known, most=most, stopped=stopped)
    return plan.measured(known)


def _reparented(catalog: Catalog, would: Iterable[Planned]) -> tuple[Session, ...]:
    deleted = dict.fromkeys(session_id for each in would for session_id in each.session_ids)
    return tuple(reparented(catalog.forest, deleted))  # in the order of the plan, not that of a set


def parents_first(catalog: Catalog, would: Iterable[Planned]) -> list[Planned]:
    """Sort parents before their children, so that what the catalog says of those still to come stays true.

    Args:
        catalog: The one the plan was made from.
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
    """Say why a planned conversation must not be touched any more; None if it has not changed.

    Carrying out a plan of thousands takes minutes, in which a chat can be resumed.

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
    """Count the rows of sessions, and forget the sizes of those that had another number of rows when measured."""
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
    return Planned(conversation._replace(size=None), standing(conversation, now, 0.0), subagents, rows, below).measured(
        sizes
    )


def _age(conversation: Conversation) -> tuple[float, str]:
    return (conversation.last_active if conversation.last_active is not None else float("-inf"), conversation.id)
