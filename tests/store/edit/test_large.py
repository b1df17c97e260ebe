"""A conversation of very many messages: told how far it is, stopped while it can be, never whole in
memory."""

import re
import subprocess
import sys

import pytest
from builders import make_store
from pruning import NOW, aged, chosen, delete_planned, plan_of
from trashing import dump

from hermes_browse.store.connection.connect import Store

MANY = 5_000


@pytest.fixture
def path(tmp_path):
    """A store with a conversation of five thousand messages."""
    messages = [
        {"session_id": "big", "content": f"quay {n}", "timestamp": NOW - 9e6} for n in range(MANY)
    ]
    return make_store(tmp_path / "state.db", "31", [aged("big", 100), aged("other", 3)], messages)


@pytest.mark.slow
def test_a_plan_is_stopped_within_a_conversation(path):
    """It is left as it was, which is no failure; the steps tell how far it was."""
    before, stopped, steps = dump(path), [], []
    plan = plan_of(path, chosen("older:30d"))

    def tell(step):
        steps.append(step._replace(seconds=10.0))
        if step.stage.name == "deleting":
            stopped.append(True)

    outcome = delete_planned(
        Store(path),
        plan,
        path.parent / "trash",
        tell=tell,
        stopped=lambda: bool(stopped),
    )
    assert outcome.left == 1 and outcome.error is None and outcome.deleted is None
    shares = [each.share for each in steps]
    assert shares == sorted(shares) and 0.2 < shares[-1] < 0.5
    words = "\n".join(each.words for each in steps)
    assert re.search(r"0 of 1 · saving [1-4],\d{3} of 5,000 messages · ", words)
    assert dump(path) == before


_MEASURED = """
import resource, sys
from pathlib import Path
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.edit.restore import restore
store, trash = Store(Path(sys.argv[1])), Path(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = delete(store, ["big"], trash, now=1784538000.0)
restore(store, trash, done.bundle.name)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does")
def test_it_is_never_whole_in_memory(tmp_path):
    """A hundred megabytes of messages go to the trash and come back in a fraction of that."""
    text = "".join(chr(33 + (n * 7919) % 90) for n in range(100_000))
    messages = [
        {"session_id": "big", "role": "tool", "content": f"{n} {text}", "timestamp": NOW}
        for n in range(1000)
    ]
    path = make_store(tmp_path / "state.db", "31", [aged("big", 100)], messages, fts=False)
    assert path.stat().st_size > 100_000_000
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(path), str(tmp_path / "trash")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 60_000_000
