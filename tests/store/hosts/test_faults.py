"""What can go wrong with a host, each with the real ssh client against a server of our own."""

import socket
import struct
import subprocess
import threading
import time

import pytest
from asking import ASKING, HELLO, SILENT, asked, failure, remote
from effort import slow_but
from platforms import needs_proc, python, until

from hermes_browse.store.api import open_store
from hermes_browse.store.hosts import codec, connection
from hermes_browse.store.hosts import remote as remote_store
from hermes_browse.store.hosts.codec import PROTOCOL
from hermes_browse.store.hosts.connection import PROGRESS_BYTES, AnswerLine, Link
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.hosts.ssh import run_once
from hermes_browse.store.sessions.models import Session
from hermes_browse.store.sessions.session_rows import SessionsPortion

# Not reached


def test_a_machine_that_is_down(one, server):
    """It says so; when it is back, the next question after a while connects."""
    server.stop()
    error = failure(one)
    assert error.code == "host-down" and "Connection refused" in str(error)
    server.start()
    assert failure(one) is error  # at once, without an attempt
    assert server.proxy.connections == 0
    assert one.open(at_once=True).path.endswith("state.db")


def test_it_connects_again_after_a_while(one, server, monkeypatch):
    """By itself, with the next question."""
    monkeypatch.setattr(connection, "RETRY_SECONDS", 0.0)
    assert asked(one)
    server.stop()
    until(lambda: one.error is not None)
    assert one.error is not None and one.error.code == "host-lost"
    assert failure(one).code == "host-down"
    server.start()
    assert asked(one)


def test_a_login_that_is_refused(one, server):
    """It says how to log in, and never asks."""
    server.refuses = True
    error = failure(one)
    assert error.code == "host-login" and f"ssh-copy-id {server.host.ssh}" in error.remedy
    assert error.remedy.endswith("`hermes-browse hosts check vps` says more.")


def test_a_server_that_hangs_up_at_once(server):
    """It says so, whatever ssh was about to do: nothing was connected that could be lost."""
    server.stop()
    with socket.create_server(("127.0.0.1", server.port)) as listener:

        def hang_up(seconds):
            caller, _address = listener.accept()
            time.sleep(seconds)
            caller.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )  # a reset
            caller.close()

        for number in range(30):
            hanging = threading.Thread(target=hang_up, args=(number * 0.0001,))
            hanging.start()
            error = failure(Link(server.host))
            hanging.join(120)
            assert error.code == "host-down", error
            assert "closed the connection before the login" in str(error)
            assert "Connection reset" in str(error) or "Connection closed" in str(error)


@pytest.mark.parametrize("before", slow_but(["the hello"], ["the login", "the hello"]))
def test_a_machine_that_hangs(links, server, monkeypatch, before):
    """Everybody who waits learns it at the time limit, and ssh does not stay."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 1.0)
    server.proxy.frozen = before == "the login"
    host = server.host if server.proxy.frozen else server.host._replace(command="sleep 100 #")
    one = links.of(host)
    errors = []
    asking = [threading.Thread(target=lambda: errors.append(failure(one).code)) for _ in range(3)]
    for each in asking:
        each.start()
    until(lambda: one.connection)
    assert one.connection is not None and one.connection.ssh is not None
    ssh = one.connection.ssh
    for each in asking:
        each.join(120)
    assert errors == ["host-silent"] * 3
    assert ssh.wait() is not None


@pytest.mark.slow
def test_a_machine_that_falls_silent(one, server):
    """An answer does not come: the connection is given up, and the next one works."""
    one.open()
    server.proxy.frozen = True
    with pytest.raises(HostError) as caught:
        list(one.send("state").lines(0.3))
    assert caught.value.code == "host-silent"
    server.proxy.frozen = False
    assert one.open(at_once=True) and asked(one)


@pytest.mark.slow
def test_progress_without_end(running):
    """It is no answer: a read is given up at its time limit, and a command has no progress."""
    said = """while printf '{"id": 1, "tell": 0.5}\n{"id": 2, "tell": 0.5}\n'; do :; done #"""
    one = running(HELLO + said)
    question = one.send("state")
    with pytest.raises(HostError) as caught:
        for line in question.lines(0.5):
            assert line.kind == "tell"
    assert caught.value.code == "host-silent"
    one.open(at_once=True)
    assert failure(one).code == "host-noise"


