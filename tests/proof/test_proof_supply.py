"""Supply chain: what is shipped is built the same twice."""

import os
import subprocess
import sys

import pytest
import setuptools
from paths import ROOT
from watching import digest

IDEA = "supply chain"
SHIPPED = ("store", "styles", "tui", "pyproject.toml", "README.md", "LICENSE")


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
        source.mkdir(parents=True)
        subprocess.run(["cp", "-R", *(ROOT / name for name in SHIPPED), source], check=True)
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
