"""`--all-profiles`: one list and one search over the profiles of a root."""

from pathlib import Path

import pytest
from commandline import ask, call, copy_store


@pytest.fixture
def root(tmp_path):
    """Two profiles of different versions, a broken one, and one that has never been used."""
    made = tmp_path / "hermes"
    copy_store("state-v22", made)
    copy_store("state-v31", made / "profiles" / "coder")
    for name in ("broken", "unused"):
        (made / "profiles" / name).mkdir()
    (made / "profiles" / "broken" / "state.db").write_bytes(b"nothing" * 200)
    return str(made)


def test_the_list_is_that_of_all_profiles_by_activity(root):
    """As many as each profile lists by itself, in one order; the broken one is named, the unused
    one is no matter."""
    whole = ask("--home", root, "list", "--all-profiles", "--limit", "0", "--json")
    by_profile = {
        name: [each["id"] for each in whole["conversations"] if each["profile"] == name]
        for name in whole["profiles"]
    }
    for name, ids in by_profile.items():
        alone = ask("--home", root, "--profile", name, "list", "--limit", "0", "--json")
        assert ids == [each["id"] for each in alone["conversations"]]
        mine = [each for each in whole["conversations"] if each["profile"] == name]
        assert mine == [
            {"profile": name, **each, "prune_in_days": each_of_all["prune_in_days"]}
            for each, each_of_all in zip(alone["conversations"], mine, strict=True)
        ]
    times = [each["last_active"] or 0 for each in whole["conversations"]]
    assert times == sorted(times, reverse=True)
    assert [each["profile"] for each in whole["broken"]] == ["broken"]
    told = call("--home", root, "list", "--all-profiles", "--limit", "3")
    assert told.code == 0
    assert "broken cannot be read" in told.err
    assert "unused" not in told.err
    assert told.out.startswith("profile")


def test_the_search_finds_what_each_profile_finds(root):
    """With the profile of each hit; incomplete, because one could not be searched."""
    whole = ask(
        "--home",
        root,
        "search",
        "auth role:user",
        "--all-profiles",
        "--limit",
        "0",
        "--json",
    )
    assert whole["complete"] is False
    for name in ("default", "coder"):
        alone = ask(
            "--home",
            root,
            "--profile",
            name,
            "search",
            "auth role:user",
            "--limit",
            "0",
            "--json",
        )
        mine = [each for each in whole["hits"] if each["profile"] == name]
        assert {each["message_id"] for each in mine} == {
            each["message_id"] for each in alone["hits"]
        }
        assert mine
    told = call("--home", root, "search", "auth", "--all-profiles", "--limit", "2")
    assert "2 of " in told.err
    assert "2 profiles" in told.err


def test_what_does_not_go_together_is_a_usage_error(root):
    """One store is not all profiles, and relevance is of one store."""
    for arguments in (
        ("--demo", "list"),
        ("--home", root, "--profile", "coder", "list"),
        ("--home", root, "search", "x", "--sort", "relevance"),
    ):
        assert call(*arguments, "--all-profiles").code == 2
    empty = Path(root).parent / "nothing"
    empty.mkdir()
    assert call("--home", str(empty), "list", "--all-profiles").code == 3
