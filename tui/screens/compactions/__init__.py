"""Compactions on screen: the inspector, and what the model saw at a message."""
