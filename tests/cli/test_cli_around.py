"""`profiles` and `doctor`: several roots and stores, sound and broken ones, and which one is
meant."""

import re
import shlex
import sys

import homes
import pytest
from commandline import ask, call, copy_store, path_with, stub_hermes
from contract import holds
from platforms import forbid

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import RefusedError
from hermes_browse.tui.settings.start import read_start


@pytest.fixture
def root(tmp_path):
    """A root with profiles: sound, broken, empty, without a store, and folders that are none."""
    root = tmp_path / "root"
    root.mkdir()
    homes.profiles(root)
    return root


def test_looking_leaves_no_trace(root):
    """No byte of any file changes, and no file comes, apart from SQLite's own -shm and -wal."""

    def files():
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    before = files()
    for command in (
        "list",
        "list --sort size",
        "search the",
        "profiles",
        "doctor",
        "resume --last --print",
    ):
        for options in ([], ["--profile", "coder"]):
            call("--home", str(root), *options, *command.split())
    after = {
        name: content for name, content in files().items() if not name.endswith(("-shm", "-wal"))
    }
    assert after == before


def test_a_profile_that_refuses_is_named(root, monkeypatch):
    """As one that cannot be read: the others are listed."""
    read = OpenStore.list_page

    def refuse(store, *asked, **options):
        if store.location.profile == "coder":
            raise RefusedError("Not now.")
        return read(store, *asked, **options)

    monkeypatch.setattr(OpenStore, "list_page", refuse)
    ended = call("list --all-profiles --json --home", str(root))
    assert ended.code == 6 and "coder cannot be read: Not now." in ended.err
    assert "coder" in [each["profile"] for each in ended.document["broken"]]
    assert {each["profile"] for each in ended.document["conversations"]} == {"default", "a-b_9"}


@pytest.mark.parametrize(
    "broken, code, said",
    [
        ([], 0, ""),
        (["coder"], 6, "coder cannot be read: state.db is not a session store"),
        (["default", "coder"], 3, "state.db is not a session store"),
    ],
)
def test_how_all_profiles_end(tmp_path, broken, code, said):
    """0 if all that are in use were read, 6 if some were not; 3 if none was, and why one in use was
    not."""
    stores = {
        "default": copy_store("state-v22", tmp_path),
        "coder": copy_store("state-v22", tmp_path / "profiles" / "coder"),
    }
    for name in broken:
        stores[name].write_bytes(b"no database" * 500)
    (tmp_path / "profiles" / "unused").mkdir()
    ended = call("list --all-profiles --limit 1 --json --home", str(tmp_path))
    assert ended.code == code and said in ended.err
    assert "unused" not in ended.err
    if code != 3:
        assert [each["profile"] for each in ended.document["broken"]] == broken


def test_the_commands_that_are_named_are_typed_for_this_store(tmp_path):
    """They run as they stand, also in a folder whose name has a space."""
    path = copy_store("state-v31", tmp_path / "a b")
    for option, value in (("--db", path), ("--home", path.parent)):
        named = f"hermes-browse {option} {shlex.quote(str(value))}"
        (newest,) = ask("list --limit 1", option, str(value))["conversations"]
        line = re.search(
            r"`hermes-browse (.*)` undoes", call(option, str(value), "archive", newest["id"]).out
        )
        assert line is not None and call(*shlex.split(line[1])).code == 0
        line = re.search(
            r"`hermes-browse (.*)` restores",
            call(option, str(value), "delete", newest["id"], "--yes").out,
        )
        assert line is not None and call(*shlex.split(line[1])).code == 0
        assert f"`{named} list` shows ids" in call(option, str(value), "show", "nosuch").err


def test_what_all_profiles_do_not_show_is_counted(root):
    """As of one store."""
    ended = call("list --all-profiles --limit 1 --home", str(root))
    hidden = call("list --all-profiles --limit 1 --json --home", str(root)).document["hidden"]
    assert f" · {hidden['other']:,} others (" in ended.err and hidden["other"]


