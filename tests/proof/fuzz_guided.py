"""Fuzzing led by coverage: Atheris drives one of the targets, and ends with an error where it does
not hold.

    python fuzz_guided.py TARGET RUNS

LibFuzzer says on standard error how many branches of ours were reached (`cov:`) and how often it
ran (`Done`). It ends the process itself, after the runs that were asked for or at the first
failure.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

_TESTS = Path(__file__).parent.parent
sys.path.extend(str(_TESTS / name) for name in ("helpers", "proof"))

with atheris.instrument_imports(include=["hermes_browse.store", "hermes_browse.tui"]):
    from fuzzed import TARGETS

from hypothesis import HealthCheck, given, settings  # noqa: E402  (not instrumented)


def main() -> None:
    """Run."""
    name, runs = sys.argv[1], int(sys.argv[2])
    function, drawn = TARGETS[name]

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(drawn)
    def once(value: object) -> None:
        function(value)

    feed = once.hypothesis.fuzz_one_input  # type: ignore[attr-defined]  # Hypothesis puts it there

    def one(data: bytes) -> None:
        feed(data)

    seeds = Path(tempfile.mkdtemp(prefix="hermes-browse-seeds-"))
    for number in range(
        32
    ):  # from nothing it would begin with bytes that are too few to draw anything of
        (seeds / str(number)).write_bytes(random.Random(number).randbytes(2048))
    options = [
        f"-runs={runs}",
        "-seed=1",
        "-max_len=4096",
        "-len_control=0",
        "-timeout=60",
        "-rss_limit_mb=0",
    ]
    atheris.Setup([sys.argv[0], *options, str(seeds)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
