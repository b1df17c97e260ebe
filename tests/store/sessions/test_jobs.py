"""Runs of cron jobs are told by their ids, those with something behind the time too."""

import json

from hermes_browse.store.sessions.models import Session
from hermes_browse.store.sessions.relations import job_of, name_in_title
from hermes_browse.store.since.cron_runs import read_job_names

RUNS = [
    "cron_daily_20241206_175337",
    "cron_daily_20241206_175337_67384",
    "cron_daily_20241206_175337_297",
]


def test_the_job_of_a_run():
    cases = [
        *((run, "cron", "daily") for run in RUNS),
        (RUNS[0], "cli", None),
        ("cron_a_b_20241206_175337_x", "cron", "a_b"),
        ("cron_daily_20241206", "cron", None),
        ("20241206_175337_abc", "cron", None),
    ]
    for run, source, job in cases:
        assert job_of(Session(run, source)) == job


def test_the_name_of_a_job(tmp_path):
    """From the title Hermes gives to a run, whatever is behind it; from its file, if that can be
    read."""
    assert name_in_title("Morning · paper · Nov 22 07:00 #12") == "Morning · paper"
    assert [name_in_title(each) for each in (None, "", "cron aa11", "Notes · of May")] == [""] * 4
    path = tmp_path / "cron" / "jobs.json"
    path.parent.mkdir()
    assert read_job_names(tmp_path) == {}
    jobs = [
        {"id": "a", "name": "A\tjob"},
        {"id": 7, "name": "x"},
        {"id": "b", "name": " "},
        {"id": "c"},
        None,
    ]
    read = (json.dumps({"jobs": jobs}), "\ufeff" + json.dumps(jobs))
    for text in (*read, "{", '{"jobs": 3}', "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        assert read_job_names(tmp_path) == ({"a": "A\tjob"} if text in read else {})
