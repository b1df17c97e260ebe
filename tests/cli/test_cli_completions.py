"""`completions`: each script in its own shell, asked as the shell asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from commandline import call

from hermes_browse.tui.cli.completions import completions, places
from hermes_browse.tui.cli.registry import make_parser

Capture = pytest.CaptureFixture[str]
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
source "$1"; shift
COMP_WORDS=(hermes-browse "$@"); COMP_CWORD=$#; COMPREPLY=()
_hermes_browse
printf '%s\\n' "${COMPREPLY[@]}"
"""
_ZSH = """
compdef() { :; }
_describe() { local each; for each in ${(P)2}; do print -r -- "${each%%:*}"; done }
compadd() { shift; print -rl -- "$@"; }
_files() { print -r -- "files $*"; }
source $1; shift
words=(hermes-browse "$@"); CURRENT=$#words
_hermes_browse
"""


def ask(shell: str, script: Path, words: list[str]) -> set[str]:
    """What a shell offers for the last word."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    if shell == "fish":
        line = " ".join(["hermes-browse", *words])
        command = [program, "--no-config", "-c", f"source {script}; complete -C '{line}'"]
    else:
        code = _BASH if shell == "bash" else _ZSH
        quiet = ["--norc", "--noprofile"] if shell == "bash" else ["-f"]
        command = [program, *quiet, "-c", code, shell, str(script), *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""
    found = {line.split("\t")[0] for line in ended.stdout.splitlines() if line}
    return {each for each in found if each.startswith(words[-1])}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("words", "wanted"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_a_shell_completes(capsys: Capture, tmp_path: Path, shell: str, words: list[str], wanted: set[str]) -> None:
    """Commands, actions, values and options at their places."""
    script = tmp_path / "script"
    script.write_text(call(capsys, "completions", shell).out)
    assert ask(shell, script, words) == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_of_hosts(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    """Those that are configured when the key is pressed."""
    program = tmp_path / "hermes-browse"
    program.write_text('#!/bin/sh\ntest "$*" = "hosts --names" && printf "vps\\nnas\\n"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    script = tmp_path / "script"
    script.write_text(call(capsys, "completions", shell).out)
    assert ask(shell, script, ["list", "--host", ""]) == {"vps", "nas"}
    assert ask(shell, script, ["--host", "v"]) == {"vps"}
    assert ask(shell, script, ["hosts", "check", "n"]) == {"nas"}
    assert ask(shell, script, ["hosts", "n"]) == ask(shell, script, ["rename", "check", "n"]) == set()


def test_bash_parts_words_at_the_equals_sign(capsys: Capture, tmp_path: Path) -> None:
    """`--view=a` reaches a completion as three words."""
    script = tmp_path / "script"
    script.write_text(call(capsys, "completions", "bash").out)
    assert ask("bash", script, ["list", "--view", "=", "ar"]) == {"archived"}
    assert ask("bash", script, ["--home", "=", "list", "trash", "dr"]) == {"drop"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_files_and_folders(capsys: Capture, tmp_path: Path, shell: str) -> None:
    """Behind the options that take one."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    script = tmp_path / "script"
    script.write_text(call(capsys, "completions", shell).out)
    begun = str(tmp_path / "f")
    found = {each.rstrip("/") for each in ask(shell, script, ["--db", begun])}
    assert found == {str(tmp_path / "folder"), str(tmp_path / "file")}
    assert {each.rstrip("/") for each in ask(shell, script, ["--home", begun])} == {str(tmp_path / "folder")}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_there(shell: str) -> None:
    """What the parser knows, the script knows."""
    text = completions(shell, make_parser())
    found = list(places(make_parser()))
    assert {"", "/list", "/trash/drop", "/config", "/completions"} <= {place.path for place in found}
    for place in found:
        for name, _ in place.words:
            assert (name.lstrip("-") if shell == "fish" else name) in text
    assert "--or-demo" not in text, "what help does not show is not offered"
