"""Resume a conversation on another machine: `hermes-browse resume` there, in a terminal that ssh
brings."""

from __future__ import annotations

import shutil
from dataclasses import replace

from ..hermes.resume_command import Caution, ResumePlan
from ..wording import _
from .host import Host, ssh_command


def over_ssh(host: Host, plan: ResumePlan) -> ResumePlan:
    """Return the plan of another machine as one for this: `ssh` runs it there."""
    # Its "here" is that machine.
    warnings = [Caution(each.code, f"{host.name}: {each.text}") for each in plan.warnings]
    executable = shutil.which("ssh")
    if executable is None:
        text = _("There is no `ssh` on PATH: copy the command and run it where there is.")
        warnings.append(Caution("no-ssh", text))
    # What is risky has been confirmed on the card by then.
    line = host.command_line(["resume", "--yes", "--", plan.target.id])
    return replace(
        plan,
        argv=tuple(ssh_command(host, line, terminal=True)),
        env={},
        warnings=tuple(warnings),
        executable=executable,
        host=host.name,
    )
