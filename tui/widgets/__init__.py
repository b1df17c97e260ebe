"""The panes and what they are made of."""
