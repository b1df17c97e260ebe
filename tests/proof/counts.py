"""What the proofs counted: one line for each idea, in the order things were first counted."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

IS_LONG = os.environ.get("HERMES_BROWSE_PROOF") == "long"
"""Whether `make proof` runs: the long parts too."""

SESSIONS = 120
"""Of the store that most proofs are about."""


def setting(name: str, fast: int, long: int) -> int:
    """How much of something a proof does.

    Args:
        name: Ends the name of the environment variable that sets it for the long part
            (`HERMES_BROWSE_PROOF_OPENS`).
        fast: As much as in `make check`.
        long: As much as in `make proof`, unless told otherwise.
    """
    return int(os.environ.get(f"HERMES_BROWSE_PROOF_{name}", long)) if IS_LONG else fast


class Counts:
    """Counts and remarks of all proofs of a run, by idea."""

    def __init__(self) -> None:
        self.counted: dict[str, dict[str, int]] = defaultdict(dict)
        self.remarks: dict[str, list[str]] = defaultdict(list)

    def write(self, path: Path) -> None:
        """Write them down as JSON, beside what other runs have written there."""
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for idea in {**self.counted, **self.remarks}:  # some ideas have remarks alone
            known[idea] = {"counts": self.counted[idea], "remarks": self.remarks[idea]}
        path.write_text(json.dumps(known), encoding="utf-8")


class Tell:
    """Counts for one idea."""

    def __init__(self, counts: Counts, idea: str) -> None:
        self._counts, self._idea = counts, idea

    def __call__(self, what: str, number: int = 1) -> None:
        """Add to a count.

        Args:
            what: In the plural, as it is printed behind the number ("opens").
            number: How many more; 0 makes the count appear.
        """
        counted = self._counts.counted[self._idea]
        counted[what] = counted.get(what, 0) + number

    def most(self, what: str, number: int) -> None:
        """Keep the larger number."""
        counted = self._counts.counted[self._idea]
        counted[what] = max(counted.get(what, 0), number)

    def remark(self, text: str) -> None:
        """A figure that is no count, or what could not be shown here and why."""
        if text not in self._counts.remarks[self._idea]:
            self._counts.remarks[self._idea].append(text)
