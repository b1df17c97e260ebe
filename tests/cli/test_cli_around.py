"""`profiles` and `doctor`: several roots and stores, sound and broken ones, and which one is
meant."""

import sys

import homes
import pytest
from commandline import call
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


@pytest.mark.parametrize("content", [None, b"", b"no database" * 500])
def test_doctor_of_a_store_that_cannot_be_read(tmp_path, content):
    """3, and still the whole document."""
    if content is not None:
        (tmp_path / "state.db").write_bytes(content)
    for where in (["--home", str(tmp_path)], ["--db", str(tmp_path / "state.db")]):
        ended = call(*where, "doctor", "--json")
        assert ended.code == 3
        holds(ended.document, "DOCTOR")
