"""Changing conversations: marks, titles, delete, and the undo of each."""
