"""The command line called in this process and in one of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from paths import DATA

from hermes_browse.tui.cli import main

STORES = ("state-v11", "state-v14", "state-v22", "state-v31")
_VOLATILE = ("elapsed_ms", "disk", "terminal")
PROGRAM = (sys.executable, "-m", "hermes_browse.tui")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output; NaN and infinities are none."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def call(line: str = "", *words: str) -> Ended:
    """Run a command in this process.

    Args:
        line: Its first words, split at spaces.
        words: Further ones, each as it is.
    """
    out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*line.split(), *words])
    return Ended(code, _written(out), _written(err))


def _written(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def ask(line: str, *words: str) -> Any:
    """The JSON document of a command that must succeed."""
    ended = call(line, *words, "--json")
    assert ended.code == 0, ended.err
    return ended.document


def spawn(*arguments: str | bytes, env: Mapping[str, str] | None = None, **settings: Any) -> Ended:
    """Run a command in a process of its own; standard input is empty."""
    ended = subprocess.run(
        [*PROGRAM, *arguments],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        timeout=60,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings},
    )
    return Ended(
        ended.returncode,
        (ended.stdout or b"").decode("utf-8"),
        (ended.stderr or b"").decode("utf-8"),
    )


def copy_store(name: str, folder: Path) -> Path:
    """A copy of a store in tests/data, as the `state.db` of a root."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(next(DATA.glob(f"{name}*.db")), folder / "state.db"))


def path_with(*folders: Path) -> str:
    """A PATH with folders in front and no `hermes` behind them."""
    others = [
        each
        for each in os.environ["PATH"].split(os.pathsep)
        if not (Path(each) / "hermes").exists()
    ]
    return os.pathsep.join([*map(str, folders), *others])


def everything() -> list[dict[str, Any]]:
    """All conversations of the user's store, as the document has them."""
    found: list[dict[str, Any]] = ask("list --view all --limit 0")["conversations"]
    return found


def steady(document: Any) -> Any:
    """A document without what differs from one moment, or from one locale, to the next."""
    if isinstance(document, dict):
        return {key: steady(value) for key, value in document.items() if key not in _VOLATILE}
    return [steady(each) for each in document] if isinstance(document, list) else document


def for_hermes(**more: str) -> dict[str, str]:
    """An environment for the real Hermes: without keys and tokens, away from the network. A proxy
    nobody listens at keeps it from asking there."""
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_TOKEN"))
    }
    return {**kept, **nowhere, **more}


def ids_of(conversations: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ids, in order."""
    return [each["id"] for each in conversations]
