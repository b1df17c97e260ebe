"""Run every proof, long parts too, and print what was counted.

    make proof ARGS="--minutes 5 --opens 400 --only harmless"

The lines also go to docs/proof.txt; a part that is not run keeps its line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent
PARTS = {
    path.stem.removeprefix("test_proof_"): path for path in sorted(_HERE.glob("test_proof_*.py"))
}

_NUMBERS = (
    ("minutes", 5, "browse so long beside writers, per mode"),
    ("opens", 400, "open and leave the browser so often"),
    ("rounds", 10, "walk so often beside Hermes' clean-ups"),
)
_SETTINGS = {"endurance": ("minutes",), "harmless": ("minutes", "rounds"), "opens": ("opens",)}
"""By part: the options that say how much is done."""


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Prove what docs/safety.md says, and print the counts."
    )
    for name, default, text in _NUMBERS:
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=text)
    parser.add_argument(
        "--store", metavar="FILE", help="browse without end on a copy of this store"
    )
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="prove only this")
    parser.add_argument(
        "--output", type=Path, default=_HERE.parent.parent / "docs" / "proof.txt", metavar="FILE"
    )
    return parser.parse_args(argv)


def line(idea: str, told: dict[str, object], command: str) -> str:
    """What an idea is told as: its counts, its remarks, and how to count again."""
    counts, remarks = told["counts"], told["remarks"]
    assert isinstance(counts, dict) and isinstance(remarks, list)
    parts = [", ".join(f"{number:,} {what}" for what, number in counts.items()), *map(str, remarks)]
    return f"{idea}: {'; '.join(part for part in parts if part)} ({command})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print.

    Returns:
        0 when everything held.
    """
    given = _arguments(argv)
    settings = {name: getattr(given, name) for name, _default, _text in _NUMBERS}
    found: dict[str, str] = {}
    failed = False
    for name in given.only or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "counts.json"
            env = {
                **os.environ,
                "HERMES_BROWSE_PROOF": "long",
                "HERMES_BROWSE_PROOF_REPORT": str(report),
                "HERMES_BROWSE_PROOF_STORE": given.store or "",
            }
            for setting, value in settings.items():
                env[f"HERMES_BROWSE_PROOF_{setting.upper()}"] = str(value)
            code = subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "no:xdist", "-m", "", str(PARTS[name])],
                env=env,
            ).returncode
            words = [f"--only {name}"]
            words += [f"--{setting} {settings[setting]}" for setting in _SETTINGS.get(name, ())]
            if given.store and name == "endurance":
                words.append("--store FILE")
            if code:
                failed = True
                print(f"{name}: does not hold", file=sys.stderr)
                continue  # figures of what does not hold are none
            for idea, told in json.loads(report.read_text(encoding="utf-8")).items():
                found[idea] = line(idea, told, f'make proof ARGS="{" ".join(words)}"')
    lines: dict[str, str] = {}
    if given.output.exists():  # read only now: another run may have told of other parts meanwhile
        lines = {
            text.partition(":")[0]: text
            for text in given.output.read_text(encoding="utf-8").splitlines()
        }
    text = "\n".join({**lines, **found}.values()) + "\n"
    given.output.write_text(text, encoding="utf-8")
    print(text, end="")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
