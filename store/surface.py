"""Where Hermes shows a conversation that is resumed: its classic prompt or its own full screen."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from .resume import ResumePlan

SURFACES = ("cli", "tui")
"""What `hermes` is asked for with `--cli` and `--tui` (0.19; without either it goes by its own configuration)."""
ANY = "any"
"""Stands for sources that are not named."""
_PATIENCE = 20.0
"""Seconds; a Python that has never run before loads slowly."""


@lru_cache(maxsize=4)
def options_of(executable: str) -> frozenset[str]:
    """The long options that a `hermes` says it takes; none where it does not answer.

    Args:
        executable: Full path. It is run with `--help`, once while the browser runs.
    """
    try:
        said = subprocess.run(
            [executable, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    # At the beginning of a line: elsewhere an option may be spoken of that is another program's.
    found = re.findall(r"^ +(?:-\w[^-\n]*, )?(--[a-z][a-z-]*)", said.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return frozenset(found)


def on_surface(plan: ResumePlan, surfaces: Mapping[str, str]) -> ResumePlan:
    """The plan with the surface that is wanted for the source of its conversation.

    A `hermes` that does not know the option would refuse to start, so it is asked first; what is not known is left out.

    Args:
        plan: What would be run.
        surfaces: Source to `cli` or `tui`; `any` for the others.
    """
    wanted = surfaces.get(plan.conversation.source, surfaces.get(ANY))
    if wanted not in SURFACES or plan.executable is None:
        return plan
    option = f"--{wanted}"
    if option in plan.argv or option not in options_of(plan.executable):
        return plan
    return replace(plan, argv=(*plan.argv[:-1], option, plan.argv[-1]))
