"""Runs of cron jobs as Hermes records them beside the store, with or without a session.

`cron/executions.db` has the last thousand attempts (0.19); before that, `cron/jobs.json` has the
outcome of the last run of each job. Both are read as they are.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.failures import SQLITE_ERRORS, opened
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_time
from ..files import FileTooLargeError, read_objects, read_regular
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation
from ..sessions.relations import job_of
from ..text import text_of

_EXECUTIONS = """
    SELECT job_id, COALESCE(started_at, claimed_at), finished_at, error,
        status IN ('claimed', 'running')
    FROM executions WHERE status IN ('claimed', 'running', 'failed', 'unknown')
    ORDER BY claimed_at DESC LIMIT 1000
"""
"""The newest runs in Hermes' ledger that failed or are running."""
_PLAIN = re.compile(r"(?!\.)[A-Za-z0-9_.-]+")
"""A job whose id can be the name of a folder."""
_MOST_BYTES = 1_000_000
_NEAR = 60.0
"""Seconds between the end of a run and that of its output or its session, at most."""


def read_job_names(home: Path) -> Mapping[str, str]:
    """Read the names of the jobs in the folder of a store by id, as stored; none if the file is
    missing or damaged (`cron/jobs.py`, 0.19)."""
    return {
        text_of(each.get("id")): text_of(each["name"])
        for each in read_objects(home / "cron" / "jobs.json", "jobs")
        if text_of(each.get("name")).strip()
    }


class CronRun(NamedTuple):
    """An attempt to run a job."""

    job: str
    """Its id."""
    name: str
    began_at: float | None
    """None if only its end is known."""
    at: float | None
    """When it ended, or began."""
    error: str
    is_running: bool

    def is_of(self, conversation: Conversation) -> bool:
        """Whether a conversation of its job is that of this run: it began within it, which may be
        minutes after the run where a script comes first; or it ended with it."""
        started = conversation.root.started_at or FAR_PAST
        if self.began_at is None:
            return abs((conversation.last_active or started) - (self.at or FAR_PAST)) < _NEAR
        end = math.inf if self.is_running or self.at is None else self.at
        return self.began_at <= started <= end

    def has_failed_since(self, time: float) -> bool:
        """Whether it failed at a time, in Unix seconds, or later."""
        return not self.is_running and (self.at or FAR_PAST) >= time


Runs = Sequence[tuple[CronRun, Conversation | None]]
"""Runs with their conversations; a script has none."""


def read_cron_runs(home: Path) -> Iterator[CronRun]:
    """Yield the runs that failed or are running, of a folder with a store."""
    names, path = read_job_names(home), home / "cron" / "executions.db"
    rows: Iterable[Row] = _last_runs(home)
    with contextlib.suppress(OSError, *SQLITE_ERRORS):  # what is left of it is told by the jobs
        if path.is_file():
            with contextlib.closing(opened(path, "ro", 1.0)) as connection:
                rows = connection.execute(_EXECUTIONS).fetchall()
    for job, began, ended, error, is_running in rows:
        id, start, end = text_of(job), as_time(began), as_time(ended)
        at = start if end is None else end
        yield CronRun(id, names.get(id, id), start, at, text_of(error), bool(is_running))


def _last_runs(home: Path) -> Iterator[Row]:
    """Yield the runs that failed as `_EXECUTIONS` has them."""
    for job in read_objects(home / "cron" / "jobs.json", "jobs"):
        error = text_of(job.get("last_error")) or text_of(job.get("last_delivery_error"))
        if job.get("last_status") == "error" or error:
            yield job.get("id"), None, job.get("last_run_at"), error, False


def read_output(reader: Reader, job: str, at: float) -> str | None:
    """Read what Hermes kept of the output of a run (`cron/output/<job>/<time>.md`).

    Args:
        reader: Of the store beside it.
        job: The id of the job.
        at: When the run ended, in Unix seconds.

    Returns:
        The text; None if nothing is kept, or cannot be read.
    """
    if not _PLAIN.fullmatch(job):
        return None
    folder = reader.path.parent / "cron" / "output" / job
    try:
        near = {abs(path.stat().st_mtime - at): path for path in folder.glob("*.md")}
        distance = min(near, default=_NEAR)
        if distance >= _NEAR:
            return None
        return read_regular(near[distance], _MOST_BYTES).decode("utf-8", "replace")
    except FileTooLargeError as error:
        return str(error.strerror)
    except OSError:  # Hermes removes the oldest ones
        return None


def with_sessions(runs: Iterable[CronRun], catalog: Catalog) -> Runs:
    """Return runs with their conversations."""
    by_job: dict[str | None, list[Conversation]] = {}
    for each in catalog.conversations():
        if each.source == "cron":
            by_job.setdefault(job_of(each.root), []).append(each)
    return [(run, next(filter(run.is_of, by_job.get(run.job, ())), None)) for run in runs]
