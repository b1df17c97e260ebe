"""Connections to hosts: several askers at once, processes, with the real ssh client; and what is told
of their end."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading

import pytest
from asking import ASKING, HELLO, SILENT, asked, failure
from commandline import copy_store
from platforms import script, until

from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.hosts.host import Host, HostError, explain
from hermes_browse.store.hosts.remote import HostConnection

# Several at once


def test_questions_are_cancelled(running):
    """Whoever waits goes on at once."""
    connection = HostConnection(running(SILENT))
    threading.Timer(0.5, connection.interrupt).start()
    with pytest.raises(QueryInterruptedError):
        connection.call("state", {})


def test_a_host_that_reads_nothing_keeps_nobody_waiting(running, links):
    """Questions and their cancelling come from the screen as well."""
    one = running(HELLO + "sleep 600 #")
    one.open()

    def ask():
        for _number in range(2):
            one.send("state", b'"' + b"x" * 8_000_000 + b'"').cancel()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(10)
    assert not asking.is_alive()
    assert one.connection is not None and one.connection.ssh is not None
    links.close()
    assert one.connection.ssh.wait() is not None


def test_a_connection_is_closed_while_others_wait(running, links, server):
    """They get an error, and later questions do not open it again."""
    one = running(SILENT)
    one.open()
    errors = []

    def wait():
        with pytest.raises(HostError) as caught:
            asked(one)
        errors.append(caught.value.code)

    waiting = [threading.Thread(target=wait) for _ in range(3)]
    for each in waiting:
        each.start()
    until(lambda: one.connection is not None and len(one.connection.asked) == 3)
    links.close()
    for each in waiting:
        each.join(120)
    assert errors == ["host-lost"] * 3
    assert failure(one).code == "host-lost"
    until(lambda: server.alive() == [])


def test_an_error_that_is_told_often_does_not_grow(links):
    """One object is raised for each question while a host is away."""
    one = links.of(Host("vps", "-F none nobody.invalid"))
    errors = [failure(one) for _ in range(20)]
    depth, trace = 0, errors[-1].__traceback__
    while trace is not None:
        depth, trace = depth + 1, trace.tb_next
    assert depth < 8


# Processes


@pytest.mark.slow
def test_the_users_own_configuration_does_not_keep_ssh_alive(one, links, server):
    """Nor does it lend anything to the host: sharing, persistence, forwarding and commands of
    theirs are not for us."""
    with socket.socket() as taken, (server.folder / "config").open("a") as config:
        taken.bind(("127.0.0.1", 0))
        config.write(
            "  ControlMaster auto\n  ControlPersist yes\n  ExitOnForwardFailure yes\n  LogLevel QUIET\n"
        )
        config.write(
            f"  LocalForward {taken.getsockname()[1]} 127.0.0.1:1\n  RemoteCommand echo no\n"
        )
    assert asked(one)
    assert one.connection is not None and one.connection.ssh is not None
    ssh = one.connection.ssh
    links.close()
    assert ssh.wait() is not None
    until(lambda: server.alive() == [])
    running = subprocess.run(
        ["ps", "-Awwo", "args="], capture_output=True, text=True, check=True
    ).stdout
    assert str(server.folder / "config") not in running


@pytest.mark.slow
def test_an_ssh_that_is_a_script_ends_too(one, links, server, monkeypatch, tmp_path):
    """The script is told to end, and what it has started sees the end of its input."""
    ssh = script(tmp_path / "bin" / "ssh", f'{shutil.which("ssh")} "$@"\nexit $?')
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    assert asked(one)
    links.close()
    until(lambda: server.alive() == [])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_both_ends_end_with_ours(server, number):
    """However that ends: ssh here, the program there."""
    code = (
        ASKING + "one.open()\nprint(one.connection.ssh._process.pid, flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", code, *server.host]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ours:
        ssh = int(ours.stdout.readline())
        assert len(server.alive()) == 1
        ours.send_signal(number)
        assert ours.wait(120) == -number
    until(lambda: server.alive() == [])

    def has_ended():
        shown = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(ssh)], capture_output=True, text=True
        ).stdout
        return not shown.strip() or shown.startswith("Z")

    until(has_ended)


_MANY_AT_ONCE = """
import sys, threading, time
from hermes_browse.store import open_store
from hermes_browse.store.hosts import codec
sys.setswitchinterval(1e-6)
with open_store(sys.argv[1]) as store:
    answers = {
        "sessions_after": store.sessions_after(None),
        "first_page": store.first_page(time.time()),
        "with_details": store.with_details(store.conversations()),
    }
lines = [(codec.signature(name).answer, codec.encode(answer)) for name, answer in answers.items()]
begin = threading.Barrier(8)

def decode(number):
    begin.wait()
    for kind, line in (*lines[number % 3 :], *lines[: number % 3]):
        codec.decode(line, kind)

threads = [threading.Thread(target=decode, args=(number,)) for number in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


@pytest.mark.slow
def test_first_answers_of_many_hosts_at_once(tmp_path):
    """Threads that look at a type for the first time together could crash the process."""
    path = copy_store("state-v31", tmp_path)
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", _MANY_AT_ONCE, path], check=False)
        assert ended.returncode == 0


# Their end


@pytest.mark.parametrize(
    ("code", "said", "broken"),
    [
        (127, "bash: line 1: hermes-browse: command not found", False),
        (127, "sh: 1: hermes-browse: not found", False),
        (127, "fish: Unknown command: hermes-browse", False),
        (1, "hermes-browse: Command not found.", False),  # tcsh
        (
            126,
            "bash: line 1: /x/hermes-browse: /x/python: bad interpreter: No such file or directory",
            True,
        ),
        (127, "bash: line 1: /x/hermes-browse: cannot execute: required file not found", True),
        (
            127,
            "zsh:1: /x/hermes-browse: bad interpreter: /x/python: no such file or directory",
            True,
        ),
        (126, "sh: 1: /x/hermes-browse: Permission denied", True),
    ],
)
def test_words_of_shells_about_a_program(code, said, broken):
    """One that is not there is told from one that cannot be run."""
    error = explain(Host("vps", "vps"), code, f"Welcome\n{said}\n", has_greeted=False)
    assert error.code == "host-program" and ("cannot be run" in error.sentence) is broken
    assert (said in error.sentence) is broken


def test_words_of_a_login_do_not_explain_a_lost_connection():
    """What `.bashrc` printed as an error before the program began."""
    said = "cat: /etc/motd: Permission denied\nclient_loop: send disconnect: Broken pipe\n"
    assert explain(Host("vps", "vps"), 255, said, has_greeted=True).code == "host-lost"
    assert explain(Host("vps", "vps"), 255, said, has_greeted=False).code == "host-login"
