"""The list of conversations: its rows, how they are drawn, and the widget."""
