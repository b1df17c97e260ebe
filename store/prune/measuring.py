"""The sizes of a plan, measured a piece at a time: what goes stands on a screen long before all of it is measured."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from ..connect import Reader
from ..sessions.session import Session
from .plan import Plan
from .sizes import Sizes, Stopped, measure, never

_MOST = 20_000
"""Messages of a piece: some thirty milliseconds, which a rule that is typed meanwhile can wait for."""


def unmeasured(plan: Plan) -> list[Session]:
    """The sessions whose sizes a plan waits for, in its order.

    Args:
        plan: Made without measuring.
    """
    return [session for each in plan.would if not each.is_measured for session in each.sessions]


def measured(plan: Plan, sizes: Mapping[str, Sizes]) -> Plan:
    """The plan with the sizes that are known by now; nothing else in it changes, its order neither.

    Args:
        plan: Any.
        sizes: By session id.
    """
    return plan._replace(would=tuple(each if each.is_measured else each.measured(sizes) for each in plan.would))


def measure_more(
    reader: Reader, plan: Plan, known: MutableMapping[str, Sizes], *, most: int = _MOST, stopped: Stopped = never
) -> Plan:
    """Measure a piece of a plan, longest idle first; call it until `Plan.is_measured`.

    Every call measures some, so that it comes to its end; what it has measured is kept when the next is never made.

    Args:
        reader: An open reader; another for each call, as the store is let go of in between.
        plan: Made without measuring, or what the last call gave.
        known: Sizes measured before, by session id, the same that `make_plan` was given; added to.
        most: Leave off after so many messages.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled; `known` has what was measured until then.
    """
    measure(reader, unmeasured(plan), known=known, most=most, stopped=stopped)
    return measured(plan, known)
