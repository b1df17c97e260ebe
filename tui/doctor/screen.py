"""`doctor` on the screen: what is wrong, each with what to do about it, and below it how everything is."""

from __future__ import annotations

import asyncio
import sys

from textual.app import ComposeResult
from textual.content import Content

from hermes_browse.store.wording import N_, _, ngettext

from ..commands.screens import DOCTOR
from ..formats import fit
from ..logfile import log_failure
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared import header
from ..shared.keys import KeyLine
from ..shared.lines import LinesView, TextLine
from ..shared.styled import Line
from .checkup import Checkup, examine, facts

_MARKS = {"error": (N_("✗ error"), "error"), "warning": (N_("! warning"), "keyword"), "info": (N_("· note"), "dim")}
_INDENT = 15


def _counted(severity: str, count: int) -> str:
    """`2 errors`."""
    if severity == "error":
        told = ngettext("1 error", "{count:,} errors", count)
    elif severity == "warning":
        told = ngettext("1 warning", "{count:,} warnings", count)
    else:
        told = ngettext("1 note", "{count:,} notes", count)
    return told.format(count=count)


def report(found: Checkup) -> list[Line]:
    """What was found, line by line."""
    lines: list[Line] = []
    for each in found.problems:
        mark, look = _MARKS[each.severity]
        lines.append([(fit(_(mark), _INDENT), f"{look} bold" if look != "dim" else look), (each.text, "text")])
        if each.remedy:
            lines.append([(" " * _INDENT, "text"), (f"→ {each.remedy}", "dim")])
    if not found.problems:
        lines.append([(_("✓ everything is as it should be"), "text")])
    lines.append([])
    for name, text in facts(found):
        lines.append([(fit(name, _INDENT), "dim"), (text, "text")])
    return lines


class DoctorScreen(SubScreen):
    """One look at everything, taken off the screen's thread."""

    HELP_TITLE = N_("Doctor")
    KEYS = DOCTOR

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._is_looking = False
        self._found: Checkup | None = None

    def compose(self) -> ComposeResult:
        """Title, report, keys."""
        yield TextLine(id="header")
        yield LinesView([], hang=_INDENT, id="report")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Look."""
        self.set_focus(self.report)
        self.action_again()

    @property
    def report(self) -> LinesView:
        """The lines."""
        return self.query_one("#report", LinesView)

    @property
    def is_pending(self) -> bool:
        """Whether the look is under way."""
        return self._is_looking

    def action_again(self) -> None:
        """Look at everything again."""
        if self._is_looking:
            return
        self._is_looking = True
        self._show_title(_("looking …"))
        self.run_worker(self._look(), exclusive=True)

    async def _look(self) -> None:
        context = self.context
        try:
            # `sys.stdout` is Textual's here; the checks need the terminal.
            found = await asyncio.to_thread(examine, context.store, context.location, sys.__stdout__)
        except Exception as error:  # thread boundary: a sentence here, details in the log
            wrong = _("something unexpected went wrong ({error}). Details: {log}")
            self._show_title(wrong.format(error=type(error).__name__, log=log_failure()))
            return
        finally:
            self._is_looking = False
        if self.is_whole:
            self._take(found)

    def _take(self, found: Checkup) -> None:
        self._found = found
        counts = {kind: sum(each.severity == kind for each in found.problems) for kind in _MARKS}
        told = [_counted(kind, count) for kind, count in counts.items() if count]
        self._show_title(" · ".join(told) or _("nothing is wrong"))
        self.report.show(report(found))

    def _show_title(self, told: str) -> None:
        name = header.store_name(self.context.location)
        self.line("header").update(
            Content.assemble((" " + _("doctor") + "  ", "bold"), (name, "$accent"), (f"  {told}", "dim"))
        )

    def action_copy(self) -> None:
        """Copy the report."""
        if self._found is not None:
            text = "\n".join("".join(part for part, _look in line) for line in report(self._found))
            self.controllers.copying.copy(text, _("the report"))
