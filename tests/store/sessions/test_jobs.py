"""Runs of cron jobs are told by their ids, those with something behind the time too."""

from __future__ import annotations

import json
from pathlib import Path

from builders import make_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.jobs import job_of, name_in_title, read_job_names
from hermes_browse.store.sessions.models import View
from hermes_browse.store.sessions.session import Session
from hermes_browse.tui.browser.list.conversation_rows import JobRow
from hermes_browse.tui.browser.list.list_model import CatalogRows, RowDetails

RUNS = [
    "cron_daily_20241206_175337",
    "cron_daily_20241206_175337_67384",
    "cron_daily_20241206_175337_297",
]


def test_the_job_of_a_run() -> None:
    cases = [
        *((run, "cron", "daily") for run in RUNS),
        (RUNS[0], "cli", None),
        ("cron_a_b_20241206_175337_x", "cron", "a_b"),
        ("cron_daily_20241206", "cron", None),
        ("20241206_175337_abc", "cron", None),
    ]
    for run, source, job in cases:
        assert job_of(Session(run, source)) == job


def test_the_list_folds_the_runs_of_a_job(tmp_path: Path) -> None:
    sessions = [{"id": each, "source": "cron"} for each in RUNS]
    messages = [{"session_id": each, "content": "done"} for each in RUNS]
    path = make_store(tmp_path / "state.db", "22", sessions, messages)
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, 1e9)
    rows = CatalogRows(catalog, catalog.order(View.ALL), RowDetails(), (), "")
    row = rows.row(0)
    assert len(rows) == 1 and isinstance(row, JobRow) and len(row.runs) == len(RUNS)


def test_the_name_of_a_job(tmp_path: Path) -> None:
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
    for text in (json.dumps({"jobs": jobs}), "\ufeff" + json.dumps(jobs)):
        path.write_text(text, encoding="utf-8")
        assert read_job_names(tmp_path) == {"a": "A\tjob"}
    for text in ("{", '{"jobs": 3}', "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        assert read_job_names(tmp_path) == {}
