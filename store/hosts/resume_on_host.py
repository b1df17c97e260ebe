"""Resume a conversation on another machine: `hermes-browse resume` there, in a terminal that ssh
brings."""

from __future__ import annotations

import shutil
import time

from ..connection.reader import Reader
from ..errors import NotFoundError
from ..hermes.resume_command import Caution, ResumePlan
from ..sessions.first_page import read_neighbourhood
from ..sessions.lineage import resume_target
from ..wording import _
from .host import ssh_command
from .link import Link
from .running import document_of


def plan_on_host(link: Link, reader: Reader, session_id: str) -> ResumePlan:
    """Plan to resume the conversation of a session, given by any segment, with the warnings of its
    machine.

    Raises:
        NotFoundError: There is no such session.
        BrowseError: The machine refuses, with its reason, or does not answer.
    """
    conversation = read_neighbourhood(reader, [session_id], time.time()).of_session(session_id)
    if conversation is None:
        raise NotFoundError(
            _("There is no session {session} in this store.").format(session=session_id)
        )
    target = resume_target(conversation)
    document = document_of(link.host, link.call("cautions", {"id": target.id}))
    listed = document.get("warnings")
    warnings = [
        Caution(
            str(each.get("code")), f"{link.host.name}: {each.get('text')}"
        )  # its “here” is that machine
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
    ]
    executable = shutil.which("ssh")
    if executable is None:
        warnings.append(
            Caution(
                "no-ssh",
                _("There is no `ssh` on PATH: copy the command and run it where there is."),
            )
        )
    # What is risky has been confirmed on the card by then.
    line = link.host.command_line(["resume", "--yes", "--", target.id])
    return ResumePlan(
        argv=tuple(ssh_command(link.host, line, terminal=True)),
        env={},
        conversation=conversation,
        target=target,
        warnings=tuple(warnings),
        executable=executable,
        host=link.host.name,
    )
