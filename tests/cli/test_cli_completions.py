"""`completions`: each script in its own shell, asked as the shell asks it."""

import os
import sys

import pytest
from platforms import script
from shells import SHELLS, run_in, script_for
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


@pytest.fixture(autouse=True)
def _program(tmp_path, monkeypatch):
    """The program is on the path, as the scripts ask it."""
    script(tmp_path / "bin" / "hermes-browse", f'exec {sys.executable} -m hermes_browse.tui "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


@pytest.fixture
def ask(tmp_path):
    """What a shell offers for the last word."""

    def asked(shell, words):
        script, line = script_for(shell, "completions", tmp_path), " ".join(words)
        if shell == "fish":
            ended = run_in(shell, f"source {script}; complete -C 'hermes-browse {line}'")
        else:
            ended = run_in(shell, {"bash": _BASH, "zsh": _ZSH}[shell], shell, str(script), line)
        assert ended.stderr == ""
        return {each.split("\t")[0].strip() for each in ended.stdout.splitlines() if each}

    return asked


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("words, wanted", ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_a_shell_completes(ask, shell, words, wanted):
    """Commands, actions, values and options at their places."""
    assert ask(shell, words) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_names_of_hosts(ask, shell):
    """Those that are configured when the key is pressed."""
    blocks = [f'[[hosts]]\nname = "{name}"\nssh = "{name}"\n' for name in ("vps", "nas")]
    write_config("".join(blocks))
    assert ask(shell, ["list", "--host", ""]) == {"vps", "nas"}
    assert ask(shell, ["--host", "v"]) == {"vps"}
    assert ask(shell, ["hosts", "check", "n"]) == {"nas"}
    assert ask(shell, ["hosts", "n"]) == ask(shell, ["rename", "check", "n"]) == set()


@pytest.mark.slow
def test_a_value_behind_an_equals_sign(ask):
    """In bash too, which parts words there."""
    assert ask("bash", ["list", "--view=ar"]) == {"archived"}
    assert ask("bash", ["--home=list", "trash", "dr"]) == {"drop"}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_files_and_folders(ask, tmp_path, shell):
    """Behind the options that take one."""
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.write_text("")
    for option, wanted in (("--db", {str(folder), str(file)}), ("--home", {str(folder)})):
        found = ask(shell, [option, str(tmp_path / "f")])
        assert {each.rstrip("/") for each in found} == wanted


@pytest.mark.slow
def test_every_command_and_option_is_there(ask):
    """What the parser knows, the shell offers; what help does not show is not."""
    offered = ask("bash", [""])
    assert {*COMMANDS, "--home", "--plain", "--version"} <= offered and "--or-demo" not in offered
    assert {"--older-than", "--dry-run", "--home", "--json"} <= ask("bash", ["prune", "--"])
