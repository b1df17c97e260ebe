"""The program `hermes`: where it is and which version, and the command that resumes a conversation
with it, with warnings to show before running it.

`hermes` is often not on the PATH of a command that ssh or a desktop starts. Its own installer links
it into `~/.local/bin` for every user but root (`scripts/install.sh`, 0.19 to 0.22). A plain
`ssh HOST command` is no login shell, so nothing has put that folder on its PATH.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..sessions.first_page import read_neighbourhood
from ..sessions.lineage import predict_resume, resume_reason
from ..sessions.models import Conversation, ConversationKind, Session, Status
from ..sessions.relations import RESET_REASONS
from ..text import one_line
from ..wording import _
from .homes import Location

_HERMES = "hermes"
_LOGIN_TIMEOUT = 10.0
"""Seconds for a login shell, which may start much."""
_LOGIN_SHELLS = ("sh", "bash", "dash", "fish", "ksh", "zsh")
"""Shells that take `-lc`; tcsh does not."""


def run_quietly(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str] | None:
    """Run a program and return what it prints; None if it cannot be run, or takes more than so many
    seconds.

    It has a session of its own: a shell must not take the terminal of the browser.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            start_new_session=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def find_hermes() -> str | None:
    """Return the full path of the `hermes` program; None if it is nowhere.

    It is looked for on PATH, beside this program, in `~/.local/bin`, and by the user's login shell.
    """
    beside, own = Path(sys.argv[0]).absolute().parent, Path.home() / ".local" / "bin"
    folders = [os.environ.get("PATH", os.defpath), str(beside), str(own)]
    path = shutil.which(_HERMES, path=os.pathsep.join(filter(None, folders)))
    return path or _found_by_login()


def hermes_word(executable: str | None) -> str:
    """Return the word that starts `hermes` in a shell: its name where that is enough, else its full
    path."""
    return _HERMES if executable is None or shutil.which(_HERMES) == executable else executable


def _found_by_login() -> str | None:
    """Return where the user's login shell finds it."""
    shell = os.environ.get("SHELL", "")
    if os.path.basename(shell) not in _LOGIN_SHELLS:
        return None
    done = run_quietly([shell, "-lc", f"command -v {_HERMES}"], _LOGIN_TIMEOUT)
    # The shell may print other lines first, and an alias is no path.
    lines = done.stdout.splitlines() if done is not None else []
    paths = [line.strip() for line in lines if line.startswith("/")]
    return shutil.which(paths[-1]) if paths else None


def hermes_version(executable: str) -> str | None:
    """Return the version of an installed Hermes, from the packages beside its program (given by its
    full path).

    `hermes --version` would create folders in HERMES_HOME (observed, 0.19), and a diagnosis must
    not change anything.
    """
    prefix = Path(executable).resolve().parent.parent
    for packages in ("lib/python3*/site-packages", "Lib/site-packages"):
        for entry in prefix.glob(f"{packages}/hermes_agent-*.dist-info"):
            return entry.name.removeprefix("hermes_agent-").removesuffix(".dist-info")
    return None


# The command that resumes a conversation

GATEWAY_SOURCES = frozenset(
    [
        "telegram", "discord", "slack", "whatsapp", "signal", "matrix", "mattermost", "email",
        "sms", "teams", "wechat",
        "weixin", "wecom", "feishu", "dingtalk", "line", "imessage", "bluebubbles", "irc",
        "homeassistant", "qqbot",
        "yuanbao",
    ]
)  # fmt: skip
"""Sources with another person at the other end."""
ANY_SOURCE = "any"
"""Setting for all other sources."""


class Caution(NamedTuple):
    """A warning before a resume."""

    code: str
    text: str


@dataclass(frozen=True)
class ResumePlan:
    """The command of a resume."""

    argv: tuple[str, ...]
    env: dict[str, str]
    """Variables to add to the environment."""
    conversation: Conversation
    target: str
    """Id of the session that is opened: its tip."""
    reason: str
    """Why that one."""
    warnings: tuple[Caution, ...] = ()
    """If there are any, another key must confirm it."""
    executable: str | None = None
    """Full path of `hermes`; None if `find_hermes` knows none."""
    host: str = ""
    """Name of the machine where it resumes, and the program is `ssh`; empty for this one."""

    @property
    def is_sample(self) -> bool:
        """Whether it is of the sample store: it is shown, and never run."""
        return any(warning.code == "sample" for warning in self.warnings)

    def to_print(self) -> ResumePlan:
        """Return the plan for a command to be run elsewhere, where Hermes may be on PATH."""
        if self.is_sample:
            return self
        warnings = tuple(warning for warning in self.warnings if warning.code != "no-hermes")
        return replace(self, warnings=warnings, executable=self.executable or self.argv[0])

    def environment(self) -> dict[str, str]:
        """Return the complete environment for the program."""
        return {**os.environ, **self.env}

    def shell(self) -> str:
        """Return the command for a shell, quoted, on one line and printable."""
        settings = [f"{name}={_quoted(value)}" for name, value in self.env.items()]
        return " ".join([*settings, *map(_quoted, self.argv)])


