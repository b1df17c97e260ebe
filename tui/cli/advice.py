"""What the command line says to an error that one of its options or commands helps against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_browse.store.errors import Advice, BrowseError
from hermes_browse.store.wording import N_, _

if TYPE_CHECKING:
    from hermes_browse.store.hermes.health import StoreProblem

_ADVICE: Mapping[Advice, str] = {
    Advice.OPEN_ANOTHER: N_(
        "Start Hermes once, name another with --home, --profile or --db, or look around with --demo."
    ),
    Advice.START_CHAT: N_("Start a chat in Hermes, or try --demo."),
    Advice.NAME_FILE_OR_ROOT: N_("Name a Hermes root with --home, a file with --db."),
    Advice.NAME_STORE: N_("Name a Hermes state.db with --db, or its folder with --home."),
    Advice.OPEN_COPY: N_(
        "If it lies on a network drive, copy it to a local disk and name the copy with --db."
    ),
    Advice.OPEN_ORIGIN: N_("Name that one with --home, --profile or --db."),
    Advice.LIST_OR_SEARCH: N_(
        "`hermes-browse list` shows ids and titles, `hermes-browse search` finds words."
    ),
    Advice.NAME_OTHER_OR_REPLACE: N_("Name another file, or say --force to replace it."),
    Advice.PLAN_CLEAN_UP: N_(
        "`hermes-browse prune --dry-run` tells what could go, and frees nothing yet."
    ),
    Advice.REPLACE: N_("Say --force to replace it."),
}


def remedy_of(problem: BrowseError | StoreProblem) -> str:
    """Return what to do about a problem on a command line; may be empty."""
    return _(_ADVICE[problem.advice]) if problem.advice in _ADVICE else problem.remedy


def with_advice(error: BrowseError) -> str:
    """Return the sentence of an error, and what to do about it on a command line."""
    return f"{error.sentence} {remedy_of(error)}".rstrip()
