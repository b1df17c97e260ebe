"""`resume`: hand over to Hermes, with the reasons against it said first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.resume import ResumePlan, plan_resume
from hermes_browse.store.sessions.resolve import resolve_last, resolve_session
from hermes_browse.store.wording import _

from .columns import note, print_text
from .run import Context, print_json


def resume(context: Context) -> int:
    """`resume`: run Hermes on the tip of a conversation, or print what would be run."""
    wanted = context.arguments
    context.location.refuse_without_home("resume")
    with context.store.reader() as reader:
        if wanted.last:
            source = wanted.source or "cli"
            session_id = resolve_last(reader, source)
            if session_id is None:
                nothing = _("There is no conversation of source {source}.").format(source=source)
                raise NotFoundError(nothing, remedy=_("Name another with --source."))
        else:
            session_id = resolve_session(reader, wanted.id)
        plan = plan_resume(reader, context.location, session_id, context.now)
    plan = as_configured(plan)
    if wanted.print_only:
        return _print(plan, as_json=context.json)
    for warning in plan.warnings:
        note(warning.text)
    if plan.executable is None:
        raise RefusedError(_("Nothing was run. The command is:"), remedy=plan.shell())
    if plan.is_risky and not wanted.yes:
        raise RefusedError(_("Nothing was run."), remedy=_("Say --yes to resume all the same."))
    return run_plan(plan)


def as_configured(plan: ResumePlan) -> ResumePlan:
    """The plan on the surface the user has set for its source; nothing is loaded where there is no configuration."""
    from ..config.start import read_start

    surfaces = read_start().options.surface
    if not surfaces:
        return plan
    from hermes_browse.store.resume import on_surface

    return on_surface(plan, surfaces)


def _print(plan: ResumePlan, *, as_json: bool) -> int:
    if as_json:
        print_json(
            {
                "argv": list(plan.argv),
                "env": plan.env,
                "target": plan.target.id,
                "reason": plan.target.reason,
                "warnings": [{"code": warning.code, "text": warning.text} for warning in plan.warnings],
            }
        )
        return 0
    for warning in plan.warnings:
        note(warning.text)
    print_text(plan.shell())
    return 0


def run_plan(plan: ResumePlan) -> int:
    """Become Hermes; on Windows, where a process cannot become another, run it and end as it ends.

    Args:
        plan: With an executable.

    Raises:
        RefusedError: The system would not start it.
    """
    assert plan.executable is not None
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        if sys.platform == "win32":
            return subprocess.run([plan.executable, *plan.argv[1:]], env=plan.environment(), check=False).returncode
        # Python ignores SIGPIPE, and what is ignored stays so in the program that follows.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(plan.executable, list(plan.argv), plan.environment())
    except OSError as error:
        failed = _("{path} could not be started: {reason}.").format(path=plan.executable, reason=error.strerror)
        raise RefusedError(failed, remedy=_("The command is: {command}").format(command=plan.shell())) from error
