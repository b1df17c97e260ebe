"""The screen of `doctor`: problems with their remedies, and below them the facts."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

from textual.app import ComposeResult

from hermes_browse.store.wording import N_, _

from ..commands.screen_commands import DOCTOR
from ..formats import counted, fit
from ..logfile import log_failure
from ..screens.main import MainScreen
from ..screens.sub_screen import SubScreen
from ..shared.keys import KeyLine
from ..shared.lines import LinesView, TextLine
from ..shared.styled import Line, line_text
from .checkup import Checkup, examine, facts

_MARKS = {
    "error": (N_("✗ error"), "error"),
    "warning": (N_("! warning"), "keyword"),
    "info": (N_("· note"), "dim"),
}
_INDENT = 15


def report(checkup: Checkup) -> list[Line]:
    """Return the problems and facts as lines."""
    lines: list[Line] = []
    for each in checkup.problems:
        mark, look = _MARKS[each.severity]
        lines.append(
            [
                (fit(_(mark), _INDENT), f"{look} bold" if look != "dim" else look),
                (each.text, "text"),
            ]
        )
        if each.remedy:
            lines.append([(" " * _INDENT, "text"), (f"→ {each.remedy}", "dim")])
    if not checkup.problems:
        lines.append([(_("✓ everything is as it should be"), "text")])
    lines.append([])
    for name, text in facts(checkup):
        lines.append([(fit(name, _INDENT), "dim"), (text, "text")])
    return lines


class DoctorScreen(SubScreen):
    """Runs the checks on a thread, and shows the report."""

    HELP_TITLE = N_("Doctor")
    KEYS = DOCTOR

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._is_checking = False
        self._checkup: Checkup | None = None

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield LinesView([], hang=_INDENT, id="report")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.set_focus(self.report)
        self.action_again()

    @property
    def report(self) -> LinesView:
        return self.query_one("#report", LinesView)

    @property
    def is_pending(self) -> bool:
        """Whether the checks are running."""
        return self._is_checking

    def action_again(self) -> None:
        if self._is_checking:
            return
        self._is_checking = True
        self.show_title(_("doctor"), _("looking …"))
        self.run_worker(self._check(), exclusive=True)

    async def _check(self) -> None:
        context = self.main
        try:
            # `sys.stdout` is Textual's here; the checks need the terminal.
            checkup = await asyncio.to_thread(
                examine, context.store, context.location, sys.__stdout__
            )
        except Exception as error:  # thread boundary: a sentence here, details in the log
            wrong = _("something unexpected went wrong ({error}). Details: {log}")
            self.show_title(
                _("doctor"), wrong.format(error=type(error).__name__, log=log_failure())
            )
            return
        finally:
            self._is_checking = False
        if self.is_whole:
            self._checkup = checkup
            counts = Counter(
                "note" if each.severity == "info" else each.severity for each in checkup.problems
            )
            summary = " · ".join(
                counted(count, kind) for kind, count in counts.items()
            )  # the worst are first
            self.show_title(_("doctor"), summary or _("nothing is wrong"))
            self.report.show(report(checkup))

    def action_copy(self) -> None:
        if self._checkup is not None:
            self.main.copy("\n".join(map(line_text, report(self._checkup))), _("the report"))
