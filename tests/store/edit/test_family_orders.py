"""Families that went in several bundles: in whatever order those come back, everyone hangs where
they hung."""

import json
from itertools import permutations

import pytest
from builders import T0, make_store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trashing import NOW, as_before, column_of, dump, put_back, remove, run

from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.shelf import find, list_bundles, remove_bundle


def parents(path):
    """The parent of each session."""
    return column_of(path, "parent_session_id")


def three(path):
    """A conversation, a branch of it, and a branch of that."""
    marker = '{"_branched_from": "%s"}'
    return make_store(
        path,
        "22",
        [
            {"id": "top", "title": "Top"},
            {"id": "mid", "parent_session_id": "top", "model_config": marker % "top"},
            {"id": "low", "parent_session_id": "mid", "model_config": marker % "mid"},
        ],
        [{"session_id": each, "content": f"lantern {each}"} for each in ("top", "mid", "low")],
        "delete",
    )


@pytest.mark.parametrize("back", list(permutations(("top", "mid", "low"))))
def test_one_bundle_in_parts_in_every_order(tmp_path, back):
    """Each alone; the bundle keeps all, says what is back, and at the end everyone hangs where they
    hung."""
    path = three(tmp_path / "state.db")
    with as_before(path):
        bundle = remove(path, "top", "mid", "low").bundle
        trash = tmp_path / "trash"
        for number, each in enumerate(back, 1):
            done = put_back(path, bundle.name, only=[each])
            assert done.verified and done.sessions == (each,) and done.messages == 1
            tied = parents(path)
            there = set(tied)
            assert there == set(back[:number])
            assert all(tied[child] == (parent if parent in there else None)
                       for child, parent in (("mid", "top"), ("low", "mid")) if child in there)  # fmt: skip
            (listed,) = list_bundles(trash)
            assert set(listed.sessions) == set(back) and not listed.damage and verify(bundle.path)
            assert listed.restored == there and (listed.restored_at is not None) is (number == 3)


def test_who_waits_is_named(tmp_path):
    """Who comes back first has no parent, or no child, for now; a second restore of the first
    changes nothing."""
    path = three(tmp_path / "state.db")
    with as_before(path):
        mid = remove(path, "mid", now=NOW).bundle.name
        top = remove(path, "top", now=NOW + 1).bundle.name
        assert parents(path) == {"low": None}
        (said,) = put_back(path, mid).notes
        assert said == "mid was a child of top; one of them is gone, or it has another parent."
        assert parents(path) == {"mid": None, "low": "mid"}
        for name in (top, mid):
            assert put_back(path, name).notes == ()
    with as_before(path):
        top = remove(path, "top", now=NOW + 2).bundle.name
        mid = remove(path, "mid", now=NOW + 3).bundle.name
        (said,) = put_back(path, top).notes
        assert said == "mid was a child of top; one of them is gone, or it has another parent."
        assert put_back(path, mid).notes == ()


def test_a_tie_that_hermes_cut_stays_cut(tmp_path):
    """Where both are in the store it is right: an old bundle does not tie what has come apart
    since."""
    path = three(tmp_path / "state.db")
    old = remove(path, "mid", now=NOW).bundle.name
    put_back(path, old)
    run(path, "UPDATE sessions SET parent_session_id = NULL WHERE id = 'mid'")
    with as_before(path):
        new = remove(path, "mid", now=NOW + 1).bundle.name
        put_back(path, new)
        assert parents(path)["mid"] is None


_KINDS = st.sampled_from(["branch", "child", "segment", "helper"])


@st.composite
def families(draw):
    """Sessions of up to seven, each a root or below one before it."""
    sessions = []
    for number in range(draw(st.integers(2, 7))):
        session = {
            "id": f"s{number}",
            "started_at": T0 + number * 100,
            "ended_at": T0 + 5000,
        }
        if number and draw(st.booleans() | st.just(True)):
            parent = sessions[draw(st.integers(0, number - 1))]
            session["parent_session_id"] = parent["id"]
            kind = draw(_KINDS)
            if kind == "branch":
                session["model_config"] = json.dumps({"_branched_from": parent["id"]})
            if kind == "helper":
                session |= {
                    "model_config": json.dumps({"_delegate_from": parent["id"]}),
                    "source": "subagent",
                }
            if kind == "segment":
                parent["end_reason"] = "compression"
        sessions.append(session)
    return sessions


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    families(),
    st.lists(
        st.tuples(st.sampled_from(["delete", "restore", "drop"]), st.integers(0, 99)), max_size=14
    ),
    st.randoms(use_true_random=False),
)
def test_any_family_in_any_order(
    tmp_path_factory,
    sessions,
    steps,
    chance,
):
    """Over weeks: deleted, restored, deleted again, bundles dropped when they are back; in the end
    all is as it was."""
    folder = tmp_path_factory.mktemp("family")
    path, trash = folder / "state.db", folder / "trash"
    messages = [{"session_id": each["id"], "content": "rope"} for each in sessions]
    make_store(path, "22", sessions, messages, "delete")
    before, clock = dump(path), NOW
    for step, number in steps:
        present, bundles = sorted(parents(path)), list_bundles(trash)
        clock += 1
        if step == "delete" and present:
            remove(path, present[number % len(present)], now=clock)
        elif bundles:
            bundle = bundles[number % len(bundles)]
            if step == "restore":
                put_back(path, bundle.name)
            elif step == "drop" and set(bundle.sessions) <= set(present):
                remove_bundle(find(trash, bundle.name))
    names = [each.name for each in list_bundles(trash)]
    chance.shuffle(names)
    for name in names:
        assert put_back(path, name).verified
    assert dump(path) == before
