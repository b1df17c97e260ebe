"""`resume`: run Hermes on a conversation, after printing the warnings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.hermes.resume_command import ResumePlan, on_surface
from hermes_browse.store.wording import _

from ..settings.start import read_start
from .command import StoreCommand, on_a_terminal
from .output import fields, fields_of_each, print_text
from .parser import Flag, OneOf, Valued


class ResumeCommand(StoreCommand):
    """Run Hermes on the tip of a conversation, or print the command."""

    arguments = (
        OneOf(
            (
                Valued("id", metavar="ID", nargs="?"),
                Flag("--last", "the newest conversation of source cli, or of --source"),
            ),
            is_required=True,
        ),
        Valued("--source", "with --last: of this source (default cli)", "S"),
        Flag("--print", "print the command, run nothing", dest="print_only"),
        Flag("--yes", "resume in spite of warnings"),
    )

    def contradictions(self) -> Mapping[str, object]:
        """Some options require another one."""
        given = self.given
        return {
            _("--source goes with --last"): given.source is not None and not given.last,
            _("--json needs --print: without it the command is run"): given.json
            and not given.print_only,
        }

    def run(self) -> int:
        given, store, host = self.given, self.store, self.store.location.host
        if host is None:
            store.location.refuse_without_home()
        source = given.source or "cli"
        session_id = store.last(source) if given.last else store.resolve(given.id)
        if session_id is None:
            raise NotFoundError(
                _("There is no conversation of source {source}.", source=source),
                remedy=_("Name another with --source."),
            )
        plan = as_configured(store.resume_plan(session_id, self.now))
        self.remark(*(warning.text for warning in plan.warnings))
        if given.print_only:
            self.give(
                fields(plan, "argv env target reason")
                | {"warnings": fields_of_each(plan.warnings, "code text")},
                print_text,
                plan.shell(),
            )
            return 0
        if plan.executable is None:
            raise RefusedError(_("Nothing was run. The command is:"), remedy=plan.shell())
        if host is not None and not on_a_terminal():
            raise RefusedError(
                _("Resuming on {name} needs a terminal. Nothing was run.", name=host.name),
                remedy=_("`--print` prints the command."),
            )
        if plan.warnings and not given.yes:
            raise RefusedError(_("Nothing was run."), remedy=_("Say --yes to resume all the same."))
        store.close()  # any handle of ours would stop Hermes' own clean-up
        return run_plan(plan)


def as_configured(plan: ResumePlan) -> ResumePlan:
    """Apply the surface (terminal UI or classic) that the user has configured for the source of the
    plan."""
    return on_surface(plan, read_start().options.surface)


def run_plan(plan: ResumePlan) -> int:
    """Become the Hermes of a plan; on Windows, run it and return its exit code. RefusedError if it
    cannot start."""
    assert plan.executable is not None
    environment = plan.environment()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if sys.platform == "win32":
            command = [plan.executable, *plan.argv[1:]]
            return subprocess.run(command, env=environment, check=False).returncode
        # Python ignores it, and the program would inherit that.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(plan.executable, list(plan.argv), environment)
    except OSError as error:
        raise RefusedError(
            _(
                "{path} could not be started: {reason}.",
                path=plan.executable,
                reason=error.strerror,
            ),
            remedy=_("The command is: {command}", command=plan.shell()),
        ) from error