def _quoted(text: str) -> str:
    """Quote a word for a shell; as `$'…'` with octal numbers if it has characters that are not
    printable (POSIX 2024, bash, zsh)."""
    if one_line(text) == text:
        return shlex.quote(text)
    return "$'" + "".join(f"\\{byte:03o}" for byte in os.fsencode(text)) + "'"


def plan_resume(reader: Reader, location: Location, session_id: str, now: float) -> ResumePlan:
    """Plan to resume the conversation of a session, given by any segment; `now` is in Unix seconds.

    Only the form `--resume=ID` is safe: a bare id swallows the words after it, and a title may find
    another session. `-p` is always given, or a sticky profile would open another file (observed,
    0.19).

    Of the sample store it says what it would be with a store of one's own, and nothing runs it.

    Raises:
        RefusedError: Hermes would not open this file.
        NotFoundError: There is no such session.
    """
    if not location.demo:
        location.refuse_without_home()
    catalog = read_neighbourhood(reader, [session_id], now)
    conversation = catalog.conversation(session_id)
    predicted = predict_resume(catalog, conversation.id, reader.schema.version)
    executable = None if location.demo else find_hermes()
    opened = catalog.sessions.get(predicted)
    profile = location.profile or "default"
    return ResumePlan(
        argv=(hermes_word(executable), "-p", profile, f"--resume={conversation.id}"),
        env={} if location.demo else {"HERMES_HOME": str(location.root)},
        conversation=conversation,
        target=conversation.id,
        reason=resume_reason(conversation),
        warnings=_warnings(conversation, predicted, opened, location, executable),
        executable=executable,
    )


def _warnings(
    conversation: Conversation,
    predicted: str,
    opened: Session | None,
    location: Location,
    executable: str | None,
) -> tuple[Caution, ...]:
    """Return what there is to know before a resume; what is wrong with this machine says nothing
    about the sample."""
    source, kind, directory = conversation.source, conversation.kind, conversation.cwd
    is_sample = location.demo
    has_people = source in GATEWAY_SOURCES or conversation.root.session_key
    is_gateway = has_people and kind is ConversationKind.CHAT
    was_reset = conversation.tip.end_reason in RESET_REASONS
    cautions = (
        (
            executable is None and not is_sample,
            "no-hermes",
            _(
                "There is no `hermes` on PATH or in ~/.local/bin: copy the command and run it where "
                "there is."
            ),
        ),
        (
            predicted != conversation.id,
            "opens-another",
            _(
                "Hermes will open {session} instead: it follows the newest unmarked child (0.18 and "
                "later).",
                session=predicted,
            ),
        ),
        (
            kind is ConversationKind.SUBAGENT,
            "subagent",
            _("This is a subagent's session: nobody talked in it."),
        ),
        (
            kind is ConversationKind.AUTOMATION,
            "automation",
            _("This is automation ({source}): nobody talked in it.", source=source),
        ),
        (
            is_gateway and not was_reset,
            "gateway",
            _(
                "This is a {source} chat: resuming opens it here, and its people will not see what "
                "you write.",
                source=source,
            ),
        ),
        (
            is_gateway and was_reset,
            "gateway",
            _(
                "This {source} chat was reset: resuming clears the reset, so the gateway may go "
                "on in it for that chat.",
                source=source,
            ),
        ),
        (conversation.status is Status.EMPTY, "empty", _("It has no messages.")),
        (
            conversation.status is Status.LIVE,
            "live",
            _(
                "It seems open elsewhere: it was written to moments ago, or a turn is running in it."
            ),
        ),
        (
            directory and not (is_sample or os.path.isdir(directory)),
            "missing-directory",
            _("Its directory {directory} does not exist here.", directory=directory),
        ),
        (
            opened is not None and not opened.has_messages and not conversation.is_empty,
            "empty-part",
            _(
                "Hermes will start fresh in an empty part of this conversation: its messages are in "
                "earlier parts."
            ),
        ),
        (
            is_sample,
            "sample",
            _("This is the sample store: there is nothing to resume. With your own store, R runs:"),
        ),
    )
    return tuple(Caution(code, text) for is_so, code, text in cautions if is_so)


def on_surface(plan: ResumePlan, surfaces: Mapping[str, str]) -> ResumePlan:
    """Add the option for the surface configured for the source of a conversation.

    `surfaces` maps a source, or `any` for the others, to `cli` or `tui`: an option of `hermes`
    (0.19), without which its configuration decides. Another machine decides itself.
    """
    surface = surfaces.get(plan.conversation.source, surfaces.get(ANY_SOURCE))
    if surface is None or plan.host:
        return plan
    return replace(plan, argv=(*plan.argv[:-1], f"--{surface}", plan.argv[-1]))
