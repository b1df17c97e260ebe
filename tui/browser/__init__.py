"""The main screen: its panes, its state and what it does."""
