"""How much work the tests do: a little in `make test`, all of it in `make check`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, settings

IS_FULL = os.environ.get("HERMES_BROWSE_TESTS") == "full"
"""Whether `make check` runs its second half: what is marked `slow`, and all examples of the
property tests."""


def examples(full: int) -> int:
    """How many examples a property test draws.

    Args:
        full: In `make check`; `make test` draws a tenth, ten at least.
    """
    return full if IS_FULL else min(max(full // 10, 10), full)


def load_profile() -> None:
    """Set what holds for all property tests.

    The same examples are drawn each time, so that no run fails by luck; `make proof` draws new
    ones. A deadline would be a timed assertion.
    """
    settings.register_profile(
        "hermes-browse",
        max_examples=examples(100),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("hermes-browse")


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[ParameterSet]:
    """Parameters of a test of which only some run in `make test`.

    Args:
        quick: Those that do.
        values: All of them.
    """
    return [pytest.param(each, marks=() if each in quick else pytest.mark.slow) for each in values]
