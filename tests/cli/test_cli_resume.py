"""`resume`: what would be run, what is said first, and the hand-over to a `hermes` that writes down
its call."""

import os
import subprocess
from pathlib import Path

import pytest
from commandline import ask, copy_store, path_with, spawn, stub_hermes
from platforms import posix_only
from trashing import opened
from user_config import write_config

QUIET = "20260115_090000_999001"
"""A chat nothing speaks against: of the command line, with messages, its directory unknown."""
_RECORD = 'printf "%s\\0" "$0" "$@" > "$STUB_LOG.argv"; env -0 > "$STUB_LOG.env"; exit 7'


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A root whose name wants quoting, its default profile and one more."""
    root = tmp_path / "my root"
    copy_store("state-v22", root)
    copy_store("state-v22", root / "profiles" / "coder")
    monkeypatch.setenv("HERMES_HOME", str(root))
    return root


def edit(root, statement, *values):
    """Change the store of a root."""
    with opened(root / "state.db") as connection:
        assert connection.execute(statement, values).rowcount


@posix_only
def test_hermes_takes_over(root, tmp_path):
    """The program becomes `hermes`: arguments, HERMES_HOME, all else of the environment, and its
    exit code."""
    path = path_with(stub_hermes(tmp_path / "bin", _RECORD))
    log = tmp_path / "log"
    environment = {
        "PATH": path,
        "STUB_LOG": str(log),
        "KEPT": "as it was",
        "HERMES_HOME": "/somewhere/else",
    }
    ended = spawn("--home", str(root), "--profile", "coder", "resume", "Rewound", env=environment)
    assert (ended.code, ended.out, ended.err) == (7, "", "")
    argv = Path(f"{log}.argv").read_bytes().decode().split("\0")[1:-1]
    assert argv == ["-p", "coder", f"--resume={QUIET}"]
    variables = dict(
        each.split("=", 1) for each in Path(f"{log}.env").read_bytes().decode().split("\0")[:-1]
    )
    assert variables["HERMES_HOME"] == str(root) and variables["KEPT"] == "as it was"


@posix_only
def test_odd_ids_reach_hermes_as_one_argument(root, tmp_path):
    """Blanks, dashes, quotes and wide characters: nothing is split, and nothing becomes an
    option."""
    odd = "-x --yolo '\"$(id)` 検索"
    edit(root, "UPDATE messages SET session_id = ? WHERE session_id = ?", odd, QUIET)
    edit(root, "UPDATE sessions SET id = ? WHERE id = ?", odd, QUIET)
    log = tmp_path / "log"
    environment = {"PATH": path_with(stub_hermes(tmp_path / "bin", _RECORD)), "STUB_LOG": str(log)}
    assert spawn("resume", "--", odd, env=environment).code == 7
    assert Path(f"{log}.argv").read_bytes().decode().split("\0")[1:-1] == [
        "-p",
        "default",
        f"--resume={odd}",
    ]


@posix_only
def test_a_risky_one_wants_yes(root, tmp_path):
    """5 and the reasons until --yes is said; nothing was run before."""
    edit(root, "UPDATE sessions SET source = 'telegram' WHERE id = ?", QUIET)
    log = tmp_path / "log"
    environment = {"PATH": path_with(stub_hermes(tmp_path / "bin", _RECORD)), "STUB_LOG": str(log)}
    ended = spawn("resume", QUIET, env=environment)
    assert ended.code == 5 and "telegram" in ended.err and "--yes" in ended.err and ended.out == ""
    assert not Path(f"{log}.argv").exists()
    assert spawn("resume", QUIET, "--yes", env=environment).code == 7
    assert Path(f"{log}.argv").exists()


@posix_only
def test_a_hermes_that_cannot_start(root, tmp_path):
    """A broken launcher is a sentence with its path, not a failure of ours."""
    script = stub_hermes(tmp_path / "bin", "") / "hermes"
    script.write_text("#!/nowhere/python\n")
    ended = spawn("resume", QUIET, env={"PATH": path_with(script.parent)})
    assert ended.code == 5 and ended.out == ""
    assert (
        str(script) in ended.err
        and f"--resume={QUIET}" in ended.err
        and "Traceback" not in ended.err
    )


@posix_only
def test_hermes_gets_its_signals_back(root, tmp_path):
    """A broken pipe ends Hermes as it would from a shell: what we ignore is not ignored there."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc")
    environment = {
        "PATH": path_with(stub_hermes(tmp_path / "bin", "grep SigIgn /proc/self/status"))
    }
    ended = spawn("resume", QUIET, env=environment)
    assert int(ended.out.split()[1], 16) & (1 << 12) == 0  # SIGPIPE is 13


@posix_only
def test_the_printed_line_is_what_a_shell_runs(root, tmp_path):
    """Pasted into a shell it calls Hermes the same way, even with an id of control characters, and
    stays one line."""
    odd = "x\ty\nz\x1b[2J'\"$HOME` é\u202e"
    edit(root, "UPDATE messages SET session_id = ? WHERE session_id = ?", odd, QUIET)
    edit(root, "UPDATE sessions SET id = ? WHERE id = ?", odd, QUIET)
    log = tmp_path / "log"
    environment = {"PATH": path_with(stub_hermes(tmp_path / "bin", _RECORD)), "STUB_LOG": str(log)}
    printed = spawn("resume", odd, "--print", env=environment)
    assert printed.code == 0 and printed.out.count("\n") == 1 and printed.out.strip().isprintable()
    subprocess.run(["bash", "-c", printed.out], env={**os.environ, **environment}, check=False)
    assert Path(f"{log}.argv").read_bytes().decode().split("\0")[1:-1] == [
        "-p",
        "default",
        f"--resume={odd}",
    ]
    assert f"HERMES_HOME={root}\0" in Path(f"{log}.env").read_bytes().decode()


def test_a_surface_is_asked_for(root):
    """By the source of the conversation."""
    write_config('surface = { cli = "tui", any = "cli" }\n')
    assert ask("resume", QUIET, "--print")["argv"][1:] == [
        "-p",
        "default",
        "--tui",
        f"--resume={QUIET}",
    ]
