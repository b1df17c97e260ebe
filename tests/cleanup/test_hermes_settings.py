"""What is read of Hermes' settings is right, or "cannot tell", but never wrong: as `yaml.safe_load` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_browse.store.cleanup.hermes_settings import (
    Retention,
    SettingsBlock,
    defaults_of,
    managed_config,
    read_block,
    read_retention,
)

yaml = pytest.importorskip("yaml")

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

DOCUMENTS = [
    PLAIN,
    "",
    "\n# only a comment\n",
    "---\nsessions:\n  auto_prune: true\n",
    "sessions:\n",
    "sessions: ~\n",
    "sessions: {}\n",
    "sessions: {auto_prune: false}\n",
    "sessions: &s\n  auto_prune: true\nother: *s\n",
    "base: &b {auto_prune: true}\nsessions:\n  <<: *b\n",
    "sessions: *missing\n",
    "sessions:\n- a\n",
    "sessions:\n  - a\n",
    "sessions: text\n",
    "sessions:\n  text\n",
    "'sessions':\n    auto_prune: yes\n",
    "sessions :\n  auto_prune : no\n",
    "sessions:\n  auto_prune: 'false'\n  retention_days: \"30\"\n",
    "sessions:\n  auto_prune: tRue\n  retention_days: 0o17\n  min_interval_hours: 017\n",
    "sessions:\n  retention_days: 1_000\n  min_interval_hours: 1:30\n  auto_archive_days: .5\n",
    "sessions:\n  retention_days:\n    90\n",
    "sessions:\n  retention_days: 9\n    0\n",
    "sessions:\n  retention_days: 90#no comment\n",
    "sessions:\n  retention_days: -5\n",
    "sessions:\n  retention_days: 90\n  retention_days: 30\n",
    "sessions:\n  auto_prune: true\nsessions:\n  auto_prune: false\n",
    "sessions:\n  auto_prune: ${PRUNE}\n",
    "sessions:\n  auto_prune:\n  retention_days: null\n",
    "sessions:\n\tauto_prune: true\n",
    "  sessions:\n    auto_prune: true\n",
    "? sessions\n: auto_prune: true\n",
    "a: 1\n---\nsessions:\n  auto_prune: true\n",
    "text: 'it''s\n\nsessions:\n  auto_prune: true'\n",
    "a:\n- b: |\n   x\n  sessions:\n    auto_prune: true\nsessions:\n  auto_prune: false\n",
    "a: >-\n  folded\n\n  sessions:\nsessions:\n  auto_prune: true\n",
    "{sessions: {auto_prune: true}}\n",
    "%YAML 1.1\n---\nsessions:\n  auto_prune: true\n",
    "a: [1,\n2]\nsessions:\n  auto_prune: true\n",
    "a: \"x\\\"\nsessions:\n  auto_prune: true\n\"\n",
    "a: !tag |\n  x\nsessions:\n  auto_prune: true\n",
    "sessions:\r\n  auto_prune: true\r\n",
    "a:\n- \"&\\x1F\": []\nsessions:\n  auto_prune: true\nlast: \"b\"\n",
]  # fmt: skip


def judged(text: str, folder: Path) -> SettingsBlock | None:
    """What the reader says, after PyYAML found nothing wrong with it."""
    path = folder / "config.yaml"
    path.write_bytes(text.encode("utf-8"))
    block = read_block(path)
    try:
        loaded: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return block  # Hermes cannot read it either
    if block is None:
        return None
    there = loaded.get("sessions") if isinstance(loaded, dict) else None
    there = there if isinstance(there, dict) else {}
    for key, value in block.values.items():
        assert key in there and there[key] == value and type(there[key]) is type(value), (key, text)
    assert there.keys() == block.values.keys() | block.unclear, text
    return block


@pytest.mark.parametrize("text", DOCUMENTS)
def test_never_wrong(tmp_path: Path, text: str) -> None:
    """Documents people and programs write, and some nobody should."""
    judged(text, tmp_path)


def test_plain_settings_are_read(tmp_path: Path) -> None:
    """Comments, quoted keys, and look-alikes inside of texts."""
    assert judged(PLAIN, tmp_path) == SettingsBlock(
        {
            "auto_prune": False,
            "retention_days": 30,
            "min_interval_hours": 12,
            "auto_archive_days": 2.5,
            "vacuum_after_prune": True,
        },
        frozenset(["nested"]),
    )


def test_a_quote_inside_of_a_key_or_text_is_a_letter(tmp_path: Path) -> None:
    """What follows is not hidden by it."""
    path = tmp_path / "config.yaml"
    path.write_text("'0':\n- {0\": null, a: it's}\nsessions:\n  auto_prune: false\n", encoding="utf-8")
    assert read_block(path) == SettingsBlock({"auto_prune": False})


_SCALARS = st.one_of(st.booleans(), st.integers(-10, 1000), st.floats(0, 99), st.text(max_size=60), st.none())
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
_NAMES = st.sampled_from(["auto_prune", "retention_days", "min_interval_hours", "x"])


@settings(max_examples=examples(400))
@given(
    st.dictionaries(st.text(max_size=10) | st.sampled_from(["model", "a b"]), _TREES, max_size=4),
    st.dictionaries(_NAMES, _SCALARS | _TREES, max_size=4),
    st.sampled_from([None, False]),
    st.sampled_from([20, 80]),
    st.booleans(),
)
def test_whatever_pyyaml_writes(
    tmp_path_factory: pytest.TempPathFactory,
    other: dict[str, Any],
    sessions: dict[str, Any],
    flow: bool | None,
    width: int,
    letters: bool,
) -> None:
    """Hermes saves its configuration with PyYAML: long texts folded, quoted, in every style."""
    document = {**other, "sessions": sessions, "last": "sessions:\n  auto_prune: true"}
    text = yaml.dump(document, default_flow_style=flow, width=width, allow_unicode=letters, sort_keys=False)
    judged(text, tmp_path_factory.mktemp("yaml"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """No file is an empty one, as for Hermes; everything else is unknown."""
    assert read_block(tmp_path / "none.yaml") == SettingsBlock({})
    (tmp_path / "bad.yaml").write_bytes(b"sessions:\n  auto_prune: \xff\n")
    assert read_block(tmp_path / "bad.yaml") is None
    (tmp_path / "folder.yaml").mkdir()
    assert read_block(tmp_path / "folder.yaml") is None
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfsessions:\n  auto_prune: true\n")
    assert read_block(tmp_path / "bom.yaml") == SettingsBlock({"auto_prune": True})
    (tmp_path / "big.yaml").write_text("#" * 5_000_000)
    assert read_block(tmp_path / "big.yaml") is None


_ALIASES = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11))
_MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11))


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_a_file_cannot_blow_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: str) -> None:
    """Ten levels of aliases stay names; what is nested too deeply (the C reader would crash) is refused early."""
    monkeypatch.setattr(yaml, "CSafeLoader", getattr(yaml, loader), raising=False)
    path = tmp_path / "config.yaml"
    path.write_text(f"{_ALIASES}sessions:\n  auto_prune: *a10\n  retention_days: 5\n", encoding="utf-8")
    assert read_block(path) == SettingsBlock({"retention_days": 5}, frozenset(["auto_prune"]))
    path.write_text(f"{_MERGES}sessions:\n  <<: *a10\n", encoding="utf-8")
    assert read_block(path) is None
    for text in ("[" * 200_000, "{a: " * 100_000):
        path.write_text(f"other: {text}\n", encoding="utf-8")
        assert read_block(path) is None
    path.write_text("[" * 200_000, encoding="utf-8")
    assert read_block(path) is None


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 400, "1e400", ".inf", "-.inf", ".nan", "!!int '5'", "2026-01-01"])
def test_numbers_no_calendar_knows_are_not_understood(tmp_path: Path, number: str) -> None:
    """They were added to times, which no float could hold: the program ended there."""
    config = tmp_path / "config.yaml"
    config.write_text(f"sessions:\n  retention_days: {number}\n  min_interval_hours: {number}\n", encoding="utf-8")
    found = read_retention(config, 31)
    assert found == Retention(True, None, None, True)


@pytest.mark.parametrize(
    ("version", "prunes"),
    [(6, False), (22, False), (26, False), (27, None), (29, None), (30, True), (31, True), (32, None), (None, None)],
)
def test_defaults_by_version(tmp_path: Path, version: int | None, prunes: bool | None) -> None:
    """On since 0.21.3 (schema 30), off up to 0.21.0 (26); what was never looked at is not known."""
    found = read_retention(tmp_path / "config.yaml", version)
    assert found.auto_prune is prunes and (found.retention_days == 90) is (prunes is not None)


def test_the_defaults_are_those_of_the_real_hermes() -> None:
    """Of the one that is installed here, 0.19."""
    config = pytest.importorskip("hermes_cli.config").DEFAULT_CONFIG["sessions"]
    known = defaults_of(22)
    for name in ("auto_prune", "retention_days", "min_interval_hours", "vacuum_after_prune"):
        assert getattr(known, name) == config[name]


def test_settings_win_one_by_one(tmp_path: Path) -> None:
    """Defaults, then the user's, then what an administrator set."""
    config, managed = tmp_path / "config.yaml", tmp_path / "managed.yaml"
    config.write_text("sessions:\n  auto_prune: false\n  retention_days: 30\n")
    managed.write_text("sessions:\n  auto_prune: true\n")
    assert read_retention(config, 31) == Retention(False, 30, 24, True)
    assert read_retention(config, 31, managed) == Retention(True, 30, 24, True)
    assert read_retention(config, None).auto_prune is False


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("vacuum_after_prune: true", "makes the file smaller"),
        ("vacuum_after_prune: false", "keeps its size"),
        ("vacuum_after_prune: 'no'", "cannot tell"),
        ("auto_prune: false", ""),
    ],
)
def test_what_becomes_of_the_file(tmp_path: Path, lines: str, words: str) -> None:
    """After Hermes' own clean-up, which may not take place."""
    config = tmp_path / "config.yaml"
    config.write_text(f"sessions:\n  {lines}\n")
    sentence = read_retention(config, 31).vacuum_sentence
    assert words in sentence and bool(words) == bool(sentence)


