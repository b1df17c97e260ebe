"""Measure the browser and print one table of ratios; run as `make bench`.

    python tests/bench/run.py [--store FILE] [--small-store FILE] [--large SESSIONS MESSAGES]
    [--rounds N] [--keep DIR]
                               [--prune N] [--prune-store FILE] [--only PART]

All that is compared is timed in turns within one run, for times of different runs do not compare.
The exit code is 0 whatever the figures are: this informs, it does not judge.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Bench, Figure, table

sys.path.insert(0, str(Path(__file__).parent.parent / "helpers"))

SMALL = (300, 10_000)
LARGE = (3000, 60_000)
PARTS = ("screen", "writer", "prune", "store", "delete")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure hermes-browse and print a table of ratios."
    )
    parser.add_argument(
        "--store", type=Path, metavar="FILE", help="take this as the large store; only read"
    )
    parser.add_argument(
        "--small-store", type=Path, metavar="FILE", help="take this as the small store; only read"
    )
    parser.add_argument(
        "--large", type=int, nargs=2, default=LARGE, metavar=("SESSIONS", "MESSAGES")
    )
    parser.add_argument(
        "--rounds", type=int, default=7, metavar="N", help="how often each thing is timed"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the stores that are built there"
    )
    parser.add_argument(
        "--prune", type=int, default=400, metavar="N", help="delete so many conversations of a copy"
    )
    parser.add_argument(
        "--prune-store", type=Path, metavar="FILE", help="of a copy of this store; it is only read"
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part")
    return parser.parse_args(argv)


def _store(folder: Path, sessions: int, messages: int) -> Path:
    """A store of this size, built unless the folder has it already."""
    from builders import big_store

    path = folder / f"bench-{sessions}-{messages}.db"
    if not path.exists():
        print(f"building a store of {sessions:,} sessions, {messages:,} messages", file=sys.stderr)
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        big_store(unfinished, sessions, messages)
        unfinished.rename(path)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        0.
    """
    given = _arguments(argv)
    begun = time.monotonic()
    busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before"
    with tempfile.TemporaryDirectory(prefix="hermes-browse-bench-") as temporary:
        folder = Path(temporary)
        kept = given.keep or folder
        kept.mkdir(parents=True, exist_ok=True)
        small = given.small_store or _store(kept, *SMALL)
        large = given.store or _store(kept, *given.large)
        bench = Bench(
            small.resolve(), large.resolve(), given.store is None, max(given.rounds, 1), folder, max(given.prune, 1),
            given.prune_store,
        )  # fmt: skip
        lines: list[Figure] = []
        for name in given.only or PARTS:
            measure = importlib.import_module(f"measures_{name}").measure
            print(f"measuring the {name}", file=sys.stderr)
            try:
                lines += measure(bench)
            except (RuntimeError, OSError) as error:
                print(f"the {name} could not be measured: {error}", file=sys.stderr)
    lines.sort(key=lambda line: int(line.number))
    short = [line for line in lines if line.falls_short]
    print(f"small store: {small}\nlarge store: {large}")
    print(f"{given.rounds} rounds in {time.monotonic() - begun:.0f} s; {busy}\n")
    print(table(lines))
    print(f"\n{len(short)} of {len(lines)} figures fall short.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
