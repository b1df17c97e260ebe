"""`--print-command`: the screen on the terminal, the chosen command on standard output."""

import pytest
from effort import slow_but
from platforms import posix_only
from terminal import Terminal

pytestmark = posix_only

_SHELL = """
import subprocess, sys
program = [sys.executable, "-m", "hermes_browse.tui", "--print-command", *sys.argv[2:]]
streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if sys.argv[1] == "nothing" else {}
ended = subprocess.run(program, stdout=subprocess.PIPE, text=True, **streams)
print(f"ended {ended.returncode} [{ended.stdout}]")
"""


@pytest.mark.slow
@pytest.mark.parametrize("streams", slow_but(["usual"], ["usual", "nothing"]))
def test_what_is_chosen_is_printed_and_not_run(hermes_home, streams):
    """As in `eval "$(…)"`, and with the other streams away too; there need be no Hermes to print
    its command."""
    terminal = Terminal(
        [streams, "--home", str(hermes_home)], code=_SHELL, columns=200, PATH="/usr/bin:/bin"
    )
    terminal.wait_for("shown")
    terminal.resize(
        210, 30
    )  # wide enough for the line below: a space at the end of a line is not seen
    terminal.resume("ended 0")
    terminal.read(0.3)
    text = terminal.text.replace("\n", "")
    assert f"[HERMES_HOME={hermes_home} hermes -p default --resume=20260115_090000_999001" in text
    assert terminal.is_restored


@pytest.mark.slow
def test_nothing_chosen_nothing_printed(hermes_home):
    """`eval` of nothing does nothing."""
    terminal = Terminal(["usual", "--home", str(hermes_home)], code=_SHELL)
    terminal.wait_for("shown")
    terminal.send("q", "ended 0 []")
    assert terminal.is_restored


def test_it_goes_with_the_browser_alone(capsys, hermes_home):
    """No command goes with it; the sample store has no command to print."""
    from hermes_browse.tui.cli import main

    assert main(["--print-command", "list"]) == 2
    assert "cannot be used with a command" in capsys.readouterr().err
    assert main(["--print-command", "--demo"]) == 5
    assert main(["--print-command", "--home", str(hermes_home / "nowhere")]) in (2, 3)
