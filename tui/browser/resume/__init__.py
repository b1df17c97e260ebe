"""Resuming a conversation in Hermes."""
