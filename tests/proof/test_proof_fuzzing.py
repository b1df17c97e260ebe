"""Fuzzing: decoders, the parser and planner of queries, and the renderer of pages take whatever
they are given."""

import pytest
from counts import setting
from fuzzed import TARGETS, remove_store
from hypothesis import HealthCheck, given, settings, target

IDEA = "fuzzing"


@pytest.fixture(scope="module", autouse=True)
def _store_to_search_in():
    """Not left to the end of the process: under load, workers of the test run are killed before
    it."""
    yield
    remove_store()


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_it_is_given(name, tell):
    """A fixed number of examples, the same ones each time; Hypothesis looks for those with more in
    them."""
    function, drawn = TARGETS[name]

    @settings(
        max_examples=setting("EXAMPLES", 25, 20_000),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn)
    def once(value):
        tell(f"examples for the {name}")
        target(float(function(value)))

    once()
