"""What is shipped: every package, the styles, one command, and no quarrel with Hermes in one
environment."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_list_of_packages_is_complete():
    """A package left out works in a checkout and is missing from the wheel."""
    folders = {
        "hermes_browse." + ".".join(path.parent.relative_to(ROOT).parts)
        for part in ("store", "styles", "tui")
        for path in (ROOT / part).rglob("__init__.py")
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


def pip(line, *paths):
    """Run pip, without dependencies."""
    command = [sys.executable, "-m", "pip", *line.split(), *paths, "--quiet", "--no-deps"]
    subprocess.run(command, check=True)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of what git would ship."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    names = ("store", "styles", "tui", "pyproject.toml", "README.md", "LICENSE")
    subprocess.run(["cp", "-R", *(str(ROOT / name) for name in names), str(source)], check=True)
    pip("wheel --no-build-isolation -w", folder, source)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_styles_types_and_every_module(wheel):
    """Nothing outside hermes_browse, nothing missing inside."""
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} <= {
        "hermes_browse",
        f"hermes_browse-{PROJECT['project']['version']}.dist-info",
    }
    for part in ("store", "styles", "tui"):
        for path in (ROOT / part).rglob("*"):
            if path.is_file() and path.suffix not in (".po", ".pot", ".pyc"):
                assert f"hermes_browse/{path.relative_to(ROOT).as_posix()}" in names


@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment(wheel, tmp_path):
    """Installed away from the checkout it answers as a command and as a module, lists the demo,
    finds its styles."""
    target = tmp_path / "site"
    pip("install --no-index --target", target, wheel)
    # Dependencies come from this environment, the program from the wheel: an editable install is
    # told by its finder, which -S keeps out.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), *libraries])}

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-S", *arguments],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    version = f"hermes-browse {PROJECT['project']['version']}\n"
    assert run("-m", "hermes_browse.tui", "--version") == version
    if sys.platform != "win32":  # a program there, not a script
        assert run(str(target / "bin" / "hermes-browse"), "--version") == version
    assert "Fix auth bug" in run("-m", "hermes_browse.tui", "--demo", "list")
    where = run(
        "-c",
        "import hermes_browse.tui.app as app; print(app.__file__); print(*app.BrowseApp.CSS_PATH)",
    )
    assert all(Path(path).is_file() and str(target) in path for path in where.split())


@pytest.mark.slow
def test_the_wheel_is_a_plug_in_of_hermes(wheel):
    """In the group that Hermes looks through, a module with a `register`."""
    names = zipfile.ZipFile(wheel).namelist()
    text = (
        zipfile.ZipFile(wheel)
        .read(next(each for each in names if each.endswith("entry_points.txt")))
        .decode()
    )
    assert "[hermes_agent.plugins]\nhermes-browse = hermes_browse.tui.cli\n" in text
    from hermes_browse.tui.cli import register

    assert callable(register)


def test_the_command_is_declared():
    """`hermes-browse` is what gets installed."""
    scripts = importlib.metadata.entry_points(group="console_scripts", name="hermes-browse")
    assert [script.value for script in scripts] == ["hermes_browse.tui.cli:main"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Hermes 0.19 wants Python below 3.14")
def test_no_quarrel_with_hermes_in_one_environment():
    """Every requirement of ours and of Hermes' holds for what is installed here, where both are."""
    for name in ("hermes-browse", "hermes-agent"):
        for text in importlib.metadata.requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            installed = importlib.metadata.version(requirement.name)
            assert requirement.specifier.contains(installed, prereleases=True), (
                f"{name}: {text}, not {installed}"
            )


def test_every_dependency_is_pinned_with_hashes():
    """Each line of a lock file is an exact version with checksums, and names no place to get it
    from."""
    direct = {Requirement(each).name for each in PROJECT["project"]["dependencies"]}
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = re.sub(r"(?m)^\s*#.*\n", "", (ROOT / name).read_text().replace("\\\n", " "))
        assert "://" not in text
        pin = r"([\w.\-]+)[\w,\[\]]*==[\w.+!]+[ ;].*--hash=sha256:[0-9a-f]{64}"
        pins = [re.match(pin, line) for line in text.splitlines()]
        assert all(pins) and direct <= {each[1] for each in pins}


def test_the_documents_name_every_command_and_the_pictures_of_the_readme_exist():
    """What they show is there."""
    from hermes_browse.tui.cli.registry import make_parser

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\((screenshots/[\w.-]+)\)", text)
    assert len(pictures) > 3 and all((ROOT / picture).is_file() for picture in pictures)
    commands = (ROOT / "docs" / "scripting.md").read_text(encoding="utf-8")
    help_text = make_parser().format_help()
    for command in re.findall(r"^    (\w+)  ", help_text, re.MULTILINE):
        assert f"`{command}" in commands, command
