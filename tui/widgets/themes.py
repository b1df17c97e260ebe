"""The themes of the browser, and where its style sheets are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual.theme import BUILTIN_THEMES, Theme

STYLES = Path(__file__).resolve().parents[2] / "styles"
"""The folder of style sheets."""
DARK = Theme(
    name="hermes-dark",
    primary="#7aa2c8",
    secondary="#8a8f98",
    accent="#d8a657",
    warning="#d8a657",
    success="#8fb573",
    error="#e06c6c",
    foreground="#d5d3cd",
    background="#16171a",
    surface="#16171a",
    panel="#24262b",
    dark=True,
)
"""Light letters on near black; gold marks what can be pressed."""
LIGHT = Theme(
    name="hermes-light",
    primary="#2f5f8f",
    secondary="#6b6f76",
    accent="#8a5a00",
    warning="#8a5a00",
    success="#3d6b21",
    error="#b3261e",
    foreground="#26282c",
    background="#faf9f6",
    surface="#faf9f6",
    panel="#eae8e2",
    dark=False,
)
"""The same on paper white, in darker shades."""
ANSI_LIGHT = replace(BUILTIN_THEMES["ansi-light"], warning="ansi_yellow")
"""Textual's has two reds for errors and warnings; here warnings are gold as in all themes."""
