"""`shell-init`: each shell takes its lines over, and asks the right program."""

import os
import shutil
import subprocess

import pytest
from commandline import call
from platforms import script as script_of

SHELLS = ("bash", "zsh", "fish")
_NOTES = 'printf "%s:" "${0##*/}"; printf "<%s>" "$@"; echo\nexit 7'
"""A program that says how it was called."""
CALLS = [
    ("hermes sessions browse", "hermes-browse:<>"),
    ("hermes sessions browse --limit 5", "hermes:<sessions><browse><--limit><5>"),
    ("hermes sessions list", "hermes:<sessions><list>"),
    ("hermes", "hermes:<>"),
    ("hermes chat -q 'two words'", "hermes:<chat><-q><two words>"),
]


def run_in(shell, script, line, folder):
    """Run a line in a shell that has taken over what was printed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    for name in ("hermes", "hermes-browse"):
        script_of(folder / name, _NOTES)
    quiet = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    begin = "autoload -Uz compinit; compinit -D\n" if shell == "zsh" else ""
    code = f"{begin}source {script}\n{line}"
    return subprocess.run(
        [program, *quiet, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
    )


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line, wanted", CALLS, ids=[line for line, _ in CALLS])
def test_one_command_of_hermes_opens_this_browser(tmp_path, shell, line, wanted):
    """Words and exit code of every other command stay as they are."""
    script = tmp_path / "script"
    script.write_text(call("shell-init", shell).out)
    ended = run_in(shell, script, line, tmp_path)
    assert (ended.stdout.strip(), ended.returncode, ended.stderr) == (wanted, 7, "")


@pytest.mark.parametrize(
    "shell, bound", [("bash", "bind -X"), ("zsh", "bindkey"), ("fish", "bind")]
)
def test_a_key_and_completion_come_with_it(tmp_path, shell, bound):
    """Ctrl+G is bound in a shell with a line editor; the words are completed."""
    script = tmp_path / "script"
    script.write_text(call("shell-init", shell).out)
    line = f"set -o emacs; {bound}" if shell == "bash" else bound
    printed = run_in(shell, script, line, tmp_path).stdout
    assert "_hermes_browse_key" in printed
    assert call("completions", shell).out in script.read_text()
