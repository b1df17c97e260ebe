"""In which order conversations are listed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from .chain import FAR_PAST, Chain
from .models import Session, Sort


class Asked(NamedTuple):
    """The order that is asked for."""

    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    """The other way round."""
    sources: Collection[str] = ()
    """Only these (of the root segment); empty means any."""
    sizes: Mapping[str, int] = {}
    """Bytes by session id, for `Sort.SIZE`."""

    @property
    def falls(self) -> bool:
        """Whether keys of `sort_key` fall: newest, most or biggest first, titles A to Z."""
        return self.reverse is (self.sort is Sort.TITLE)


def in_order(chains: Iterable[Chain], asked: Asked) -> list[Chain]:
    """Those of the chains that are asked for, in the order that is."""
    wanted = frozenset(asked.sources)
    found = [chain for chain in chains if not wanted or chain.root.source in wanted]
    found.sort(key=lambda chain: (chain.last_active, chain.tip.id), reverse=True)
    if asked.sort is not Sort.ACTIVITY:
        found.sort(key=sort_key(asked), reverse=asked.falls)
    elif asked.reverse:
        found.reverse()
    return found


def title_key(title: str | None) -> str:
    """What titles are ordered by: those without one are last."""
    return f"0{title.casefold()}" if title else "1"


def sort_key(asked: Asked) -> Callable[[Chain], float | str]:
    """What conversations are ordered by, among those of one key by their last activity."""

    def summed(read: Callable[[Session], float]) -> Callable[[Chain], float]:
        return lambda chain: sum(map(read, chain.segments))

    def started(chain: Chain) -> float:
        return chain.root.started_at if chain.root.started_at is not None else FAR_PAST

    def cost(chain: Chain) -> float:
        known = [paid for segment in chain.segments if (paid := segment.cost_usd) is not None]
        return sum(known) if known else FAR_PAST

    keys: dict[Sort, Callable[[Chain], float | str]] = {
        Sort.ACTIVITY: lambda chain: chain.last_active,
        Sort.STARTED: started,
        Sort.MESSAGES: summed(lambda segment: segment.message_count),
        Sort.TOKENS: summed(lambda segment: segment.tokens.total),
        Sort.COST: cost,
        Sort.SIZE: summed(lambda segment: asked.sizes.get(segment.id, 0)),
        Sort.TITLE: lambda chain: title_key(chain.title),
    }
    return keys[asked.sort]


def names_of(chains: Iterable[Chain]) -> tuple[list[str], Iterator[str]]:
    """Root ids, newest activity first, and of each the titles and ids of all segments as one text."""
    found = sorted(chains, key=lambda chain: chain.last_active, reverse=True)
    names = (" ".join(f"{segment.title or ''} {segment.id}" for segment in chain.segments) for chain in found)
    return [chain.root.id for chain in found], names
