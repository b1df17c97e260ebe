"""`export`: where it goes, what is said of the secrets in it, what is never written over, and how
it ends."""

import json
import os
import stat
from pathlib import Path

import pytest
from builders import make_store, tool_call
from commandline import ask, call, copy_store, spawn
from contract import holds

KEY = "ghp_" + "abcdefghijklmnopqrstuvwxyz012345"
CHAIN = "20260101_090000_aaa001"
HERON = "20260114_090000_888001"
not_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything"
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A root to export from, and an empty folder to be in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    copy_store("state-v31", tmp_path / "root")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))
    return tmp_path / "root"


@pytest.fixture
def secretive(tmp_path, root):
    """A root whose store holds secrets: keys by their form, and values of its `.env`."""
    (root / "state.db").unlink()
    make_store(
        root / "state.db",
        "22",
        sessions=[{"id": "s1", "title": f"Key {KEY}"}, {"id": "s2", "title": "Plain"}],
        messages=[
            {"session_id": "s1", "content": f"use {KEY} and the zucchini-pie-77"},
            {
                "session_id": "s1",
                "role": "assistant",
                "tool_calls": [tool_call("env", {"VALUE": "zucchini-pie-77"})],
            },
            {"session_id": "s2", "content": "nothing to hide"},
        ],
    )
    (root / ".env").write_text(
        "SOME_SERVICE=zucchini-pie-77\nMODEL=local-model\n", encoding="utf-8"
    )
    return root


def test_a_file_named_after_the_title(root):
    """Here, as Markdown, for its owner alone."""
    assert call("export", CHAIN).code == 0
    (path,) = Path().iterdir()
    assert path.name == "Fix auth bug #3.md" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").startswith(
        '---\nsession_id: "20260103_090000_aaa003"\n'
    )


def test_nothing_is_written_over(root):
    """Without --force a file stays, and exit 5 says so; all targets are looked at before the first
    is written."""
    Path("a.md").write_text("mine")
    assert call("export", CHAIN, "--output", "a.md").code == 5
    assert Path("a.md").read_text() == "mine"
    assert call("export", CHAIN, "--output", "a.md", "--force").code == 0
    assert Path("a.md").read_text(encoding="utf-8").startswith("---\n")
    many = ["export", CHAIN, HERON, "--output", "folder"]
    first = ask(*many)
    second = first["files"][1]["path"]
    os.unlink(first["files"][0]["path"])
    assert call(*many).code == 5 and os.listdir("folder") == [os.path.basename(second)]
    assert stat.S_IMODE(Path("folder").stat().st_mode) == 0o700


@pytest.mark.parametrize("form", ["markdown", "jsonl", "html"])
def test_the_document(root, form):
    """What was written, in JSON, and it is so."""
    found = ask("export", CHAIN, "--format", form)
    holds(found, "EXPORT")
    (file,) = found["files"]
    assert found | {"format": form, "redact": True, "redacted": {}} == found
    counts = {"conversations": ["20260103_090000_aaa003"], "sessions": 3, "messages": 11}
    assert file | counts == file
    assert Path(file["path"]).stat().st_size == file["bytes"] > 1000
    assert ask("show", CHAIN)["conversation"]["message_count"] == 11


def test_the_name_tells_the_format_and_a_folder_is_entered(root):
    """`--output x.html` is HTML unless another format is said; a folder gets a file named after the
    title."""
    for name, start, *options in (
        ("a.html", "<!DOCTYPE html>"),
        ("a.jsonl", "{"),
        ("a.md", "---\n"),
        ("a.txt", "---\n"),
        ("b.html", "{", "--format", "jsonl"),
    ):
        assert call("export", CHAIN, "--output", name, *options).code == 0
        assert Path(name).read_text(encoding="utf-8").startswith(start)
    Path("folder").mkdir()
    # A query may choose one conversation or several: a slash means a folder either way.
    for folder in ("folder", "new/"):
        assert call("export", CHAIN, "--output", folder).code == 0
        assert os.listdir(folder) == ["Fix auth bug #3.md"]


