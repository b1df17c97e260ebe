"""Resuming in a window of its own: a real tmux, and stand-ins that write down their words."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from platforms import posix_only, script, until

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hermes.resume_command import plan_resume
from hermes_browse.tui.browser import resuming
from hermes_browse.tui.browser.preflight import PreflightCard
from hermes_browse.tui.browser.resuming import go_to, open_window
from hermes_browse.tui.settings.options import WINDOW

pytestmark = posix_only
QUIET = "20260115_090000_999001"


@pytest.fixture
def plan(hermes_home, tmp_path):
    """A plan whose Hermes writes down its call and stays."""
    body = f'printf "%s\\n" "$HERMES_HOME" "$PWD" "$@" >> {tmp_path}/called\nexec sleep 600'
    program = script(tmp_path / "bin" / "hermes", body)
    location = locate_file(hermes_home / "state.db")
    with Store(location.path).reader() as reader:
        made = plan_resume(reader, location, QUIET, 1.8e9)
    return replace(made, executable=str(program))


def stand_in(folder, name, out="", code=0):
    """A program that writes down its words, one JSON list a line."""
    log = folder / f"{name}.log"
    write = "import json,sys; print(json.dumps(sys.argv[2:]), file=open(sys.argv[1], 'a'))"
    call = f'{sys.executable} -c "{write}" {log} "$@"'
    script(folder / name, f"{call}\nprintf '%s' '{out}'\nexit {code}")
    return log


def calls(log):
    """How a stand-in was called."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_the_command_of_the_user(plan, tmp_path, monkeypatch):
    """Its words apart, none of them read by a shell; tmux is not asked where there is none."""
    log = stand_in(tmp_path / "stubs", "wezterm")
    tmux = stand_in(tmp_path / "stubs", "tmux")
    monkeypatch.setenv("PATH", f"{tmp_path}/stubs:{os.environ['PATH']}")
    hostile = replace(plan, argv=(*plan.argv[:3], "--resume=a;b #{x} $(touch y)"))
    assert not go_to(hostile)
    template = "wezterm 'two words' --cwd {folder} --title={title} -- {command}"
    open_window(hostile, template)
    assert not tmux.exists()
    (words,) = calls(log)
    assert words[:3] == ["two words", "--cwd", os.getcwd()] and words[3].startswith("--title=")
    command = words[words.index("--") + 1 :]
    settings = [f"{name}={value}" for name, value in plan.env.items()]
    assert command[0] == "env" and command[2:] == [*settings, plan.executable, *hostile.argv[1:]]


def test_no_tmux_no_program(plan, tmp_path, monkeypatch):
    """A sentence that says what there could be; a program that is missing or fails is one too."""
    with pytest.raises(BrowseError, match="it takes tmux"):
        open_window(plan, WINDOW)
    log = stand_in(tmp_path / "stubs", "kitty", code=1)
    monkeypatch.setenv("PATH", f"{tmp_path}/stubs:{os.environ['PATH']}")
    with pytest.raises(BrowseError, match="kitty opened no window: it ended with 1"):
        open_window(plan, "kitty {command}")
    assert log.exists()
    script(tmp_path / "stubs" / "foot", "kill -KILL $$")
    with pytest.raises(BrowseError, match="foot opened no window: it was stopped by SIGKILL"):
        open_window(plan, "foot {command}")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("TMUX", "x,1,0")
    assert not go_to(plan)
    for template in (WINDOW, "wezterm {command}"):
        with pytest.raises(BrowseError, match="No such file"):
            open_window(plan, template)


def test_a_terminal_that_stays_is_the_window(plan, tmp_path, monkeypatch):
    """It is left running, in a session of its own; nobody waits for what has its output open."""
    monkeypatch.setattr(resuming, "_PATIENCE", 0.5)
    monkeypatch.setenv("PATH", f"{tmp_path}/stubs:{os.environ['PATH']}")
    script(tmp_path / "stubs" / "xterm", f'echo $$ > {tmp_path}/pid\nshift\nexec "$@"')
    open_window(plan, "xterm -e {command}")
    until((tmp_path / "called").exists)
    pid = int((tmp_path / "pid").read_text())
    assert os.getsid(pid) == pid != os.getsid(0)
    os.kill(pid, signal.SIGTERM)
    script(tmp_path / "stubs" / "konsole", f"sleep 600 &\necho $! > {tmp_path}/pid\nexit 0")
    monkeypatch.setattr(resuming, "_PATIENCE", 60)
    begun = time.monotonic()
    open_window(plan, "konsole -e {command}")
    assert time.monotonic() - begun < 30
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)


