"""The file of settings, as the user wrote it."""

from __future__ import annotations

from hermes_browse.tui.settings.read_config import config_path


def write_config(text: str) -> None:
    """Have a configuration."""
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text)