def test_standard_output(root):
    """The document alone, the same as in a file; what is said goes to standard error."""
    for form in ("markdown", "jsonl", "html"):
        command = ["export", CHAIN, "--format", form]
        ended = call(*command, "--output", "-")
        assert ended.code == 0 and "No secret" in ended.err and os.listdir() == []
        spawned = spawn(*command, "--output", "-", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
        assert spawned.code == 0

        def timeless(text):
            return [
                line
                for line in text.split("\n")
                if "exported_at" not in line and "<footer>" not in line
            ]

        assert timeless(spawned.out) == timeless(ended.out)


def test_the_store_is_never_written_over(root):
    """Not even with --force, by no other name."""
    before = (root / "state.db").read_bytes()
    os.symlink(root / "state.db", "link.md")
    other = root / "profiles" / "other" / "state.db"
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(before)
    for output in (root / "state.db", "link.md", root / "state.db-wal", other):
        ended = call("export", CHAIN, "--output", str(output), "--force")
        assert ended.code == 5 and "belongs to the session store" in ended.err
    assert (root / "state.db").read_bytes() == before == other.read_bytes()


def test_an_old_transcript_is_never_written_over(root):
    """Nor is the store beside it."""
    old = root / "sessions" / "20260102_100000_abc.jsonl"
    old.parent.mkdir(exist_ok=True)
    said = '{"role": "user", "content": "before"}\n'
    old.write_text(said, encoding="utf-8")
    before = (root / "state.db").read_bytes()
    for command in (["--old", "export", old.name], ["export", CHAIN]):
        for output in (old, root / "state.db"):
            ended = call(*command, "--output", str(output), "--force")
            assert ended.code == 5 and "belongs to the session store" in ended.err
    assert old.read_text(encoding="utf-8") == said
    assert (root / "state.db").read_bytes() == before


@pytest.mark.parametrize("form", ["markdown", "jsonl", "html"])
def test_secrets(secretive, form):
    """Redacted unless said otherwise, in names of files too; how many of which kind is said."""
    command = ["export", "s1", "--format", form]
    ended = call(*command)
    (path,) = Path().iterdir()
    text = path.read_text(encoding="utf-8")
    assert ended.code == 0 and path.stem == "Key [REDACTED github-token]"
    assert (
        KEY not in text + ended.out + ended.err and "zucchini" not in text + ended.out + ended.err
    )
    assert (
        "Redacted " in ended.err and ".env value × 2" in ended.err and "GitHub token ×" in ended.err
    )
    document = ask(*command, "--force")
    assert document["redacted"]["env-value"] == 2 and document["redacted"]["github-token"] >= 2
    kept = call(*command, "--no-redact", "--output", "-")
    assert KEY in kept.out and "zucchini-pie-77" in kept.out and "kept as they are" in kept.err
    assert "No secret of a known form" in call("export s2 --format", form, "--output", "-").err


@pytest.mark.parametrize("is_folder", [True, pytest.param(False, marks=not_root)])
def test_an_env_that_cannot_be_read_is_said(secretive, is_folder):
    """Else a person would believe that its values are gone."""
    env = secretive / ".env"
    if is_folder:
        env.unlink()
        env.mkdir()
    else:
        env.chmod(0)
    reason = "" if is_folder else "Permission denied"
    ended = call("export s1 --output -")
    assert ended.code == 0 and f".env cannot be read ({reason}" in ended.err
    assert "zucchini" in ended.out


def test_the_users_own_env_counts_for_any_store(secretive, tmp_path, monkeypatch):
    """A store named by --db holds what was said with the keys of the user's home."""
    (tmp_path / "home").mkdir()
    (secretive / ".env").rename(tmp_path / "home" / ".env")
    loose = secretive.rename(tmp_path / "loose") / "state.db"
    assert "zucchini" in call("--db", str(loose), "export", "s1", "--output", "-").out
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    assert "zucchini" not in call("--db", str(loose), "export", "s1", "--output", "-").out


@pytest.mark.parametrize("form", ["jsonl", "markdown", "html"])
def test_tags(root, form):
    """Of a conversation, in each of its parts."""
    ask("tag", CHAIN, "deploy")
    out = call("export", CHAIN, "--format", form, "--output", "-").out
    if form == "jsonl":
        assert [json.loads(line)["tags"] for line in out.splitlines()] == [["deploy"]] * 3
    else:
        assert "#deploy" in out
