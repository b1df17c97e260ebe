"""Marks of jobs: whether a row is marked is asked for each frame, and a job may have thousands of
runs."""

from collections.abc import Sequence
from typing import overload

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Session
from hermes_browse.tui.browser.list.rows import JobRow, is_marked


class _Counted(Sequence[Conversation]):
    """Runs that count how many of them were made."""

    def __init__(self, runs):
        self._runs, self.made = runs, 0

    def __len__(self):
        return len(self._runs)

    @overload
    def __getitem__(self, at): ...
    @overload
    def __getitem__(self, at): ...
    def __getitem__(self, at):
        self.made += 1
        return self._runs[at]

    def __iter__(self):
        return (self[at] for at in range(len(self)))


def _runs(count):
    catalog = Catalog([Session(id=f"cron_{number}", source="cron") for number in range(count)])
    return list(catalog.conversations())


def test_a_frame_does_not_make_all_runs_of_a_job():
    """With one mark, none; with as many marks elsewhere, one; a job is marked when all its runs
    are."""
    runs = _runs(1500)
    counted = _Counted(runs)
    job, marks = JobRow("nightly", counted, runs[0]), set[str]()
    roots = [run.root_id for run in runs]
    assert not is_marked(job, marks)
    marks.add(roots[0])
    assert not is_marked(job, marks)
    assert counted.made == 0
    marks.clear()
    marks.update(roots[1:])
    marks.add("other")
    assert not is_marked(job, marks)
    assert counted.made == 1
    marks.update(roots)
    assert is_marked(job, marks)