@pytest.fixture
def tmux(tmp_path):
    """A tmux server of our own."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("there is no tmux")
    socket = tmp_path / "tmux"

    def run(*words):
        ended = subprocess.run(
            [program, "-S", str(socket), "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return ended.stdout.strip()

    yield run
    run("kill-server")


@pytest.fixture
def inside(tmux, tmp_path, monkeypatch):
    """We are in the first window of the server."""
    tmux("new-session", "-d", "-s", "first", "-x", "120", "-y", "36", "sleep 600")
    pane, pid = tmux("display-message", "-p", "-t", "first", "#{pane_id} #{pid}").split()
    monkeypatch.setenv("TMUX", f"{tmp_path}/tmux,{pid},0")
    monkeypatch.setenv("TMUX_PANE", pane)


def test_tmux_opens_and_finds_its_window(plan, tmux, inside, tmp_path, monkeypatch):
    """One window for a conversation: the second time it is gone to; what a title or an id holds is
    never run."""
    folder = tmp_path / "a #{pid} folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert not go_to(plan)
    hostile = replace(
        plan, argv=(*plan.argv[:3], f"--resume=x #(touch {tmp_path}/run) $(touch {tmp_path}/run);")
    )
    open_window(hostile, WINDOW)
    until((tmp_path / "called").exists, lambda: tmux("list-windows"))
    until(
        lambda: (tmp_path / "called").read_text().endswith(";\n"),
        lambda: (tmp_path / "called").read_text(),
    )
    home, where, *words = (tmp_path / "called").read_text().splitlines()
    assert (home, where, words) == (plan.env["HERMES_HOME"], str(folder), list(hostile.argv[1:]))
    assert tmux("list-windows", "-F", "#{window_active}").splitlines() == ["0", "1"]
    tmux("select-window", "-t", "first:0")
    assert go_to(plan)
    assert tmux("list-windows", "-F", "#{window_active}").splitlines() == ["0", "1"]
    other = replace(plan, env={"HERMES_HOME": "/another"})
    assert not go_to(other), "the same id in another home is another conversation"
    assert not (tmp_path / "run").exists()


def test_tmux_tells_that_hermes_ended_at_once(plan, tmux, inside, monkeypatch):
    """Instead of saying that it is there."""
    before = subprocess.run

    def slowly(words, **settings):
        if "list-panes" in words:
            until(lambda: len(tmux("list-windows").splitlines()) == 1, lambda: tmux("list-windows"))
        return before(words, **settings)

    monkeypatch.setattr(subprocess, "run", slowly)
    with pytest.raises(BrowseError, match="ended at once"):
        open_window(replace(plan, executable="/bin/false"), WINDOW)


@pytest.mark.slow
def test_the_key_in_a_browser_in_tmux(
    plan,
    hermes_home,
    tmux,
    tmp_path,
    monkeypatch,
):
    """w opens Hermes beside the browser, which stays; w again goes there."""
    folder = str(Path(plan.executable).parent)
    path = f"PATH={folder}:{os.environ['PATH']}"
    program = ["env", path, sys.executable, "-m", "hermes_browse.tui", "--home", str(hermes_home)]
    tmux("new-session", "-d", "-s", "one", "-x", "120", "-y", "36", *program)

    def screen():
        return tmux("capture-pane", "-p", "-t", "one:0")

    until(lambda: "shown" in screen() and "search:" in screen(), screen)
    tmux("send-keys", "-t", "one:0", "/")
    tmux("send-keys", "-t", "one:0", "-l", "walrus")
    until(lambda: "kept walrus answer" in screen(), screen)
    tmux("send-keys", "-t", "one:0", "Down", "Enter")
    time.sleep(1)
    tmux("send-keys", "-t", "one:0", "w")
    until(lambda: "in a new window" in screen(), screen)
    until((tmp_path / "called").exists, screen)
    assert f"--resume={QUIET}" in (tmp_path / "called").read_text()
    tmux("select-window", "-t", "one:0")
    tmux("send-keys", "-t", "one:0", "w")
    until(lambda: "it is in front now" in screen(), screen)
    assert tmux("list-windows", "-t", "one", "-F", "#{window_active}").splitlines() == ["0", "1"]


@pytest.mark.slow
async def test_the_sample_store_has_nothing_to_resume(browser):
    """As with Enter."""
    await browser.press("w")
    assert isinstance(browser.app.screen, PreflightCard)
    assert "This is the sample store: there is nothing to resume." in browser.card()
