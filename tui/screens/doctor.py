"""The screen of `doctor`: problems with their remedies, and below them the facts."""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial

from textual.app import ComposeResult
from textual.getters import query_one

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.wording import N_, _

from ..settings.keys.screen_commands import DOCTOR
from ..text.checkup import Checkup, examine, facts
from ..text.formats import counted, fit
from ..text.styled import Line, line_text
from ..widgets.lines import LinesView
from .sub_screen import SubScreen

_MARKS = {
    "error": (N_("✗ error"), "error bold"),
    "warning": (N_("! warning"), "keyword bold"),
    "info": (N_("· note"), "dim"),
}
_INDENT = 15


def report(checkup: Checkup) -> list[Line]:
    """Return the problems and facts as lines."""
    lines = []
    for problem in checkup.problems:
        mark, look = _MARKS[problem.severity]
        lines.append([(fit(_(mark), _INDENT), look), (problem.text, "text")])
        if problem.remedy:
            lines.append([(" " * _INDENT, "text"), (f"→ {problem.remedy}", "dim")])
    if not checkup.problems:
        lines.append([(_("✓ everything is as it should be"), "text")])
    known = [[(fit(name, _INDENT), "dim"), (text, "text")] for name, text in facts(checkup)]
    return [*lines, [], *known]


class DoctorScreen(SubScreen):
    """Runs the checks on a thread, and shows the report."""

    TITLE = N_("doctor")
    KEYS = DOCTOR

    report = query_one(LinesView)
    checkup: Checkup | None = None
    """The last one; None while the checks are running."""

    def content(self) -> ComposeResult:
        yield LinesView([], has_labels=True, id="report")

    def on_mount(self) -> None:
        self.set_focus(self.report)
        self.action_again()

    def action_again(self) -> None:
        """Run the checks."""
        self.checkup = None
        self.show_title(_("looking …"))
        self.start("checkup", self._check)

    async def _check(self) -> None:
        # `sys.stdout` is Textual's here; the checks need the terminal.
        job = partial(examine, self.main.store, self.main.location, sys.__stdout__)
        try:
            self.checkup = checkup = await self.call(job)
        except BrowseError as error:
            self.show_title(error.sentence)
            return
        kinds = Counter(problem.severity for problem in checkup.problems)  # the worst are first
        counts = (counted(kinds[kind], "note" if kind == "info" else kind) for kind in kinds)
        self.show_title(" · ".join(counts) or _("nothing is wrong"))
        self.report.show(report(checkup))

    def action_copy(self) -> None:
        if self.checkup is not None:
            text = "\n".join(map(line_text, report(self.checkup)))
            self.main.copy(text, _("the report"))
