"""`serve --stdio`: what the browser of another machine runs here, over ssh."""

from __future__ import annotations

import os
from typing import IO

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hosts.codec import PROTOCOL
from hermes_browse.store.hosts.connection import SERVE
from hermes_browse.store.hosts.serving import Server, limit_memory
from hermes_browse.store.wording import _

from .. import version
from .command import StoreCommand
from .parser import Flag

_MAY_CHANGE = "--allow-changes"


class ServeCommand(StoreCommand):
    """Answer questions from standard input until it ends."""

    takes_host = False

    arguments = (
        Flag("--stdio", "on standard input and output, the only way", required=True),
        Flag(
            _MAY_CHANGE,
            "also archive, pin, rename, tag, delete, restore and clean up; without it nothing is changed",
            dest="may_change",
        ),
    )

    def start(self) -> int:
        """Serve, unless a key that may only do this was used for something else."""
        wanted = os.environ.get("SSH_ORIGINAL_COMMAND", "").removesuffix(_MAY_CHANGE).rstrip()
        if wanted and not wanted.endswith(" ".join(SERVE)):
            # sshd has replaced the command by this one (`command=` in authorized_keys).
            raise RefusedError(
                _(
                    "This key may only serve the browser of another machine; no other command is run with it."
                )
            )
        return super().start()

    def run(self) -> None:
        location = self.store.location
        hello: Json = {
            "version": version(),
            "path": str(location.path),
            "profile": location.profile or "",
            "protocol": PROTOCOL,
        }
        limit_memory()
        questions, answers = _take_standard_streams()
        server = Server(self.store.source, location, answers, may_change=self.given.may_change)
        server.serve(questions, hello)


def _take_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output for questions and answers.

    Everything else that is printed goes to standard error, and whoever else reads finds the end.
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return questions, answers
