"""The command that resumes a conversation in Hermes, and what to know before running it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from ..connection.connect import Reader
from ..errors import NotFoundError
from ..sessions.first_page import read_neighbourhood
from ..sessions.lineage import predict_resume, resume_target
from ..sessions.models import Conversation, Kind, Relation, ResumeTarget, Status
from ..sessions.relations import AUTOMATION_SOURCES, RESET_REASONS
from ..text import one_line
from ..wording import _
from .homes import Location

GATEWAY_SOURCES = frozenset(
    [
        "telegram",
        "discord",
        "slack",
        "whatsapp",
        "signal",
        "matrix",
        "mattermost",
        "email",
        "sms",
        "teams",
        "wechat",
        "weixin",
        "wecom",
        "feishu",
        "dingtalk",
        "line",
        "imessage",
        "bluebubbles",
        "irc",
        "homeassistant",
        "qqbot",
        "yuanbao",
    ]
)
"""Sources where somebody else is at the other end."""
SURFACES = ("cli", "tui")
"""What `hermes` is asked for with `--cli` and `--tui` (0.19; without either it goes by its own configuration)."""
ANY_SOURCE = "any"
"""Stands for sources that are not named."""
_PATIENCE = 20.0
"""Seconds; a Python that has never run before loads slowly."""


@dataclass(frozen=True, slots=True)
class Caution:
    """Something to know before resuming."""

    code: str
    text: str


@dataclass(frozen=True)
class ResumePlan:
    """What a resume would run."""

    argv: tuple[str, ...]
    env: dict[str, str]
    """Variables to set beside the present ones."""
    conversation: Conversation
    target: ResumeTarget
    warnings: tuple[Caution, ...] = field(default=())
    executable: str | None = None
    """Full path of `hermes`, None when it is not to be found."""

    @property
    def is_sample(self) -> bool:
        """Whether it is of the sample store: it is shown, and never run."""
        return any(warning.code == "sample" for warning in self.warnings)

    @property
    def is_risky(self) -> bool:
        """Whether a second, different key is wanted first."""
        return bool(self.warnings)

    def to_print(self) -> ResumePlan:
        """The same plan for a command that will be run elsewhere: there need be no Hermes on this PATH."""
        if self.is_sample:
            return self
        others = tuple(warning for warning in self.warnings if warning.code != "no-hermes")
        return replace(self, warnings=others, executable=self.executable or self.argv[0])

    def environment(self) -> dict[str, str]:
        """The whole environment for the program."""
        return {**os.environ, **self.env}

    def shell(self) -> str:
        """The command for a shell, quoted, on one line and printable."""
        settings = [f"{name}={_quoted(value)}" for name, value in self.env.items()]
        return " ".join([*settings, *map(_quoted, self.argv)])


def _quoted(text: str) -> str:
    """A word for a shell; as `$'…'` where characters must not be seen as they are (POSIX 2024, bash, zsh)."""

    if one_line(text) == text:
        return shlex.quote(text)
    letters = [letter if letter.isalnum() or letter in "-_=./:" else None for letter in text]
    spelled = (
        "".join(f"\\{byte:03o}" for byte in os.fsencode(raw)) if letter is None else letter
        for raw, letter in zip(text, letters, strict=True)
    )
    return "$'" + "".join(spelled) + "'"


def find_hermes(environment: Mapping[str, str] = os.environ) -> str | None:
    """Full path of the `hermes` program, None when it is not on PATH."""
    return shutil.which("hermes", path=environment.get("PATH"))


def plan_resume(reader: Reader, location: Location, session_id: str, now: float) -> ResumePlan:
    """What resuming the conversation of a session would run, and what speaks against it.

    The `--resume=ID` form is the only safe one: a bare id swallows words that follow, and titles go
    astray. `-p` is always given, or a sticky profile would open another file (observed, 0.19).

    Of the sample store it says what it would be with a store of one's own, and nothing runs it.

    Args:
        reader: An open reader.
        location: The store; must be one Hermes itself would open, or the sample store.
        session_id: Any segment.
        now: Unix seconds.

    Raises:
        RefusedError: Hermes would not open this file.
        NotFoundError: No such session.
    """
    if not location.demo:
        location.refuse_without_home("resume")
    catalog = read_neighbourhood(reader, [session_id], now)
    conversation = catalog.of_session(session_id)
    if conversation is None:
        raise NotFoundError(_("There is no session {session} in this store.").format(session=session_id))
    target = resume_target(conversation)
    predicted = predict_resume(catalog.forest, target.id, reader.schema.version)
    executable = None if location.demo else find_hermes()
    warnings = _warnings(conversation, predicted, executable)
    if location.demo:  # what is wrong with this machine says nothing about the sample
        text = _("This is the sample store: there is nothing to resume. With your own store, Enter runs:")
        others = [each for each in warnings if each.code not in ("no-hermes", "missing-directory")]
        warnings = [*others, Caution("sample", text)]
    return ResumePlan(
        argv=("hermes", "-p", location.profile or "default", f"--resume={target.id}"),
        env={} if location.demo else {"HERMES_HOME": str(location.root)},
        conversation=conversation,
        target=target,
        warnings=tuple(warnings),
        executable=executable,
    )


def _warnings(conversation: Conversation, predicted: str, executable: str | None) -> list[Caution]:
    found: list[Caution] = []
    source = conversation.source
    if executable is None:
        text = _("There is no `hermes` on PATH: copy the command and run it where there is.")
        found.append(Caution("no-hermes", text))
    if predicted != conversation.id:
        text = _("Hermes will open {session} instead: it follows the newest unmarked child (0.18 and later).")
        found.append(Caution("opens-another", text.format(session=predicted)))
    if conversation.kind is Kind.SUBAGENT or conversation.relation is Relation.DELEGATED:
        found.append(Caution("subagent", _("This is a subagent's session: nobody talked in it.")))
    elif source in AUTOMATION_SOURCES:
        text = _("This is automation ({source}): nobody talked in it.").format(source=source)
        found.append(Caution("automation", text))
    elif source in GATEWAY_SOURCES or conversation.root.session_key:
        text = _("This is a {source} chat: resuming opens it here, and its people will not see what you write.")
        if conversation.tip.end_reason in RESET_REASONS:
            text = _(
                "This {source} chat was reset: resuming clears the reset, so the gateway may go on in it for that chat."
            )
        found.append(Caution("gateway", text.format(source=source)))
    if conversation.status is Status.EMPTY:
        found.append(Caution("empty", _("It has no messages.")))
    if conversation.status is Status.LIVE:
        text = _("It seems open elsewhere: it was written to moments ago, or a turn is running in it.")
        found.append(Caution("live", text))
    if conversation.cwd and not Path(conversation.cwd).is_dir():
        text = _("Its directory {directory} does not exist here.").format(directory=conversation.cwd)
        found.append(Caution("missing-directory", text))
    return found


@lru_cache(maxsize=4)
def options_of(executable: str) -> frozenset[str]:
    """The long options that a `hermes` says it takes; none where it does not answer.

    Args:
        executable: Full path. It is run with `--help`, once while the browser runs.
    """
    try:
        said = subprocess.run(
            [executable, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    # At the beginning of a line: elsewhere an option may be spoken of that is another program's.
    found = re.findall(r"^ +(?:-\w[^-\n]*, )?(--[a-z][a-z-]*)", said.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return frozenset(found)


def on_surface(plan: ResumePlan, surfaces: Mapping[str, str]) -> ResumePlan:
    """The plan with the surface that is wanted for the source of its conversation.

    A `hermes` that does not know the option would refuse to start, so it is asked first; what is not known is left out.

    Args:
        plan: What would be run.
        surfaces: Source to `cli` or `tui`; `any` for the others.
    """
    wanted = surfaces.get(plan.conversation.source, surfaces.get(ANY_SOURCE))
    if wanted not in SURFACES or plan.executable is None:
        return plan
    option = f"--{wanted}"
    if option in plan.argv or option not in options_of(plan.executable):
        return plan
    return replace(plan, argv=(*plan.argv[:-1], option, plan.argv[-1]))
