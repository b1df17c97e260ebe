"""Which cron job a session is a run of, by the id Hermes gives its runs."""

from __future__ import annotations

import re

from .models import Session

# `cron_<job>_20241206_175337`; something may follow that tells apart what began in the same second.
_RUN = re.compile(r"cron_(.+)_\d{8}_\d{6}(?:_.*)?")


def job_of(root: Session) -> str | None:
    """The cron job whose run a conversation is; None for all else.

    Args:
        root: The first session of the conversation.
    """
    if root.source != "cron":
        return None
    return job_of_run(root.id)


def job_of_run(session_id: str) -> str | None:
    """The cron job a session is a run of, when it is one of `cron`."""
    match = _RUN.fullmatch(session_id)
    return match[1] if match else None
