"""Supply chain: what is shipped is built the same twice, from pins with hashes, and needs nothing
that is not used."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib

import pytest
import setuptools
from packaging.requirements import Requirement
from paths import ROOT
from watching import digest

IDEA = "supply chain"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHIPPED = ("store", "styles", "tui", "pyproject.toml", "README.md", "LICENSE")
_MODULES = {"markdown-it-py": "markdown_it", "pyyaml": "yaml"}
"""What a distribution is imported as, where it is not by its own name."""


@pytest.mark.skipif(
    int(setuptools.__version__.split(".")[0]) < 77, reason="older than the build asks for"
)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_built_twice_it_is_the_same(tmp_path, tell, kind):
    """From two copies, in folders of other names, files of other ages, for one SOURCE_DATE_EPOCH.

    Both are the same to the last byte: tests/helpers/archive.py packs the source archive again, without
    ages and owners.
    """
    built = []
    for number in range(2):
        source, target = (
            tmp_path / f"source-{number}" / ("deep" * number or "flat"),
            tmp_path / f"built-{number}",
        )
        target.mkdir()
        for name in SHIPPED:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                source.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, source)
        for path in source.rglob("*"):
            os.utime(path, (1.6e9 + number * 1e7, 1.6e9 + number * 1e7))
        env = {**os.environ, "SOURCE_DATE_EPOCH": "1767258000", "PYTHONHASHSEED": str(number)}
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests" / "helpers" / "archive.py"), str(target), kind],
            cwd=source,
            env=env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        built.append(next(target.iterdir()))
    assert built[0].name == built[1].name
    assert digest(built[0]) == digest(built[1])
    tell(
        "wheels built twice, the same bytes"
        if kind == "wheel"
        else "source archives built twice, the same bytes"
    )


def test_nothing_is_needed_that_is_not_used(tell):
    """Every dependency is imported by a module, and every import is of a dependency, ours or the
    standard library's."""
    imported = set()
    for part in ("store", "tui"):
        for path in (ROOT / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                    imported.add(node.module.partition(".")[0])
    named = {Requirement(text).name for text in PROJECT["dependencies"]}
    unused = {name for name in named if _MODULES.get(name, name) not in imported}
    assert not unused
    known = (
        {_MODULES.get(name, name) for name in named}
        | set(sys.stdlib_module_names)
        | {"hermes_browse"}
    )
    assert imported <= known, imported - known
    tell("run-time dependencies, each imported", len(named))
