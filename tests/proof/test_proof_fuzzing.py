"""Fuzzing: decoders, the parser and planner of queries, and the renderer of pages take whatever
they are given."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from counts import Tell, setting
from fuzzed import TARGETS, remove_store
from hypothesis import HealthCheck, given, settings, target

IDEA = "fuzzing"


@pytest.fixture(scope="module", autouse=True)
def _store_to_search_in() -> Iterator[None]:
    """Not left to the end of the process: under load, workers of the test run are killed before
    it."""
    yield
    remove_store()


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_it_is_given(name: str, tell: Tell) -> None:
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
    def once(value: object) -> None:
        tell(f"examples for the {name}")
        target(float(function(value)))

    once()


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_led_by_the_branches_it_reaches(name: str, tmp_path: Path, tell: Tell) -> None:
    """Atheris (pip install atheris) keeps and changes what came to branches of ours that nothing
    else came to."""
    if importlib.util.find_spec("atheris") is None:
        tell.remark("not led by coverage: atheris is not installed")
        pytest.skip("atheris is not installed")
    runs = setting("RUNS", 0, 20_000)
    script = Path(__file__).with_name("fuzz_guided.py")
    env = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(script), name, str(runs)], env=env, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    reached = re.findall(r"cov: (\d+)", said)
    assert f"Done {runs} runs" in said and reached
    tell(f"runs of the {name} led by coverage", runs)
    tell(f"branches of ours reached by the {name}", int(reached[-1]))
