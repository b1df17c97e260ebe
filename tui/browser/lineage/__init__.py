"""The family tree of a conversation."""
