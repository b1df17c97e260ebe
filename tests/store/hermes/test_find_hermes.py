"""Where `hermes` is looked for, beyond the PATH that a plain ssh gives."""

import pytest
from platforms import script

from hermes_browse.store.hermes.resume_command import find_hermes, hermes_word


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home as of a command by ssh: nothing of it is on the PATH."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("sys.argv", [str(tmp_path / "own" / "hermes-browse")])
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def _program(path, body="exit 0"):
    return str(script(path, body))


def test_it_is_nowhere(home):
    """Then the command is shown by its name."""
    assert find_hermes() is None
    assert hermes_word(None) == "hermes"


def test_it_is_in_the_folder_of_the_installer(home):
    """The full path is shown, because the name alone would not run."""
    made = _program(home / ".local" / "bin" / "hermes")
    assert find_hermes() == made
    assert hermes_word(made) == made


def test_it_is_beside_this_program(home, tmp_path):
    """As where both are in one environment."""
    made = _program(tmp_path / "own" / "hermes")
    assert find_hermes() == made


def test_the_path_comes_first(home, tmp_path, monkeypatch):
    """What a shell would run is what is run, and its name is enough."""
    _program(home / ".local" / "bin" / "hermes")
    made = _program(tmp_path / "first" / "hermes")
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}:/usr/bin:/bin")
    assert find_hermes() == made
    assert hermes_word(made) == "hermes"


def test_the_login_shell_knows_where(home, tmp_path, monkeypatch):
    """Whatever else it prints; an alias is no program."""
    made = _program(tmp_path / "far" / "hermes")
    (home / ".profile").write_text(f"echo Welcome; echo /etc/motd; PATH={tmp_path / 'far'}:$PATH\n")
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert find_hermes() == made
    (home / ".profile").write_text("alias hermes='ls'\n")
    assert find_hermes() is None


def test_a_login_shell_that_hangs_or_is_none(home, tmp_path, monkeypatch):
    """It is not waited for, and nothing else is run."""
    monkeypatch.setattr("hermes_browse.store.hermes.resume_command._LOGIN_TIMEOUT", 0.2)
    (home / ".profile").write_text("sleep 60\n")
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert find_hermes() is None
    monkeypatch.setenv("SHELL", _program(tmp_path / "editor", f"touch {tmp_path / 'ran'}"))
    assert find_hermes() is None
    assert not (tmp_path / "ran").exists()
