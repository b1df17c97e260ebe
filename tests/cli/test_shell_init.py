"""`shell-init`: each shell takes its lines over, and asks the right program."""

import os

import pytest
from commandline import call
from platforms import script as script_of
from shells import SHELLS, run_in, script_for

_NOTES = 'printf "%s:" "${0##*/}"; printf "<%s>" "$@"; echo\nexit 7'
"""A program that says how it was called."""
CALLS = [
    ("hermes sessions browse", "hermes-browse:<>"),
    ("hermes sessions browse --limit 5", "hermes:<sessions><browse><--limit><5>"),
    ("hermes sessions list", "hermes:<sessions><list>"),
    ("hermes", "hermes:<>"),
    ("hermes chat -q 'two words'", "hermes:<chat><-q><two words>"),
]


@pytest.fixture(autouse=True)
def _programs(tmp_path, monkeypatch):
    for name in ("hermes", "hermes-browse"):
        script_of(tmp_path / name, _NOTES)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def run(shell, line, folder):
    """Run a line in a shell that has taken over what was printed."""
    begin = "autoload -Uz compinit; compinit -D\n" if shell == "zsh" else ""
    script = script_for(shell, "shell-init", folder)
    return run_in(shell, f"{begin}source {script}\n{line}")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line, wanted", CALLS, ids=[line for line, _ in CALLS])
def test_one_command_of_hermes_opens_this_browser(tmp_path, shell, line, wanted):
    """Words and exit code of every other command stay as they are."""
    ended = run(shell, line, tmp_path)
    assert (ended.stdout.strip(), ended.returncode, ended.stderr) == (wanted, 7, "")


@pytest.mark.parametrize(
    "shell, bound", [("bash", "bind -X"), ("zsh", "bindkey"), ("fish", "bind")]
)
def test_a_key_and_completion_come_with_it(tmp_path, shell, bound):
    """Ctrl+G is bound in a shell with a line editor; the words are completed."""
    line = f"set -o emacs; {bound}" if shell == "bash" else bound
    assert "_hermes_browse_key" in run(shell, line, tmp_path).stdout
    assert call("completions", shell).out in (tmp_path / "script").read_text()
