"""`tag`, `untag`, `tags`, and the tags in what other commands print."""

from __future__ import annotations

import json

import pytest
from commandline import ask, call, copy_store

CHAIN = ["20260101_090000_aaa001", "20260101_100000_aaa002", "20260103_090000_aaa003"]


@pytest.fixture
def on(tmp_path):
    """The option that names a root with a store of Hermes 0.22."""
    return ["--home", str(copy_store("state-v31", tmp_path / "root").parent)]


def test_the_documents(on, tmp_path):
    """Of the commands themselves, and of those that show conversations."""
    made = ask("", *on, "tag", CHAIN[0], "Deploy", "urgent")
    assert made == {"conversation": CHAIN[2], "tags": ["deploy", "urgent"]}
    assert ask("", *on, "untag", CHAIN[1], "urgent")["tags"] == ["deploy"]
    assert ask("", *on, "tags") == {"tags": [{"name": "deploy", "conversations": 1}]}
    shown = ask("", *on, "show", CHAIN[2])["conversation"]
    listed = ask("", *on, "list", "--limit", "0")["conversations"]
    assert shown["tags"] == ["deploy"]
    assert {each["id"]: each["tags"] for each in listed if each["tags"]} == {CHAIN[2]: ["deploy"]}
    nodes = ask("", *on, "lineage", CHAIN[0])["nodes"]
    assert {node["id"] for node in nodes if node["tags"]} == set(CHAIN)
    for form in ("jsonl", "markdown", "html"):
        file = tmp_path / f"out.{form}"
        assert call("", *on, "export", CHAIN[2], "--format", form, "--output", str(file)).code == 0
        if form == "jsonl":
            lines = file.read_text().splitlines()
            assert [json.loads(line)["tags"] for line in lines] == [["deploy"]] * 3
        else:
            assert "#deploy" in file.read_text()


def test_in_words(on):
    """What was done, a table, and what is missing."""
    assert "hermes-browse tag ID NAME" in call("", *on, "tags").err
    assert call("", *on, "tag", CHAIN[0], "deploy").out == "#deploy\n"
    assert "Nothing had to be changed" in call("", *on, "tag", CHAIN[0], "deploy").err
    renamed = call("", *on, "tags", "--rename", "deploy", "prod")
    assert "#prod" in renamed.out and "tag #deploy is now #prod" in renamed.err
    assert call("", *on, "tags", "--remove", "prod").out == ""
    assert call("", *on, "tags", "--remove", "prod").code == 4
    assert call("", *on, "tag", CHAIN[0], "a,b").code == 5
    assert call("", *on, "untag", CHAIN[0], "nothing").out == "no tags\n"
