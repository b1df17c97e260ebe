"""The line that installs this program on a host, run as it is printed, with tools that say what
they were given."""

import json
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from platforms import script

from hermes_browse.tui.cli import check_host
from hermes_browse.tui.cli.check_host import install_line

PARTS = ("pyproject.toml", "README.md", "LICENSE", "tui", "store", "styles")


@pytest.fixture
def bare(ssh_server, tmp_path):
    """A machine with the tools that a test puts there, and nothing else."""
    (tmp_path / "tools").mkdir()
    server = ssh_server(tmp_path, "bare")
    for name in ("cat", "mkdir", "tar", "sh", "ln"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "tools" / name).symlink_to(found)
    server.environment |= {"PATH": str(tmp_path / "tools"), "SHELL": "/bin/sh"}
    (server.folder / "home" / ".profile").write_text(f"PATH={tmp_path / 'tools'}\n")
    return server


def _came_from(monkeypatch, origin):
    """Let this program be installed from somewhere (PEP 610)."""
    text = json.dumps(origin) if origin is not None else None
    found = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
    monkeypatch.setattr(check_host, "distribution", lambda name: found)


def _checkout(folder):
    for name in PARTS:
        part = folder / name
        if "." in name or name.isupper():
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(f"this is {name}")
        else:
            part.mkdir(parents=True)
    (folder / "secret").write_text("stays here")
    return folder


def _run(line):
    return subprocess.run(
        line, shell=True, capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_a_checkout_is_sent_and_installed(bare, tmp_path, monkeypatch):
    """Only what is needed to build it; uv is found where its own installer puts it."""
    home = bare.folder / "home"
    script(home / ".local" / "bin" / "uv", 'echo "$@"; cat "$4/README.md"')
    checkout = _checkout(tmp_path / "a check out")
    _came_from(monkeypatch, {"url": checkout.as_uri(), "dir_info": {"editable": True}})
    assert (
        _run(install_line(bare.host))
        == f"tool install --force {home}/hermes-browse-source\nthis is README.md"
    )
    assert not (home / "hermes-browse-source" / "secret").exists()


def test_a_wheel_is_sent_and_uv_is_fetched(bare, tmp_path, monkeypatch):
    """The wheel under its own name, which an installer reads."""
    home, tools = bare.folder / "home", tmp_path / "tools"
    script(tools / "made", 'echo "$@"; cat "$4"')
    script(
        tools / "curl",
        f"echo {shutil.which('mkdir')} -p {home}/.local/bin; echo {shutil.which('ln')} -s {tools}/made {home}/.local/bin/uv",
    )
    wheel = tmp_path / "hermes_browse-9.9-py3-none-any.whl"
    wheel.write_text("wheel")
    _came_from(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}})
    line = install_line(bare.host)
    assert "https://astral.sh/uv/install.sh" in line
    assert _run(line) == f"tool install --force {home}/{wheel.name}\nwheel"


def test_what_is_installed_without_a_file(bare, tmp_path, monkeypatch):
    """A repository is named; a wheel that is gone cannot be sent."""
    vcs = {"vcs": "git", "commit_id": "abc"}
    _came_from(monkeypatch, {"url": "https://git.example/x", "vcs_info": vcs})
    assert " uv tool install --force git+https://git.example/x@abc " in install_line(bare.host)
    _came_from(monkeypatch, None)
    assert install_line(bare.host).endswith("uv tool install --force hermes-browse'\"")
    _came_from(monkeypatch, {"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}})
    assert install_line(bare.host) is None
    monkeypatch.setattr(check_host, "distribution", Mock(side_effect=PackageNotFoundError))
    assert install_line(bare.host) is None
