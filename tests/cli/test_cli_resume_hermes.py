"""`resume` with the real Hermes of the development environment, in a real terminal."""

import os
import re
import sys
from pathlib import Path

import pytest
from commandline import PROGRAM, copy_store, for_hermes
from platforms import posix_only

pexpect = pytest.importorskip("pexpect")
HERMES = Path(sys.executable).parent / "hermes"

pytestmark = [
    posix_only,
    pytest.mark.skipif(
        not HERMES.exists(), reason="needs hermes-agent installed beside this Python"
    ),
]
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b.")


def wait_for(root, arguments, texts, **environment):
    """Run `resume` until one of the texts is on the terminal; gives everything written so far,
    without escapes."""
    path = f"{HERMES.parent}{os.pathsep}{os.environ['PATH']}"
    child = pexpect.spawn(
        PROGRAM[0],
        [*PROGRAM[1:], "--home", str(root), "resume", *arguments],
        env=for_hermes(PATH=path, HERMES_INTERACTIVE="1", **environment),
        cwd=str(root),
        dimensions=(40, 120),
        timeout=90,
        encoding="utf-8",
        codec_errors="replace",
    )
    written = ""
    try:
        while not any(text in _ESCAPE.sub("", written) for text in texts):
            try:
                written += child.read_nonblocking(65536, timeout=90)
            except pexpect.EOF:
                break
    finally:
        child.close(force=True)
    return _ESCAPE.sub("", written)


@pytest.mark.slow
def test_hermes_without_a_provider_says_so_itself(tmp_path):
    """Nothing of ours stands between: its own set-up message comes."""
    root = tmp_path / ".hermes"
    copy_store("state-v22", root)
    written = wait_for(root, ["Rewound", "--yes"], ["hermes setup"])
    assert "hermes setup" in written and "hermes-browse" not in written


@pytest.mark.slow
def test_hermes_resumes_the_tip(tmp_path):
    """Given the first segment of a chain, and with a sticky profile that points elsewhere, Hermes
    resumes the tip."""
    root = tmp_path / ".hermes"
    copy_store("state-v22", root)
    (root / "profiles" / "coder").mkdir(parents=True)
    (root / "active_profile").write_text("coder\n")
    arguments = ["--profile", "default", "--yes", "20260101_090000_aaa001"]
    written = wait_for(
        root, arguments, ["Resumed session", "not found"], OPENROUTER_API_KEY="sk-or-none"
    )
    found = re.search(r"Resumed session (\S+)", written)
    assert found, written
    assert found[1] == "20260103_090000_aaa003"
