"""A key that may only serve, at a real `sshd`: no shell, no file, no other store; and no change
without the right."""

import json
from collections.abc import Sequence

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_sshd import NEEDS, RESTRICTED, SECRET, machine

from hermes_browse.store.api import open_store
from hermes_browse.store.call import CALLS
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hosts.codec import signature
from hermes_browse.store.hosts.remote import RemoteStore, locate_there

pytestmark = NEEDS
KINDS = ("RefusedError", "NotFoundError", "ValueTooLongError")
"""Errors of a question that is wrong."""
READS = [name for name, each in CALLS.items() if not each.is_write]
CHANGES = [name for name, each in CALLS.items() if each.is_write]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A machine with the store of a Hermes 0.19, another store, and a secret."""
    with machine(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def unchanged(server):
    """The machine, all of whose files must be what they were."""
    before = server.files()
    yield server
    assert server.files() == before


def hostile(server):
    """Texts that would mean something to a shell, a parser of options, or whatever opens files."""
    elsewhere = server.elsewhere
    return [
        f"{elsewhere}/state.db",
        f"{elsewhere}/secret",
        f"file:{elsewhere}/state.db?mode=rw",
        f"--home={elsewhere}",
        f"--db={elsewhere}/state.db",
        "--profile=other",
        f"--output={server.folder}/home/written",
        "--yes",
        "--help",
        "../../elsewhere/state.db",
        "../profiles/other",
        "/etc/passwd",
        "~/.ssh/authorized_keys",
        f"$(touch {server.folder}/home/written)",
        f"; touch {server.folder}/home/written #",
        f"| tee {server.folder}/home/written",
        "{0.__class__}",
        "%s%n",
        "\x1b]0;x\x07",
        "",
    ]


COMMAND_LINES = [
    "id",
    "sh",
    "bash -i",
    "cat /etc/passwd",
    "hermes-browse --demo list",
    "scp -t /tmp",
    "true; serve x",
]


@pytest.mark.slow
@pytest.mark.parametrize("key", RESTRICTED)
def test_no_command_line_runs(unchanged, key):
    """Nor a terminal, nor the transfer of files, nor a forwarded port; each ends with the same
    clear sentence."""
    for line in COMMAND_LINES:
        ended = unchanged.ssh(key, line)
        assert (ended.returncode, ended.stdout) == (5, ""), line
        assert (
            ended.stderr.count("\n") == 1 and "This key may only serve the browser" in ended.stderr
        )
    ended = unchanged.ssh(key, "sftp", before=("-s",))
    assert (ended.returncode, ended.stdout) == (
        5,
        "",
    )  # sshd passes nothing on that a subsystem says
    ended = unchanged.ssh(key, "sh", before=("-tt",))
    assert ended.returncode in (5, 255) and ended.stdout == ""
    ended = unchanged.ssh(key, before=("-W", f"127.0.0.1:{unchanged.port}"))
    assert ended.returncode != 0 and "SSH-2" not in ended.stdout
    ended = unchanged.ssh("any", "echo", "a shell")
    assert ended.stdout == "a shell\n", "a key without the line has one, so this test could fail"


@pytest.mark.slow
@pytest.mark.parametrize("key", RESTRICTED)
def test_the_line_decides_and_not_who_asks(unchanged, key):
    """Whatever is added to the command line, the store and the rights are those of the line."""
    for line in (
        "hermes-browse serve --stdio --allow-changes",
        f"hermes-browse --home {unchanged.elsewhere} serve --stdio",
        f"hermes-browse --profile other serve --stdio --allow-changes; cat {unchanged.elsewhere}/secret",
    ):
        ended = unchanged.ssh(key, line)
        if line.endswith("secret"):
            assert (ended.returncode, ended.stdout) == (5, "")
            continue
        hello = json.loads(ended.stdout.splitlines()[0])["hello"]
        assert hello["path"] == str(unchanged.home / "state.db")
        assert hello["rights"] == (["read"] if key == "read" else ["read", "change"])


REMOVED = [
    {"argv": ["list", "--json"]},
    {"argv": ["export", "--output", "/tmp/x", "--force", "--", "x"]},
    {"argv": ["serve", "--stdio"]},
    {"argv": ["config", "init"], "channel": 1},
    {"call": "list"},
    {"ask": None},
    {"ask": ["state"]},
    {"ask": {"name": "state"}},
    {"ask": "state", "with": []},
    {"ask": "state", "with": "--home /"},
    {"run": "id"},
    {},
]


NO_CALLS = ("config init", "serve", "open", "known_sessions", "__class__", "LIST", "list ", "")
NO_ARGUMENTS = (
    *("home", "db", "host", "path", "argv", "trash", "store", "sessions_folder"),
    *("location", "self", "catalog", "known"),
)


@pytest.mark.slow
@pytest.mark.parametrize("key", RESTRICTED)
def test_only_what_is_on_the_list_is_answered(unchanged, key):
    """A command line, a nested `serve`, a call or an argument of another name: each is refused with
    a sentence."""
    with unchanged.asking(key) as far:
        for question in REMOVED:
            assert far.ask(**question)["error"], question
        for name in NO_CALLS:
            answer = far.call(name, {})
            assert "There is no call" in answer["error"][1], name
        for name in CALLS:
            for argument in NO_ARGUMENTS:
                answer = far.call(name, {argument: "x"})
                said = answer["error"][1]
                is_denied = name in CHANGES and key == "read" and "only read" in said
                assert "unknown field" in said or argument == "sessions" or is_denied, name


TEXTLESS = {"begin_marks", "mark_all_read"}
"""Changes without a text: they set the read marks of that machine."""


@pytest.mark.slow
@pytest.mark.parametrize("key", RESTRICTED)
def test_no_text_names_a_file_or_another_store(unchanged, key):
    """Paths, options and shell code in every argument are words that nothing is called."""
    heard = bytearray()
    with unchanged.asking(key) as far:
        for text in hostile(unchanged):
            for name in CALLS.keys() - TEXTLESS:
                parameters = signature(name).parameters
                values = {
                    each: [text] if "Sequence" in str(kind) else text
                    for each, kind in parameters.items()
                    if kind is str or kind == Sequence[str]
                }
                values |= {each: 0.0 for each, kind in parameters.items() if kind is float}
                answer = far.call(name, values)
                kinds = (*KINDS, "BundleNotFoundError", "TitleError", "StoreRefusedError")
                assert "answer" in answer or answer["error"][0] in kinds, (name, text, answer)
                if name in CHANGES and name != "check_index":
                    assert "error" in answer, (name, text, answer)
                if name in CHANGES and key == "read":
                    assert "--allow-changes" in answer["error"][1], (name, answer)
        heard += far.heard
    assert SECRET.encode() not in heard and b"root:x:" not in heard and b"ssh-ed25519" not in heard


@pytest.mark.slow
def test_a_key_that_only_reads_changes_nothing(unchanged):
    """Each change is refused there, and the sentence names what would allow it. Reading works."""
    with unchanged.asking("read") as far:
        newest = far.call("last", {})["answer"]
        for name in CHANGES:
            values = {
                "session_ids": [newest],
                "session_id": newest,
                "typed": "changed",
                "name": "2",
            }
            types = signature(name).parameters
            own = {each: value for each, value in values.items() if each in types}
            error = far.call(name, own)["error"]
            assert error[0] == "RefusedError" and "--allow-changes" in error[1], name
        assert "no call" in far.ask(sql="SELECT 1")["error"][1]
        assert far.call("state", {})["answer"][2] == 60


@pytest.mark.slow
def test_the_browser_with_each_key(links, server):
    """With the right it changes the store and undoes that; without, it says why not; the hello has
    said so."""
    link = links.of(server.host("read"))
    store = RemoteStore(link, locate_there(link).path)
    assert link.open().rights == ("read",)
    newest = open_store(store).last()
    with pytest.raises(RefusedError, match=r"^vps: .*may only read: .*--allow-changes"):
        open_store(store).archive([newest])
    for key in ("change", "any"):
        link = links.of(server.host(key)._replace(name=key))
        store = RemoteStore(link, locate_there(link).path)
        with open_store(store) as opened:
            renamed = opened.rename(newest, "a new; $(title) 'of' mine")
            assert renamed.rows[-1].after["title"] == "a new; $(title) 'of' mine"
            for change in (opened.archive([newest]), renamed):
                assert change.sentence.endswith(f" on {key}")
                assert newest in opened.undo(change).session_ids
            deleted = opened.delete([newest])
            assert newest in deleted.bundle.sessions
            assert deleted.bundle.name in {each.name for each in opened.deletions()}
            restored = opened.restore(deleted.bundle.name)
            assert newest in restored.sessions and restored.verified
            assert opened.check_index() == ()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
def test_arguments_of_any_type(unchanged):
    """Each question has one answer, and none a failure that nobody expected; the program goes
    on."""
    with unchanged.asking("read") as far:
        arguments = sorted({each for one in READS for each in signature(one).parameters})

        @given(
            st.sampled_from(sorted(READS)),
            st.dictionaries(st.sampled_from(arguments), VALUES, max_size=4) | VALUES,
        )
        @settings(max_examples=examples(500), suppress_health_check=list(HealthCheck))
        def reads(name, values):
            answer = far.call(name, values)
            assert "answer" in answer or answer["error"][0] in KINDS, answer

        reads()
        assert far.call("state", {})["answer"]