@pytest.mark.parametrize("line", ["auto_prune: 'false'", "auto_prune: 1", "auto_prune: ${X}", "auto_prune:"])
def test_what_is_not_understood_is_not_guessed(tmp_path: Path, line: str) -> None:
    """Nor taken for the default; the rest still is."""
    config = tmp_path / "config.yaml"
    config.write_text(f"sessions:\n  {line}\n  retention_days: 30\n")
    found = read_retention(config, 31)
    assert found.auto_prune is None and found.retention_days == 30
    assert "cannot tell" in found.sentence


@pytest.mark.parametrize("line", ["retention_days: -1", "retention_days: 1.5", "retention_days: true"])
def test_days_are_whole_and_not_negative(tmp_path: Path, line: str) -> None:
    """Hermes 0.22 skips its clean-up then, older ones delete everything: nobody can tell."""
    config = tmp_path / "config.yaml"
    config.write_text(f"sessions:\n  {line}\n")
    found = read_retention(config, 31)
    assert found.retention_days is None and "unknown number" in found.sentence


def test_trouble_leaves_nothing_known(tmp_path: Path) -> None:
    """Not even the defaults: the file may say otherwise."""
    config = tmp_path / "config.yaml"
    config.write_text("sessions: {auto_prune: false}\n")
    assert read_retention(config, 31) == Retention()


def test_where_an_administrator_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there is none."""
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path / "none"))
    assert managed_config() is None
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path))
    assert managed_config() == tmp_path / "config.yaml"
