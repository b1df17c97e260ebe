"""What is known of changed files, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hermes_browse.store.changes.changes import Changes, FileChange
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .formats import counted

_DISK = {
    "same": N_("still the same on disk"),
    "changed": N_("changed since"),
    "gone": N_("gone from the disk"),
}


def summary(changes: Changes) -> str:
    """Count the files, and the edits that failed."""
    facts = [counted(len(changes.files), "file")]
    if changes.failed:
        facts.append(
            ngettext(
                "{count:,} edit failed",
                "{count:,} edits failed",
                changes.failed,
                count=changes.failed,
            )
        )
    return " · ".join(facts)


def notes(change: FileChange) -> Iterator[str]:
    """Yield what is not known of a change, and what became of the file since."""
    if not change.is_known_before:
        yield _("what stood there before is not known")
    elif not change.is_exact:
        yield _("not all is known")
    if change.disk is not None:
        yield _(_DISK[change.disk])


def author(session_id: str, own: Collection[str]) -> str:
    """Name who did something: the conversation of the sessions `own`, or a subagent by its id."""
    return _("itself") if session_id in own else f"…{one_line(session_id[-6:])}"
