"""From a conversation to Hermes."""
