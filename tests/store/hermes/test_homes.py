"""Which store a command means, held against what the real Hermes 0.19 opens for the same words."""

import os
from pathlib import Path

import pytest
from platforms import posix_only

from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.hermes.homes import Location, active_profile, locate, locate_file, profiles


@pytest.fixture
def native():
    """`~/.hermes` of this test, with the profiles `coder` and `work` and a backup below it."""
    root = Path(os.environ["HOME"]) / ".hermes"
    for folder in ("profiles/coder", "profiles/work", "profiles/Bad Name", "backup/profiles/coder"):
        (root / folder).mkdir(parents=True)
    return root


@pytest.fixture
def custom(tmp_path):
    """A root elsewhere, as in a container, with the profile `coder`."""
    root = tmp_path / "data"
    for folder in ("profiles/coder", "profiles/Bad Name"):
        (root / folder).mkdir(parents=True)
    return root


@pytest.fixture
def hermes_home(monkeypatch):
    """Sets HERMES_HOME."""
    return lambda value: monkeypatch.setenv("HERMES_HOME", value)


def opened_by_hermes(location, monkeypatch):
    """The store `HERMES_HOME=<root> hermes -p <profile>` opens, by Hermes' own functions."""
    hermes = pytest.importorskip("hermes_cli.profiles")
    assert location.root is not None and location.profile is not None
    monkeypatch.setenv("HERMES_HOME", str(location.root))
    return Path(hermes.resolve_profile_env(location.profile)) / "state.db"


def test_nothing_is_set(native):
    """The default root, its default profile."""
    assert locate() == Location(native / "state.db", native, "default")
    assert locate().root == native and locate().name == "default"


def test_a_root_and_a_profile_in_the_environment(native, custom, hermes_home):
    """A profile's own folder names it; white space is no home."""
    hermes_home(str(custom))
    assert locate() == Location(custom / "state.db", custom, "default")
    hermes_home(str(custom / "profiles" / "coder"))
    assert locate() == Location(custom / "profiles/coder/state.db", custom, "coder")
    hermes_home(str(native / "profiles" / "work"))
    assert locate() == Location(native / "profiles/work/state.db", native, "work")
    assert locate(profile="coder").path == native / "profiles/coder/state.db"
    assert locate(profile="default").path == native / "state.db"
    hermes_home("  ")
    assert locate().root == native


def test_the_sticky_profile(native, custom, hermes_home):
    """Taken for a root, even one that HERMES_HOME names; not for a profile's home, nor against a
    flag."""
    (native / "active_profile").write_text("coder\n")
    (custom / "active_profile").write_text("coder")
    assert active_profile(native) == "coder"
    assert locate().profile == "coder"
    hermes_home(str(custom))
    assert locate() == Location(custom / "profiles/coder/state.db", custom, "coder")
    assert locate(home=str(custom)).profile == "default"
    assert locate(profile="default").path == custom / "state.db"
    hermes_home(str(native / "profiles" / "work"))
    assert locate().profile == "work"
    hermes_home(str(native / "backup"))  # below the default root, so that root's sticky profile
    assert locate() == Location(native / "profiles/coder/state.db", native, "coder")


@pytest.mark.parametrize(
    "content", [b"gone", b"", b"../../etc", b"\xff\xfe", b"Coder", b"default", b"a" * 65]
)
def test_a_sticky_profile_that_is_none(native, content):
    """One that has been removed, or is no name, is passed over."""
    (native / "active_profile").write_bytes(content)
    assert locate() == Location(native / "state.db", native, "default")


@pytest.mark.parametrize(
    "name", ["gone", "..", "../coder", "Coder", "", "a/b", "-p", "coder\n", "a" * 65]
)
def test_unknown_profiles_are_named(native, name):
    """With the ones there are; an empty name is as good as none."""
    if not name:
        assert locate(profile=name).profile == "default"
        return
    with pytest.raises(NotFoundError) as caught:
        locate(profile=name)
    assert "default, coder, work" in caught.value.remedy


@posix_only
def test_a_profile_that_cannot_be_looked_up(tmp_path):
    """It is not said to be missing: opening its store says what is wrong."""
    home = tmp_path / ("x" * 300)  # for root, who may look everywhere, too
    assert locate(home=str(home), profile="coder").path == home / "profiles/coder/state.db"


def test_all_profiles(native, tmp_path):
    """The root's first, then folders whose names are profiles' names."""
    (native / "profiles" / "file").touch()
    (native / "profiles" / "default").mkdir()
    assert [each.profile for each in profiles(native)] == ["default", "coder", "work"]
    assert [each.profile for each in profiles(tmp_path / "none")] == ["default"]


def test_a_flag_beats_the_environment(native, custom, hermes_home):
    """`--home`, and `--db` above all."""
    hermes_home(str(native))
    assert locate(home=str(custom), profile="coder").path == custom / "profiles/coder/state.db"
    loose = custom / "copy.db"
    assert locate(home=str(native), profile="gone", database=str(loose)) == Location(loose)


def test_loose_files_are_refused_to_hermes(native, custom):
    """A copy, and everything below the default root that is no profile of it, cannot be resumed
    from."""
    for path in (
        custom / "copy.db",
        native / "backup/state.db",
        native / "backup/profiles/coder/state.db",
        native / "profiles/state.db",
        native / "profiles/Bad Name/state.db",
        custom / "profiles/Bad Name/state.db",
    ):
        location = locate_file(path)
        assert location == Location(path), path
        with pytest.raises(RefusedError, match="Hermes does not open"):
            location.refuse_without_home()
    backup = locate(home=str(native / "backup"))
    assert backup == Location(native / "backup/state.db")
    assert (backup.root, backup.name) == (None, "state.db")


def test_a_link_to_a_folder_of_the_default_root(native, tmp_path):
    """Hermes follows links before it decides, so do we."""
    link = tmp_path / "link"
    link.symlink_to(native / "backup")
    assert locate_file(link / "state.db").root is None
    link.unlink()
    link.symlink_to(native)
    assert locate_file(link / "state.db").root == link


@pytest.mark.parametrize(
    "place",
    ["", "profiles/coder", "profiles/work", "backup", "backup/profiles/coder", "profiles/Bad Name"],
)
@pytest.mark.parametrize("way", ["database", "home", "environment"])
def test_hermes_opens_the_very_store(native, hermes_home, monkeypatch, place, way):
    """What we would hand to Hermes makes it open the file we read, or we hand it nothing."""
    folder = native / place
    hermes_home(str(folder if way == "environment" else native))
    location = locate(
        home=str(folder) if way == "home" else None,
        database=str(folder / "state.db") if way == "database" else None,
    )
    assert location.path == folder / "state.db"
    if location.root is not None:
        assert opened_by_hermes(location, monkeypatch) == location.path
    else:
        assert place not in ("", "profiles/coder", "profiles/work")


def test_hermes_opens_the_very_store_elsewhere(custom, monkeypatch):
    """The same in a root outside the home."""
    for location in profiles(custom):
        assert opened_by_hermes(location, monkeypatch) == location.path
        assert locate_file(location.path) == location


@pytest.mark.parametrize("text", ["~nobody-has-this-name/state.db", "~/x.db", "/", ".", "state.db"])
def test_any_path_is_a_path(text):
    """A `~name` of nobody stays as it is, as in a shell."""
    path = locate(database=text).path
    assert path.is_absolute()
    assert str(path).startswith(os.environ["HOME"]) is text.startswith("~/")
