"""Chains as they are kept: once by their root, and the other segments beside."""

from __future__ import annotations

from hermes_browse.store.models import Session
from hermes_browse.store.sessions.conversations import Forest


def chained(length: int, name: str) -> list[Session]:
    """A compression chain of so many segments, the newest activity in the middle."""
    return [
        Session(
            f"{name}{at}",
            "cli",
            f"{name}{at - 1}" if at else None,
            title=f"{name} {at}" if at < 2 else None,
            started_at=at * 10.0,
            ended_at=at * 10.0 + 9 if at < length - 1 else None,
            end_reason="compression" if at < length - 1 else None,
            last_active=100.0 if at == 1 else at * 10.0,
        )
        for at in range(length)
    ]


def test_every_session_has_its_chain_and_roots_are_kept_once() -> None:
    sessions = [*chained(4, "long"), *chained(1, "one"), *chained(2, "two")]
    forest = Forest(sessions)
    assert list(forest.chains) == ["long0", "one0", "two0"]
    assert set(forest.chain_of) == {each.id for each in sessions}
    assert len(forest.chain_of) == len(sessions)
    assert set(forest._chain_of.later) == {"long1", "long2", "long3", "two1"}
    for each in sessions:
        assert each.id in forest.chain_of
        assert each in forest.chain_of[each.id].segments
    assert "nobody" not in forest.chain_of
    assert forest.chain_of.get("nobody") is None


def test_a_chain_knows_its_ends_its_title_and_its_newest_activity() -> None:
    sessions = chained(4, "long")
    chain = Forest(reversed(sessions)).chains["long0"]
    assert chain.segments == tuple(sessions)
    assert (chain.root, chain.tip) == (sessions[0], sessions[-1])
    assert chain.title == "long 1"
    assert chain.last_active == 100.0


def test_an_older_forest_keeps_what_a_newer_one_gives_up() -> None:
    sessions = chained(3, "long")
    before = Forest(sessions)
    after = before.updated([sessions[0]._replace(end_reason="done"), sessions[1], sessions[2]])
    assert set(before._chain_of.later) == {"long1", "long2"}
    assert set(after._chain_of.later) == {"long2"}
    assert after.chain_of["long1"].root is sessions[1]
