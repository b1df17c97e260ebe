"""What is set shows on a real terminal: lent to Hermes and taken back, with the mouse and
without."""

import os
from pathlib import Path

import pytest
from effort import slow_but
from platforms import posix_only, script
from terminal import Terminal

pytestmark = posix_only


@pytest.mark.slow
@pytest.mark.parametrize(
    "colours", slow_but(["truecolor"], ["truecolor", ""]), ids=["ahead", "not ahead"]
)
def test_hermes_runs_and_the_browser_is_back(hermes_home, tmp_path, colours):
    """Hermes has a sane terminal and Ctrl+c; what it says at an end that is a failure stays until
    Enter; afterwards the screen is the browser's, at the same conversation and in the size the
    terminal has now."""
    folder = tmp_path / "bin"
    script(
        folder / "hermes",
        "trap 'echo interrupted' INT\nstty -a | tr -d '\\n' > $STUB_LOG\necho \"this is hermes $4\"\n"
        'line=; while [ "$line" != done ]; do read line; done\nexit 3',
    )
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    log = tmp_path / "log"
    terminal = Terminal(
        ["--home", str(hermes_home)], PATH=path, STUB_LOG=str(log), COLORTERM=colours
    )
    terminal.wait_for("search:")
    terminal.resume("this is hermes")
    assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h"), (
        "Hermes has the usual screen"
    )
    terminal.child.sendintr()
    terminal.wait_for("interrupted")
    terminal.resize(150, 40)
    terminal.send("x\rdone\r", "Enter goes back to the browser")
    assert "this is hermes" in terminal.text
    # The last key was not meant for the browser.
    terminal.send("\rq", "back from Hermes, which ended with 3")
    terminal.read_until(
        lambda: any(len(line) > 130 for line in terminal.text.splitlines()), "not the new size"
    )
    assert terminal.raw.rfind(b"\x1b[?1049h") > terminal.raw.rfind(b"\x1b[?1049l"), (
        "the browser has its own again"
    )
    said = log.read_text()
    assert " icanon" in said and " echo " in said
    assert "kept walrus answer" in terminal.text
    terminal.leave("\x03")


@pytest.mark.slow
def test_hermes_is_stopped_by_a_signal(hermes_home, tmp_path):
    """Ctrl+C is how some leave it, and no failure; another signal is named."""
    script(tmp_path / "bin" / "hermes", f'kill -"$(cat {tmp_path}/signal)" $$')
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    (tmp_path / "signal").write_text("INT")
    terminal = Terminal(["--home", str(hermes_home)], PATH=path)
    terminal.wait_for("search:")
    terminal.resume("back from Hermes")
    assert "Enter goes back" not in terminal.raw.decode() and "which" not in terminal.text
    (tmp_path / "signal").write_text("KILL")
    terminal.send("R", "Enter goes back to the browser")
    terminal.send("\r", "back from Hermes, which was stopped by SIGKILL")
    terminal.leave("\x03")


@pytest.mark.slow
@pytest.mark.parametrize("is_wanted", slow_but([True], [True, False]))
def test_the_mouse_is_left_to_the_terminal(hermes_home, is_wanted):
    """Where that is set nothing asks for it."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "hermes-browse"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f"mouse = {str(is_wanted).lower()}\n")
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("search:")
    terminal.leave()
    assert (b"\x1b[?1000h" in terminal.raw) == is_wanted
