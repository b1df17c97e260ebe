"""Let releases of Hermes edit files, and record what they store: `python
tests/helpers/record_edits.py FOLDER`.

Not part of the suite: it makes `tests/data/changes`, which `test_recorded.py` reads. FOLDER takes
the releases, as of `tests/helpers/record_triggers.py`. Each release plays the same script with its own
tools, in one folder, which is a Git repository; recorded are the messages, and the files before and
after. A release that pip cannot get keeps what was recorded of it before.
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
from releases import Releases, run

RELEASES = ("0.14.0", "0.16.0", "0.18.2", "0.19.0")
DATA = paths.DATA / "changes"
REPOSITORY = Path("/tmp/hermes-browse-play/repository")
"""Part of what is recorded: the tools name absolute paths."""

_LONG = "".join(f"line {number}\n" for number in range(1, 201))
_APP = "import os\n\n\ndef main():\n    token = read()\n    return token.valid\n\n\ndef read():\n    pass\n"
BEFORE = {
    "src/app.py": _APP,
    "src/old.py": "x = 1\ny = 2\n",
    "src/busy.py": _LONG,
    "README.md": "# Title\n\n" + _LONG + "the end\n",
    "long.txt": _LONG,
    "many.txt": "red\nblue\nred\ngreen\nred\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "no_end.txt": "first\nlast",
    "to_end.txt": "first\nlast",
    "gone.txt": "a\nb\n",
    "empty.txt": "",
    "unread.txt": "nobody\nreads\nthis\n",
    "there.txt": "it stood there\n",
    "sedded.txt": "old\nkept\n",
    "hand.txt": "alpha\nbeta\ngamma\ndelta\nepsilon\n",
    "strange name é.txt": "one\ntwo\n",
    "whole.txt": "a\nb\nc\nd\ne\n",
}


def _patch(path: str, old: str, new: str, **more: object) -> tuple[str, dict[str, object]]:
    return "patch", {"mode": "replace", "path": path, "old_string": old, "new_string": new} | more


def _files(*lines: str) -> tuple[str, dict[str, object]]:
    text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return "patch", {"mode": "patch", "patch": text}


def _write(path: str, content: str) -> tuple[str, dict[str, object]]:
    return "write_file", {"path": path, "content": content}


def _read(path: str) -> tuple[str, dict[str, object]]:
    return "read_file", {"path": path}


def _code(*lines: str) -> tuple[str, dict[str, object]]:
    return "execute_code", {"code": "\n".join(lines)}


def _terminal(command: str) -> tuple[str, dict[str, object]]:
    return "terminal", {"command": command}


_FIRST = (
    ("user", "Revoked tokens still pass"),
    _read("src/app.py"),
    _patch("src/app.py", "return token.valid", "return token.valid and not token.revoked"),
    _patch("src/app.py", "this is nowhere", "x"),
    _read("docs/new.md"),
    _write("docs/new.md", "# New\n\ntext\n"),
    _patch("docs/new.md", "text\n", "text\nmore\n"),
    _files(
        "*** Update File: README.md",
        "@@",
        " # Title",
        " ",
        "-line 1",
        "+line one",
        "+and a half",
        "@@",
        " line 150",
        "-line 151",
        " line 152",
        "@@",
        " line 200",
        "-the end",
        "+the very end",
        "*** Add File: src/util.py",
        "+x = 1",
        "+y = 2",
    ),
    _files("*** Move File: src/old.py -> src/moved.py", "*** Delete File: gone.txt"),
    _patch("src/moved.py", "y = 2", "y = 3"),
    ("user", "Now the text files"),
    _write("unread.txt", "new text\nreads\n"),
    _patch("long.txt", "line 50\n", "line fifty\n"),
    _patch("long.txt", "line 10\n", ""),
    _patch("long.txt", "line 52\nline 53\n", "line 52\ninserted\nline 53\n"),
    _patch("long.txt", "line fifty\n", "line 50\nline 50 and a half\n"),
    _patch("many.txt", "red", "pink", replace_all=True),
    _patch("crlf.txt", "two", "zwei\nund mehr"),
    _patch("no_end.txt", "last", "the last"),
    _patch("to_end.txt", "last", "last\n"),
    _patch("src/app.py", "def read():\n  pass", "def read():\n    return None"),
    _patch("src/app.py", "import os", "import sys"),
    _patch("src/app.py", "import sys", "import os"),
    _read("empty.txt"),
    _write("empty.txt", "not empty any more\n"),
    _patch("strange name é.txt", "two", "deux"),
    _read("whole.txt"),
    _write("whole.txt", "a\nB\nc\nnew\nd\n"),
    _read("short.txt"),
    _write("short.txt", "only here for a while\n"),
    _files("*** Delete File: short.txt"),
    _terminal("ls -la && cat sedded.txt"),
    _terminal("sed -i s/old/new/ sedded.txt"),
    _terminal("echo made > made.txt"),
    _patch("sedded.txt", "kept", "kept on"),
    _code("from hermes_tools import write_file", "write_file('by_code.txt', 'one\\n')"),
    _write("/etc/hermes-browse-play", "x"),
    _files("*** Update File: nowhere.txt", "@@", "-a", "+b"),
)  # fmt: skip
_AGENT = (
    ("user", "Write the tests"),
    _read("tests/test_app.py"),
    _write("tests/test_app.py", "def test():\n    assert True\n"),
    _patch("src/app.py", "    token = read()", "    token = read() or {}"),
    _patch("src/busy.py", "line 5\n", "line five\n"),
)
_SECOND = (
    ("user", "And the rest"),
    _patch("src/app.py", "def main():", "def main() -> bool:"),
    _patch("README.md", "and a half", "and two halves"),
    _patch("README.md", "line 180\n", ""),
    _patch("src/busy.py", "line 4\nline five\n", "line 4\nline 4.5\nline five\n"),
    _patch("hand.txt", "beta", "BETA"),
    _write("mine.txt", "written\nby the agent\n}\n"),
)
_OTHER = (
    ("user", "Look at what I changed by hand"),
    _read("hand.txt"),
    _patch("hand.txt", "delta", "DELTA"),
    _patch("mine.txt", "by the agent", "by the other agent"),
)
HAND = {
    "hand.txt": "mine\nalpha\nBETA\ngamma\nmine too\ndelta\nepsilon\n",
    "mine.txt": "before\nwritten\nby the agent\n}\n}\n",
}
"""What somebody edits by hand before the last session."""
SCRIPT = (("first", None, _FIRST), ("agent", "first", _AGENT), ("second", "first", _SECOND))
LATER = (("other", None, _OTHER),)

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


def _play(release: Path | None, parts: tuple[Any, ...], home: Path) -> list[dict[str, Any]]:
    """Let a release carry out parts of the script; return the messages it stores for them."""
    script = [
        (name, [step for step in steps if step[0] != "user"]) for name, _parent, steps in parts
    ]
    path = home / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    os.environ["TERMINAL_CWD"] = str(REPOSITORY)
    os.chdir(REPOSITORY)
    told = run(release, _PLAY, str(path), home=home)["told"]
    messages: list[dict[str, Any]] = []
    for (name, _parent, steps), results in zip(parts, told, strict=True):
        answers = iter(results)
        for step in steps:
            if step[0] == "user":
                messages.append({"session_id": name, "role": "user", "content": step[1]})
                continue
            call = f"call_{name}_{len(messages)}"
            function = {"name": step[0], "arguments": json.dumps(step[1])}
            calls = [{"id": call, "type": "function", "function": function}]
            messages.append(
                {"session_id": name, "role": "assistant", "content": "", "tool_calls": calls}
            )
            messages.append(
                {"session_id": name, "role": "tool", "content": next(answers),
                 "tool_call_id": call, "tool_name": step[0]}
            )  # fmt: skip
    return messages


def _write_files(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = REPOSITORY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _read_files() -> dict[str, str]:
    return {
        str(path.relative_to(REPOSITORY)): path.read_bytes().decode()
        for path in sorted(REPOSITORY.rglob("*"))
        if path.is_file()
    }


def record(folder: Path) -> None:
    """Record the script as each release plays it."""
    releases = Releases(folder)
    for version in RELEASES:
        release = releases.get(version)
        print(version, "played" if release else "not to be had")
        if release is None:
            continue
        shutil.rmtree(REPOSITORY.parent, ignore_errors=True)
        _write_files(BEFORE)
        home = REPOSITORY.parent / "home"
        home.mkdir()
        messages = _play(release, SCRIPT, home)
        between = _read_files()
        _write_files(HAND)
        later = _play(release, LATER, home)
        document = {
            "release": version,
            "directory": str(REPOSITORY),
            "parents": {name: parent for name, parent, _steps in (*SCRIPT, *LATER)},
            "before": BEFORE,
            "between": between,
            "after": _read_files(),
            "messages": messages + later,
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (DATA / f"{version}.json").write_text(text + "\n", encoding="utf-8")
    shutil.rmtree(REPOSITORY.parent, ignore_errors=True)


if __name__ == "__main__":
    record(Path(sys.argv[1]))
