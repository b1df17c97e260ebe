"""What is read of Hermes' settings is what Hermes reads, or "cannot tell"."""

import pytest

from hermes_browse.store.cleanup.retention import (
    Retention,
    defaults_of,
    managed_config,
    read_block,
    read_retention,
)

PLAIN = """\
# Hermes
model:
  default: anthropic/claude-sonnet-4.6   # a comment
personalities:
  poet: "You speak
    in verse: always.
    sessions:
      auto_prune: true
    "
  cook: |
    sessions:
      auto_prune: true
  list: [a, "b]",
    c]
sessions:
  auto_prune: false  # off
  retention_days: 30
  "min_interval_hours": 12
  nested:
    retention_days: 1
  auto_archive_days: 2.5
  vacuum_after_prune: On
other: it's fine
"""


@pytest.fixture
def config(tmp_path):
    """Writes a configuration, as text or bytes."""

    def write(text, name="config.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_plain_settings_are_read(config):
    """Comments, quoted keys, and look-alikes inside of texts."""
    assert read_block(config(PLAIN)) == {
        "auto_prune": False,
        "retention_days": 30,
        "min_interval_hours": 12,
        "nested": {"retention_days": 1},
        "auto_archive_days": 2.5,
        "vacuum_after_prune": True,
    }


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "other: 1\n", "sessions:\n", "sessions: {}\n"]
)
def test_a_file_without_settings_is_an_empty_one(config, tmp_path, text):
    """As no file is, for Hermes too: then its defaults hold."""
    assert read_block(config(text)) == {} == read_block(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "sessions: text\n",
        "sessions: [a]\n",
        "sessions: *missing\n",
        "a: 1\n---\nsessions:\n  auto_prune: true\n",
        b"sessions:\n  auto_prune: \xff\n",
        "#" * 5_000_000,
        pytest.param("other: " + "[" * 200_000, marks=pytest.mark.slow),
    ],
    ids=range(7),
)
def test_a_file_in_another_form_is_unknown(config, text):
    """Also one that is no text, too large, or nested too deeply for the parser."""
    path = config(text)
    assert read_block(path) is None
    assert read_retention(path, 31) == Retention(), "not even the defaults are known"


def test_other_files(config, tmp_path):
    """A byte order mark is skipped; a folder is no configuration."""
    assert read_block(config("\ufeffsessions:\n  auto_prune: true\n")) == {"auto_prune": True}
    assert read_block(tmp_path) is None


@pytest.mark.parametrize(
    "version, prunes",
    [
        (6, False),
        (22, False),
        (26, False),
        (27, None),
        (29, None),
        (30, True),
        (31, True),
        (32, None),
        (None, None),
    ],
)
def test_defaults_by_version(tmp_path, version, prunes):
    """On since 0.21.3 (schema 30), off up to 0.21.0 (26); what was never looked at is not known."""
    found = read_retention(tmp_path / "config.yaml", version)
    assert found.auto_prune is prunes and (found.retention_days == 90) is (prunes is not None)


def test_the_defaults_are_those_of_the_real_hermes():
    """Of the one that is installed here, 0.19."""
    config = pytest.importorskip("hermes_cli.config").DEFAULT_CONFIG["sessions"]
    known = defaults_of(22)
    for name in ("auto_prune", "retention_days", "min_interval_hours", "vacuum_after_prune"):
        assert getattr(known, name) == config[name]


def test_settings_win_one_by_one(config):
    """Defaults, then the user's, then what an administrator set."""
    own = config("sessions:\n  auto_prune: false\n  retention_days: 30\n")
    managed = config("sessions:\n  auto_prune: true\n", "managed.yaml")
    assert read_retention(own, 31) == Retention(False, 30, 24, True)
    assert read_retention(own, 31, managed) == Retention(True, 30, 24, True)
    assert read_retention(own, None).auto_prune is False


@pytest.mark.parametrize(
    "line, words",
    [
        ("vacuum_after_prune: true", "makes the file smaller"),
        ("vacuum_after_prune: false", "keeps its size"),
        ("vacuum_after_prune: 'no'", "cannot tell"),
        ("auto_prune: false", ""),
    ],
)
def test_what_becomes_of_the_file(config, line, words):
    """After Hermes' own clean-up, which may not take place."""
    sentence = read_retention(config(f"sessions:\n  {line}\n"), 31).vacuum_sentence
    assert words in sentence and bool(words) == bool(sentence)


def test_where_an_administrator_puts_it(tmp_path, monkeypatch):
    """A folder that is not there is none."""
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path / "none"))
    assert managed_config() is None
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path))
    assert managed_config() == tmp_path / "config.yaml"


@pytest.mark.parametrize(
    "line, known",
    [
        *((f"auto_prune: {value}", (None, 90)) for value in ("'false'", "1", "${X}", "")),
        *((f"retention_days: {value}", (True, None)) for value in ("-1", "1.5", "true", "9" * 400)),
        *((f"retention_days: {value}", (True, None)) for value in ("1e400", ".inf", ".nan")),
        ("retention_days: 2026-01-01", (True, None)),
    ],
)
def test_what_is_not_understood_is_not_guessed(config, line, known):
    """Nor taken for the default; the rest still is."""
    found = read_retention(config(f"sessions:\n  {line}\n"), 31)
    assert (found.auto_prune, found.retention_days) == known
    assert "cannot tell" in found.sentence or "unknown number" in found.sentence