# What comes back


def test_a_message_of_the_day_and_noise_are_skipped(one, server):
    """Whatever a login shell prints before the program, JSON and control characters included."""
    server.noise = [
        b"Welcome!\n\x1b[2J\xff\n",
        b'{"id": 1}\n[1]\n{"hello": 5}\n',
        b"no end of line \n",
    ]
    assert asked(one)


_MANY = "head -c 110000000 /dev/zero | tr '\\0' "


NOISE = {
    "one line": (f"{_MANY} x #", 4),
    "empty lines": (f"{_MANY} '\\n' #", 4),
    "numbers": (f"{_MANY} 1 | fold -w 4000 #", 4),
    "one line as an answer": (f"{HELLO} {_MANY} x #", 60),
    "empty lines as answers": (f"{HELLO} {_MANY} '\\n' #", 4),
    "numbers as answers": (f"{HELLO} {_MANY} 1 | fold -w 4000 #", 4),
}
"""A command, and the megabytes that are fewer than what is kept of it."""


@needs_proc
@pytest.mark.parametrize("kind", slow_but(["one line"], NOISE))
def test_a_hundred_megabytes_of_noise(server, kind):
    """They are not kept, and nothing that follows is believed. Memory is that of a process of its
    own."""
    command, megabytes = NOISE[kind]
    code = ASKING + (
        "before = peak()\n"
        "try: HostConnection(one).call('state', {})\n"
        "except HostError as error: print(error.code, len(str(error)))\n"
        "print(peak() - before)\n"
    )
    host = server.host._replace(command=command)
    said, length, grown = python(code, *host).split()
    assert said == "host-noise" and int(length) < 300
    assert float(grown) < megabytes
    until(lambda: server.alive() == [])


_ANSWER = """read -r l; printf '{"id": 1, "answer": '; head -c %d /dev/zero | tr '\\0' x | sed 's/x/%s/g'"""


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "before", "count", "each", "after"),
    [
        ("system_prompt", '"😀', 15_900_000, "y", '"'),
        ("vocabulary", '{"source":["a"', 399_000, ',"éé"', "]}"),
        ("facts", '{"a":[[]', 900_000, ",[]", "]}"),
        ("facts", '{"a":[[0.5', 1_900_000, ",0.5", "]]}"),
    ],
    ids=["an emoji makes a text wide", "short texts", "empty lists", "numbers"],
)
def test_no_answer_takes_memory_without_bound(server, call, before, count, each, after):
    """The largest line of each kind, with all that is made of it."""
    said = _ANSWER % (count, each.replace("/", "\\/"))
    command = (
        HELLO
        + said.replace('"answer": ', f'"answer": {before}')
        + f"; printf '{after}}}\\n'; cat #"
    )
    values = {"facts": {"of_tools": False, "sizes": False}}.get(call, {"session_id": "s"})
    code = ASKING + (
        "from hermes_browse.store.hosts import codec\n"
        f"connection, types = HostConnection(one), codec.signature({call!r})\n"
        "one.open()\n"
        "before = peak()\n"
        f"try: connection.ask({call!r}, {values})\n"
        "except HostError as error: pass\n"
        "print(peak() - before)\n"
    )
    host = server.host._replace(command=command)
    assert 15 < float(python(code, *host)) < 200


def test_lines_that_wait_to_be_read_are_few(running):
    """Of progress there is room for a little, and nothing is kept behind an answer."""
    one = running(SILENT)
    question = one.send("state")
    for _number in range(100):
        question.heard(AnswerLine("tell", b"0.5"))
    question.heard(AnswerLine("portion", b" " * (PROGRESS_BYTES + 1)))
    connection = one.connection
    assert connection is not None
    for _number in range(3):
        connection._heard(b'{"id": 1, "answer": 1}')
    kinds = [line.kind for line in question.lines(60.0)]
    assert len(kinds) <= 21 and kinds[-1] == "answer" and question._lines.empty()


