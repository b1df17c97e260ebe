"""Cron jobs: which one a conversation is a run of, and what it is called.

The store has no table of jobs. A run has its job in its id, and since 0.19 a title that begins with the name of the job
(`cron/scheduler.py`). The jobs themselves are in `cron/jobs.json` beside the store, one file for each profile
(`cron/jobs.py`, 0.19).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from .session import Session

# `cron_<job>_20241206_175337`; something may follow that tells apart what began in the same second.
_RUN = re.compile(r"cron_(.+)_\d{8}_\d{6}(?:_.*)?")
# `Morning paper · Nov 22 07:00`, and ` #2` behind it where another run has that title.
_TITLE = re.compile(r"(.+) · \S+ \d\d \d\d:\d\d(?: #\d+)?", re.DOTALL)
_MOST = 4_000_000
"""Bytes of a file of jobs that is looked into."""


def job_of(root: Session) -> str | None:
    """The id of the cron job whose run a conversation is; None for all else.

    Args:
        root: The first session of the conversation.
    """
    match = _RUN.fullmatch(root.id) if root.source == "cron" else None
    return match[1] if match else None


def name_in_title(title: str | None) -> str:
    """The name of the job in the title of a run, as stored; empty where Hermes has not written the title."""
    match = _TITLE.fullmatch(title) if title else None
    return match[1] if match else ""


def read_job_names(home: Path) -> Mapping[str, str]:
    """The names of the jobs of a profile by their ids, as stored; none where the file is missing or damaged.

    Args:
        home: The folder of the store.
    """
    path = home / "cron" / "jobs.json"
    try:
        if path.stat().st_size > _MOST:
            return {}
        found = json.loads(path.read_text("utf-8-sig", "replace"), strict=False)
    except (OSError, ValueError, RecursionError):
        return {}
    jobs = found.get("jobs") if isinstance(found, dict) else found
    named = [each for each in jobs if isinstance(each, dict)] if isinstance(jobs, list) else []
    return {
        each["id"]: each["name"]
        for each in named
        if isinstance(each.get("id"), str) and isinstance(each.get("name"), str) and each["name"].strip()
    }
