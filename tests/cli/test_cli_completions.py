"""`completions`: each script in its own shell, asked as the shell asks it."""

import os
import shutil
import subprocess
import sys

import pytest
from commandline import call
from user_config import write_config

from hermes_browse.tui.cli.registry import COMMANDS

ASKED = [
    (["tra"], {"trash"}),
    (["list", "--view", "a"], {"automation", "archived", "all"}),
    (["--profile", "list", "trash", "re"], {"restore"}),
    (["trash", "restore", "--y"], {"--yes"}),
    (["stats", "--by", "mo"], {"model", "month"}),
    (["config", "in"], {"init"}),
    (["hosts", "ch"], {"check"}),
    (["completions", "z"], {"zsh"}),
    (["list", "--profile", ""], set()),
]
"""Words behind the program, the last one begun, and what may complete it."""

_BASH = """
source "$1"
COMP_LINE="hermes-browse $2"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
_python_argcomplete hermes-browse
printf '%s\\n' "${COMPREPLY[@]}"
"""
_ZSH = """
compdef() { :; }
_describe() { local each; for each in ${(P)2}; do print -r -- "${each%%:*}"; done }
source $1
BUFFER="hermes-browse $2"; CURSOR=$#BUFFER; words=(hermes-browse)
_python_argcomplete
"""
PROGRAM = f'#!/bin/sh\nexec {sys.executable} -m hermes_browse.tui "$@"\n'


@pytest.fixture(autouse=True)
def _program(tmp_path, monkeypatch):
    """The program is on the path, as the scripts ask it."""
    program = tmp_path / "bin" / "hermes-browse"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def ask(shell, script, words):
    """What a shell offers for the last word."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    line = " ".join(words)
    if shell == "fish":
        command = [
            program,
            "--no-config",
            "-c",
            f"source {script}; complete -C 'hermes-browse {line}'",
        ]
    else:
        code = _BASH if shell == "bash" else _ZSH
        quiet = ["--norc", "--noprofile"] if shell == "bash" else ["-f"]
        command = [program, *quiet, "-c", code, shell, str(script), line]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""
    return {each.split("\t")[0].strip() for each in ended.stdout.splitlines() if each}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("words, wanted", ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_a_shell_completes(tmp_path, shell, words, wanted):
    """Commands, actions, values and options at their places."""
    script = tmp_path / "script"
    script.write_text(call("completions", shell).out)
    assert ask(shell, script, words) == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_of_hosts(tmp_path, shell):
    """Those that are configured when the key is pressed."""
    blocks = [f'[[hosts]]\nname = "{name}"\nssh = "{name}"\n' for name in ("vps", "nas")]
    write_config("".join(blocks))
    script = tmp_path / "script"
    script.write_text(call("completions", shell).out)
    assert ask(shell, script, ["list", "--host", ""]) == {"vps", "nas"}
    assert ask(shell, script, ["--host", "v"]) == {"vps"}
    assert ask(shell, script, ["hosts", "check", "n"]) == {"nas"}
    assert (
        ask(shell, script, ["hosts", "n"]) == ask(shell, script, ["rename", "check", "n"]) == set()
    )


def test_a_value_behind_an_equals_sign(tmp_path):
    """In bash too, which parts words there."""
    script = tmp_path / "script"
    script.write_text(call("completions bash").out)
    assert ask("bash", script, ["list", "--view=ar"]) == {"archived"}
    assert ask("bash", script, ["--home=list", "trash", "dr"]) == {"drop"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_files_and_folders(tmp_path, shell):
    """Behind the options that take one."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    script = tmp_path / "script"
    script.write_text(call("completions", shell).out)
    begun = str(tmp_path / "f")
    found = {each.rstrip("/") for each in ask(shell, script, ["--db", begun])}
    assert found == {str(tmp_path / "folder"), str(tmp_path / "file")}
    assert {each.rstrip("/") for each in ask(shell, script, ["--home", begun])} == {
        str(tmp_path / "folder")
    }


def test_every_command_and_option_is_there(tmp_path):
    """What the parser knows, the shell offers; what help does not show is not."""
    script = tmp_path / "script"
    script.write_text(call("completions bash").out)
    offered = ask("bash", script, [""])
    assert {*COMMANDS, "--home", "--plain", "--version"} <= offered and "--or-demo" not in offered
    assert {"--older-than", "--dry-run", "--home", "--json"} <= ask("bash", script, ["prune", "--"])