@pytest.mark.parametrize("sessions", [[], [Session("s", "cli")]], ids=["empty", "full"])
def test_a_list_without_end(running, monkeypatch, sessions):
    """It is given up."""
    monkeypatch.setattr(remote_store, "_LIST_BYTES", 2_000)
    portion = codec.encode(SessionsPortion(sessions, 7)).decode()
    said = f"""n=0; while read -r l; do n=$((n + 1)); printf '{{"id": %d, "answer": %s}}\n' $n '{portion}'; done #"""
    store = open_store(remote(running(HELLO + said)))
    with pytest.raises(HostError, match="more than was asked for" if sessions else "not an answer"):
        store.catalog(0.0)


def test_ssh_is_ended_before_anyone_learns_of_the_error(running, server, monkeypatch):
    """Whoever gets the error may end the program at once, and ssh would stay behind."""
    ended, terminate = list[int](), subprocess.Popen.terminate

    def end_late(process):
        time.sleep(0.3)
        terminate(process)
        ended.append(process.pid)

    monkeypatch.setattr(subprocess.Popen, "terminate", end_late)
    failure(running(f"{HELLO} echo #"))
    assert ended
    until(lambda: server.alive() == [])


@pytest.mark.slow
def test_a_machine_that_dies_in_the_middle_of_a_line(one, server):
    """What came is no answer."""
    one.open()
    server.cut_at = b'"answer": ['
    assert failure(one).code == "host-lost"
    assert one.open(at_once=True) and asked(one)


NOLOGIN = "This account is currently not available."
"""What nologin(8) prints, on standard output."""
OTHER = HELLO.replace(f'"protocol": {PROTOCOL}', '"protocol": 1')
ENDS = [
    ("kill -9 $$ #", "host-lost", ""),
    ("exit 0 #", "host-lost", ""),
    (HELLO + "exit 1 #", "host-lost", ""),
    (HELLO + "kill -9 $$ #", "host-lost", ""),
    (f"echo '{NOLOGIN}'; exit 1 #", "host-refused", f"vps: {NOLOGIN}"),
    (OTHER + "cat >/dev/null #", "host-version", "too old for this (9.9)"),
    ("echo unrecognized >&2; exit 2 #", "host-version", "too old for this (unrecognized)"),
]


@pytest.mark.parametrize(("command", "code", "said"), ENDS)
def test_a_program_that_dies_or_is_another(running, command, code, said):
    """It is a lost connection, unless it said why; one with other calls is asked nothing."""
    error = failure(running(command))
    assert error.code == code and said in error.sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "[]",
        "[[]]",
        "7",
        "null",
        '["ab", 1, 2, []]',
        "[1, 2, 3, [4]]",
        "[1, 2, 3, [], 5]",
        "[1e999, 2, 3, []]",
        "[1, 2, 3, [",
        "{}",
    ],
)
def test_an_answer_of_another_type(running, answer):
    """It is said that it is none."""
    said = f"""n=0; while read -r l; do n=$((n + 1)); printf '{{"id": %d, "answer": %s}}\n' $n '{answer}'; done #"""
    one = running(HELLO + said)
    assert failure(one).code == "host-noise"


def test_no_store_there(links, ssh_server, tmp_path):
    """It says where there is none."""
    home = tmp_path / "empty"
    home.mkdir()
    store = remote(links.of(ssh_server(home).host))
    with pytest.raises(HostError) as caught:
        open_store(store).state()
    assert caught.value.code == "host-refused" and str(home / "state.db") in str(caught.value)
    assert "--demo" not in str(caught.value) and 'home = "/path"' in caught.value.remedy


@pytest.mark.slow
def test_no_such_profile_there(links, server):
    """What the program there said before it ended is passed on."""
    error = failure(links.of(server.host._replace(profile="nobody")))
    assert error.code == "host-refused" and "nobody" in str(error)


def test_no_ssh_here(one, monkeypatch, tmp_path):
    """A sentence that says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    error = failure(one)
    assert error.code == "host-ssh" and "not installed" in str(error)


@pytest.mark.slow
def test_a_line_that_prints_nothing_is_given_up(server):
    """However long it may take as long as it prints."""
    chatty = "for each in 1 2 3 4 5 6; do sleep 0.3; echo $each; done"
    assert run_once(server.host, chatty, 1.2).stdout.split()[-1] == "6"
    for silent in ("echo begun; sleep 600", "while sleep 0.3; do echo begun >&2; done"):
        with pytest.raises(HostError) as caught:
            run_once(server.host, silent, 1.2)
        assert caught.value.code == "host-silent"
