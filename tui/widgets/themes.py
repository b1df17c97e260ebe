"""The themes of the browser, where its style sheets are, and a base class of widgets that draw with
the looks of these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import Widget

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


def look_style(widget: Widget, name: str) -> Style:
    """Return the style of a look, as `styles/looks.tcss` names it, in the colours of the theme."""
    return widget.app.get_component_styles(f"look--{name}").partial_rich_style


class LooksWidget(Widget):
    """A widget that draws with looks. The application has them: Textual would compute those of a
    widget again whenever the focus moves."""

    def __init__(self, *, id: str | None = None) -> None:
        self._looks: dict[str, Style] = {}  # before super: it calls notify_style_update
        super().__init__(id=id)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks.clear()

    def _look_style(self, looks: str) -> Style:
        """Return the style of looks, separated by spaces; that of the widget itself for none."""
        style = self._looks.get(looks)
        if style is None:
            styles = [look_style(self, name) for name in looks.split()]
            style = self._looks[looks] = Style.combine(styles) if looks else self.rich_style
        return style
