"""`prune`: the plan as a document and for people, and what it refuses; `prune_in_days` in the other
documents."""

import pytest
from commandline import STORES, ask, copy_store
from contract import holds
from pruning import NOW, family


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A Hermes root with one of each kind of conversation, at the moment its ages are counted
    from."""
    (tmp_path / "root").mkdir()
    family(tmp_path / "root" / "state.db")
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))
    return tmp_path / "root"


def prune(line):
    """The document of a command that must succeed."""
    return ask("prune", *line.split())


@pytest.mark.parametrize("store", STORES)
def test_the_document(tmp_path, monkeypatch, store):
    """A dry run changes nothing and tells everything."""
    path = copy_store(store, tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    before = path.read_bytes()
    found = prune("--older-than 90d --stale-open --include-archived --dry-run --delete")
    holds(found, "PRUNE")
    holds(found["would"], "STANDING[]")
    assert found["done"] is False and found["bundles"] == [] and len(found["would"]) > 40
    assert found["plan"]["conversations"] == len(found["would"])
    assert found["plan"]["bytes"] == sum(each["bytes"] for each in found["would"])
    taken = sum(len(each["segments"]) + len(each["takes_along"]) for each in found["would"])
    assert found["plan"]["sessions"] == taken
    assert path.read_bytes() == before


def test_days_until_hermes_deletes(root):
    """In `list`, `show` and `prune` alike; by the configuration beside the store."""
    listed = {each["id"]: each for each in ask("list --view all")["conversations"]}
    assert listed["old"]["prune_in_days"] == 0 and listed["pinned"]["prune_in_days"] is None
    assert listed["put-away"]["prune_in_days"] == 0
    assert listed["new"]["prune_in_days"] == pytest.approx(87)
    assert ask("show new")["conversation"]["prune_in_days"] == pytest.approx(87)
    assert prune("--title Old")["would"][0]["prune_in_days"] == 0
    (root / "config.yaml").write_text("sessions:\n  auto_prune: false\n", encoding="utf-8")
    assert ask("show old")["conversation"]["prune_in_days"] is None


def test_a_profile_has_a_configuration_of_its_own(root):
    """And a loose file has none: nobody cleans it up."""
    home = root / "profiles" / "work"
    home.mkdir(parents=True)
    (root / "state.db").rename(home / "state.db")
    (root / "config.yaml").write_text("sessions:\n  auto_prune: false\n", encoding="utf-8")
    (home / "config.yaml").write_text("sessions:\n  retention_days: 10\n", encoding="utf-8")
    found = ask("--profile work show new")
    assert found["conversation"]["prune_in_days"] == pytest.approx(7)
    (home / "state.db").rename(home / "copy.db")
    found = ask("--db", str(home / "copy.db"), "show", "new")
    assert found["conversation"]["prune_in_days"] is None
