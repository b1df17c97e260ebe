"""`--host` and `--all-hosts` with a key that may only serve, at a real `sshd`."""

import json

import pytest
from commandline import call
from real_sshd import NEEDS, RESTRICTED, machine
from user_config import write_config

pytestmark = [*NEEDS, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A machine with the store of a Hermes 0.19."""
    with machine(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def unchanged(server):
    """The machine, all of whose files must be what they were."""
    before = server.files()
    yield server
    assert server.files() == before


def _configure(server, key):
    host = server.host(key)
    quoted = [json.dumps(each) for each in (host.name, host.ssh, host.command)]
    write_config("[[hosts]]\nname = {}\nssh = {}\ncommand = {}\n".format(*quoted))


@pytest.mark.parametrize("key", RESTRICTED)
def test_commands_with_a_restricted_key(unchanged, key, tmp_path):
    """What is answered over the connection works; the others say in one sentence that the key only
    serves."""
    _configure(unchanged, key)
    newest = call("--host vps list --json").document["conversations"][0]["id"]
    written = tmp_path / "written.md"
    for words in (
        *("list", "search the", "stats", "trash list", "prune --older-than 1d"),
        *(f"show {newest}", f"lineage {newest}", f"export {newest} --force --output {written}"),
    ):
        ended = call("--host vps", *words.split(), "--json")
        assert ended.code == 0 and ended.document["hosts"][0]["answered"], (words, ended.err)
        assert call("--host vps", *words.split()).code == 0
    assert written.read_text().startswith("---")
    for words in ("list", "search the", "stats"):
        ended = call("--demo", *words.split(), "--all-hosts", "--json")
        assert ended.code == 0 and ended.document["hosts"] == [
            {"name": "vps", "answered": True, "error": None}
        ]
    for form in ([], ["--json"]):
        ended = call("--host vps doctor", *form)
        assert (ended.code, ended.out) == (3, "") and "may only serve" in ended.err
        assert ended.err.count("\n") == 1
    ended = call("--host vps --profile other list")
    assert (ended.code, ended.out) == (3, "") and "“default”, not “other”" in ended.err
    if key == "read":
        ended = call("--host vps archive", newest)
        assert ended.code == 5 and "--allow-changes" in ended.err
        assert call("--host vps since --json").document["new"] == [], "it keeps no marks"


def test_a_key_whose_program_does_not_know_what_was_asked(unchanged):
    """Its greeting instead of the output says that it only serves."""
    _configure(unchanged, "sudo")
    assert call("--host vps list").code == 0
    for form in ([], ["--json"]):
        ended = call("--host vps doctor", *form)
        assert (ended.code, ended.out) == (3, "") and "may only serve" in ended.err


@pytest.mark.parametrize(
    "key, rights", [("read", "read; it changes nothing there"), ("change", "read and change")]
)
def test_a_check_says_what_the_key_may_do(unchanged, key, rights):
    """Before anybody tries a change, and finds out."""
    _configure(unchanged, key)
    ended = call("hosts check vps")
    assert f"rights: {rights}\n" in ended.out and "resuming fails there" in ended.err
    document = call("hosts check vps --json").document
    assert document["rights"] == (["read"] if key == "read" else ["read", "change"])
