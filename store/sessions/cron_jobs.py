"""Of which cron job a conversation is a run, and the names of the jobs.

The store has no table of them: the id of a run contains the id of its job, and since 0.19 its title
begins with the name of the job (`cron/scheduler.py`). Jobs are stored in `cron/jobs.json` beside
the store, one file per profile (`cron/jobs.py`, 0.19).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..files import read_objects
from .models import Session

# `cron_<job>_20241206_175337`; a suffix distinguishes runs that began in the same second, and a
# name after a space says in which of several stores the run is.
_RUN = re.compile(r"cron_(.+)_\d{8}_\d{6}(?:[_ ].*)?")
# `Morning paper · Nov 22 07:00`, followed by ` #2` if another run has that title.
_TITLE = re.compile(r"(.+) · \S+ \d\d \d\d:\d\d(?: #\d+)?", re.DOTALL)


def job_of(root: Session) -> str | None:
    """Return the id of the cron job that a conversation is a run of, by its first session; else
    None."""
    match = _RUN.fullmatch(root.id) if root.source == "cron" else None
    return match[1] if match else None


def name_in_title(title: str | None) -> str:
    """Return the name of the job from the title of a run, as stored; empty if Hermes has not
    written the title."""
    match = _TITLE.fullmatch(title) if title else None
    return match[1] if match else ""


def read_job_names(home: Path) -> Mapping[str, str]:
    """Read the names of the jobs in the folder of a store by id, as stored; none if the file is
    missing or damaged."""
    return {
        each["id"]: each["name"]
        for each in read_objects(home / "cron" / "jobs.json", "jobs")
        if isinstance(each.get("id"), str)
        and isinstance(each.get("name"), str)
        and each["name"].strip()
    }
