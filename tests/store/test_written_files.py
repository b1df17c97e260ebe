"""What stands in the place of a small file: a pipe is not waited for, and a device is not read;
and where a file of ours may be written."""

import os
import tempfile
from pathlib import Path

import pytest
from platforms import posix_only, root_only
from writing import as_nobody

from hermes_browse.store.cleanup.retention import read_block
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotAStoreError
from hermes_browse.store.export.redact import read_env
from hermes_browse.store.files import FileTooLargeError, read_regular, write_private
from hermes_browse.store.hermes.homes import active_profile
from hermes_browse.store.since.cron_runs import read_job_names
from hermes_browse.tui.browser.search.history import QueryHistory
from hermes_browse.tui.settings.read_config import chosen_language, config_path, read_config
from hermes_browse.tui.settings.start import LastState, read_memory

pytestmark = posix_only


@pytest.fixture(params=["pipe", "device"])
def put(request):
    """Puts a pipe that nobody writes to, or a link to a device that never ends, at a path."""

    def make(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if request.param == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        return path

    return make


def test_files_of_ours(put, tmp_path):
    """The configuration, what is remembered, earlier searches."""
    configured = read_config(put(tmp_path / "config.toml"))
    assert "no regular file" in configured.troubles[0].text
    assert read_memory(put(tmp_path / "browser.json")) == LastState()
    said = []
    QueryHistory(put(tmp_path / "searches.jsonl"), said.append).load()
    assert "no regular file" in said[0]


def test_the_language(put):
    """Looked for before anything is printed."""
    put(config_path())
    assert chosen_language()


def test_files_of_hermes(put, tmp_path):
    """The sticky profile, names of jobs, settings, `.env`."""
    put(tmp_path / "active_profile")
    assert active_profile(tmp_path) is None
    put(tmp_path / "cron" / "jobs.json")
    assert read_job_names(tmp_path) == {}
    assert read_block(put(tmp_path / "config.yaml")) is None
    with pytest.raises(OSError, match="no regular file"):
        read_env(put(tmp_path / ".env"))


def test_a_store(put, tmp_path):
    """Named with --db."""
    with pytest.raises(NotAStoreError, match="no regular file"):
        Store(put(tmp_path / "state.db")).open()


def test_links_and_sizes(tmp_path):
    """A link to a file is followed; more bytes than allowed are an error; a folder is no file."""
    (tmp_path / "real").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_regular(tmp_path / "link", 5) == b"12345"
    with pytest.raises(FileTooLargeError):
        read_regular(tmp_path / "link", 4)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 4)


@root_only
def test_a_folder_that_may_be_written_to_and_not_read():
    """Files of ours are written below it, and to it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o333)
        files = (folder / "made" / "file", folder / "file")

        def write():
            for path in files:
                write_private(path, "text")

        assert as_nobody(write) == "None"
        assert [path.read_text() for path in files] == ["text", "text"]