def test_profiles_that_may_not_be_listed(root, monkeypatch):
    """Their folder stands for them, with the reason; the store of the root is read."""
    forbid(monkeypatch, root / "profiles")
    home = ("--home", str(root))
    assert call("list", *home).code == 0
    ended = call("list --all-profiles --json", *home)
    assert ended.code == 6
    assert "profiles/ cannot be read: profiles cannot be reached: Permission denied." in ended.err
    assert [each["path"] for each in ended.document["broken"]] == [str(root / "profiles")]
    assert {each["profile"] for each in ended.document["conversations"]} == {"default"}
    assert "Permission denied" in call("profiles", *home).out


@pytest.mark.skipif(sys.platform != "linux", reason="folders as named by XDG")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_STATE_HOME"])
def test_a_folder_of_our_own_that_may_not_be_entered(root, tmp_path, monkeypatch, variable):
    """As one that root has made. The browser starts, and what is wrong can be asked for."""
    folder = tmp_path / ("x" * 300)  # root may enter every folder but this
    monkeypatch.setenv(variable, str(folder))
    for command in ("doctor", "config path", "config show", "list"):
        assert call("--home", str(root), *command.split()).code == 0, command
    start = read_start()
    if variable == "XDG_CONFIG_HOME":
        assert start.configuration is not None
        assert "cannot be read" in start.configuration.troubles[0].text


def test_doctor_of_a_sound_store(root, tmp_path, monkeypatch):
    """Whether `hermes` is there, and its version without running it."""
    monkeypatch.setenv("PATH", path_with())
    document = ask("--home", str(root), "doctor")
    assert document["hermes"] is None and "no-hermes" in [
        each["code"] for each in document["problems"]
    ]
    folder = stub_hermes(tmp_path / "env" / "bin", f"touch '{tmp_path}/was-run'")
    monkeypatch.setenv("PATH", path_with(folder))
    found = ask("--home", str(root), "doctor")
    assert found["hermes"] == {"path": str(folder / "hermes"), "version": None}
    (
        tmp_path / "env" / "lib" / "python3.11" / "site-packages" / "hermes_agent-1.2.3.dist-info"
    ).mkdir(parents=True)
    assert ask("--home", str(root), "doctor")["hermes"]["version"] == "1.2.3"
    assert [each["code"] for each in found["problems"]] == []
    assert not (tmp_path / "was-run").exists()
    assert found["search"] | {"messages": 0, "indexed": 0} == {
        "fts5": True,
        "trigram": True,
        "indexed": 0,
        "messages": 0,
    }
    assert found["search"]["indexed"] == found["search"]["messages"] > 0


@pytest.mark.parametrize(
    "content, code",
    [
        (None, "store-missing"),
        (b"", "store-empty"),
        (b"no database" * 500, "store-foreign"),
    ],
)
def test_doctor_of_a_store_that_cannot_be_read(tmp_path, content, code):
    """3, and still the whole document: the problem is in it with its remedy."""
    if content is not None:
        (tmp_path / "state.db").write_bytes(content)
    for where in (["--home", str(tmp_path)], ["--db", str(tmp_path / "state.db")]):
        ended = call(*where, "doctor", "--json")
        assert ended.code == 3
        holds(ended.document, "DOCTOR")
        problem = ended.document["problems"][0]
        assert (problem["severity"], problem["code"]) == ("error", code) and problem["remedy"]
        assert ended.document["store"]["warnings"] == [problem["text"]]
        assert ended.document["store"]["sessions"] is None
        people = call(*where, "doctor")
        assert people.code == 3 and people.err.startswith("error: ") and str(tmp_path) in people.out


@pytest.mark.parametrize("sort", ["messages", "size"])
def test_profiles_are_merged_in_the_order_that_is_asked_for(root, sort):
    line = f"list --all-profiles --view all --json --sort {sort} --limit"
    rows = call(line, "0", "--home", str(root)).document["conversations"]
    assert len({each["profile"] for each in rows}) > 1
    if sort == "messages":
        keys = [(each["message_count"], each["last_active"] or "") for each in rows]
        assert keys == sorted(keys, reverse=True), "those alike by activity"
    few = call(line, "3", "--home", str(root)).document["conversations"]
    assert [each["id"] for each in few] == [each["id"] for each in rows[:3]]


def test_advice_names_the_sample(root):
    assert "`hermes-browse --demo list` shows ids" in call("--demo show nosuch").err
    ended = call("--old show nosuch --home", str(root))
    assert "--old list` shows ids" in ended.err
