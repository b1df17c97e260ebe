"""Let releases of Hermes edit files, and record what they store: `python
tests/helpers/record_edits.py FOLDER`.

Not part of the suite: it makes `tests/data/changes`, which `test_recorded_edits.py` reads. FOLDER
takes the releases, as of `tests/helpers/record_triggers.py`. Each release plays the same script,
`tests/data/scripts/edits.json`, with its own tools, in one folder, which is a Git repository;
recorded are the messages, and the files before and after. What somebody edits by `hand` comes before
the last session. A release that pip cannot get keeps what was recorded of it before.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "proof"))

import paths
from plays import DATA, RELEASES, write_files
from releases import Releases, run

REPOSITORY = Path("/tmp/hermes-browse-play/repository")
"""Part of what is recorded: the tools name absolute paths."""

_PLAY = """
import json, pathlib, sys
from model_tools import handle_function_call
script = json.loads(pathlib.Path(sys.argv[1]).read_text())
told = [
    [handle_function_call(name, arguments, task_id=session) for name, arguments in steps]
    for session, steps in script
]
print()
print(json.dumps({"told": told}))
"""


def _play(release: Path | None, sessions: list[Any], home: Path) -> list[dict[str, Any]]:
    """Let a release carry out parts of the script; return the messages it stores for them."""
    script = [
        (each["id"], [step for step in each["steps"] if step[0] != "user"]) for each in sessions
    ]
    path = home / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    os.environ["TERMINAL_CWD"] = str(REPOSITORY)
    os.chdir(REPOSITORY)
    told = run(release, _PLAY, str(path), home=home)["told"]
    messages: list[dict[str, Any]] = []
    for session, results in zip(sessions, told, strict=True):
        of_session = {"session_id": session["id"]}
        answers = iter(results)
        for name, argument in session["steps"]:
            if name == "user":
                messages.append(of_session | {"role": "user", "content": argument})
                continue
            call = f"call_{session['id']}_{len(messages)}"
            function = {"name": name, "arguments": json.dumps(argument)}
            calls = [{"id": call, "type": "function", "function": function}]
            messages.append(of_session | {"role": "assistant", "content": "", "tool_calls": calls})
            result = {"content": next(answers), "tool_call_id": call, "tool_name": name}
            messages.append(of_session | {"role": "tool"} | result)
    return messages


def _read_files() -> dict[str, str]:
    return {
        str(path.relative_to(REPOSITORY)): path.read_bytes().decode()
        for path in sorted(REPOSITORY.rglob("*"))
        if path.is_file()
    }


def record(folder: Path) -> None:
    """Record the script as each release plays it."""
    releases = Releases(folder)
    script = json.loads((paths.DATA / "scripts" / "edits.json").read_text(encoding="utf-8"))
    *sessions, last = script["sessions"]
    for version in RELEASES:
        release = releases.get(version)
        print(version, "played" if release else "not to be had")
        if release is None:
            continue
        shutil.rmtree(REPOSITORY.parent, ignore_errors=True)
        write_files(REPOSITORY, script["before"])
        home = REPOSITORY.parent / "home"
        home.mkdir()
        messages = _play(release, sessions, home)
        between = _read_files()
        write_files(REPOSITORY, script["hand"])
        later = _play(release, [last], home)
        document = {
            "release": version,
            "directory": str(REPOSITORY),
            "parents": {each["id"]: each["parent"] for each in script["sessions"]},
            "before": script["before"],
            "between": between,
            "after": _read_files(),
            "messages": messages + later,
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (DATA / f"{version}.json").write_text(text + "\n", encoding="utf-8")
    shutil.rmtree(REPOSITORY.parent, ignore_errors=True)


if __name__ == "__main__":
    record(Path(sys.argv[1]))
