"""The throw-away SSH server itself: what other tests rely on."""

import shlex
import subprocess

import pexpect

from hermes_browse.store.hosts.host import ssh_command


def _ssh(server, line, text=""):
    done = subprocess.run(
        ssh_command(server.host, line), input=text, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_programs_run_as_under_sshd(ssh_server, hermes_home):
    """Streams and exit codes pass; the program of this environment is found, with the home of the
    server."""
    server = ssh_server(hermes_home)
    assert _ssh(server, "cat; echo no >&2; exit 7", "yes") == (7, "yes", "no\n")
    code, out, _err = _ssh(server, "command -v hermes-browse; echo $HERMES_HOME")
    assert code == 0 and out.splitlines()[1] == str(hermes_home)


def test_a_terminal_has_the_size_of_the_clients(ssh_server, hermes_home):
    """`ssh -t` gives a terminal of its own, whose size follows."""
    server = ssh_server(hermes_home)
    command = ssh_command(
        server.host, "stty size; read line; stty size; echo got $line; exit 3", terminal=True
    )
    child = pexpect.spawn(shlex.join(command), dimensions=(33, 99), encoding="utf-8", timeout=120)
    child.expect("33 99")
    child.setwinsize(20, 70)
    child.sendline("it")
    child.expect("20 70")
    child.expect("got it")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 3


def test_it_dies_and_comes_back(ssh_server, hermes_home):
    """A client ends at once when it dies; on the same port, with the same key, it is the same host
    again."""
    server = ssh_server(hermes_home)
    with subprocess.Popen(
        ssh_command(server.host, "echo up; sleep 60"), stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None and client.stdout.readline() == b"up\n"
        server.stop()
        assert client.wait(120) == 255
    assert server.alive() == []
    assert _ssh(server, "echo up")[0] == 255
    server.start()
    assert _ssh(server, "echo up") == (0, "up\n", "")
