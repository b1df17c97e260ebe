"""`resume`: what would be run, what is said first, and the hand-over to a `hermes` that writes down
its call."""

import os
import subprocess
from pathlib import Path

import pytest
from commandline import copy_store, path_with, spawn, stub_hermes
from platforms import posix_only
from trashing import opened

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


@pytest.fixture
def hermes(tmp_path):
    """The environment in which a `hermes` is found that writes down its call."""
    path = path_with(stub_hermes(tmp_path / "bin", _RECORD))
    return {"PATH": path, "STUB_LOG": str(tmp_path / "log")}


def called(hermes, what="argv"):
    """What it was called with: its path and arguments, or the variables of the environment (`env`);
    nothing if it was not."""
    path = Path(f"{hermes['STUB_LOG']}.{what}")
    return path.read_bytes().decode().split("\0")[:-1] if path.exists() else []


def edit(root, statement, *values):
    """Change the store of a root."""
    with opened(root / "state.db") as connection:
        assert connection.execute(statement, values).rowcount


def give_id(root, session):
    """Give the quiet chat another id."""
    edit(root, "UPDATE messages SET session_id = ? WHERE session_id = ?", session, QUIET)
    edit(root, "UPDATE sessions SET id = ? WHERE id = ?", session, QUIET)


@posix_only
def test_hermes_takes_over(root, hermes):
    """The program becomes `hermes`: arguments, HERMES_HOME, all else of the environment, and its
    exit code."""
    environment = {**hermes, "KEPT": "as it was", "HERMES_HOME": "/somewhere/else"}
    ended = spawn("--home", str(root), "--profile", "coder", "resume", "Rewound", env=environment)
    assert (ended.code, ended.out, ended.err) == (7, "", "")
    assert called(hermes)[1:] == ["-p", "coder", f"--resume={QUIET}"]
    assert {f"HERMES_HOME={root}", "KEPT=as it was"} <= set(called(hermes, "env"))


@posix_only
def test_odd_ids_reach_hermes_as_one_argument(root, hermes):
    """Blanks, dashes, quotes and wide characters: nothing is split, and nothing becomes an
    option."""
    odd = "-x --yolo '\"$(id)` 検索"
    give_id(root, odd)
    assert spawn("resume", "--", odd, env=hermes).code == 7
    assert called(hermes)[1:] == ["-p", "default", f"--resume={odd}"]


@posix_only
def test_a_risky_one_wants_yes(root, hermes):
    """5 and the reasons until --yes is said; nothing was run before."""
    edit(root, "UPDATE sessions SET source = 'telegram' WHERE id = ?", QUIET)
    ended = spawn("resume", QUIET, env=hermes)
    assert ended.code == 5 and "telegram" in ended.err and "--yes" in ended.err and ended.out == ""
    assert not called(hermes)
    assert spawn("resume", QUIET, "--yes", env=hermes).code == 7
    assert called(hermes)


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
def test_the_printed_line_is_what_a_shell_runs(root, hermes):
    """Pasted into a shell it calls Hermes the same way, even with an id of control characters, and
    stays one line."""
    odd = "x\ty\nz\x1b[2J'\"$HOME` é\u202e"
    give_id(root, odd)
    printed = spawn("resume", odd, "--print", env=hermes)
    assert printed.code == 0 and printed.out.count("\n") == 1 and printed.out.strip().isprintable()
    subprocess.run(["bash", "-c", printed.out], env={**os.environ, **hermes}, check=False)
    assert called(hermes)[1:] == ["-p", "default", f"--resume={odd}"]
    assert f"HERMES_HOME={root}" in called(hermes, "env")
